"""What `answer` and `ask` share: the model that is asked."""

import os
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfmrc.cli.parsing import add_shared, options_of, passage, text_of_file


def add_model(parser: ArgumentParser, name: str, default: str | None = None) -> None:
    """Adds the argument `model`, `--json` and `--import`; `name` is that of an example."""
    parser.add_argument(
        "model",
        nargs=None if default is None else "?",
        default=default,
        help=f"an export, such as savedmodels/{name}/1, a run, a saved predictor, or the address "
        f"of a served model, such as http://127.0.0.1:8501/v1/models/{name}"
        + ("" if default is None else f"; default: {default}"),
    )
    parser.add_argument("--json", action="store_true", help="print all outputs as JSON")
    add_shared(parser, "--option")


def add_passage(parser: ArgumentParser, action: str = "store") -> Any:
    """Adds `--passage` and `--passage-file`; with the action `append` both may be repeated.

    Returns:
        The group of arguments of which one is required.
    """
    group = parser.add_mutually_exclusive_group(required=True)
    for name, kind, metavar, what in (
        ("--passage", passage, "TEXT", "a passage"),
        ("--passage-file", text_of_file, "FILE", "a text file that is read as a passage"),
    ):
        note = "; may be repeated" if action == "append" else ""
        group.add_argument(
            name, type=kind, action=action, dest="passage", metavar=metavar, help=what + note
        )
    return group


@contextmanager
def loaded(
    model: str, words: Sequence[str], runtime: Any = "tensorflow"
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yields a predictor, export or client, and its options: those of a run and of `--option`.

    TensorFlow optimises no graph meanwhile, which takes longer than one answer without it. Of a
    reader, which computes no word after another, it makes none. As converting its network takes
    longer too, `runtime="auto"` is TensorFlow, except for an export that has OpenVINO's file.
    """
    chosen = options_of(words)
    if "://" in model and not model.startswith("hf://"):
        if chosen:
            raise ValueError(
                "The options of a served model are fixed in its export. "
                f"Received: --option {words[0]}"
            )
        from tfmrc.serving import Client

        yield Client.from_url(model, api_key=os.environ.get("TFMRC_API_KEY") or None), {}
        return
    import tensorflow as tf

    from tfmrc.experiments.loaded import open_model
    from tfmrc.models import ExtractiveReader
    from tfmrc.predictors import Predictor

    off = "disable_meta_optimizer"
    before = tf.config.optimizer.get_experimental_options().get(off, False)
    tf.config.optimizer.set_experimental_options({off: True})
    try:
        opened = open_model(model, chosen, runtime=runtime, exports=True)
        if runtime == "auto" and isinstance(opened.predictor, Predictor):
            opened.predictor.runtime = "tensorflow"
        reader = isinstance(getattr(opened.predictor, "model", None), ExtractiveReader)
        tf.config.run_functions_eagerly(reader)
        yield opened.predictor, opened.options
    finally:
        tf.config.run_functions_eagerly(False)
        tf.config.optimizer.set_experimental_options({off: before})

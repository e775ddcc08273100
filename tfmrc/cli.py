"""The command line: `tfmrc COMMAND ...`, one subcommand for each step from data to answers."""

import importlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GUIDE = """Machine reading comprehension: train a recipe, score it, export it, ask it.

  tfmrc prepare  RECIPE.yaml   read the data, split it, count its words, say what was found
  tfmrc train    RECIPE.yaml   train; run it again to go on after a stop
  tfmrc evaluate RUN           answer the test questions and score the answers
  tfmrc predict  RUN           answer the questions of a file
  tfmrc export   RUN           write a SavedModel for TensorFlow Serving (or of any saved predictor)
  tfmrc answer   SAVEDMODEL    answer one question from an export
  tfmrc ask      SAVEDMODEL    ask about a passage with an export that asks

A RUN is the folder that `train` writes (runs/NAME). Every setting of a recipe is a flag too:
`tfmrc train recipes/masque_squad/config.yaml --training.steps 500 --model.hidden_dim 96`.
The data folder is `--data` or the environment variable TFMRC_DATA."""

RECIPE_COMMANDS = ("prepare", "train")
RUN_COMMANDS = ("evaluate", "predict", "export")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: what stands behind `tfmrc`; by default the process's own arguments.

    Returns:
        The exit status: 0 done, 1 failed (the words are on standard error), 130 stopped by hand.

    Raises:
        SystemExit: after `--help` and `--version` (0) and wrong usage (2).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    parsers = _parsers()
    if not given:
        parsers[""].print_help()
        return 2
    parsed = parsers[""].parse_args(_with_config(given))
    command: str = parsed.command
    try:
        _import_tensorflow()
        _COMMANDS[command](parsers[command], parsed[command])
        return 0
    except KeyboardInterrupt:
        print("\ntfmrc: stopped. The same command goes on from here.", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"tfmrc {command}: {error}", file=sys.stderr)
        return 1


def _import_tensorflow() -> None:
    """Import TensorFlow without the lines that its libraries write while they load.

    `train` says itself which devices there are. If the import fails, the lines are shown.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    with tempfile.TemporaryFile() as lines:
        kept = os.dup(2)
        os.dup2(lines.fileno(), 2)
        try:
            importlib.import_module("tensorflow")
        except ImportError:
            lines.seek(0)
            os.write(kept, lines.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _with_config(given: list[str]) -> list[str]:
    """Let a recipe or a run stand without a flag: `train R.yaml` means `train --config R.yaml`."""
    if len(given) < 2 or given[1].startswith("-"):
        return given
    command, place, *rest = given
    if command in RECIPE_COMMANDS:
        return [command, "--config", place, *rest]
    if command in RUN_COMMANDS:
        config = Path(place, "config.yaml")
        if command == "export" and not config.is_file() and _saved_reader(place) is not None:
            return ["export_predictor", *given[1:]]
        if not config.is_file():
            raise SystemExit(
                f"tfmrc {command}: {place} is not a run: it has no config.yaml. "
                "`tfmrc train RECIPE.yaml` makes a run."
            )
        return [command, "--config", str(config), "--run", place, *rest]
    return given


def _saved_reader(place: str) -> Path | None:
    """The predictor that a folder is, or that a run of another recipe holds."""
    folders = (Path(place), Path(place, "predictor"), Path(place, "predictor"))
    return next((f for f in folders if Path(f, "model.weights.h5").is_file()), None)


def _parsers() -> dict[str, Any]:
    """The parser of the whole program under "", and one under the name of each command."""
    import argparse

    from jsonargparse import ArgumentParser

    from tfmrc import __version__
    from tfmrc.experiments import configuration as settings

    parser = ArgumentParser(
        prog="tfmrc", description=GUIDE, version=__version__, allow_abbrev=False
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subcommands(required=True, dest="command", metavar="COMMAND")
    parsers = {"": parser}

    def add(name: str, usage: str, description: str) -> Any:
        made = ArgumentParser(
            usage=f"tfmrc {name} {usage}", description=description, allow_abbrev=False
        )
        if name not in ("answer", "ask", "export_predictor"):
            settings.add_arguments(made)
            made.add_argument("--run", type=str | None, help="the run's folder (runs/NAME)")
            made.add_argument("--data", type=str | None, help="the data folder (TFMRC_DATA)")
        parsers[name] = made
        return made

    prepare = add(
        "prepare",
        "RECIPE.yaml [--data FOLDER] [--run FOLDER] [--SETTING VALUE ...]",
        "Read a recipe's data, split it, count its words, and say what was found.",
    )
    train = add(
        "train",
        "RECIPE.yaml [--data FOLDER] [--run FOLDER] [--fresh] [--SETTING VALUE ...]",
        "Train a recipe. A run that was stopped goes on from its last checkpoint.",
    )
    train.add_argument("--fresh", action="store_true", help="begin anew: drop what the run holds")
    evaluate = add(
        "evaluate",
        "RUN [--data FOLDER] [--evaluation.SETTING VALUE ...]",
        "Answer the test questions of a run and score the answers: metrics.json, report.md, plots.",
    )
    predict = add(
        "predict",
        "RUN --input FILE [--output FILE] [--style STYLE]",
        "Answer the questions of a file (JSON lines with id, question and passages).",
    )
    predict.add_argument("--input", type=str, required=True, help="one JSON object a line")
    predict.add_argument(
        "--output", type=str | None, help="one answer a line; default: standard output"
    )
    predict.add_argument("--style", type=str | None, help="of the answers; default: the first one")
    export = add(
        "export",
        "RUN [--to savedmodels/NAME/VERSION]",
        "Write a run's model as a SavedModel on plain strings, as TensorFlow Serving reads it.",
    )
    export.add_argument("--to", type=str | None, help="default: the next of savedmodels/NAME")
    export_predictor = add(
        "export_predictor",
        "PREDICTOR [--to savedmodels/NAME/VERSION]",
        "What `tfmrc export` does with a saved predictor, or a run that holds one and no recipe.",
    )
    export_predictor.add_argument(
        "predictor", type=str, help="a saved predictor, or a run with one"
    )
    export_predictor.add_argument("--to", type=str | None, help="default: as of `tfmrc export`")
    answer = add(
        "answer",
        "SAVEDMODEL --question TEXT --passage TEXT [--passage TEXT ...] [--style STYLE]",
        "Answer one question from an export; it needs TensorFlow and no model code.",
    )
    answer.add_argument("savedmodel", type=str, help="an export, as savedmodels/masque/1")
    answer.add_argument("--question", type=str, required=True, help="the question")
    answer.add_argument("--passage", action="append", required=True, help="once for each passage")
    answer.add_argument("--style", type=str | None, help="a style of the model, if it has any")
    answer.add_argument("--json", action="store_true", help="print all that the model says")
    answer.add_argument(
        "--html", type=str | None, help="write a page that shows where each word came from"
    )
    ask = add(
        "ask",
        "SAVEDMODEL --passage TEXT [--answer TEXT]",
        "Ask about a passage with an export that asks; it needs TensorFlow and no model code.",
    )
    ask.add_argument("savedmodel", type=str, help="an export, as savedmodels/questions/1")
    ask.add_argument("--passage", type=str, required=True, help="the passage")
    ask.add_argument(
        "--answer", type=str | None, help="what to ask about; default: what the export finds itself"
    )
    ask.add_argument("--json", action="store_true", help="print all that the model says")
    for name, made, line in (
        ("prepare", prepare, "read and split the data, count its words"),
        ("train", train, "train a recipe, or go on with it"),
        ("evaluate", evaluate, "score the answers to the test questions"),
        ("predict", predict, "answer the questions of a file"),
        ("export", export, "write a SavedModel"),
        ("export_predictor", export_predictor, "the same of a saved predictor"),
        ("answer", answer, "answer one question from an export"),
        ("ask", ask, "ask about a passage with an export that asks"),
    ):
        commands.add_subcommand(name, made, help=line)
    return parsers


def _prepare(parser: Any, options: Any) -> None:
    from tfmrc import experiments as recipe

    recipe.prepare(recipe.recipe_of(parser, options), data=options.data, run=options.run)


def _train(parser: Any, options: Any) -> None:
    from tfmrc import experiments as recipe

    chosen = recipe.recipe_of(parser, options)
    recipe.train(chosen, data=options.data, run=options.run, fresh=options.fresh)


def _evaluate(parser: Any, options: Any) -> None:
    from tfmrc import experiments as recipe

    recipe.evaluate(recipe.recipe_of(parser, options), data=options.data, run=options.run)


def _predict(parser: Any, options: Any) -> None:
    from tfmrc import experiments as recipe

    chosen = recipe.recipe_of(parser, options)
    recipe.predict(chosen, options.input, options.output, style=options.style, run=options.run)


def _export(parser: Any, options: Any) -> None:
    from tfmrc import experiments as recipe

    recipe.export(recipe.recipe_of(parser, options), run=options.run, to=options.to)


def _export_reader(parser: Any, options: Any) -> None:
    from tfmrc import experiments as recipe

    folder = _saved_reader(options.predictor)
    if folder is None:
        raise ValueError(f"There is no saved predictor. Received: predictor={options.predictor}")
    recipe.export_predictor(folder, Path(options.predictor).resolve().name, options.to)


def _answer(parser: Any, options: Any) -> None:
    import dataclasses
    import json

    from tfmrc.predictors import Answer
    from tfmrc.serving import ExportedPredictor

    answer = ExportedPredictor(options.savedmodel).answer(
        question=options.question, passages=options.passage, style=options.style
    )
    if options.html is not None:
        if not isinstance(answer, Answer):
            raise ValueError(
                "A page shows where each word came from, which only exports of Masque tell. "
                f"Received: --html {options.html}"
            )
        from tfmrc import evaluation

        words = evaluation.attribution_of([dataclasses.asdict(word) for word in answer.words])
        page = evaluation.attribution_html(
            **words,
            question=options.question,
            passages=options.passage[: len(answer.relevance or options.passage)],
            relevance=answer.relevance,
            title=answer.text or "(no answer)",
            note=f"{options.savedmodel}, style {options.style}",
        )
        Path(options.html).write_text(page, encoding="utf-8")
    if options.json:
        print(json.dumps(answer.to_json(), ensure_ascii=False, indent=2))
    else:
        print(answer.describe())


def _ask(parser: Any, options: Any) -> None:
    import json

    from tfmrc.serving import ExportedPredictor

    predictor = ExportedPredictor(options.savedmodel)
    if options.answer is None:
        (found,) = predictor.generate_from_passage([options.passage])
    else:
        best = predictor.ask(passage=options.passage, answer=options.answer)
        found = [best, *best.alternatives]
    if options.json:
        print(json.dumps([question.to_json() for question in found], ensure_ascii=False, indent=2))
    else:
        print("\n".join(asked.describe() for asked in found) or "(nothing to ask about was found)")


_COMMANDS = {
    "prepare": _prepare,
    "train": _train,
    "evaluate": _evaluate,
    "predict": _predict,
    "export": _export,
    "export_predictor": _export_reader,
    "answer": _answer,
    "ask": _ask,
}

"""What the ready models do with a paragraph, and a reader fine-tuned, exported and served.

python -m recipes.demo.main
"""

import argparse
import logging
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tfmrc
from tfmrc import data, experiments
from tfmrc.cli.program import import_tensorflow
from tfmrc.data import load_small_squad

WIDTH = 96
RECIPE = Path(__file__).with_name("config.yaml")
HANDBOOK = Path(data.__file__).with_name("handbook_files")
PARAGRAPH = "56de4c324396321400ee27ac"  # a question about it, in the part of SQuAD that tfmrc ships
QUESTIONS = (
    "Who commissioned the Tapestry?",
    "What is the most famous work of Norman art?",
    "What kind of work is the Bayeux Tapestry?",
    "Who stole the Tapestry?",  # the paragraph does not say
)
ABOUT_THE_HANDBOOK = (
    "How many days of leave does a member of staff have in a year?",
    "Full-time staff have 27 days of leave in a year, and four days more after ten years.",
)


def show(title: str, lines: Iterable[str]) -> None:
    """Prints a title and indented lines, one by one."""
    print(f"\n{title}\n", flush=True)
    for line in lines:
        print(textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    "), flush=True)


def answers(paragraph: str) -> Iterable[str]:
    """Yields questions with the answers of `ready`."""
    reader = tfmrc.load("ready")
    for question in QUESTIONS:
        yield f"{question:<46} {reader.answer(question=question, passages=[paragraph]).headline}"


def written(paragraph: str) -> Iterable[str]:
    """Yields the answer of `ready-masque` in two styles; what it copied stands in brackets."""
    writer = tfmrc.load("ready-masque")
    for style in ("short", "free"):
        answer = writer.answer(
            question=QUESTIONS[1], passages=[paragraph], style=style, min_probability=0
        )
        copied = [f"[{w.text}]" if w.source == "passage" else w.text for w in answer.words]
        yield f"{style}: {' '.join(copied)}"


def asked(paragraph: str) -> Iterable[str]:
    """Yields questions of `ready-qg` about the paragraph, with the answers of `ready`."""
    reader = tfmrc.load("ready")
    [questions] = tfmrc.load("ready-qg").generate_from_passage([paragraph], max_answers=4)
    for question in questions:
        found = reader.answer(question=question.text, passages=[paragraph], min_probability=0)
        yield f"{question.text} – asked about {question.answer!r}, answered {found.text!r}"


def served(export: Path) -> Iterable[str]:
    """Yields what the exported reader answers over REST."""
    from tfmrc.serving import Client, Server

    question, passage = ABOUT_THE_HANDBOOK
    with Server({"demo": export}, port=0) as server:
        client: Any = Client("demo", url=server.url)
        yield f"POST {server.url}/v1/models/demo:predict"
        yield f"{question} {client.answer(question=question, passages=[passage]).headline}"


def main() -> None:
    """Runs all parts."""
    import_tensorflow()
    # TensorFlow takes the graphs of several models for one graph that is traced again and again.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("runs/demo"))
    parser.add_argument("--export", type=Path, default=Path("savedmodels/demo/1"))
    options = parser.parse_args()
    [paragraph] = next(e for e in load_small_squad("test") if e.id == PARAGRAPH).passages
    show("A paragraph (Wikipedia, CC BY-SA)", [paragraph])
    show("`ready` answers, or says that the paragraph does not", answers(paragraph))
    show("`ready-masque` writes in two styles; [copied] words", written(paragraph))
    show("`ready-qg` asks, and `ready` answers", asked(paragraph))
    show("`ready` is fine-tuned on questions about a handbook, in about a minute", [])
    experiments.train(experiments.read_settings(RECIPE), HANDBOOK, options.run)
    experiments.evaluate_run(options.run)
    tfmrc.load(options.run).export(options.export, overwrite=True)
    show("The fine-tuned reader, exported and served", served(options.export))
    show("Go on", [
        'tfmrc answer --question "..." --passage "..."    your own question',
        "tfmrc index FOLDER --to FILE                      your own documents",
        "tfmrc serve ready                                 a page to try it",
    ])  # fmt: skip


if __name__ == "__main__":
    main()

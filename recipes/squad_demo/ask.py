"""Shows the figures of `make demo` and asks about a paragraph: python ask.py EXPORT RUN."""

import argparse
import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tfmrc.data import Example, load_small_squad

REPORT = "evaluation/1-test-span/metrics.json"
SYSTEMS = {
    "squad_demo": "MiniLM, fine-tuned",
    "most similar sentence": "the most similar sentence of the paragraph",
}
QUESTIONS = ("56de4c324396321400ee27ac", "56de4c324396321400ee27ab", "56de4c324396321400ee27ad")
"""Ids of test questions about one paragraph."""

WIDTH = 96


def figures(run: Path) -> Iterator[str]:
    """Yields a table of the F1 of each system.

    Args:
        run: Folder of the evaluated run.
    """
    systems: Any = json.loads((run / REPORT).read_text(encoding="utf-8"))["systems"]
    scores = {name: systems[name]["scores"] for name in SYSTEMS}
    size = next(iter(scores.values()))["f1"]["size"]
    yield f"{size} test questions, their articles not among those of the training, in percent:"
    yield ""
    yield f"  {'':<44} {'F1':>6}  exact match"
    for name, label in SYSTEMS.items():
        f1, exact = (100 * scores[name][score]["value"] for score in ("f1", "exact_match"))
        yield f"  {label:<44} {f1:>6.1f}  {exact:>11.1f}"
    yield ""


def asked() -> list[Example]:
    """Returns the test questions that are asked, all about one paragraph."""
    known = {example.id: example for example in load_small_squad("test")}
    return [known[each] for each in QUESTIONS]


def answers(predictor: Any, examples: Sequence[Example]) -> Iterator[str]:
    """Yields a paragraph, and each question with the predictor's answer and people's.

    Args:
        predictor: A `tfmrc.predictors.ExportedPredictor`, or another one.
        examples: Questions about one paragraph.
    """
    paragraph = examples[0].passages[0]
    yield f"A paragraph of the article {examples[0].group} (Wikipedia, CC BY-SA):"
    yield ""
    yield textwrap.fill(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  ")
    yield ""
    for example in examples:
        answer = predictor.answer(question=example.question, passages=[paragraph])
        people = " / ".join(dict.fromkeys(example.answers["span"]))
        yield f"  Question   {example.question}"
        yield f"  Answer     {answer.text}   (probability {answer.probability:.2f})"
        yield f"  People     {people}"
        yield ""


def own_question(export: str, run: Path) -> Iterator[str]:
    """Yields how to ask a question of one's own."""
    yield "Ask your own, of the export or of the trained model:"
    yield ""
    for folder in (export, run):
        yield (
            f'  .venv/bin/tfmrc answer {folder} --question "Who flew?" --passage "At dusk an owl '
            'flew over the mill."'
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the figures of an evaluated run, and what an export answers."""
    from tfmrc.predictors import ExportedPredictor

    parser = argparse.ArgumentParser(description="Shows what `make demo` has trained.")
    parser.add_argument("export", help="savedmodels/squad_demo/1")
    parser.add_argument("run", type=Path, help="folder of the evaluated run")
    options = parser.parse_args(arguments)
    print("\n".join(figures(options.run)))
    for line in answers(ExportedPredictor(options.export), asked()):
        print(line)
    print("\n".join(own_question(options.export, options.run)))


if __name__ == "__main__":
    main()

"""Spans that stand for free answers: what is trained on, and the bound that they put on scores."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from recipes.san_squad.settings import SPLIT_SEED, Settings
from tfmrc import data
from tfmrc.data import Example, Span
from tfmrc.data.transforms.answer_spans import with_best_spans
from tfmrc.experiments.run_folder import read_json, write_json
from tfmrc.experiments.sources import limited

STYLE = "qa"
FILE, FACTS = "spans.jsonl.gz", "spans.json"


def prepare(settings: Settings, folder: Path, runs: Path) -> dict[str, Any]:
    """Chooses the span of every training answer, once; the runs' folder holds them.

    Each example keeps the passage of its span alone.

    Returns:
        How many answers there are, how many have a span, and the mean ROUGE-L of these spans.
    """
    if not (runs / FACTS).is_file():
        scores: list[float] = []
        answers = 0

        def read() -> Iterator[Example]:
            nonlocal answers
            for example in data.read_msmarco(folder / settings.train, subset="ANS"):
                answers += STYLE in example.answers
                yield example

        def chosen() -> Iterator[Example]:
            for example, score in with_best_spans(read(), STYLE, _longest(settings)):
                scores.append(score)
                yield _alone(example)

        runs.mkdir(parents=True, exist_ok=True)
        part = runs / f"part-{FILE}"
        data.write_examples(part, chosen())
        os.replace(part, runs / FILE)
        mean = sum(scores) / max(1, len(scores))
        facts = {"answers": answers, "with_a_span": len(scores), "rouge_l_of_spans": mean}
        write_json(runs / FACTS, facts)
    return read_json(runs / FACTS, "spans")


def training_examples(settings: Settings, runs: Path) -> tuple[list[Example], list[Example]]:
    """What is trained on, and other questions to validate with; `prepare` has made them."""
    examples = data.read_examples(runs / FILE)
    share = settings.training["validation_share"]
    rest, chosen = data.split_by_group(examples, share, SPLIT_SEED)
    return list(rest), limited(chosen, settings.training["validation_limit"])


def test_examples(settings: Settings, folder: Path) -> list[Example]:
    """The questions that are reported on, with all their passages."""
    examples = data.read_msmarco(folder / settings.test, subset="ANS", styles=(STYLE,))
    return limited((e for e in examples if e.answers), settings.test_limit)


test_examples.__test__ = False  # type: ignore[attr-defined]


def best_texts(settings: Settings, examples: Iterable[Example]) -> dict[str, str]:
    """The text of the nearest span, by id; "" where no passage has a word of the answer."""
    known = list(examples)
    found = {
        example.id: example.answers[STYLE][0]
        for example, _ in with_best_spans(known, STYLE, _longest(settings))
    }
    return {example.id: found.get(example.id, "") for example in known}


def _longest(settings: Settings) -> int:
    return settings.preprocessor["answer_length"]


def _alone(example: Example) -> Example:
    (span,) = example.spans
    return replace(
        example,
        passages=(example.passages[span.passage],),
        relevance=None,
        spans=(Span(0, span.start, span.end),),
        answers={"span": example.answers[STYLE]},
    )

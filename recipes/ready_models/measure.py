"""Measures the ready reader on questions that it never saw; writes results.json.

python -m recipes.ready_models.measure --data FOLDER
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recipes.ready_models.main import RECIPE
from recipes.ready_models.prepare import Search
from tfmrc import data
from tfmrc.data import Example
from tfmrc.data.transforms.splits import draw_by_id
from tfmrc.evaluation import most_similar_sentence, score_squad
from tfmrc.predictors.ready.reader import load_ready

ANSWERABLE, EACH, CALIBRATED = 2000, 500, 1000  # questions, drawn by id
Table = dict[str, list[Any]]


@dataclass(frozen=True)
class Answered:
    """Questions with the reader's answers.

    Attributes:
        known: dict. Reference answers by id, none for a question without an answer.
        texts: dict. The best candidates by id.
        chances: dict. Their probabilities.
        confident: dict. Whether they reach the shipped threshold.
    """

    known: Mapping[str, Sequence[str]]
    texts: Mapping[str, str]
    chances: Mapping[str, float]
    confident: Mapping[str, bool]

    @classmethod
    def of(cls, predictor: Any, examples: Sequence[Example]) -> "Answered":
        """Asks the questions."""
        known = {e.id: tuple(a for of in e.answers.values() for a in of) for e in examples}
        results = dict(zip(known, predictor.predict(examples), strict=True))
        return cls(
            known,
            {key: result.text for key, result in results.items()},
            {key: float(result.probability) for key, result in results.items()},
            {key: result.is_confident for key, result in results.items()},
        )

    def scores(self, texts: Mapping[str, str]) -> tuple[str, str]:
        """Returns F1 and exact match of answers, in percent; "" is a refusal."""
        scores = score_squad(texts, self.known, version="2.0")
        return percent(float(scores["f1"])), percent(float(scores["exact_match"]))

    @property
    def shipped(self) -> dict[str, str]:
        """The answers with refusals below the shipped threshold."""
        return {key: text if self.confident[key] else "" for key, text in self.texts.items()}

    def refused(self, answerable: bool) -> str:
        """Returns the share that is refused, of the questions with or without an answer."""
        keys = [key for key, answers in self.known.items() if bool(answers) == answerable]
        return percent(float(np.mean([not self.confident[key] for key in keys])))

    def area(self) -> str:
        """Returns the area under the curve of refusing: how often a question with an answer has a
        greater probability than one without."""
        sides: list[list[float]] = [[], []]
        for key, answers in self.known.items():
            sides[bool(answers)].append(self.chances[key])
        none, some = np.array(sides[0]), np.array(sides[1])[:, None]
        return f"{np.mean((some > none) + 0.5 * (some == none)):.3f}"


def percent(share: float) -> str:
    """Returns a share in percent."""
    return f"{100 * share:.1f}"


def drawn(examples: Iterable[Example], limit: int) -> list[Example]:
    """Returns some of the examples, drawn by their ids."""
    return draw_by_id([(example.id, example) for example in examples], limit)


def beside_others(asked: Sequence[Example], every: Sequence[Example]) -> list[Example]:
    """Returns questions beside the most similar other paragraph of their article."""
    search = Search({e.passages[0]: str(e.group) for e in every})
    found = [(example, search.other_passage(example)) for example in asked]
    return [
        Example(f"{e.id}/other", e.question, (passage,), answerable=False)
        for e, passage in found
        if passage is not None
    ]


def answers_table(predictor: Any, sets: Mapping[str, Sequence[Example]]) -> Table:
    """Returns F1 and exact match where every question has an answer and none is refused."""
    rows = []
    for name, examples in sets.items():
        asked = drawn([e for e in examples if e.answers], ANSWERABLE)
        answered = Answered.of(predictor, asked)
        nearest = {e.id: most_similar_sentence(e.question, e.passages) for e in asked}
        rows.append([name, f"{len(asked):,}", *answered.scores(answered.texts)])
        rows.append(["– the most similar sentence", "", *answered.scores(nearest)])
        print(rows[-2], flush=True)
    return {"columns": ["", "questions", "F1", "exact match"], "rows": rows}


def refusals_table(predictor: Any, sets: Mapping[str, Sequence[Example]]) -> Table:
    """Returns F1 by SQuAD 2.0's rules as shipped, and what is refused."""
    rows = []
    for name, examples in sets.items():
        own = drawn([e for e in examples if e.answers], EACH)
        none = [e for e in examples if e.answerable is False]
        others = {"beside a similar paragraph": beside_others(own, examples)}
        if len(none) >= EACH:
            others = {"asked to have none": drawn(none, EACH)} | others
        for kind, without in others.items():
            one = Answered.of(predictor, [*own, *without])
            always, never = one.scores(one.texts)[0], one.scores(dict.fromkeys(one.texts, ""))[0]
            rows.append(
                [f"{name}, {kind}", one.scores(one.shipped)[0], always, never,
                 one.refused(False), one.refused(True), one.area()]
            )  # fmt: skip
            print(rows[-1], flush=True)
    columns = ["", "F1", "answer always", "never answer", "rightly refused", "wrongly refused",
               "area under the curve"]  # fmt: skip
    return {"columns": columns, "rows": rows}


def calibration_table(predictor: Any, sets: Mapping[str, Sequence[Example]]) -> Table:
    """Returns how far probabilities are from the share of right answers."""
    shown = ("raw_calibration_error", "calibration_error", "brier", "risk_coverage_area")
    rows = []
    for name, examples in sets.items():
        report = predictor.measure_calibration(drawn(examples, CALIBRATED))
        values = [f"{report.scores[key].value:.3f}" for key in shown]
        rest = (report.scores[key].value for key in ("confident_coverage", "confident_precision"))
        rows.append([name, *values, *map(percent, rest)])
    columns = ["", "calibration error, raw", "calibrated", "Brier score", "risk-coverage area",
               "answers above the threshold", "right above it"]  # fmt: skip
    return {"columns": columns, "rows": rows}


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="squad, reading and narrativeqa")
    folder = parser.parse_args().data
    stories = data.read_narrativeqa(
        folder / "narrativeqa" / "qaps.csv", folder / "narrativeqa" / "summaries.csv",
        split="valid", num_passages=3, nearest=True, style="span",
    )  # fmt: skip
    sets = {
        "SQuAD, dev articles": list(data.read_squad(folder / "squad" / "dev.json")),
        "Reddit": list(data.read_squad(folder / "reading" / "squadshifts_reddit.json.gz")),
        "NarrativeQA, summaries": [replace(e, id=f"{n}/{e.id}") for n, e in enumerate(stories)],
    }
    predictor = load_ready()
    paragraphs = {name: sets[name] for name in ("SQuAD, dev articles", "Reddit")}
    tables = {
        "answers": answers_table(predictor, sets),
        "refusals": refusals_table(predictor, paragraphs),
        "calibration": calibration_table(predictor, sets),
    }
    path = RECIPE.with_name("results.json")
    path.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()

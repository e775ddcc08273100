"""Measures the ready reader on SQuAD's dev articles and on NarrativeQA; writes results.json."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recipes.ready_reader.main import RECIPE, held_out, mixed, share_unanswerable
from tfmrc import data
from tfmrc.data import Example
from tfmrc.data.transforms.splits import draw_by_id
from tfmrc.evaluation import most_similar_sentence, score_squad
from tfmrc.predictors.ready.reader import load_ready

ANSWERABLE, MIXED, CALIBRATED = 2000, 500, 1000  # questions, drawn by id


def drawn(examples: Sequence[Example], limit: int) -> list[Example]:
    """Returns some of the examples, drawn by their ids."""
    return draw_by_id([(example.id, example) for example in examples], limit)


def references(examples: Sequence[Example]) -> dict[str, tuple[str, ...]]:
    """Returns the reference answers by id, none for a question without an answer."""
    return {e.id: e.answers.get("span", ()) for e in examples}


def answers(predictor: Any, examples: Sequence[Example]) -> tuple[dict[str, str], dict[str, float]]:
    """Returns answers by id, and the share of "no answer" in its and the answer's probability."""
    results = dict(zip([e.id for e in examples], predictor.predict(examples), strict=True))
    nones = {key: 1.0 - one.answerable_probability for key, one in results.items()}
    shares = {key: none / (none + results[key].probability) for key, none in nones.items()}
    return {key: one.text for key, one in results.items()}, shares


def best_threshold(predictor: Any, examples: Sequence[Example]) -> float:
    """Returns the share of "no answer" above which refusing gives the best F1."""
    texts, chances = answers(predictor, examples)
    known = references(examples)
    scores = score_squad(texts, known, version="2.0")["f1"].per_example or {}
    order = sorted(scores, key=lambda key: chances[key])
    gains = np.cumsum([scores[key] - (not known[key]) for key in order])
    return chances[order[int(np.argmax(gains))]]


def percent(value: float) -> str:
    """Returns a share in percent."""
    return f"{100 * value:.1f}"


def squad_rows(predictor: Any, dev: Sequence[Example], tuning: Sequence[Example]) -> Any:
    """Returns the rows of the two tables of SQuAD."""
    asked = drawn([e for e in dev if e.answers], ANSWERABLE)
    known = references(asked)
    texts, _ = answers(predictor, asked)
    baseline = {e.id: most_similar_sentence(e.question, e.passages) for e in asked}
    rows = [
        [name, percent(float(scores["f1"])), percent(float(scores["exact_match"]))]
        for name, scores in (
            ("the ready reader", score_squad(texts, known)),
            ("the most similar sentence", score_squad(baseline, known)),
        )
    ]
    asked = drawn([e for e in dev if e.answers], MIXED)
    asked += drawn([e for e in dev if e.answerable is False], MIXED)
    known, (texts, chances) = references(asked), answers(predictor, asked)
    threshold = best_threshold(predictor, tuning)
    systems = (("the ready reader", threshold), ("answer always", 1.0), ("never answer", -1.0))
    twos = []
    for name, limit in systems:
        scores = score_squad(
            texts, known, version="2.0", no_answer=chances, no_answer_threshold=limit
        )
        parts = ("f1", "has_answer_f1", "no_answer_accuracy")
        twos.append([name, *(percent(float(scores[part])) for part in parts)])
    return rows, twos


def calibration_row(name: str, report: Any) -> list[str]:
    """Returns a row of the table of calibration."""
    shown = ("raw_calibration_error", "calibration_error", "brier", "risk_coverage_area")
    values = [f"{report.scores[key].value:.3f}" for key in shown]
    above = report.scores["confident_precision"]
    interval = f"{percent(above.value)} [{percent(above.low)}, {percent(above.high)}]"
    covered = (report.scores[key].value for key in ("coverage_at_80", "confident_coverage"))
    return [name, *values, *map(percent, covered), interval]


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of squad, narrativeqa")
    folder = parser.parse_args().data
    predictor = load_ready()
    predictor.calibration = None  # refuses by the model's own probabilities
    dev = list(data.read_squad(folder / "squad" / "dev.json"))
    rows, twos = squad_rows(predictor, dev, mixed(held_out(folder), 0.5))
    stories = data.read_narrativeqa(
        folder / "narrativeqa" / "qaps.csv", folder / "narrativeqa" / "summaries.csv",
        split="valid", num_passages=3, nearest=True, style="span",
    )  # fmt: skip
    # The shipped calibration, with a threshold beside it.
    predictor.calibrate(mixed(held_out(folder), share_unanswerable(folder)), precision=0.9)
    calibrations = [
        calibration_row(name, predictor.measure_calibration(drawn(list(examples), limit)))
        for name, examples, limit in (
            ("SQuAD, dev articles", dev, CALIBRATED),
            ("NarrativeQA, summaries", stories, CALIBRATED),
        )
    ]
    named = ["", "calibration error, raw", "calibrated", "Brier score", "risk-coverage area",
             "coverage at 80 percent precision", "answers above the threshold",
             "right above it"]  # fmt: skip
    tables = {
        "squad": {"columns": ["", "F1", "exact match"], "rows": rows},
        "squad_2": {"columns": ["", "F1", "F1 with an answer", "refused without"], "rows": twos},
        "calibration": {"columns": named, "rows": calibrations},
    }
    path = RECIPE.with_name("results.json")
    path.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()

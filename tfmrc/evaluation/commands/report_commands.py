"""Commands about runs: samples, seeds, bars and heat maps."""

import random
from argparse import Namespace
from pathlib import Path
from typing import Any

from tfmrc.evaluation.files.json_lines import read_json_lines
from tfmrc.evaluation.files.metrics_files import over_seeds, read_metrics
from tfmrc.evaluation.files.official import read_answers
from tfmrc.evaluation.files.references import read_references
from tfmrc.evaluation.metrics.resampling import Interval
from tfmrc.evaluation.reports.samples import sample_table
from tfmrc.evaluation.reports.tables import show_rows


def samples(options: Namespace) -> None:
    named = dict(_named(text) for text in options.predictions)
    predictions = {name: read_answers(path, options.style) for name, path in named.items()}
    known = {
        name: read_references(options.references, style=options.style or name, split=options.split)
        for name in named
    }
    first = next(iter(named))
    both = [key for key in known[first] if all(key in answers for answers in predictions.values())]
    if not both:
        raise ValueError(
            "No question has an answer in every file and a reference. "
            f"Received: {sorted(map(str, named.values()))}, {options.references}"
        )
    ids = options.ids or random.Random(options.seed).sample(both, min(options.count, len(both)))
    page = sample_table(predictions, known, ids, title=options.title)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(page, encoding="utf-8")
    print(options.output)


def seeds(options: Namespace) -> dict[str, Any]:
    rows = over_seeds([read_metrics(path) for path in options.metrics])
    table = [
        [row.system, row.label, f"{100 * row.mean:.2f}", f"{100 * row.deviation:.2f}",
         ", ".join(f"{100 * value:.2f}" for value in row.values)]
        for row in rows
    ]  # fmt: skip
    if str(options.json) != "-":
        show_rows(["system", "score", "mean", "deviation", "runs"], table)
    return {"runs": [str(path) for path in options.metrics], "scores": [vars(row) for row in rows]}


def bars(options: Namespace) -> None:
    from tfmrc.evaluation.plots.figures import plot_scores

    series: dict[str, dict[str, float | Interval]] = {}
    for path in options.metrics:
        for system, part in read_metrics(path)["systems"].items():
            for name in options.scores:
                score = part["scores"].get(name)
                if score is None or score.get("value") is None:
                    continue
                bar = series.setdefault(system, {}).setdefault(score["label"], score["value"])
                if bar != score["value"]:
                    raise ValueError(
                        f"The files have different scores of one system, which has one bar: draw "
                        f"each file alone, or `seeds` gives their mean. Received: {path}, "
                        f"{system}, {name}={score['value']} after {bar}"
                    )
    if not series:
        raise ValueError(
            f"No system has one of these scores. Received: --scores {' '.join(options.scores)}"
        )
    print(*plot_scores(series, options.output, title=options.title), sep="\n")


def heat_map(options: Namespace) -> None:
    from tfmrc.evaluation.plots.heat_map import plot_heat_map

    key = options.id
    records = (r for _, r in read_json_lines(options.input) if isinstance(r, dict))
    record = next((r for r in records if key is None or str(r.get("id", "")) == key), None)
    if record is None or not {"rows", "weights"} <= record.keys():
        raise ValueError(
            f"{options.input}: expected JSON lines with 'rows' (words), 'weights' and optionally "
            f"'columns' and 'id'. Received: --id {key}, "
            f"{'no such line' if record is None else f'fields {sorted(record)}'}"
        )
    paths = plot_heat_map(
        record["weights"],
        record["rows"],
        options.output,
        columns=record.get("columns"),
        title=options.title,
    )
    print(*paths, sep="\n")


def _named(text: str) -> tuple[str, Path]:
    """Splits `NAME=FILE`; a file without a name is named after itself."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (Path(text).stem, Path(text))

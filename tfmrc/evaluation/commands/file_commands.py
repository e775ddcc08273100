"""The commands that write files and figures: official forms, attribution pages, curves."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from tfmrc.evaluation.commands.inputs import references_of
from tfmrc.evaluation.files.json_lines import read_json_lines
from tfmrc.evaluation.files.official import write_official
from tfmrc.evaluation.files.predictions import read_predictions
from tfmrc.evaluation.plots.attribution import attribution_of
from tfmrc.evaluation.plots.attribution_page import attribution_html


def convert(options: Namespace) -> None:
    predictions = read_predictions(options.predictions, options.style)
    order = None if options.references is None else references_of(options)
    path = write_official(
        predictions, options.output, options.form, order=order, threshold=options.threshold
    )
    print(path)


def attribution(options: Namespace) -> None:
    predictions = read_predictions(options.predictions, options.style)
    if options.id not in predictions:
        raise ValueError(f"{options.predictions}: no such id. Received: --id {options.id}")
    prediction = predictions[options.id]
    if not prediction.provenance:
        raise ValueError(f"{options.predictions}: no provenance of this id. Received: {options.id}")
    parts = attribution_of(prediction.provenance)
    if options.output.suffix != ".html":
        from tfmrc.evaluation.plots.attribution_figure import plot_attribution

        paths = plot_attribution(parts["words"], parts["sources"], parts["weights"], options.output)
        print(*paths, sep="\n")
        return
    source: Mapping[str, Any] = {}
    if options.source is not None:
        records = (record for _, record in read_json_lines(options.source))
        found = next((r for r in records if isinstance(r, dict) and _id(r) == options.id), None)
        if found is None:
            raise ValueError(f"{options.source}: no such id. Received: --id {options.id}")
        source = found
    passages = source.get("passages", ())
    relevance = prediction.scores.get("relevance")
    if relevance:  # of the passages that the model read
        passages = passages[: len(relevance)]
    page = attribution_html(
        **parts,
        question=source.get("question", ""),
        passages=passages,
        relevance=relevance[: len(passages)] if relevance and passages else None,
        title=f"{options.id}: {prediction.answer}",
    )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(page, encoding="utf-8")
    print(options.output)


def _id(record: Mapping[str, Any]) -> str:
    return str(record.get("id", ""))


def curves(options: Namespace) -> None:
    from tfmrc.evaluation.plots.figures import plot_learning_curves

    print(*plot_learning_curves(options.log, options.output, metrics=options.metrics), sep="\n")

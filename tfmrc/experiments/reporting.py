"""Details of a report: budget, machine, split, and the papers' figures."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tfmrc.data import Example
from tfmrc.experiments.environment import summary
from tfmrc.experiments.recipes import recipes_folder
from tfmrc.experiments.reproduction import Row, read_rows
from tfmrc.experiments.settings import Experiment, Source

__all__ = ["MODEL", "SEARCH", "details_of", "paper_figures", "split_of"]


MODEL, SEARCH = "Model", "Search"  # by which `export` knows the scores of its model


def details_of(
    experiment: Experiment,
    facts: Sequence[Mapping[str, Any]],
    questions: Sequence[Example] = (),
    model: str = "",
) -> dict[str, str]:
    """Returns the details of a report: training, options, and digests of model and questions.

    Args:
        experiment: `Experiment`. The experiment.
        facts: list. The contents of the runs' `training.json`.
        questions: list of `Example`. The examples of the report. Default: none.
        model: str. Digest of the model, if the report has one. Default: "".
    """
    content = hashlib.sha256()
    for example in questions:
        content.update(example.to_json().encode("utf-8", "surrogatepass"))
    known = {
        **_training_of(experiment, facts),
        SEARCH: ", ".join(f"{k} {v}" for k, v in experiment.evaluation.options.items()),
        MODEL: model and f"sha256 {model[:16]}",
        "Questions": f"sha256 {content.hexdigest()[:16]}" if questions else "",
    }
    return {name: value for name, value in known.items() if value}


def _training_of(experiment: Experiment, facts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    if not facts:
        return {}
    runs = f"{len(facts)} runs of " if len(facts) > 1 else ""
    return {
        "Training": f"{runs}{_range([f['steps'] for f in facts], ',')} steps of "
        f"{experiment.training.batch_size} in "
        f"{_range([f['seconds'] / 60 for f in facts], '.1f')} minutes on "
        f"{_range([f['examples'] for f in facts], ',')} examples, ended by: "
        + ", ".join(sorted({f["ended_by"] for f in facts})),
        "Weights": _by_variant(facts, "weights"),
        "Best evaluation": _by_variant(facts, "best_eval") if len(facts) == 1 else "",
        "Seeds": ", ".join(map(str, sorted({f["seed"] for f in facts}))) if runs else "",
        "Settings": ", ".join(
            f"{name} {value}"
            for part in (experiment.model, experiment.preprocessor, experiment.training.optimizer)
            for name, value in part.items()
        ),
        "Encoder": ", ".join(f"{name} {value}" for name, value in experiment.encoder.items()),
        "Word vectors": _vectors(experiment, facts[0]),
        "Contextual embedding": ", ".join(experiment.contextual.files),
        "Training answers that are whole words, hold a part of one, come after the words that are "
        "read, have no span": _counts(facts[0].get("alignment")),
        "Machine": "; ".join(sorted({summary(f["machine"]) for f in facts})),
        "Versions": ", ".join(f"{k} {v}" for k, v in facts[0]["machine"]["versions"].items()),
    }


def _range(values: Sequence[float], form: str) -> str:
    return " to ".join(dict.fromkeys(format(value, form) for value in (min(values), max(values))))


def _by_variant(facts: Sequence[Mapping[str, Any]], name: str) -> str:
    values = {fact.get("variant", ""): fact.get(name) for fact in facts}
    shown = {k: format(v, ",") if isinstance(v, int) else str(v) for k, v in values.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{variant} {value}".strip() for variant, value in shown.items())


def _vectors(experiment: Experiment, facts: Mapping[str, Any]) -> str:
    share, vectors = facts.get("words_with_a_vector"), experiment.vocabulary.vectors
    if vectors is None or share is None:
        return ""
    return f"{Path(vectors).name}, for {share:.1%} of the words"


def _counts(counts: Mapping[str, int] | None) -> str:
    return "" if counts is None else ", ".join(f"{count:,}" for count in counts.values())


def split_of(experiment: Experiment, source: Source, size: int) -> str:
    """Describes the part of the data that is reported on."""
    options = "".join(f", {name} {value}" for name, value in source.test_options.items())
    share = "" if source.test_share >= 1 else f", {source.test_share:.0%} of the groups"
    by = {"sentence": ", half of its sentences"}.get(experiment.split.by, "")
    if experiment.split.ids is not None:
        by = f", ids of {Path(experiment.split.ids).name}"
    limit = experiment.evaluation.limit
    drawn = "" if limit is None or size < limit or experiment.split.ids else ", drawn by id"
    answerable = " with an answer" if source.answerable_only else ""
    return f"{source.test}{options}{share}{by}, {size:,} questions{answerable}{drawn}"


def paper_figures(systems: Iterable[str], data: str) -> dict[str, dict[str, float]]:
    """Returns the papers' figures by system, from `recipes/reproduction.yaml`.

    Args:
        systems: iterable of str. Names of systems.
        data: str. Name of the data and the split; only rows about this data are used. If several
            rows have figures of one system and score, the first is used.
    """
    figures: dict[str, dict[str, float]] = {}
    for name in systems:
        for row in _rows():
            if not any(data.lower().startswith(known.lower()) for known in row.data):
                continue
            for part in row.parts:
                if name in (part.run, *part.also) and part.paper and part.reports in data:
                    figures[name] = {**part.paper, **figures.get(name, {})}
    return figures


@cache
def _rows() -> list[Row]:
    folder = recipes_folder()
    path = None if folder is None else folder / "reproduction.yaml"
    return [] if path is None or not path.is_file() else read_rows(path)

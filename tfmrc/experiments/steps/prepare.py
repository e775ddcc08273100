"""The first step of an experiment: reads and counts its data and builds its vocabulary."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tfmrc import text
from tfmrc.data.example import Example
from tfmrc.experiments import inputs, run_folder as folders
from tfmrc.experiments.counts import (
    Count,
    check_enough,
    count_rows,
    few_questions,
    lines_of,
    max_passages,
    table_of,
)
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.settings import Experiment, Grid, Source
from tfmrc.experiments.sources import (
    Splits,
    data_folder,
    drawn,
    input_files,
    splits,
    test_examples,
    unique,
    validation_examples,
)
from tfmrc.experiments.spans import MAX_LENGTH, write_spans
from tfmrc.experiments.tags import Tags
from tfmrc.utils.files import write_text
from tfmrc.utils.progress import show_progress

__all__ = ["Prepared", "prepare", "prepare_in"]

FEW = 50  # least number of validation examples for a reliable choice of the best weights


@dataclass(frozen=True)
class Prepared:
    """The result of `prepare`: the shared files of an experiment's runs.

    Attributes:
        plan: `Plan`. The experiment, with the folder of the shared files.
        facts: dict. The content of `data.json`. Default: {}.
    """

    plan: Plan
    facts: dict[str, Any]

    @cached_property
    def sources(self) -> list[Splits]:
        """The examples by source, which are read once unless `training.stream` is true."""
        return splits(self.plan.experiment, self.plan.data, self.plan.folder / folders.SPANS)

    def splits(self, experiment: Experiment) -> list[Splits]:
        """Returns the examples of one of the experiment's runs."""
        if experiment.sources == self.plan.experiment.sources:
            return self.sources
        return splits(experiment, self.plan.data, self.plan.folder / folders.SPANS)

    def vocabulary(self) -> text.Vocabulary:
        """Loads the vocabulary, with the buckets of the settings."""
        settings = self.plan.experiment.vocabulary
        return text.Vocabulary.load(self.plan.folder / folders.VOCABULARY, settings.num_oov_buckets)

    def tags(self) -> Tags | None:
        """Opens the cached tags; None for an experiment without a tagger."""
        tagger = self.plan.experiment.tagger
        return None if tagger is None else Tags.open(tagger, self.plan.folder / folders.TAGS)


def prepare(
    experiment: Experiment, data: str | Path | None = None, run: str | Path | None = None
) -> dict[str, Any]:
    """Reads an experiment's data once.

    Writes `data.json` (numbers of examples), `vocabulary.txt` (the words) and, last, `inputs.json`
    (sizes and digests of the data files).

    Args:
        experiment: `Experiment`. The experiment.
        data: str, path or None. The data folder. Default: the environment variable TFMRC_DATA.
        run: str, path or None. The run's folder. Default: `runs/NAME`.

    Returns:
        The content of `data.json`.

    Raises:
        ValueError: If a setting does not exist, the data does not exist or is broken, or the folder
            has a run of other settings.
    """
    plan = shared_plan(experiment, folders.run_folder(experiment, run), data)
    with folders.open_run(experiment, plan.folder):
        return prepare_in(plan).facts


def shared_plan(experiment: Experiment, folder: Path, data: str | Path | None) -> Plan:
    """Returns the plan of what the runs of an experiment share; all names are checked.

    Raises:
        ValueError: If a setting or a file does not exist.
    """
    plan = Plan(replace(experiment, grid=Grid()), folder, data=data_folder(data, experiment))
    plan.classes  # noqa: B018
    input_files(plan.experiment, plan.data)
    return plan


@show_progress()
def prepare_in(plan: Plan) -> Prepared:
    """Prepares an open folder, as `prepare` does; returns the stored result if there is one.

    A folder in which no step was trained is prepared again if the files have changed.

    Raises:
        ValueError: If the folder has a training on other files, or a file is damaged.
    """
    experiment, folder = plan.experiment, plan.folder
    now = inputs.describe_inputs(input_files(experiment, plan.data))
    done = folder / folders.INPUTS
    if done.is_file():
        noted = folders.read_json(done, "prepare")["files"]
        if noted == now or folders.is_begun(folder):
            inputs.check_unchanged(noted, now, folder)
            return Prepared(plan, folders.read_json(folder / folders.DATA, "prepare"))
        print(
            f"{folder} was prepared from other data, and no step was trained: it is prepared "
            "again.",
            flush=True,
        )
        folders.drop_prepared(folder)
    print(f"Reading the data of {experiment.name} and counting its words.", flush=True)
    spans = _find_spans(plan)
    facts: list[dict[str, Any]] = []
    prepared = Prepared(plan, {"sources": facts})
    vocabulary = _count(plan, prepared.sources, facts)
    for source, found in spans.items():
        facts[source]["spans"] = found
    _save_vocabulary(vocabulary, folder)
    if experiment.split.write_ids:
        _write_ids(experiment, prepared.sources, folder / folders.IDS)
    if (tags := prepared.tags()) is not None:
        for part in prepared.sources:
            tags.add(part.train)
            tags.add(validation_examples(experiment, part))
            tags.add(() if part.test is None else test_examples(experiment, part))
    prepared.facts["vocabulary"] = {"words": vocabulary.size, "rows": len(vocabulary)}
    folders.write_json(folder / folders.DATA, prepared.facts)
    folders.write_json(done, {"folder": str(plan.data.resolve()), "files": now})
    _show(prepared.facts)
    for warning in warnings_of(experiment, prepared.facts):
        print(f"Warning: {warning}", flush=True)
    return prepared


def warnings_of(experiment: Experiment, content: dict[str, Any]) -> list[str]:
    """Returns warnings about settings and data that make a run's figures doubtful.

    Args:
        experiment: `Experiment`. The experiment.
        content: dict. The content of `data.json`.
    """
    warnings = []
    size = sum(facts.get("validation", {}).get("examples", 0) for facts in content["sources"])
    if size < FEW:
        warnings.append(f"Only {size} validation questions: the best epoch is uncertain.")
    answered = sum(facts.get("train", {}).get("answerable", 0) for facts in content["sources"])
    encoder = experiment.encoder.get("preset", "of a run") if experiment.encoder else "none"
    if experiment.start_from is None and not experiment.vocabulary.vectors:
        warnings += few_questions(str(experiment.model.get("name")), encoder, answered)
    for source, facts in zip(experiment.sources, content["sources"], strict=True):
        without_group = facts.get("train", {}).get("without_group", 0)
        if without_group and experiment.split.by == "group":
            warnings.append(
                f"{without_group:,} training examples of {source.train} have no group (article, "
                "document). Questions about the same single passage are in one part, but a "
                "document of several passages may be both in training and in validation."
            )
        if both := facts.get("test", {}).get("in_training"):
            warnings.append(
                f"{both:,} of {facts['test']['examples']:,} test questions of {source.test} are "
                "also training questions, with the same passages."
            )
    return warnings


def _find_spans(plan: Plan) -> dict[int, dict[str, Any]]:
    """Writes the spans of the source that needs them; returns facts by index of the source."""
    sources = enumerate(plan.experiment.sources)
    chosen = [(n, s) for n, s in sources if s.spans == "best" and s.train is not None]
    if len(chosen) > 1:
        raise ValueError(
            "One source can have `spans: best`. "
            f"Received: {', '.join(f'sources.{number}.spans=best' for number, _ in chosen)}"
        )
    longest = plan.experiment.preprocessor.get("answer_length", MAX_LENGTH)
    facts = {}
    for number, source in chosen:
        examples = drawn(
            source, str(source.train), plan.data, source.train_options, source.train_share
        )
        path = plan.folder / folders.SPANS
        facts[number] = write_spans(path, examples, source.styles[0], longest)
    return facts


def _count(plan: Plan, sources: list[Splits], facts: list[dict[str, Any]]) -> text.Vocabulary:
    """Returns the vocabulary of the training examples; appends the counts of all examples."""
    settings = plan.experiment.vocabulary
    start = folders.start_folder(plan.experiment)
    if start is not None:
        vocabulary: text.Vocabulary = plan.classes.predictor.load(start).preprocessor.vocabulary
        for _ in _counted(plan, sources, facts):
            continue
        return vocabulary
    vectors = None
    if settings.all_vector_words:
        from tfmrc.encoders import load_word_vectors

        vectors = load_word_vectors(plan.data / str(settings.vectors))
    return text.Vocabulary.from_examples(
        _counted(plan, sources, facts),
        size=settings.size,
        min_count=settings.min_count,
        num_oov_buckets=settings.num_oov_buckets,
        vectors=vectors,
    )


def _counted(plan: Plan, sources: list[Splits], facts: list[dict[str, Any]]) -> Iterator[Example]:
    """Yields all training examples; appends the counts of all examples to `facts`.

    Raises:
        ValueError: If there is nothing to train on or to validate on.
    """
    limit = max_passages(plan.experiment, plan.classes.preprocessor)
    trained: set[int] = set()
    tested: list[tuple[dict[str, Any], Count]] = []
    for part in sources:
        source = part.source
        counts: dict[str, Any] = {"format": source.format, "styles": list(source.styles)}
        facts.append(counts)
        valid = validation_examples(plan.experiment, part)
        by_name = {"train": part.train, "validation": valid, "test": part.test}
        if source.train is None:
            by_name["train"] = None
            if plan.experiment.split.by != "sentence":
                by_name["validation"] = None
        used: set[str] = set()
        for name, examples in by_name.items():
            if examples is None:
                continue
            count = Count(limit)
            where = str(source.test if name == "test" else source.train)
            for example in count.of(unique(examples, where), source):
                used.add(example.id)
                if name == "train":
                    yield example
            counts[name] = count.to_json()
            if name == "train":
                trained |= count.texts
            elif name == "test":
                tested.append((counts[name], count))
        spare = {example.id for example in part.validation} - used
        counts["files"] = _files(plan, source, used, spare)
    for numbers, count in tested:
        if both := len(count.texts & trained):
            numbers["in_training"] = both
    check_enough(plan.experiment, facts)


def _files(plan: Plan, source: Source, used: set[str], spare: set[str]) -> dict[str, Any]:
    """Returns the counts of the rows of each file of a source."""
    every, files = replace(source, answerable_only=False), {}
    for name, options, share in (
        (source.train, source.train_options, source.train_share),
        (source.test, source.test_options, source.test_share),
    ):
        if name is not None:
            rows = drawn(every, name, plan.data, options, share)
            files[Path(name).name] = count_rows(rows, source, used, spare)
    return files


def _save_vocabulary(vocabulary: text.Vocabulary, folder: Path) -> None:
    """Writes the vocabulary's files to a temporary folder and renames them."""
    part = folder / f".{folders.VOCABULARY}.part"
    if part.is_dir():
        shutil.rmtree(part)
    part.mkdir()
    vocabulary.save(part / folders.VOCABULARY)
    for file in sorted(part.iterdir(), key=lambda file: file.name == folders.VOCABULARY):
        os.replace(file, folder / file.name)
    part.rmdir()


def _write_ids(experiment: Experiment, sources: list[Splits], folder: Path) -> None:
    """Writes a file of ids for each part."""
    parts: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
    for part in sources:
        parts["train"] += [example.id for example in part.train]
        parts["validation"] += [e.id for e in validation_examples(experiment, part)]
        if part.test is not None:
            parts["test"] += [e.id for e in test_examples(experiment, part)]
    for name, ids in parts.items():
        write_text(folder / f"{name}.txt", "".join(f"{key}\n" for key in ids))


def _show(content: dict[str, Any]) -> None:
    for facts in content["sources"]:
        print(*table_of(facts), *lines_of(facts), sep="\n")
        if spans := facts.get("spans"):
            print(
                f"{spans['with_a_span']:,} of {spans['answers']:,} training answers share a word "
                f"with a passage; their nearest spans have ROUGE-L "
                f"{100 * spans['rouge_l_of_spans']:.2f}"
            )
    print(f"{content['vocabulary']['words']:,} words with a row of their own", flush=True)

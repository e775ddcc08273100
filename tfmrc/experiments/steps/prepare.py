"""The first step of an experiment: reads and counts its data and builds its vocabulary."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmrc import text
from tfmrc.data.example import Example
from tfmrc.data.formats.registry import find_format
from tfmrc.data.stream import ExampleStream
from tfmrc.experiments import inputs, run_folder as folders
from tfmrc.experiments.building import check_experiment, classes_of, reads_tags
from tfmrc.experiments.counts import PARTS, Count, check_enough, lines_of, max_passages
from tfmrc.experiments.settings import Experiment, Source
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

_WRITTEN = (folders.DATA, folders.VOCABULARY, folders.VOCABULARY_IDS, folders.SPANS)
FEW = 50  # least number of validation examples for a reliable choice of the best weights


@dataclass(frozen=True)
class Prepared:
    """The result of `prepare`: the shared files of an experiment's runs.

    Attributes:
        experiment: `Experiment`. The experiment.
        folder: Path. The folder of the shared files.
        data: Path. The data folder.
        facts: dict. The content of `data.json`.
        stamps: dict. Sizes and times of the data files when they were first read.
    """

    experiment: Experiment
    folder: Path
    data: Path
    facts: dict[str, Any]
    stamps: dict[Path, tuple[int, int]]

    def check_files(self) -> None:
        """Raises a ValueError if a data file has changed since it was first read."""
        inputs.check_stamps(self.stamps)

    def splits(self, experiment: Experiment | None = None) -> list[Splits]:
        """Returns the examples of the experiment, or of one of its runs."""
        return splits(experiment or self.experiment, self.data, self.folder / folders.SPANS)

    def vocabulary(self) -> text.Vocabulary:
        """Loads the vocabulary, with the buckets of the settings."""
        settings = self.experiment.vocabulary
        return text.Vocabulary.load(self.folder / folders.VOCABULARY, settings.num_oov_buckets)

    def tags(self) -> Tags | None:
        """Opens the cached tags; None for an experiment whose model reads none."""
        if not reads_tags(classes_of(self.experiment)):
            return None
        return _tags(self.experiment, self.folder)


def _tags(experiment: Experiment, folder: Path) -> Tags | None:
    tagger = experiment.tagger
    return None if tagger is None else Tags.open(tagger, folder / folders.TAGS)


def prepare(
    experiment: Experiment, data: str | Path | None = None, run: str | Path | None = None
) -> dict[str, Any]:
    """Reads an experiment's data once.

    Writes `data.json` (numbers of examples), `vocabulary.txt` (the words) and, last, `inputs.json`
    (sizes and digests of the data files and of these files).

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
    check_experiment(experiment)
    source_folder = data_folder(data, experiment)
    with folders.open_run(experiment, folders.run_folder(experiment, run)) as folder:
        return prepare_in(folder, experiment, source_folder).facts


def prepare_in(folder: Path, experiment: Experiment, data: Path) -> Prepared:
    """Prepares an open folder, as `prepare` does; returns the stored result if there is one.

    A folder in which no step was trained is prepared again if the files have changed.

    Raises:
        ValueError: If the folder has a training on other files, or a file is damaged or changes
            while it is read.
    """
    files = input_files(experiment, data)
    stamps = inputs.stamps(files)
    now = inputs.describe_inputs(files)
    done = folder / folders.INPUTS
    noted = folders.read_json(done, "prepare") if done.is_file() else None
    if noted is not None and noted.get("files") != now and not folders.is_begun(folder):
        print(
            f"{folder} was prepared from other data, and no step was trained: it is prepared "
            "again.",
            flush=True,
        )
        folders.drop_prepared(folder)
        noted = None
    if noted is not None:
        inputs.check_unchanged(noted.get("files", {}), now, folder)
        inputs.check_intact(noted.get("prepared", {}), folder)
        facts_of_data = folders.read_json(folder / folders.DATA, "prepare")
        return Prepared(experiment, folder, data, facts_of_data, stamps)
    print(f"Reading the data of {experiment.name} and counting its words.", flush=True)
    facts: list[dict[str, Any]] = []
    spans_of = _find_spans(experiment, data, folder)
    sources = splits(experiment, data, folder / folders.SPANS)
    try:
        vocabulary = _count(experiment, sources, facts, data)
    except ValueError:
        if facts and "train" in facts[-1]:  # all examples were read, and there may be too few
            check_enough(experiment, facts)
        raise
    check_enough(experiment, facts)
    for source, spans in spans_of.items():
        facts[source]["spans"] = spans
    _save_vocabulary(vocabulary, folder)
    if experiment.split.write_ids:
        _write_ids(experiment, sources, folder / folders.IDS)
    content = {"sources": facts, "vocabulary": {"words": vocabulary.size, "rows": len(vocabulary)}}
    prepared = Prepared(experiment, folder, data, content, stamps)
    tags = prepared.tags()
    if tags is not None:
        for part in sources:
            tags.add(part.train)
            tags.add(validation_examples(experiment, part))
            tags.add(() if part.test is None else test_examples(experiment, part))
    prepared.check_files()
    folders.write_json(folder / folders.DATA, content)
    written = [folder / name for name in _WRITTEN if (folder / name).is_file()]
    own = inputs.describe_inputs(written)
    folders.write_json(done, {"folder": str(data.resolve()), "files": now, "prepared": own})
    _show(content)
    for warning in warnings_of(experiment, content, data):
        print(f"Warning: {warning}", flush=True)
    return prepared


def warnings_of(experiment: Experiment, content: dict[str, Any], data: Path) -> list[str]:
    """Returns warnings about settings and data that make a run's figures doubtful.

    Args:
        experiment: `Experiment`. The experiment.
        content: dict. The content of `data.json`.
        data: Path. The data folder.
    """
    warnings = []
    size = sum(facts.get("validation", {}).get("examples", 0) for facts in content["sources"])
    if size < FEW:
        warnings.append(
            f"The best weights are selected on {size} validation examples. Raise "
            f"split.validation_share ({experiment.split.validation_share:g})."
        )
    for number, (source, facts) in enumerate(
        zip(experiment.sources, content["sources"], strict=True)
    ):
        alone = facts.get("train", {}).get("without_group", 0)
        if alone and experiment.split.by == "group":
            warnings.append(
                f"{alone:,} training examples of {source.train} have no group (article, document). "
                "Questions about the same single passage are in one part, but a document of "
                "several passages may be both in training and in validation."
            )
        if _is_same_file(source, data):
            warnings.append(
                f"sources.{number} is trained on the file that it is tested on: {source.test}."
            )
        elif both := facts.get("test", {}).get("in_training"):
            warnings.append(
                f"{both:,} of {facts['test']['examples']:,} test questions of {source.test} are "
                "also training questions, with the same passages."
            )
    return warnings


def _is_same_file(source: Source, data: Path) -> bool:
    """Returns True if a source is trained and tested on the same file with the same options."""
    if source.train is None or source.test is None or not find_format(source.format).is_file:
        return False
    if source.train_options != source.test_options:
        return False
    same = inputs.describe_inputs([data / source.train])
    other = inputs.describe_inputs([data / source.test])
    return list(same.values()) == list(other.values())


def _find_spans(experiment: Experiment, data: Path, folder: Path) -> dict[int, dict[str, Any]]:
    """Writes the spans of the sources that need them; returns facts by index of the source."""
    facts: dict[int, dict[str, Any]] = {}
    for number, source in enumerate(experiment.sources):
        if source.spans == "best" and source.train is not None:
            if facts:
                raise ValueError(
                    "One source can have `spans: best`. "
                    f"Received: sources.{number}.spans={source.spans}"
                )
            examples = drawn(source, source.train, data, source.train_options, source.train_share)
            path, style = folder / folders.SPANS, source.styles[0]
            longest = experiment.preprocessor.get("answer_length", MAX_LENGTH)
            facts[number] = write_spans(path, examples, style, longest)
    return facts


def _count(
    experiment: Experiment, sources: list[Splits], facts: list[dict[str, Any]], data: Path
) -> text.Vocabulary:
    settings = experiment.vocabulary
    vectors = None
    start = folders.start_folder(experiment)
    if start is not None:
        for _ in _counted(experiment, sources, facts):
            continue
        return classes_of(experiment).predictor.load(start).preprocessor.vocabulary
    if settings.all_vector_words:
        if settings.vectors is None:
            raise ValueError(
                "`vocabulary.all_vector_words` needs `vocabulary.vectors`. "
                "Received: vocabulary.all_vector_words=true, vectors=null"
            )
        from tfmrc.encoders import load_word_vectors

        vectors = load_word_vectors(data / settings.vectors)
    return text.Vocabulary.from_examples(
        _counted(experiment, sources, facts),
        size=settings.size,
        min_count=settings.min_count,
        num_oov_buckets=settings.num_oov_buckets,
        vectors=vectors,
    )


def _counted(
    experiment: Experiment, sources: list[Splits], facts: list[dict[str, Any]]
) -> Iterator[Example]:
    """Yields all training examples; appends the counts of all examples to `facts`."""
    limit = max_passages(experiment, classes_of(experiment).preprocessor)
    trained: set[int] = set()
    tested: list[tuple[dict[str, Any], Count]] = []
    for part in sources:
        source = part.source
        counts: dict[str, Any] = {"format": source.format, "styles": list(source.styles)}
        facts.append(counts)
        for name, examples in (
            ("train", part.train),
            ("validation", part.validation),
            ("test", part.test),
        ):
            if examples is None or (name == "train" and source.train is None):
                continue
            if name == "validation" and source.train is None and experiment.split.by != "sentence":
                continue
            count = Count(limit)
            counted = count.of(unique(examples, _where(source, name)), source.styles)
            if name == "train":
                yield from counted
            else:
                for _ in counted:
                    continue
            counts[name] = count.to_json()
            if name == "train":
                trained |= count.texts
            elif name == "test":
                tested.append((counts[name], count))
            if name != "validation" and isinstance(examples, ExampleStream):
                left_out = dict(examples.report.notes)
                if examples.report.skipped:
                    left_out["broken records (on_error: skip)"] = examples.report.skipped
                counts[f"left_out_of_{name}_file"] = left_out
    for numbers, count in tested:
        both = len(count.texts & trained)
        if both:
            numbers["in_training"] = both


def _where(source: Source, name: str) -> str:
    return str(source.test if name == "test" else source.train)


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
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Examples", title_justify="left")
    for column in ("source", "styles", "split"):
        table.add_column(column)
    for column in ("examples", "answerable", "groups"):
        table.add_column(column, justify="right")
    for facts in content["sources"]:
        for split in PARTS:
            if split in facts:
                count = facts[split]
                table.add_row(
                    facts["format"],
                    ", ".join(facts["styles"]),
                    split,
                    *(f"{count[name]:,}" for name in ("examples", "answerable", "groups")),
                )
    console = Console()
    console.print(table)
    for facts in content["sources"]:
        for split in ("train", "test"):
            for note, count in facts.get(f"left_out_of_{split}_file", {}).items():
                console.print(f"{facts['format']}, {split} file: {count:,} {note}")
        for line in lines_of(facts):
            console.print(line)
        if "spans" in facts:
            spans = facts["spans"]
            console.print(
                f"{spans['with_a_span']:,} of {spans['answers']:,} training answers share a word "
                f"with a passage; their nearest spans have ROUGE-L "
                f"{100 * spans['rouge_l_of_spans']:.2f}"
            )
    console.print(f"{content['vocabulary']['words']:,} words with a row of their own")


__all__ = ["Prepared", "prepare", "prepare_in"]

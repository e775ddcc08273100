"""The first step of an experiment: reads and counts its data and builds its vocabulary."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tfmrc import text
from tfmrc.data.example import Example
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.examples.counts import Counts, lines_of
from tfmrc.experiments.examples.rows import write_rows
from tfmrc.experiments.examples.sources import Splits, splits
from tfmrc.experiments.examples.spans import MAX_LENGTH, write_spans
from tfmrc.experiments.examples.tags import Tags
from tfmrc.experiments.plan import Plan, plan_of
from tfmrc.experiments.settings import Experiment
from tfmrc.utils.files import write_text
from tfmrc.utils.progress import show_progress

FEW = 50  # least number of validation examples for a reliable choice of the best weights
FEW_ANSWERED = 1_000  # training questions with an answer


@dataclass(frozen=True)
class Prepared:
    """The result of `prepare`: the shared files of an experiment's runs.

    Attributes:
        plan: `Plan`. The experiment, with the folder of the shared files.
        facts: dict. The content of `data.json`.
    """

    plan: Plan
    facts: dict[str, Any]

    @cached_property
    def sources(self) -> list[Splits]:
        """The examples by source, which are read once unless `training.stream` is true."""
        return splits(self.plan)

    @cached_property
    def vocabulary(self) -> text.Vocabulary:
        """The vocabulary, with the buckets of the settings."""
        settings = self.plan.experiment.vocabulary
        return text.Vocabulary.load(self.plan.folder / folders.VOCABULARY, settings.num_oov_buckets)

    @cached_property
    def tags(self) -> Tags | None:
        """The cached tags; None for an experiment without a tagger."""
        tagger = self.plan.experiment.tagger
        return None if tagger is None else Tags.open(tagger, self.plan.folder / folders.TAGS)


def prepare(
    experiment: Experiment, data: str | Path | None = None, run: str | Path | None = None
) -> dict[str, Any]:
    """Reads an experiment's data once.

    Writes `data.json` (numbers of examples), `vocabulary.txt` (the words), `held_out.csv` (the
    validation examples), `trained_rows.txt` (digests of the training rows) and, last, `inputs.json`
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
    plan = plan_of(experiment, run, data)
    with folders.open_run(experiment, plan.folder):
        return prepare_in(plan).facts


@show_progress()
def prepare_in(plan: Plan) -> Prepared:
    """Prepares an open folder, as `prepare` does; returns the stored result if there is one.

    A folder in which no step was trained is prepared again if the files have changed.

    Raises:
        ValueError: If the folder has a training on other files, or a file is damaged.
    """
    folder, now = plan.folder, folders.describe_inputs(plan.files)
    done = folder / folders.INPUTS
    if done.is_file():
        noted = folders.read_json(done, "prepare")["files"]
        if noted == now or folders.is_begun(folder):
            folders.check_unchanged(noted, now, folder)
            return Prepared(plan, folders.read_json(folder / folders.DATA, "prepare"))
        print(f"The data of {folder} has changed; it is prepared again.", flush=True)
        folders.drop_prepared(folder)
    print(f"Reading the data of {plan.experiment.name} and counting its words.", flush=True)
    counts = Counts(plan)
    prepared = Prepared(plan, {"sources": counts.facts})
    spans = _find_spans(prepared)
    vocabulary = _vocabulary(plan, counts.of(prepared.sources))
    for source, found in spans.items():
        counts.facts[source]["spans"] = found
    vocabulary.save(folder / folders.VOCABULARY)
    _write_examples(prepared)
    write_rows(folder, counts.trained, counts.held_out)
    prepared.facts["vocabulary"] = {"words": vocabulary.size, "rows": len(vocabulary)}
    folders.write_json(folder / folders.DATA, prepared.facts)
    folders.write_json(done, {"folder": str(plan.data.resolve()), "files": now})
    _show(prepared)
    return prepared


def _find_spans(prepared: Prepared) -> dict[int, dict[str, Any]]:
    """Writes the spans of the sources that need them; returns facts by index of the source."""
    plan, facts = prepared.plan, {}
    longest = plan.experiment.preprocessor.get("answer_length", MAX_LENGTH)
    for number, part in enumerate(prepared.sources):
        if part.source.spans == "best" and part.source.train is not None:
            path = plan.folder / folders.SPANS.format(number + 1)
            rows, style = part.files[0].examples, part.source.styles[0]
            facts[number] = write_spans(path, rows, style, longest)
    return facts


def _vocabulary(plan: Plan, examples: Iterable[Example]) -> text.Vocabulary:
    """Returns the vocabulary of the training examples, or that of the model to start from."""
    settings = plan.experiment.vocabulary
    if plan.start is not None:
        for _ in examples:  # counts them
            continue
        start = plan.classes.predictor.load(plan.start)
        vocabulary: text.Vocabulary = start.preprocessor.vocabulary
        return vocabulary
    vectors = None
    if settings.all_vector_words:
        from tfmrc.encoders import load_word_vectors

        vectors = load_word_vectors(plan.data / str(settings.vectors))
    return text.Vocabulary.from_examples(
        examples,
        size=settings.size,
        min_count=settings.min_count,
        num_oov_buckets=settings.num_oov_buckets,
        vectors=vectors,
    )


def _write_examples(prepared: Prepared) -> None:
    """Writes the tags of all examples, and with `split.write_ids` a file of ids for each part."""
    plan, tags = prepared.plan, prepared.tags
    ids: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
    for part in prepared.sources:
        for name, examples in zip(ids, (part.train, part.validation, part.tested), strict=True):
            if tags is not None:
                tags.add(examples)
            if plan.experiment.split.write_ids:
                ids[name] += [example.id for example in examples]
    if plan.experiment.split.write_ids:
        for name, names in ids.items():
            lines = "".join(f"{key}\n" for key in names)
            write_text(plan.folder / folders.IDS / f"{name}.txt", lines)


def _show(prepared: Prepared) -> None:
    """Prints the counts, and warnings of what makes the figures of the run doubtful."""
    facts = prepared.facts
    for source in facts["sources"]:
        print(*lines_of(source), sep="\n")
        if spans := source.get("spans"):
            print(
                f"Training answers that share a word with a passage: {spans['with_a_span']:,} of "
                f"{spans['answers']:,}; ROUGE-L of their nearest spans: "
                f"{100 * spans['rouge_l_of_spans']:.2f}"
            )
    for warning in _warnings(prepared.plan.experiment, facts["sources"]):
        print(f"Warning: {warning}", flush=True)


def _warnings(experiment: Experiment, sources: list[dict[str, Any]]) -> list[str]:
    """Returns warnings of settings and counts that make the figures of a run doubtful."""
    warnings = []
    size = sum(facts.get("validation", {}).get("examples", 0) for facts in sources)
    if size < FEW:
        warnings.append(f"Only {size} validation questions: the best epoch is uncertain.")
    answered = sum(facts.get("train", {}).get("answerable", 0) for facts in sources)
    if experiment.start_from is None and answered < FEW_ANSWERED:
        warnings.append(
            f"Only {answered:,} training questions with an answer: check in the report of `tfmrc "
            "evaluate` that the model beats the baselines."
        )
    for source, facts in zip(experiment.sources, sources, strict=True):
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

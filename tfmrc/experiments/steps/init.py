"""Writes a recipe for a user's own data."""

import json
import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.data import Example, ExampleStream, Report, read_file
from tfmrc.data.formats.rows import BlankAnswers
from tfmrc.data.formats.tables import Columns
from tfmrc.data.stream import OnError
from tfmrc.data.transforms.sentences import words
from tfmrc.data.transforms.splits import group_number, group_of
from tfmrc.encoders.presets import check_preset
from tfmrc.experiments.settings import Split
from tfmrc.experiments.sources import print_broken_records, source_format
from tfmrc.experiments.steps.prepare import FEW
from tfmrc.utils.arguments import suggestion
from tfmrc.utils.files import write_text
from tfmrc.utils.progress import show_progress

__all__ = ["MODELS", "init"]

CLASSES = {
    "san": "SAN",
    "masque": "Masque",
    "maxout_pointer_qg": "MaxoutPointerQG",
    "daanet": "DAANet",
    "extractive_reader": "ExtractiveReader",
}
MODELS = tuple(CLASSES)
READER, READER_ENCODER = "extractive_reader", "minilm"  # which is nothing without an encoder
PASSAGE = 400, 50  # the most words of a passage that a recipe reads, and the step of lengths
LOOKED_AT = 2_000
"""Examples from which the sizes are chosen; all of them are counted."""

_STEPS = 1_500  # a first training of the small presets on two CPU cores: minutes, not hours
_STEPS_WITH_ENCODER = 100  # that a pretrained encoder needs at least
_SEEDS = 20  # of the split, from which one is chosen if a document is most of the data
_FEW, _SOME, _MANY = 300, 1_000, 2_000  # questions with an answer


@show_progress()
def init(
    path: str | Path,
    *,
    model: str,
    data: str | Path,
    test: str | Path | None = None,
    columns: Columns | None = None,
    encoder: str | None = None,
    on_error: OnError = "raise",
    blank_answers: BlankAnswers = "unknown",
) -> str:
    """Writes a recipe that trains a model on a file of questions, with a comment per value.

    The file may have any form that `tfmrc.data` reads: CSV, TSV, JSON, JSON lines, Excel or Parquet
    (see `tfmrc.data.read_table`), SQuAD, and the other official forms. It is read once, to its end,
    so that a broken row is found here. Lengths and counts follow from the data.

    Args:
        path: str or path. The YAML file to write; `.yaml` is added to a bare name.
        model: str. `"san"` (finds the answer in a passage), `"masque"` (writes the answer from
            several passages), `"maxout_pointer_qg"` (asks questions), `"daanet"` (answers and
            asks) or `"extractive_reader"`, also `"reader"` (finds the answer with a pretrained
            encoder and one layer). The names of the classes are taken too.
        data: str or path. The training file.
        test: str, path or None. The file to report on. Default None: there is only a validation
            loss.
        columns: dict. Columns of a table whose names are not recognised, as in
            `tfmrc.data.read_table`. Default None.
        encoder: str. A pretrained encoder, such as `"minilm"`. Default None: no pretrained part,
            for a reader `"minilm"`.
        on_error: str. `"skip"` leaves broken records out, here and in the recipe.
            Default: `"raise"`.
        blank_answers: str. Whether a blank answer is `"unknown"`, or says that there is `"none"`.
            Default: `"unknown"`.

    Returns:
        A summary of the data and the next commands.

    Raises:
        ValueError: If the model does not exist, the data does not suit it, or `path` exists.
        RecordError: If the data is broken.
    """
    target = Path(path)
    target = (
        target if target.suffix in (".yaml", ".yml") else target.with_name(f"{target.name}.yaml")
    )
    if target.exists():
        raise ValueError(f"The recipe exists already; give another name. Received: {target}")
    model = _model_name(model)
    if model == READER and encoder is None:
        encoder = READER_ENCODER
    if encoder is not None:
        check_preset(encoder)
    source = source_format(Path(data), columns)
    spans = model != "masque"
    train_split = _split_of(source, data, "train")
    options: dict[str, Any] = {} if on_error == "raise" else {"on_error": on_error}
    if blank_answers != "unknown":
        options["blank_answers"] = blank_answers
    stream = read_file(data, columns=columns, split=train_split, **options)
    statistics = _Statistics.of(stream, spans)
    print_broken_records(stream.skipped, stream.report.errors, "are left out")
    statistics.check(model)
    test_split = None
    if test is not None:
        styles = [*statistics.styles][: 1 if spans else None]
        test_split = _check_test(test, source, columns, styles, options)
    splits = {"train_options": train_split, "test_options": test_split}
    if columns:
        options = {"columns": columns, **options}
    text = _recipe(
        target.stem, model, source, Path(data), test, options, encoder, statistics, splits
    )
    write_text(target, text)
    return _next_steps(target, model, encoder, test, statistics)


def _check_test(
    test: str | Path,
    source: str,
    columns: Columns | None,
    styles: Sequence[str],
    options: Mapping[str, Any],
) -> str | None:
    """Returns the split of a test file; raises a ValueError if nothing could be scored on it."""
    test_source = source_format(Path(test), columns)
    if test_source != source:
        raise ValueError(
            f"Training and test file have one form. Received: {source}, and {test_source} in {test}"
        )
    split = _split_of(source, test, "test")
    tested = _Statistics.of(read_file(test, columns=columns, split=split, **options))
    if not set(styles) & set(tested.styles):
        raise ValueError(
            f"The test file has no answers of the style{'s' * (len(styles) > 1)} "
            f"{', '.join(styles)}, so nothing could be scored. Without --test, `tfmrc predict` "
            f"answers its questions. Received: {test}"
        )
    return split


def _next_steps(
    target: Path, model: str, encoder: str | None, test: Any, statistics: "_Statistics"
) -> str:
    """Returns a summary of the data and the next commands."""
    run, recipe = shlex.quote(f"runs/{target.stem}"), shlex.quote(str(target))
    commands = [
        f"  tfmrc train {recipe}",
        f"  tfmrc evaluate {run}" + " --input FILE" * (test is None),
        f"  tfmrc predict {run} --input FILE",
    ]
    if model != "maxout_pointer_qg":
        commands.append(f'  tfmrc answer {run} --question "..." --passage "..."')
    if model in ("maxout_pointer_qg", "daanet"):
        commands.append(f'  tfmrc ask {run} --passage "..." --answer "..."')
    lines = [statistics.describe()]
    if "blank answers (unknown)" in statistics.report.notes:
        lines.append('`--blank-answers none` reads a blank answer as "no answer".')
    lines += [f"Wrote {target}. Next:", *commands]
    if model not in ("san", READER):
        longest, lengths = statistics.length("passage", *PASSAGE), statistics.lengths["passage"]
        longer = sum(length > longest for length in lengths)
        if longer > 0.02 * len(lengths):
            lines.insert(
                1,
                f"{longer:,} of {len(lengths):,} passages are longer than {longest} words "
                "(`preprocessor.passage_length`), and what follows is not read; `--model san` "
                "reads long passages in windows.",
            )
    if model == READER:
        lines.append(
            f"`tfmrc train {recipe} --from ready` trains the reader that comes with tfmrc further, "
            "which knows 15,000 questions of SQuAD."
        )
    if encoder is None and statistics.answered < _SOME:
        lines.append(
            "With so few questions start from what was learned before: `--encoder minilm` reads "
            "with a pretrained encoder, and "
            f"`tfmrc train {recipe} --from FOLDER` trains a model further."
        )
    return "\n".join(lines)


def _split_of(source: str, path: str | Path, name: str) -> str | None:
    """Returns the name of a split if the file is NarrativeQA's, which has all of them."""
    if source != "narrativeqa" or not any(True for _ in read_file(path, split=name)):
        return None
    return name


def _model_name(model: str) -> str:
    """Returns the name of a model from that of its class or a part of it."""
    names = {name: name for name in MODELS} | {CLASSES[name]: name for name in MODELS}
    names["reader"] = READER
    if model not in names:
        raise ValueError(
            f"`model` is one of {', '.join(MODELS)}"
            + suggestion(model, names)
            + f" Received: {model!r}"
        )
    return names[model]


@dataclass
class _Statistics:
    """Counts over all examples, and text lengths of the first ones."""

    examples: int = 0
    answered: int = 0
    located: int = 0
    held: int = 0
    unanswerable: int = 0
    ranked: int = 0
    groups: Counter[str] = field(default_factory=Counter)  # with the examples that train
    span_groups: Counter[str] = field(default_factory=Counter)  # the same with `spans: exact`
    report: Report = field(default_factory=Report)
    ids: Counter[str] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)
    styles: dict[str, None] = field(default_factory=dict)
    num_passages: int = 1
    lengths: dict[str, list[int]] = field(
        default_factory=lambda: {"question": [], "passage": [], "answer": []}
    )

    @classmethod
    def of(cls, examples: ExampleStream, spans: bool = False) -> "_Statistics":
        statistics = cls()
        for example in examples:
            statistics.examples += 1
            statistics.answered += bool(example.answers)
            statistics.located += bool(example.spans)
            statistics.unanswerable += example.answerable is False
            statistics.ranked += example.relevance is not None
            if example.group is not None:
                statistics.documents.add(example.group)
            statistics.styles.update(dict.fromkeys(example.answers))
            style = next(iter(statistics.styles), "")  # the one that a recipe of spans trains
            exact = [*data.with_exact_spans([example], style)] if spans else []
            held = bool(example.spans or exact)
            statistics.held += held
            for one in exact:  # which has one passage, and so maybe another group
                statistics.span_groups[group_of(one)] += 1
            for names, name in (
                (statistics.groups, group_of(example)),
                (statistics.ids, example.id),
            ):
                names[name] += held or not spans
            statistics.num_passages = max(statistics.num_passages, len(example.passages))
            if statistics.examples <= LOOKED_AT:
                statistics._measure(example)
        statistics.report = examples.report
        if spans and statistics.finds_spans():
            statistics.groups = statistics.span_groups
        return statistics

    def _measure(self, example: Example) -> None:
        self.lengths["question"].append(len(words(example.question)))
        self.lengths["passage"] += [len(words(passage)) for passage in example.passages]
        self.lengths["answer"] += [
            len(words(text)) for texts in example.answers.values() for text in islice(texts, 1)
        ]

    def length(self, name: str, most: int, step: int = 10) -> int:
        """The words that 98 of 100 texts do not exceed, rounded up to a step; at most `most`."""
        lengths = sorted(self.lengths[name]) or [step]
        length = lengths[min(len(lengths) - 1, int(len(lengths) * 0.98))] + 1
        return min(most, -(-length // step) * step)

    def check(self, model: str) -> None:
        """Raises a ValueError if the data does not suit a model."""
        if not self.answered:
            raise ValueError(
                f"{model} is trained on answers, and no row has one. Expected a column `answer` "
                "or `answers`"
            )
        if model != "masque" and not self.held:
            raise ValueError(
                f"{model} is trained on answers that a passage contains word by word, and none of "
                f"the {self.answered:,} does. `--model masque` writes answers in its own words."
            )

    def finds_spans(self) -> bool:
        """Returns True if a recipe of spans has `spans: exact`, as some positions are unknown."""
        return self.located < self.answered

    def has_no_answers(self) -> bool:
        """Returns True if questions without an answer are known, and all others have a position."""
        return 0 < self.unanswerable == self.examples - self.located

    def validation(self) -> tuple[float, int]:
        """The share of the documents, or of the questions of a single one, to validate on.

        It gives validation a twentieth of the questions or more, and as many as choose the best
        weights reliably where these are at most a fifth. Where the default seed draws a document
        with more than half of the questions, the seed is another one.

        Returns:
            The share, and the seed of the split.
        """
        names = self.ids if len(self.groups) == 1 else self.groups
        total = sum(names.values())
        wanted = max(1, total / 20, min(FEW, total / 5))
        size, share = _drawn(names, Split.seed, wanted)
        if size <= total / 2:
            return share, Split.seed
        seeds = range(Split.seed, Split.seed + _SEEDS)
        by_seed = {seed: _drawn(names, seed, wanted) for seed in seeds}
        seed = min(seeds, key=lambda seed: abs(by_seed[seed][0] - wanted))
        return by_seed[seed][1], seed

    def describe(self) -> str:
        parts = [f"{self.examples:,} questions", f"{self.answered:,} with an answer"]
        if self.located:
            parts.append(f"{self.located:,} with its position")
        if 0 < self.held < self.answered and self.held > self.located:
            parts.append(f"{self.held:,} whose answer a passage contains")
        if self.unanswerable:
            parts.append(f"{self.unanswerable:,} that the passages do not answer")
        if self.documents:
            parts.append(f"{len(self.documents):,} documents")
        parts += [f"{count:,} {what}" for what, count in self.report.notes.items()]
        return ", ".join(parts)


def _drawn(names: Mapping[str, int], seed: int, wanted: float) -> tuple[int, float]:
    """Returns the number of questions that a seed draws, and the share that draws them.

    A document is drawn if its number is below the share. The document of the greatest number is
    always left for training.

    Args:
        names: dict from document to its number of questions.
        seed: int. Seed of the split.
        wanted: float. The least number of questions to draw, if there are enough documents.
    """
    groups = sorted((group_number(name, seed), size) for name, size in names.items())
    chosen = count = 0
    for count, (_, size) in enumerate(groups):
        if chosen >= wanted or count == len(groups) - 1:
            break
        chosen += size
    last = groups[count - 1][0] if count else 0.0
    share = Split.validation_share
    if not last < share <= groups[-1][0]:
        share = _between(last, groups[count][0])
    return sum(size for number, size in groups if number < share), share


def _between(low: float, high: float) -> float:
    """Returns a number above `low` and at most `high`, with four decimals if there is one."""
    for digits in range(4, 16):
        number = math.ceil(low * 10**digits + 1) / 10**digits
        if low < number <= high:
            return number
    return high


def _recipe(
    name: str,
    model: str,
    source: str,
    train: Path,
    test: str | Path | None,
    options: Mapping[str, Any],
    encoder: str | None,
    statistics: _Statistics,
    splits: Mapping[str, str | None],
) -> str:
    styles = list(statistics.styles)
    spans = model != "masque"
    lines = [
        f"# {name}: written by `tfmrc init`. Every value can be changed here, or on the command",
        "# line: --set training.epochs=2. `tfmrc train --help` describes all of them.",
        f"name: {_yaml(name)}",
        f"title: {_yaml(name)}",
        "",
        "sources:",
        f"- format: {source}",
        f"  train: {_yaml(str(train.resolve()))}",
        f"  test: {'null' if test is None else _yaml(str(Path(test).resolve()))}"
        + "  # the file that `tfmrc evaluate` reports on" * (test is None),
        f"  styles: {_yaml(styles[:1] if spans else styles)}",
    ]
    for name, split in splits.items():
        if split is not None:
            lines.append(f"  {name}: {{split: {split}}}  # the file has all parts of the data")
    if options:
        lines.append(f"  options: {_yaml(options)}")
    if spans and not (model == READER and statistics.has_no_answers()):
        lines.append("  answerable_only: true  # questions without an answer are left out")
    if spans and statistics.finds_spans():
        lines.append("  spans: exact  # trains on answers that a passage holds word by word")
    lines += ["", *_split(statistics), ""]
    if model != READER:
        lines += [*_vocabulary(statistics), ""]
    if encoder is not None:
        lines += [
            "# Reads the texts; another one: a folder in Hugging Face's form.",
            f"encoder: {{preset: {_yaml(encoder)}, length: 256, overlap: 96}}",
            "",
        ]
    lines += [*_preprocessor(model, statistics), "", *_model(model, statistics, encoder), ""]
    return "\n".join(
        [*lines, *_training(model, statistics, encoder), "", *_evaluation(model, statistics), ""]
    )


def _split(statistics: _Statistics) -> list[str]:
    number, seed = statistics.validation()
    share = f"validation_share: {Decimal(repr(number)):f}"
    if seed != Split.seed:
        share = f"seed: {seed}, {share}"
    if len(statistics.groups) == 1:
        return [
            "# All questions are of one document, so single questions are drawn.",
            f"split: {{by: example, {share}, validation_limit: 512}}",
        ]
    count = len(statistics.documents)
    how = (
        f"# Validated on documents that training does not see ({count:,} in the data)."
        if count
        else "# No column names the documents (`group`): two passages of one may be in two parts."
    )
    return [how, f"split: {{{share}, validation_limit: 512}}"]


def _vocabulary(statistics: _Statistics) -> list[str]:
    count = 2 if statistics.examples >= LOOKED_AT else 1
    return [
        "# Words with a row of their own; all others share rows by their hash. Pretrained vectors:",
        "# vectors: FILE (GloVe, word2vec, fastText) and model.embeddings_trainable: false.",
        f"vocabulary: {{size: 20000, min_count: {count}, num_oov_buckets: 500}}",
    ]


def _preprocessor(model: str, statistics: _Statistics) -> list[str]:
    if model == READER:  # a word has one to two subwords
        return [
            "# Subwords per text. Passages are read in windows of `window_length`.",
            "preprocessor:",
            f"  question_length: {statistics.length('question', 60) * 3 // 2}",
            f"  answer_length: {max(15, statistics.length('answer', 60, 5) * 3 // 2)}",
            f"  unanswerable: {_yaml(statistics.has_no_answers())}"
            "  # whether questions without an answer are trained to have none",
        ]
    sizes = {
        "passage_length": statistics.length("passage", *PASSAGE),
        "question_length": statistics.length("question", 60),
    }
    if model == "masque":
        sizes = {"num_passages": min(statistics.num_passages, 10), **sizes}
    if model != "maxout_pointer_qg":
        sizes["answer_length"] = statistics.length("answer", 60, 5)
    if model == "daanet":
        sizes["word_length"] = 12
    if model != "san":
        sizes["generation_vocabulary_size"] = 4000
    rows = [f"  {name}: {value}" for name, value in sizes.items()]
    return [
        "# Words per text; what is longer is cut, or read in windows by SAN.",
        "preprocessor:",
        *rows,
    ]


def _model(model: str, statistics: _Statistics, encoder: str | None) -> list[str]:
    if model == "masque":
        ranker, classifier = statistics.ranked > 0, statistics.unanswerable > 0
        parts = [
            f"  ranker: {_yaml(ranker)}  # needs `relevance`",
            f"  classifier: {_yaml(classifier)}  # needs questions without an answer",
        ]
        return ["model:", "  name: Masque", "  preset: masque_small", *parts]
    if model == READER:
        return ["model: {name: ExtractiveReader}"]
    if model == "san" and encoder is not None:
        return ["model: {name: SAN, dropout: 0.1}"]
    return [f"model: {{name: {CLASSES[model]}, preset: {model}_demo}}"]


def _training(model: str, statistics: _Statistics, encoder: str | None) -> list[str]:
    # Answers that no passage contains train no model of spans.
    answered = statistics.answered if model == "masque" else statistics.held
    batch_size = 8 if answered < _FEW else 16 if answered < _SOME or encoder is not None else 32
    per_epoch = max(1, answered // batch_size)
    if encoder is None:
        epochs = min(30, max(3, -(-_STEPS // per_epoch)))
    else:
        epochs = max(2 if answered >= _MANY else 4, -(-_STEPS_WITH_ENCODER // per_epoch))
    settings = {"epochs": epochs, "batch_size": batch_size}
    if settings["epochs"] > 5:
        settings["patience"] = 5
    return [
        "# The best weights by validation loss are kept, and training ends `patience` epochs after",
        "# them; the same command resumes after a stop.",
        "training:",
        *(f"  {name}: {value}" for name, value in settings.items()),
        *["  optimizer: {learning_rate: 0.001}"] * (model == "masque"),
    ]


def _evaluation(model: str, statistics: _Statistics) -> list[str]:
    options = {
        "san": "{num_return_sequences: 4}",
        READER: "{num_return_sequences: 4}",
        "masque": f"{{max_length: {statistics.length('answer', 60, 5)}}}",
        "maxout_pointer_qg": "{num_beams: 5}",
        "daanet": "{num_beams: 1}",
    }[model]
    return ["evaluation:", f"  options: {options}", "  batch_size: 32", "  meteor: false"]


def _yaml(value: Any) -> str:
    """Returns a value as JSON, which YAML reads as what it is."""
    return json.dumps(value, ensure_ascii=False)

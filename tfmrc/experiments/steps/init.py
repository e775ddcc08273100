"""Writes a recipe for a user's own data."""

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from tfmrc import data
from tfmrc.data import Account, Example
from tfmrc.data.formats.detect import file_format
from tfmrc.data.transforms.sentences import words
from tfmrc.data.transforms.splits import group_number, group_of
from tfmrc.encoders.presets import check_preset
from tfmrc.experiments.recipes import find_recipe
from tfmrc.experiments.run_folder import trained_folder
from tfmrc.experiments.settings import Split, read_settings
from tfmrc.experiments.tables.reading import Reading, Rows, read_questions
from tfmrc.predictors.ready.reader import READY
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
WIDE = (READY, "minilm")  # encoders whose embeddings have 384 numbers
READER = "extractive_reader"
PASSAGE = 400, 50  # the most words of a passage that a recipe reads, and the step of lengths
LOOKED_AT = 2_000
"""Examples from which the sizes are chosen; all of them are counted."""

_STEPS = 1_500  # a first training of the small presets on two CPU cores: minutes, not hours
_STEPS_WITH_ENCODER = 100  # that a pretrained encoder needs at least
_STEPS_OF_DECODER = 600  # that a decoder needs beside it
_SEEDS = 50  # of the split, from which the first one is taken that draws the shares
_TRAINED, _TOLERANCE = 0.65, 0.4  # least share of the rows to train on; of a part, its deviation
_FEW, _SOME, _MANY = 300, 1_000, 2_000  # questions with an answer


@show_progress()
def init(
    path: str | Path,
    *,
    model: str,
    data: str | Path,
    test: str | Path | None = None,
    test_share: float = 0.2,
    encoder: str = READY,
    **reading: Unpack[Reading],
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
        test: str, path or None. The file to report on. Default None: a part of `data`.
        test_share: float. Share of `data` to report on, if there is no `test`: documents if there
            are enough, else single questions. Default: 0.2.
        encoder: str. What the model starts from: `"ready"`, the reader of English that comes with
            tfmrc (for other models its encoder), another pretrained encoder, such as `"minilm"`, or
            `"none"`. Default: `"ready"`.
        **reading: How the data is read, here and in the recipe: `columns`, `blank_answers` and
            `on_error` of `tfmrc.experiments.tables.reading.read_questions`.

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
    if encoder == "none" and model == READER:
        raise ValueError(f"{model} is an encoder and one layer. Received: encoder={encoder!r}")
    if encoder != "none" and trained_folder(encoder) is None:
        check_preset(encoder)
    source = file_format(data, reading.get("columns"))
    spans = model != "masque"
    options = {name: value for name, value in reading.items() if value}
    rows, account = read_questions(data, **reading)
    statistics = _Statistics.of(rows, spans)
    account.print(Path(data).name)
    statistics.check(model)
    statistics.test_share = 0.0 if test is not None else test_share
    if test is not None:
        styles = [*statistics.styles][: 1 if spans else None]
        _check_test(test, data, source, styles, reading)
    text = _recipe(target.stem, model, source, Path(data), test, options, encoder, statistics)
    write_text(target, text)
    return _next_steps(target, model, encoder, test, statistics)


def _check_test(
    test: str | Path,
    train: str | Path,
    source: str,
    styles: Sequence[str],
    reading: Reading,
) -> None:
    """Raises a ValueError if nothing could be scored on a test file, or it is the training file."""
    if Path(test).samefile(train):
        raise ValueError(
            "The test file is the training file; without --test a part of it is held out. "
            f"Received: --test {test}"
        )
    test_source = file_format(test, reading.get("columns"))
    if test_source != source:
        raise ValueError(
            f"Training and test file have one form. Received: {source}, and {test_source} in {test}"
        )
    tested = _Statistics.of(read_questions(test, **reading)[0])
    if not set(styles) & set(tested.styles):
        raise ValueError(
            f"The test file has no answers of the style{'s' * (len(styles) > 1)} "
            f"{', '.join(styles)}, so nothing could be scored. Without --test, `tfmrc predict` "
            f"answers its questions. Received: {test}"
        )


def _next_steps(
    target: Path, model: str, encoder: str, test: Any, statistics: "_Statistics"
) -> str:
    """Returns a summary of the data and the next commands."""
    run, recipe = shlex.quote(f"runs/{target.stem}"), shlex.quote(str(target))
    commands = [
        f"  tfmrc train {recipe}",
        f"  tfmrc evaluate {run}" + " --input FILE" * (not test and not statistics.test_share),
        f"  tfmrc predict {run} --input FILE",
    ]
    if model != "maxout_pointer_qg":
        commands.append(f'  tfmrc answer {run} --question "..." --passage "..."')
    if model in ("maxout_pointer_qg", "daanet"):
        commands.append(f'  tfmrc ask {run} --passage "..." --answer "..."')
    lines = [statistics.describe()]
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
    lines.append(_start_of(model, encoder))
    return "\n".join(lines)


def _start_of(model: str, encoder: str) -> str:
    """Returns what a model starts from."""
    if encoder == "none":
        return "Starts from nothing."
    ready = "the ready reader, which knows 15,000 questions of SQuAD (English)."
    if encoder == READY:
        return f"Starts from {ready if model == READER else f'the encoder of {ready}'}"
    return f"Starts from the encoder {encoder}."


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
    test_share: float = 0.0
    groups: Counter[str] = field(default_factory=Counter)  # with their questions
    account: Account = field(default_factory=Account)
    ids: list[str] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    styles: dict[str, None] = field(default_factory=dict)
    num_passages: int = 1
    lengths: dict[str, list[int]] = field(
        default_factory=lambda: {"question": [], "passage": [], "answer": []}
    )

    @classmethod
    def of(cls, rows: Rows, spans: bool = False) -> "_Statistics":
        statistics = cls()
        for example in rows.examples:
            statistics.examples += 1
            statistics.answered += bool(example.answers)
            statistics.located += bool(example.spans)
            statistics.unanswerable += example.answerable is False
            statistics.ranked += example.relevance is not None
            if example.group is not None:
                statistics.documents.add(example.group)
            statistics.styles.update(dict.fromkeys(example.answers))
            style = next(iter(statistics.styles), "")  # the one that a recipe of spans trains
            exact = spans and any(True for _ in data.with_exact_spans([example], style))
            statistics.held += bool(example.spans) or exact
            statistics.groups[group_of(example)] += 1
            statistics.ids.append(example.id)
            statistics.num_passages = max(statistics.num_passages, len(example.passages))
            if statistics.examples <= LOOKED_AT:
                statistics._measure(example)
        statistics.account = rows.account
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

    def spans(self, model: str) -> str | None:
        """Returns the setting `spans` of a recipe of spans; None if all positions are known."""
        if self.located == self.answered:
            return None
        return "exact" if model == "maxout_pointer_qg" or self.held == self.answered else "best"

    def split(self) -> tuple[str, float, int]:
        """Returns how the parts are drawn, the share to validate on, and the seed.

        The first seed that draws about the shares of documents is taken; if there is none, as for
        few documents, single questions are drawn with the best seed.
        """
        total = len(self.ids)
        share = 0.12 if total < _MANY else 0.1 if total < 10 * _MANY else 0.05
        wanted = [part for part in (self.test_share, share) if part]

        def error(names: Mapping[str, int], seed: int) -> float:
            numbers = [(group_number(name, seed), size) for name, size in names.items()]
            low, errors, left = 0.0, [], total
            for part in wanted:
                size = sum(size for number, size in numbers if low <= number < low + part)
                low, left = low + part, left - size
                errors.append(abs(size / total / part - 1))
            return max(errors) + (left < _TRAINED * total)

        seeds = range(Split.seed, Split.seed + _SEEDS)
        for seed in seeds if len(self.groups) > 2 else ():
            if error(self.groups, seed) <= _TOLERANCE:
                return "group", share, seed
        return "example", share, min(seeds, key=lambda seed: error(Counter(self.ids), seed))

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
        parts += [f"{count:,} {what}" for what, count in self.account.notes.items()]
        return ", ".join(parts)


def _recipe(
    name: str,
    model: str,
    source: str,
    train: Path,
    test: str | Path | None,
    options: Mapping[str, Any],
    encoder: str,
    statistics: _Statistics,
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
        + "  # a file to report on, in place of a share" * (test is None),
        f"  styles: {_yaml(styles[:1] if spans else styles)}",
    ]
    if options:
        lines.append(f"  options: {_yaml(options)}")
    if spans and not (model == READER and statistics.unanswerable):
        lines.append("  answerable_only: true  # questions without an answer are left out")
    found = statistics.spans(model) if spans else None
    if found is not None:
        how = "the words of a passage nearest to the answer" if found == "best" else "word by word"
        lines.append(f"  spans: {found}  # finds answers in the passages: {how}")
    lines += ["", *_split(statistics), ""]
    if model == READER and encoder == READY:
        lines += ["# The reader that comes with tfmrc, with its sizes; null: from an `encoder`."]
        lines += [f"start_from: {READY}", ""]
    else:
        lines += [*_parts(model, encoder, statistics), ""]
    lines += [*_model(model, statistics, encoder), ""]
    return "\n".join(
        [*lines, *_training(model, statistics, encoder), "", *_evaluation(model, statistics), ""]
    )


def _split(statistics: _Statistics) -> list[str]:
    by, share, seed = statistics.split()
    count = len(statistics.documents)
    how = (
        "# Too few documents for all parts: single questions are drawn, so passages recur."
        if by == "example"
        else f"# Validated and tested on documents that training does not see ({count:,} in all)."
        if count
        else "# No column names the documents (`group`): two passages of one may be in two parts."
    )
    parts = f"validation_share: {share:g}, test_share: {statistics.test_share:g}"
    return [how, f"split: {{by: {by}, seed: {seed}, {parts}, validation_limit: 512}}"]


def _parts(model: str, encoder: str, statistics: _Statistics) -> list[str]:
    """Returns the vocabulary, the encoder and the preprocessor of a model that starts without."""
    lines: list[str] = []
    if model != READER:
        count = 2 if statistics.examples >= LOOKED_AT else 1
        rows = "true" if encoder in WIDE and model != "san" else "false"
        lines += [
            "# Words with a row of their own; all others share rows by their hash. Pretrained",
            "# vectors: vectors: FILE (GloVe, word2vec, fastText) and "
            "model.embeddings_trainable: false.",
            f"vocabulary: {{size: 20000, min_count: {count}, num_oov_buckets: 500, "
            f"rows_from_encoder: {rows}}}",
            "",
        ]
    if encoder != "none":
        lines += [
            "# Reads the texts; another one: a folder in Hugging Face's form.",
            f"encoder: {{preset: {_yaml(encoder)}, length: 256, overlap: 96}}",
            "",
        ]
    return [*lines, *_preprocessor(model, statistics)]


def _preprocessor(model: str, statistics: _Statistics) -> list[str]:
    if model == READER:  # a word has one to two subwords
        return [
            "# Subwords per text. Passages are read in windows of `window_length`.",
            "preprocessor:",
            f"  question_length: {statistics.length('question', 60) * 3 // 2}",
            f"  answer_length: {max(15, statistics.length('answer', 60, 5) * 3 // 2)}",
            f"  unanswerable: {_yaml(statistics.unanswerable > 0)}"
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


def _model(model: str, statistics: _Statistics, encoder: str) -> list[str]:
    preset = "masque_small" if model == "masque" else f"{model}_demo"
    values: dict[str, Any] = {"name": CLASSES[model], "preset": preset}
    if model == READER:
        del values["preset"]
    elif encoder in WIDE or (encoder != "none" and model == "san"):
        values = {**read_settings(find_recipe(f"{model}_squad/minilm")).model}
    if model == "masque":  # a ranker needs `relevance`, a classifier questions without an answer
        values |= {"ranker": statistics.ranked > 0, "classifier": statistics.unanswerable > 0}
    return [f"model: {_yaml(values)}"]


def _training(model: str, statistics: _Statistics, encoder: str) -> list[str]:
    answered = statistics.answered
    batch_size = 8 if answered < _FEW else 16 if answered < _SOME or encoder != "none" else 32
    per_epoch = max(1, int(answered * _TRAINED) // batch_size)
    steps = _STEPS_WITH_ENCODER if model in ("san", READER) else _STEPS_OF_DECODER
    if encoder == "none":
        epochs = min(30, max(3, -(-_STEPS // per_epoch)))
    else:
        epochs = max(2 if answered >= _MANY else 4, -(-steps // per_epoch))
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
    longest = max(15, statistics.length("answer", 60, 5) * 3 // 2)  # subwords
    none = ", handle_impossible_answer: true" * (statistics.unanswerable > 0)
    options = {
        "san": "{num_return_sequences: 4}",
        READER: f"{{num_return_sequences: 4, max_length: {longest}{none}}}",
        "masque": f"{{max_length: {statistics.length('answer', 60, 5)}}}",
        "maxout_pointer_qg": "{num_beams: 5}",
        "daanet": "{num_beams: 1}",
    }[model]
    return ["evaluation:", f"  options: {options}", "  batch_size: 32", "  meteor: false"]


def _yaml(value: Any) -> str:
    """Returns a value as JSON, which YAML reads as what it is."""
    return json.dumps(value, ensure_ascii=False)

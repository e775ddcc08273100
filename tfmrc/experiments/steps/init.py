"""Writes a recipe for a user's own data, from the template of a model."""

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from string import Template
from typing import Any, Unpack

from tfmrc.data import Example, with_exact_spans
from tfmrc.data.formats.detect import file_format
from tfmrc.data.transforms.sentences import words
from tfmrc.data.transforms.splits import group_number, group_of
from tfmrc.encoders.presets import check_preset
from tfmrc.experiments.recipes import find_recipe
from tfmrc.experiments.run_folder import trained_folder
from tfmrc.experiments.settings import Split, read_settings
from tfmrc.experiments.tables.reading import Reading, read_questions, taken_options
from tfmrc.models.folder import CONFIG
from tfmrc.predictors.ready.shipped import NAMES
from tfmrc.utils.arguments import suggestion
from tfmrc.utils.files import read_json, write_text
from tfmrc.utils.progress import show_progress

CLASSES = {  # by the names of the templates
    "san": "SAN",
    "masque": "Masque",
    "maxout_pointer_qg": "MaxoutPointerQG",
    "daanet": "DAANet",
    "reader": "ExtractiveReader",
}
MODELS = tuple(CLASSES)
STARTS = {  # the ready model that each starts from
    "san": "ready-san",
    "masque": "ready-masque",
    "maxout_pointer_qg": "ready-qg",
    "daanet": "ready-daanet",
    "reader": "ready",
}
NOTHING, ENCODER = "none", "minilm"
TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
WIDE = (*NAMES, ENCODER)  # encoders whose embeddings have 384 numbers
PASSAGE = 400, 50  # the most words of a passage that a recipe reads, and the step of lengths
LOOKED_AT = 2_000
"""Examples from which the sizes are chosen; all of them are counted."""

_STEPS = 1_500  # a first training of the small presets on two CPU cores: minutes, not hours
_STEPS_WITH_ENCODER = 100  # that a pretrained encoder needs at least
_STEPS_OF_DECODER = 600  # that a decoder needs beside it
_GENTLE = {"learning_rate": 0.0003, "encoder_learning_rate": 0.00003}  # else Masque writes worse
_SEEDS = 50  # of the split, from which the first one is taken that draws the shares
_TRAINED, _TOLERANCE = 0.65, 0.4  # least share of the rows to train on; of a part, its deviation
_FEW, _SOME, _MANY = 300, 1_000, 2_000  # questions with an answer


@show_progress()
def init(
    path: str | Path,
    *,
    model: str,
    data: str | Path | Sequence[str | Path],
    test: str | Path | None = None,
    test_share: float = 0.2,
    start: str | None = None,
    encoder: str | None = None,
    **reading: Unpack[Reading],
) -> str:
    """Writes a recipe that trains a model on files of questions, with comments on its values.

    A file may have any form that `tfmrc.data` reads: CSV, TSV, JSON, JSON lines, Excel or Parquet
    (see `tfmrc.data.read_table`), SQuAD, and the other official forms. It is read once, to its end,
    so that a broken row is found here. Lengths and counts follow from the data.

    Args:
        path: str or path. The YAML file to write; `.yaml` is added to a bare name.
        model: str. `"reader"` (finds the answer with a pretrained encoder and one layer), `"san"`
            (finds the answer in a passage), `"masque"` (writes the answer from several passages),
            `"maxout_pointer_qg"` (asks questions) or `"daanet"` (answers and asks). The names of
            the classes are taken too.
        data: str, path or list of them. The training files.
        test: str, path or None. The file to report on. Default: None, a part of `data`.
        test_share: float. Share of `data` to report on, if there is no `test`: documents if there
            are enough, else single questions. Default: 0.2.
        start: str or None. What the model starts from: a ready model, the folder of a run or of a
            saved predictor, or `"none"`. Default: None, the ready model of its kind (English), or
            `"none"` with an `encoder`.
        encoder: str or None. The pretrained encoder of a model that starts from none; `"none"` for
            none. Default: None, `"minilm"`.
        **reading: How the data is read, here and in the recipe: `columns`, `blank_answers` and
            `on_error` of `tfmrc.experiments.tables.reading.read_questions`.

    Returns:
        A summary of the data and the next commands.

    Raises:
        ValueError: If the model does not exist, the data does not suit it, or `path` exists.
        RecordError: If the data is broken.
    """
    given = Path(path)
    target = given if given.suffix in (".yaml", ".yml") else given.with_name(f"{given.name}.yaml")
    if target.exists():
        raise ValueError(f"The recipe exists already; give another name. Received: {target}")
    model = _model_name(model)
    has_ready = encoder is None and STARTS[model] in NAMES
    start = start or (STARTS[model] if has_ready else NOTHING)
    encoder = encoder or ENCODER
    _check_start(model, start, encoder)
    files = [Path(data)] if isinstance(data, str | Path) else [Path(file) for file in data]
    rows, account = read_questions(files, **reading)
    found = _Statistics(model, 0.0 if test is not None else test_share)
    for example in rows.examples:
        found.add(example)
    account.print(", ".join(file.name for file in files))
    found.check()
    known = None if start == NOTHING else _config(start)
    styles = _styles(found, known)
    sources = [_source(found, styles, train=file, reading=reading) for file in files]
    if test is not None:
        _check_test(Path(test), files, found.styles, reading)
        sources.append(_source(found, styles, test=Path(test), reading=reading))
    settings = {**found.sizes(), **_split(found), **_parts(found, encoder, known is not None)}
    parts = ["recipe", *(["words"] if model != "reader" else []), model]
    if known is not None:
        parts = ["recipe", "start"]
        settings["start"] = start if start in NAMES else str(Path(start).resolve())
        settings["options"] = _options(found, known)
        settings["optimizer"] = _GENTLE if model == "masque" else {}
        theirs = known["preprocessor"]["config"].get("num_passages")
        settings["preprocessor"] = (
            {} if theirs is None else {"num_passages": max(theirs, settings["num_passages"])}
        )
    values = {name: _yaml(value) for name, value in {**settings, "name": target.stem}.items()}
    fixed = {"sources": "".join(sources), "split_note": _split_note(found, settings["by"])}
    text = "".join(map(_template, parts))
    write_text(target, Template(text).substitute(values | fixed))
    lines = [found.describe(), *found.long_passages(), f"Wrote {target}. Next:"]
    return "\n".join([*lines, *_commands(target, found, test), _start_of(start, encoder)])


def _check_start(model: str, start: str, encoder: str) -> None:
    """Raises a ValueError if a model cannot start from a folder or an encoder."""
    if start != NOTHING and encoder != ENCODER:
        raise ValueError(
            f"Give a start or an encoder, not both: {start} has its own encoder. "
            f"Received: start={start!r}, encoder={encoder!r}"
        )
    if start != NOTHING and trained_folder(start) is None:
        raise ValueError(
            f"`start` must be one of {', '.join(NAMES)}, the folder of a trained model, or none. "
            f"Received: {start!r}"
        )
    if encoder == NOTHING and model == "reader":
        raise ValueError("A reader needs an encoder. Received: encoder='none'")
    if encoder != NOTHING and trained_folder(encoder) is None:
        check_preset(encoder)


def _model_name(model: str) -> str:
    """Returns the name of a model's template from that of its class or its template."""
    names = {name: model for model, kind in CLASSES.items() for name in (model, kind)}
    names["extractive_reader"] = "reader"
    if model not in names:
        raise ValueError(
            f"`model` must be one of {', '.join(MODELS)}"
            + suggestion(model, names)
            + f" Received: {model!r}"
        )
    return names[model]


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}.yaml").read_text(encoding="utf-8")


def _yaml(value: Any) -> str:
    """Returns a value as JSON, which is YAML."""
    return json.dumps(value, ensure_ascii=False)


# === What is in the data ===


@dataclass
class _Statistics:
    """Counts over all examples, and text lengths of the first ones.

    Args:
        model: str. Name of the model's template.
        test_share: float. Share of the examples that is tested on.
    """

    model: str
    test_share: float
    answered: int = 0
    located: int = 0  # with positions
    contained: int = 0  # in a passage, word by word
    unanswerable: int = 0
    ranked: int = 0
    groups: Counter[str] = field(default_factory=Counter)  # with their questions
    ids: list[str] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    all_styles: dict[str, None] = field(default_factory=dict)
    num_passages: int = 1
    lengths: dict[str, list[int]] = field(
        default_factory=lambda: {"question": [], "passage": [], "answer": []}
    )

    @property
    def finds(self) -> bool:
        """True if the model is trained on answers that a passage contains."""
        return self.model != "masque"

    @property
    def styles(self) -> list[str]:
        """The styles that are trained: one of a model that finds answers."""
        return [*self.all_styles][: 1 if self.finds else None]

    def add(self, example: Example) -> None:
        """Counts an example."""
        self.answered += bool(example.answers)
        self.located += bool(example.spans)
        self.unanswerable += example.answerable is False
        self.ranked += example.relevance is not None
        if example.group is not None:
            self.documents.add(example.group)
        self.all_styles.update(dict.fromkeys(example.answers))
        exact = self.finds and self.styles and with_exact_spans([example], self.styles[0])
        self.contained += bool(example.spans) or any(True for _ in exact or ())
        self.groups[group_of(example)] += 1
        self.ids.append(example.id)
        self.num_passages = max(self.num_passages, len(example.passages))
        if len(self.ids) <= LOOKED_AT:
            self.lengths["question"].append(len(words(example.question)))
            self.lengths["passage"] += [len(words(passage)) for passage in example.passages]
            for texts in example.answers.values():
                self.lengths["answer"] += [len(words(text)) for text in islice(texts, 1)]

    def check(self) -> None:
        """Raises a ValueError if the data does not suit the model."""
        if not self.answered:
            raise ValueError(
                f"{self.model} is trained on answers, and no row has one. Expected a column "
                "`answer` or `answers`"
            )
        if self.finds and not self.contained:
            raise ValueError(
                f"{self.model} is trained on answers that a passage contains word by word, and "
                f"none of the {self.answered:,} does. `--model masque` writes answers in its own "
                "words."
            )

    def length(self, name: str, most: int, step: int = 10) -> int:
        """The words that 98 of 100 texts do not exceed, rounded up to a step; at most `most`."""
        lengths = sorted(self.lengths[name]) or [step]
        length = lengths[min(len(lengths) - 1, int(len(lengths) * 0.98))] + 1
        return min(most, -(-length // step) * step)

    def sizes(self) -> dict[str, Any]:
        """Returns the settings that lengths and counts give."""
        question, answer = self.length("question", 60), self.length("answer", 60, 5)
        return {
            "num_passages": min(self.num_passages, 10),
            "passage_length": self.length("passage", *PASSAGE),
            "question_length": question,
            "answer_length": answer,
            "question_subwords": question * 3 // 2,  # a word has one to two
            "answer_subwords": max(15, answer * 3 // 2),
            "unanswerable": self.unanswerable > 0,
            "min_count": 2 if len(self.ids) >= LOOKED_AT else 1,
        }

    def describe(self) -> str:
        """Returns the counts in a line."""
        some = self.located < self.contained < self.answered
        counts = {
            "with its position": self.located,
            "whose answer a passage contains": self.contained if some else 0,
            "that the passages do not answer": self.unanswerable,
            "documents": len(self.documents),
        }
        parts = [f"{len(self.ids):,} questions", f"{self.answered:,} with an answer"]
        return ", ".join(parts + [f"{count:,} {what}" for what, count in counts.items() if count])

    def long_passages(self) -> list[str]:
        """Returns a line about passages that are cut; none if there are few."""
        longest, lengths = self.length("passage", *PASSAGE), self.lengths["passage"]
        longer = sum(length > longest for length in lengths)
        if self.model in ("san", "reader") or longer <= 0.02 * len(lengths):
            return []
        return [
            f"Passages longer than {longest} words, which are cut there: {longer:,} of "
            f"{len(lengths):,} (`preprocessor.passage_length`). `--model san` reads long passages "
            "in windows."
        ]


# === Settings ===


def _config(start: str) -> dict[str, Any]:
    """Returns the configuration of a trained model."""
    return dict(read_json(Path(trained_folder(start) or start) / CONFIG))


def _styles(found: _Statistics, known: Mapping[str, Any] | None) -> list[str]:
    """Returns the names of the styles in the recipe: those of the model that training starts from.

    Raises:
        ValueError: If it has no style of a name.
    """
    if known is None:
        return found.styles
    theirs = known["preprocessor"]["config"].get("styles", ["span"])
    if len(found.styles) == 1 and found.styles[0] not in theirs:
        return [theirs[0]]
    if not set(found.styles) <= set(theirs):
        raise ValueError(
            f"The model to start from writes the styles {', '.join(theirs)}; name the columns so "
            f"(--columns answers.{theirs[0]}=COLUMN), or start from none. "
            f"Received: styles={found.styles}"
        )
    return found.styles


def _options(found: _Statistics, known: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of prediction: those of the model that training starts from."""
    options = dict(known.get("options", {}))
    if found.model in ("san", "reader"):
        options["num_return_sequences"] = 4
    if found.model == "reader":
        options["max_length"] = found.sizes()["answer_subwords"]
    return options


def _source(
    found: _Statistics,
    styles: Sequence[str],
    *,
    train: Path | None = None,
    test: Path | None = None,
    reading: Reading,
) -> str:
    """Returns the source of a training file or of the test file."""
    kind = file_format(train or test or "", reading.get("columns"))
    spans: str | None = "best"
    if not found.finds or found.located == found.answered:
        spans = None
    elif found.model == "maxout_pointer_qg" or found.contained == found.answered:
        spans = "exact"
    values = {
        "format": kind,
        "train": train and str(train.resolve()),
        "test": test and str(test.resolve()),
        "styles": styles,
        "options": taken_options(kind, reading),
        "answerable_only": found.finds and not (found.model == "reader" and found.unanswerable),
        "spans": spans,
    }
    return Template(_template("source")).substitute({k: _yaml(v) for k, v in values.items()})


def _check_test(test: Path, files: Sequence[Path], styles: Sequence[str], reading: Reading) -> None:
    """Raises a ValueError if nothing could be scored on a test file, or it is a training file."""
    if any(test.samefile(file) for file in files):
        raise ValueError(
            "The test file is a training file too; without --test a part of it is held out. "
            f"Received: --test {test}"
        )
    rows, _ = read_questions(test, **reading)
    if not any(style in example.answers for example in rows.examples for style in styles):
        raise ValueError(
            f"The test file has no answers of the style {' or '.join(styles)}, so nothing could "
            "be scored. Without --test, `tfmrc predict` answers its questions. "
            f"Received: --test {test}"
        )


def _split(found: _Statistics) -> dict[str, Any]:
    """Returns how the parts are drawn, their shares, and the seed.

    The first seed that draws about the shares of documents is taken; if there is none, as for
    few documents, single questions are drawn with the best seed.
    """
    total = len(found.ids)
    share = 0.12 if total < _MANY else 0.1 if total < 10 * _MANY else 0.05
    wanted = [part for part in (found.test_share, share) if part]

    def error(names: Mapping[str, int], seed: int) -> float:
        numbers = [(group_number(name, seed), size) for name, size in names.items()]
        low, errors, left = 0.0, [], total
        for part in wanted:
            size = sum(size for number, size in numbers if low <= number < low + part)
            low, left = low + part, left - size
            errors.append(abs(size / total / part - 1))
        return max(errors) + (left < _TRAINED * total)

    shares = {"validation_share": share, "test_share": found.test_share}
    seeds = range(Split.seed, Split.seed + _SEEDS)
    for seed in seeds if len(found.groups) > 2 else ():
        if error(found.groups, seed) <= _TOLERANCE:
            return {"by": "group", "seed": seed, **shares}
    best = min(seeds, key=lambda seed: error(Counter(found.ids), seed))
    return {"by": "example", "seed": best, **shares}


def _split_note(found: _Statistics, by: str) -> str:
    if by == "example":
        return "Too few documents for all parts: single questions are drawn, so passages recur."
    if found.documents:
        count = len(found.documents)
        return f"Validated and tested on documents that training does not see ({count:,} in all)."
    return "No column names the documents (`group`): two passages of one may be in two parts."


def _parts(found: _Statistics, encoder: str, started: bool) -> dict[str, Any]:
    """Returns the model, its encoder and the length of the training."""
    answered, model = found.answered, found.model
    values: dict[str, Any] = {"name": CLASSES[model]}
    if model != "reader" and (encoder in WIDE or (encoder != "none" and model == "san")):
        values = dict(read_settings(find_recipe(f"{model}_squad/minilm")).model)
    elif model != "reader":
        values["preset"] = "masque_small" if model == "masque" else f"{model}_demo"
    if model == "masque":  # a ranker needs `relevance`, a classifier questions without an answer
        values |= {"ranker": found.ranked > 0, "classifier": found.unanswerable > 0}
    batch_size = 8 if answered < _FEW else 16 if answered < _SOME or encoder != "none" else 32
    per_epoch = max(1, int(answered * _TRAINED) // batch_size)
    is_quick = started or model in ("san", "reader")
    steps = _STEPS_WITH_ENCODER if is_quick else _STEPS_OF_DECODER
    epochs = max(2 if answered >= _MANY else 4, -(-steps // per_epoch))
    if encoder == "none":
        epochs = min(30, max(3, -(-_STEPS // per_epoch)))
    return {
        "model": values,
        "encoder": {} if encoder == NOTHING else {"preset": encoder, "length": 256, "overlap": 96},
        "rows_from_encoder": encoder in WIDE and model != "san",
        "epochs": epochs,
        "batch_size": batch_size,
        "patience": 5 if epochs > 5 else None,
    }


# === What to do next ===


def _commands(target: Path, found: _Statistics, test: Any) -> list[str]:
    run, recipe = shlex.quote(f"runs/{target.stem}"), shlex.quote(str(target))
    is_tested = test is not None or found.test_share > 0
    commands = [
        f"  tfmrc train {recipe}",
        f"  tfmrc evaluate {run}{'' if is_tested else ' --input FILE'}",
        f"  tfmrc predict {run} --input FILE",
    ]
    if found.model != "maxout_pointer_qg":
        commands.append(f'  tfmrc answer {run} --question "..." --passage "..."')
    if found.model in ("maxout_pointer_qg", "daanet"):
        commands.append(f'  tfmrc ask {run} --passage "..." --answer "..."')
    return commands


def _start_of(start: str, encoder: str) -> str:
    """Returns what a model starts from."""
    if start != NOTHING:
        return f"Starts from {start}."
    return f"Starts from {'nothing' if encoder == NOTHING else f'the encoder {encoder}'}."

"""The settings of an experiment, as typed dataclasses for YAML files, `--set` and `--help`.

Each setting says what it affects: the examples and words that a run is trained on (`data`), only
its training (`weights`), or only what is predicted and reported of the trained model (`report`).
"""

import dataclasses
import json
import re
from collections.abc import Iterator, Set
from dataclasses import field
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from tfmrc.data.formats.registry import find_format
from tfmrc.utils.arguments import check_arguments

Value = TypeVar("Value")
Affects = Literal["data", "weights", "report"]
AffectsData = Annotated[Value, "data"]
AffectsWeights = Annotated[Value, "weights"]
AffectsReport = Annotated[Value, "report"]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
STRICT = ConfigDict(extra="forbid")

DRAW_SEED = 1_000_003  # differs from the split's seed, so that samples are independent of the split


@dataclass(frozen=True, config=STRICT)
class Source:
    """One dataset of an experiment.

    Args:
        format: reader of the files: `squad` gives each question its own paragraph,
            `squad_passages` several passages of the article; `table` is a user's own CSV,
            TSV, JSON, Excel or Parquet file, `examples` tfmrc's JSON lines, `corpus` the made-up
            corpus and `small_squad` the part of SQuAD that tfmrc ships (`train: train`,
            `test: test`), `pairs` two files of lines.
        styles: styles of the answers.
        train: training file below the data folder; null: none.
        test: test file below the data folder; null: none.
        train_share: share of the groups (articles, stories) used for training.
        test_share: share of the groups used for the report.
        answerable_only: leaves out questions without an answer.
        spans: finds free answers in the passages: `exact` trains on the examples whose answer a
            passage contains, and on that passage (questions about answers are also tested so);
            `best` trains on the nearest span of each answer.
        sequence: rewrites every example for a sequence-to-sequence model that writes the `answer`
            or the `question`: the input and the passages become one text.
        title: name of the data in reports.
        rules: rules of scoring: a name of `tfmrc.evaluation.RULES`; `squad` for exact match and F1
            only; `adversarial` counts the worst variant of a question.
        squad_scores: adds exact match and F1 by SQuAD's rules; null: for SQuAD's formats and for
            short answers.
        paper: published figures by system and score, shown next to the measured ones.
        options: further arguments of the reader.
        train_options: reader arguments for the training file alone.
        test_options: reader arguments for the test file alone.
    """

    format: AffectsData[str]
    styles: AffectsData[tuple[str, ...]] = ("span",)
    train: AffectsData[str | None] = None
    test: AffectsReport[str | None] = None
    train_share: AffectsData[Share] = 1.0
    test_share: AffectsReport[Share] = 1.0
    answerable_only: AffectsData[bool] = False
    spans: AffectsData[Literal["exact", "best"] | None] = None
    sequence: AffectsWeights[Literal["answer", "question"] | None] = None
    title: AffectsReport[str] = ""
    rules: AffectsReport[str] = "plain"
    squad_scores: AffectsReport[bool | None] = None
    paper: AffectsReport[dict[str, dict[str, float]]] = field(default_factory=dict)
    options: AffectsData[dict[str, Any]] = field(default_factory=dict)
    train_options: AffectsData[dict[str, Any]] = field(default_factory=dict)
    test_options: AffectsReport[dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = find_format(self.format)
        if known.one_style and len(self.styles) != 1:
            raise ValueError(
                f"The format {self.format} has answers of one style. "
                f"Received: styles={list(self.styles)}"
            )
        if self.sequence is not None and self.spans is not None:
            raise ValueError(
                "A source takes `sequence` or `spans`, not both. "
                f"Received: sequence={self.sequence}, spans={self.spans}"
            )
        for name in ("options", "train_options", "test_options"):
            check_arguments(known.reader, getattr(self, name), name)


@dataclass(frozen=True, config=STRICT)
class Split:
    """Choice of the validation examples.

    Args:
        by: `group` splits whole articles or stories off the training file; `example` single
            questions; `sentence` divides the test file by sentence, one half for validation and
            one for the report.
        validation_share: share of the training groups used for validation.
        test_share: share of the training groups that a source without a test file is reported on.
        validation_limit: largest number of validation examples, drawn by id; null: all.
        seed: seed of the split, the same for every seed of a grid.
        draw_seed: seed for drawing limited validation and test examples.
        ids: folder with lists of ids `train.txt`, `validation.txt` and `test.txt`, which replace
            split and limits.
        write_ids: writes these lists into the run's folder.
    """

    by: AffectsData[Literal["group", "example", "sentence"]] = "group"
    validation_share: AffectsData[Share] = 0.1
    test_share: AffectsData[Share] = 0.0
    validation_limit: AffectsData[int | None] = 512
    seed: AffectsData[int] = 1
    draw_seed: AffectsData[int] = DRAW_SEED
    ids: AffectsData[str | None] = None
    write_ids: AffectsData[bool] = False

    @property
    def takes_of_test(self) -> bool:
        """True if a part of the test file is validated on."""
        return self.by == "sentence" or self.ids is not None


@dataclass(frozen=True, config=STRICT)
class VocabularySettings:
    """Words that get an embedding row of their own, counted on the training examples.

    Args:
        size: largest number of words, the most frequent ones.
        min_count: words that occur less often are left out.
        num_oov_buckets: number of rows shared by all other words.
        vectors: word vectors below the data folder, in any format that `tfmrc.encoders` reads;
            null: none.
        all_vector_words: whether all words of the vectors belong to the vocabulary, regardless of
            the training words.
        rows_from_encoder: whether the words' rows begin with the mean of the subword embeddings of
            the experiment's `encoder`; the rows are as wide as these.
    """

    size: AffectsData[int | None] = 20_000
    min_count: AffectsData[int] = 1
    num_oov_buckets: AffectsData[int] = 0
    vectors: AffectsData[str | None] = None
    all_vector_words: AffectsData[bool] = False
    rows_from_encoder: AffectsData[bool] = False

    def __post_init__(self) -> None:
        excluded = self.rows_from_encoder and self.vectors is not None
        if excluded or (self.all_vector_words and self.vectors is None):
            raise ValueError(
                "`all_vector_words` needs `vectors`, and `rows_from_encoder` excludes them. "
                f"Received: vectors={self.vectors!r}"
            )


@dataclass(frozen=True, config=STRICT)
class ELMoFiles:
    """The authors' files of ELMo.

    Args:
        options: options of the network, JSON below the data folder.
        weights: weights, HDF5 below the data folder.
    """

    options: AffectsWeights[str]
    weights: AffectsWeights[str]


@dataclass(frozen=True, config=STRICT)
class Contextual:
    """The authors' files of a contextual embedding; without any, the model has none.

    Args:
        cove: weights of CoVe, for SAN, below the data folder; null: none.
        elmo: `{options: FILE, weights: FILE}` of ELMo, for Masque; null: none.
    """

    cove: AffectsWeights[str | None] = None
    elmo: ELMoFiles | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files below the data folder."""
        if self.elmo is not None:
            return self.elmo.options, self.elmo.weights
        return () if self.cove is None else (self.cove,)

    def describe(self) -> str:
        """Returns name and files, such as `cove (cove.pth)`; "" without an embedding."""
        name = "cove" if self.elmo is None else "elmo"
        return f"{name} ({', '.join(self.files)})" if self.files else ""


@dataclass(frozen=True, config=STRICT)
class Training:
    """Settings of training.

    Args:
        steps: optimizer steps; null: `epochs` evaluations.
        epochs: number of evaluations on the validation examples, if `steps` is null.
        batch_size: examples per step.
        eval_every_steps: steps between two evaluations on the validation examples; null: one pass
            over the training examples.
        optimizer: options of the model's training function (`tfmrc.training`), such as
            `learning_rate`.
        optimizer_of: name of another model whose optimizer is used.
        patience: stops after this number of evaluations without a lower validation loss; null:
            never.
        best_of: number of best evaluations of which the last one is saved.
        checkpoint_every_steps: steps between two checkpoints.
        max_minutes: stops training after this time; null: never.
        dtype: float32, mixed_bfloat16 or mixed_float16; `auto` becomes mixed_bfloat16 on a CPU that
            multiplies bfloat16 (`lscpu` shows avx512_bf16 or amx_bf16) without a GPU, else float32.
        stream: reads the training files in every pass instead of keeping examples in memory.
        frozen: layers that are not trained, by name; `outer/inner` for a layer inside another.
        teacher: folder of a run or a saved predictor whose distributions the model learns in
            addition to the labels (ExtractiveReader, SAN); null: none.
        teacher_weight: weight of the teacher's loss, relative to that of the labels.
        temperature: temperature of the teacher's and the model's distributions.
    """

    steps: AffectsWeights[Count | None] = None
    epochs: AffectsWeights[Count] = 10
    batch_size: AffectsWeights[Count] = 32
    eval_every_steps: AffectsWeights[Count | None] = None
    optimizer: AffectsWeights[dict[str, Any]] = field(default_factory=dict)
    optimizer_of: AffectsWeights[str | None] = None
    patience: AffectsWeights[int | None] = None
    best_of: AffectsWeights[Count] = 1
    checkpoint_every_steps: AffectsWeights[Count] = 200
    max_minutes: AffectsReport[float | None] = None
    dtype: AffectsWeights[Literal["float32", "mixed_bfloat16", "mixed_float16"]] = "float32"
    stream: AffectsWeights[bool] = False
    frozen: AffectsWeights[tuple[str, ...]] = ()
    teacher: AffectsWeights[str | None] = None
    teacher_weight: AffectsWeights[Annotated[float, Field(gt=0)]] = 1.0
    temperature: AffectsWeights[Annotated[float, Field(gt=0)]] = 1.0

    @field_validator("dtype", mode="before")
    @classmethod
    def _of_this_machine(cls, value: Any) -> Any:
        """Replaces `auto`, so that a run remembers what it was trained in."""
        if value != "auto":
            return value
        from tfmrc.ops.portable import multiplies_bfloat16

        return "mixed_bfloat16" if multiplies_bfloat16() else "float32"


@dataclass(frozen=True, config=STRICT)
class Evaluation:
    """Settings of prediction and scoring.

    Args:
        limit: largest number of test examples of a source, drawn by id; null: all.
        batch_size: examples per batch.
        options: options of the predictor, such as `num_beams`.
        also: further options by name; each is reported as a separate system.
        prefixes: prefix of the names of scores by target, `answer` or `question`.
        meteor: whether METEOR is computed, which needs Java.
        samples: resamples of the bootstrap intervals; 0: no intervals.
        ensemble: whether the seeds of a grid's variant are also evaluated as one predictor.
        ranker: weights the passages for a model without a ranker: `tfidf`, or the folder of a
            Masque predictor.
        targets: smallest accepted value of a score; `tfmrc evaluate` fails below it.
    """

    limit: AffectsReport[int | None] = None
    batch_size: AffectsReport[Count] = 32
    options: AffectsReport[dict[str, Any]] = field(default_factory=dict)
    also: AffectsReport[dict[str, dict[str, Any]]] = field(default_factory=dict)
    prefixes: AffectsReport[dict[str, str]] = field(default_factory=dict)
    meteor: AffectsReport[bool] = True
    samples: AffectsReport[int] = 0
    ensemble: AffectsReport[bool] = False
    ranker: AffectsReport[str | None] = None
    targets: AffectsReport[dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, config=STRICT)
class Grid:
    """Several runs of one experiment: every variant with every seed.

    Args:
        variants: settings by dotted name, by variant: `{one_step: {model.answer: one_step}}`.
        seeds: seeds of every variant.
    """

    variants: AffectsReport[dict[str, dict[str, Any]]] = field(default_factory=dict)
    seeds: AffectsReport[tuple[Seed, ...]] = ()

    @field_validator("variants", mode="before")
    @classmethod
    def _without_null(cls, variants: Any) -> Any:
        """Leaves out the variants that a file which extends another one removes."""
        if not isinstance(variants, dict):
            return variants
        return {name: changes for name, changes in variants.items() if changes is not None}


@dataclass(frozen=True, config=STRICT)
class Experiment:
    """All settings of a run: model, data, training and evaluation.

    Args:
        name: name of the run's folder and of its export.
        sources: the datasets; their styles, in this order, are the model's styles.
        model: `name` of a registered model, `preset` and arguments of the model.
        title: heading of reports.
        start_from: folder of a run or a saved predictor that is trained further, or a ready model.
            Model, vocabulary, preprocessor and encoder are those of the folder; the settings of the
            same names are not used, except the model's `name` and `preprocessor.num_passages`.
        seed: seed of weights, dropout and order.
        imports: modules to import first, which register a user's own classes; they are installed,
            in the current folder or on `PYTHONPATH`.
        split: choice of the validation examples.
        vocabulary: words that get an embedding row of their own.
        tagger: spaCy pipeline whose tags the model reads; null: no tags.
        encoder: `preset` of a pretrained encoder, or the folder of a run whose trained encoder is
            copied, and options of `tfmrc.encoders.from_preset`, such as `trainable_layers`; for
            models that take an encoder.
        contextual: the authors' files of a contextual embedding.
        preprocessor: arguments of the model's preprocessor.
        training: settings of training.
        evaluation: settings of prediction and scoring.
        grid: variants and seeds.
    """

    name: AffectsReport[str]
    sources: tuple[Source, ...]
    model: AffectsWeights[dict[str, Any]]
    title: AffectsReport[str] = ""
    start_from: AffectsData[str | None] = None
    seed: AffectsWeights[Seed] = 1
    imports: AffectsWeights[tuple[str, ...]] = ()
    split: Split = field(default_factory=Split)
    vocabulary: VocabularySettings = field(default_factory=VocabularySettings)
    tagger: AffectsData[str | None] = None
    encoder: AffectsWeights[dict[str, Any]] = field(default_factory=dict)
    contextual: Contextual = field(default_factory=Contextual)
    preprocessor: AffectsWeights[dict[str, Any]] = field(default_factory=dict)
    training: Training = field(default_factory=Training)
    evaluation: Evaluation = field(default_factory=Evaluation)
    grid: Grid = field(default_factory=Grid)

    def __post_init__(self) -> None:
        if self.vocabulary.rows_from_encoder and not self.encoder:
            raise ValueError(
                "`vocabulary.rows_from_encoder` needs an `encoder`. Received: encoder={}"
            )

    @property
    def styles(self) -> tuple[str, ...]:
        """Styles of all sources, each once, in order."""
        return tuple(dict.fromkeys(style for source in self.sources for style in source.styles))

    def affecting(self, *kinds: Affects) -> dict[str, Any]:
        """Returns the settings that affect the data, the weights or the report, by dotted name.

        A test file belongs to the data if a part of it is validated on.

        Args:
            *kinds: str. `"data"`, `"weights"` or `"report"`.

        Example:

        >>> experiment = Experiment("x", (), {"name": "SAN", "num_steps": 3})
        >>> experiment.affecting("report")["name"], experiment.affecting("weights")["model.name"]
        ('x', 'SAN')
        """
        found = dict(_affecting(self, "", {*kinds}))
        if "data" in kinds and self.split.takes_of_test:
            of_report = _affecting(self, "", {"report"})
            found |= {name: v for name, v in of_report if re.match(r"sources\.\d+\.test", name)}
        return found

    def differences(self, other: "Experiment", *kinds: Affects) -> dict[str, tuple[Any, Any]]:
        """Returns the settings that differ, by dotted name: the value here and that of `other`.

        Args:
            other: `Experiment`. Other settings.
            *kinds: str. As of `affecting`.
        """
        ours, theirs = self.affecting(*kinds), other.affecting(*kinds)
        both = {name: (ours.get(name), theirs.get(name)) for name in {**ours, **theirs}}
        return {name: values for name, values in both.items() if values[0] != values[1]}


def dataclass_of(kind: type, name: str) -> Any:
    """Returns the dataclass of a setting, or of its entries; None for a plain value."""
    hint = get_type_hints(kind)[name]
    return next((one for one in (hint, *get_args(hint)) if dataclasses.is_dataclass(one)), None)


def _affecting(settings: Any, prefix: str, kinds: Set[str]) -> Iterator[tuple[str, Any]]:
    """Yields the plain values of a dataclass's settings that affect one of `kinds`."""
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        value, full = getattr(settings, name), f"{prefix}{name}"
        if dataclass_of(type(settings), name) is None:
            if kinds & {*getattr(hint, "__metadata__", ())}:
                # As a file of settings has it: a tuple is a list.
                yield from _plain(full, json.loads(json.dumps(value, default=str)))
        elif name == "sources":
            for number, source in enumerate(value):
                yield from _affecting(source, f"{full}.{number}.", kinds)
        elif value is not None:
            yield from _affecting(value, f"{full}.", kinds)


def _plain(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the values in mappings and lists by dotted name; an empty one is a value."""
    if not isinstance(value, dict | list) or not value:
        yield name, value
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _plain(f"{name}.{key}", item)

"""The settings of an experiment, as typed dataclasses for YAML files, `--set` and `--help`."""

from dataclasses import dataclass, field
from typing import Any, Literal

DRAW_SEED = 1_000_003  # differs from the split's seed, so that samples are independent of the split


@dataclass(frozen=True)
class Source:
    """One dataset of an experiment.

    Args:
        format: reader of the files: `squad` gives each question its own paragraph,
            `squad_passages` several passages of the article; `table` is a user's own CSV,
            TSV, JSON or Parquet file, `examples` tfmrc's JSON lines, `corpus` the made-up
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
        paper: figures of a paper by system and score, printed beside the measured ones.
        options: further arguments of the reader.
        train_options: reader arguments for the training file alone.
        test_options: reader arguments for the test file alone.
    """

    format: str
    styles: tuple[str, ...] = ("span",)
    train: str | None = None
    test: str | None = None
    train_share: float = 1.0
    test_share: float = 1.0
    answerable_only: bool = False
    spans: Literal["exact", "best"] | None = None
    sequence: Literal["answer", "question"] | None = None
    title: str = ""
    rules: str = "plain"
    squad_scores: bool | None = None
    paper: dict[str, dict[str, float]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    train_options: dict[str, Any] = field(default_factory=dict)
    test_options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Split:
    """Choice of the validation examples.

    Args:
        by: `group` splits whole articles or stories off the training file; `example` single
            questions; `sentence` divides the test file by sentence, one half for validation and
            one for the report.
        validation_share: share of the training groups used for validation.
        validation_limit: largest number of validation examples, drawn by id; null: all.
        seed: seed of the split, the same for every seed of a grid.
        draw_seed: seed for drawing limited validation and test examples.
        ids: folder with lists of ids `train.txt`, `validation.txt` and `test.txt`, which replace
            split and limits.
        write_ids: writes these lists into the run's folder.
    """

    by: Literal["group", "example", "sentence"] = "group"
    validation_share: float = 0.1
    validation_limit: int | None = 512
    seed: int = 1
    draw_seed: int = DRAW_SEED
    ids: str | None = None
    write_ids: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """Words with a row of their own in the embedding, counted on the training examples.

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

    size: int | None = 20_000
    min_count: int = 1
    num_oov_buckets: int = 0
    vectors: str | None = None
    all_vector_words: bool = False
    rows_from_encoder: bool = False


@dataclass(frozen=True)
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
        dtype: float32, mixed_bfloat16 or mixed_float16.
        stream: reads the training files in every pass instead of keeping examples in memory.
        frozen: layers that are not trained, by name; `outer/inner` for a layer inside another.
        teacher: folder of a run or a saved predictor whose distributions the model learns beside
            the labels (ExtractiveReader, SAN); null: none.
        teacher_weight: weight of the teacher's loss beside that of the labels.
        temperature: temperature of the teacher's and the model's distributions.
    """

    steps: int | None = None
    epochs: int = 10
    batch_size: int = 32
    eval_every_steps: int | None = None
    optimizer: dict[str, Any] = field(default_factory=dict)
    optimizer_of: str | None = None
    patience: int | None = None
    best_of: int = 1
    checkpoint_every_steps: int = 200
    max_minutes: float | None = None
    dtype: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    stream: bool = False
    frozen: tuple[str, ...] = ()
    teacher: str | None = None
    teacher_weight: float = 1.0
    temperature: float = 1.0


@dataclass(frozen=True)
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

    limit: int | None = None
    batch_size: int = 32
    options: dict[str, Any] = field(default_factory=dict)
    also: dict[str, dict[str, Any]] = field(default_factory=dict)
    prefixes: dict[str, str] = field(default_factory=dict)
    meteor: bool = True
    samples: int = 0
    ensemble: bool = False
    ranker: str | None = None
    targets: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Grid:
    """Several runs of one experiment: every variant with every seed.

    Args:
        variants: settings by dotted name, by variant: `{one_step: {model.answer: one_step}}`.
        seeds: seeds of every variant.
    """

    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """All settings of a run: model, data, training and evaluation.

    Args:
        name: name of the run's folder and of its export.
        sources: the datasets; their styles, in this order, are the model's styles.
        model: `name` of a registered model, `preset` and arguments of the model.
        title: heading of reports.
        start_from: folder of a run or a saved predictor that is trained further. Model, vocabulary,
            preprocessor and encoder are those of the folder; the settings of the same names are
            not used, except the model's `name`.
        seed: seed of weights, dropout and order.
        imports: modules to import first, which register a user's own classes; they are installed,
            in the current folder or on `PYTHONPATH`.
        split: choice of the validation examples.
        vocabulary: words with a row of their own.
        tagger: spaCy pipeline whose tags the model reads; null: no tags.
        encoder: `preset` of a pretrained encoder, or the folder of a run whose trained encoder is
            copied, and options of `tfmrc.encoders.from_preset`, such as `trainable_layers`; for
            models that take an encoder.
        contextual: `cove: FILE` for SAN, or `elmo: {options: FILE, weights: FILE}` for Masque: the
            authors' files of a contextual embedding, below the data folder.
        preprocessor: arguments of the model's preprocessor.
        training: settings of training.
        evaluation: settings of prediction and scoring.
        grid: variants and seeds.
    """

    name: str
    sources: tuple[Source, ...]
    model: dict[str, Any]
    title: str = ""
    start_from: str | None = None
    seed: int = 1
    imports: tuple[str, ...] = ()
    split: Split = field(default_factory=Split)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    tagger: str | None = None
    encoder: dict[str, Any] = field(default_factory=dict)
    contextual: dict[str, Any] = field(default_factory=dict)
    preprocessor: dict[str, Any] = field(default_factory=dict)
    training: Training = field(default_factory=Training)
    evaluation: Evaluation = field(default_factory=Evaluation)
    grid: Grid = field(default_factory=Grid)

    @property
    def styles(self) -> tuple[str, ...]:
        """Styles of all sources, each once, in order."""
        return tuple(dict.fromkeys(style for source in self.sources for style in source.styles))

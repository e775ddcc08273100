"""What a recipe's YAML file may say: one typed description for the file, the flags and the help."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

Kind = TypeVar("Kind")

Format = Literal["squad", "narrativeqa", "dream", "msmarco", "examples"]


@dataclass(frozen=True)
class Source:
    """One dataset of a recipe.

    Args:
        format: how its files are read.
        styles: the styles of its answers; one but for MS MARCO (qa and nlg) and for examples.
        train: training file below the data folder; null: not trained on.
        test: file below the data folder that figures are reported on; null: not reported.
        train_share: train on this share of the groups (articles, stories) only.
        test_share: report on this share of the groups only.
        answerable_only: leave out questions without an answer (for models without classifier).
        title: name of the reported data in the report.
        rules: how answers are scored (`tfmrc.evaluation.RULES`).
        paper: a system of the paper -> score -> the paper's figure, set beside ours.
        options: further arguments of the predictor.
        train_options: arguments for the training file alone.
        test_options: arguments for the reported file alone.
    """

    format: Format
    styles: tuple[str, ...]
    train: str | None = None
    test: str | None = None
    train_share: float = 1.0
    test_share: float = 1.0
    answerable_only: bool = False
    title: str = ""
    rules: str = "plain"
    paper: dict[str, dict[str, float]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    train_options: dict[str, Any] = field(default_factory=dict)
    test_options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Vocabulary:
    """The words with a row of their own in the embedding, counted on the training examples.

    Args:
        size: at most this many words, by falling frequency.
        min_count: words seen less often are left out.
        num_oov_buckets: rows shared by all other words.
    """

    size: int = 20_000
    min_count: int = 1
    num_oov_buckets: int = 0


@dataclass(frozen=True)
class Training:
    """How the model is trained.

    Args:
        steps: optimizer steps; the learning rate reaches 0 at the last one.
        batch_size: examples a step.
        learning_rate: the highest learning rate.
        warmup_steps: steps until it is reached.
        weight_decay: decoupled decay of all but biases and normalisation.
        ema: momentum of the moving average that is evaluated and exported.
        clip_norm: gradients are clipped to this norm.
        eval_every_steps: steps between two looks at the validation examples.
        validation_share: share of the training groups that is kept for validation.
        validation_limit: at most this many validation examples a look.
        patience: stop after this many looks without a lower validation loss; null: never.
        checkpoint_every: steps between two checkpoints; what a kill can lose.
        max_minutes: stop training after this time; null: never.
        dtype: float32, mixed_bfloat16 or mixed_float16.
        stream: read the training files anew in every pass instead of holding their examples.
    """

    steps: int = 2_000
    batch_size: int = 16
    learning_rate: float = 2.5e-4
    warmup_steps: int = 200
    weight_decay: float = 0.01
    ema: float = 0.9995
    clip_norm: float = 1.0
    eval_every_steps: int = 200
    validation_share: float = 0.1
    validation_limit: int | None = 512
    patience: int | None = 5
    checkpoint_every: int = 200
    max_minutes: float | None = None
    dtype: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    stream: bool = False


@dataclass(frozen=True)
class Evaluation:
    """How the test examples are answered and scored.

    Args:
        limit: at most this many test examples of a source, drawn by their ids; null: all.
        batch_size: examples decoded together.
        num_beams: 1: greedy.
        length_penalty: of the beam search.
        max_length: words of an answer at most.
    """

    limit: int | None = None
    batch_size: int = 32
    num_beams: int = 1
    length_penalty: float = 0.0
    max_length: int = 30


@dataclass(frozen=True)
class Recipe:
    """A paper's model on given data: everything that a run depends on.

    Args:
        name: name of the run's folder and of its export.
        sources: the datasets; their styles, in this order, are the model's styles.
        title: what is run, for the report.
        seed: of splits, weights, dropout and order.
        vocabulary: the words.
        preprocessor: arguments of `tfmrc.preprocessing.MasquePreprocessor` (--preprocessor.num_passages 4).
        model: arguments of `tfmrc.models.Masque` (--model.hidden_dim 96).
        training: how the model is trained.
        evaluation: how it is scored.
    """

    name: str
    sources: tuple[Source, ...]
    title: str = ""
    seed: int = 1
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    preprocessor: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    training: Training = field(default_factory=Training)
    evaluation: Evaluation = field(default_factory=Evaluation)

    @property
    def styles(self) -> tuple[str, ...]:
        """The styles of all sources, each once, in order."""
        return tuple(dict.fromkeys(style for source in self.sources for style in source.styles))


def load(path: str | Path, *overrides: str) -> Recipe:
    """The recipe of a YAML file.

    Args:
        path: the file.
        overrides: like flags: `"--training.steps=100"`, `"--model.hidden_dim=64"`.

    Returns:
        The recipe.

    Raises:
        ValueError: if the file or an override names what a recipe does not have, or a value has
            the wrong type.

    Example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "config.yaml")
    ...     _ = file.write_text("{name: x, sources: [{format: squad, styles: [span]}]}")
    ...     load(file, "--training.steps=7").training.steps
    7
    """
    from jsonargparse import ArgumentParser

    parser = ArgumentParser(exit_on_error=False, allow_abbrev=False)
    add_arguments(parser)
    try:
        parsed = parser.parse_args(["--config", str(path), *overrides])
    except Exception as error:
        raise ValueError(f"This recipe cannot be read. Received: path={path}: {error}") from error
    return recipe_of(parser, parsed)


def load_settings(kind: type[Kind], path: str | Path, overrides: Sequence[str] = ()) -> Kind:
    """The settings of a YAML file as a dataclass of any kind, for recipes with their own.

    Args:
        kind: the dataclass.
        path: the file.
        overrides: like flags: `"--epochs=2"`.

    Raises:
        ValueError: the file or an override names what there is not, or a value is of a wrong type.
    """
    from jsonargparse import ArgumentParser

    parser = ArgumentParser(exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--config", action="config")
    parser.add_class_arguments(kind, as_group=False)
    try:
        made = parser.instantiate(parser.parse_args(["--config", str(path), *overrides]))
    except Exception as error:
        raise ValueError(f"This recipe cannot be read. Received: path={path}: {error}") from error
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: getattr(made, name) for name in names})


def add_arguments(parser: Any) -> None:
    """Give a jsonargparse parser `--config` and a flag for every setting."""
    parser.add_argument("--config", action="config", help="the recipe's YAML file")
    parser.add_class_arguments(Recipe, as_group=False)


def recipe_of(parser: Any, parsed: Any) -> Recipe:
    """The `Recipe` in what `parser` parsed."""
    made = parser.instantiate(parsed)
    return Recipe(**{name: getattr(made, name) for name in Recipe.__dataclass_fields__})


def save(recipe: Recipe, path: str | Path) -> None:
    """Write a recipe as the YAML that `load` reads."""
    import yaml

    text = yaml.safe_dump(_plain(dataclasses.asdict(recipe)), sort_keys=False, allow_unicode=True)
    Path(path).write_text(text, encoding="utf-8")


def flat(recipe: Recipe) -> dict[str, Any]:
    """All settings by their dotted names.

    Example:

    >>> flat(Recipe("x", (), training=Training(steps=7)))["training.steps"]
    7
    """
    found: dict[str, Any] = {}

    def visit(name: str, value: Any) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            place = f"{name}{key}"
            if isinstance(item, dict | list | tuple) and item:
                visit(f"{place}.", item)
            else:
                found[place] = item

    visit("", dataclasses.asdict(recipe))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

"""What the recipe's YAML file may say, and which examples it means."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.experiments.configuration import load_settings
from tfmrc.experiments.sources import limited

SPLIT_SEED = 1  # the same articles are validated on whatever the seed of the run


@dataclass(frozen=True)
class Settings:
    """The settings of all runs of the recipe.

    Args:
        name: of the folder below `runs/`, and of the systems in the report.
        dataset: what the report calls the data.
        train: training file below the data folder, in SQuAD's form.
        test: the file that is reported on.
        test_limit: at most so many questions of it, drawn by id; null for all.
        validation_share: share of the training file's articles that is validated on.
        validation_limit: at most so many of their questions, drawn by id; null for all.
        systems: what is trained: names of `recipes.daanet_squad.systems.SYSTEMS`.
        seeds: of weights, dropout and order, a run each.
        vocabulary_size: rows of the embedding but for the buckets.
        min_count: words seen less often have no row.
        num_oov_buckets: rows for unknown words.
        generation_vocabulary_size: rows that can be generated.
        passage_length: words of a passage that are read.
        question_length: words of a question.
        answer_length: words of an answer.
        word_length: characters of a word.
        model: further arguments of `DAANet`.
        baseline: further arguments of `MaxoutPointerQG`, the sequence-to-sequence model.
        batch_size: of training.
        steps: updates of a run, a multiple of `eval_every_steps`.
        eval_every_steps: updates between two looks at the validation questions.
        learning_rate: after its rise.
        warmup_steps: updates of the rise.
        clip_norm: largest norm of the gradient; null for no clipping.
        coverage_weight: of the coverage loss of `DAANet`.
        max_minutes: most minutes of a run; null for no limit.
        num_beams: of the search; 1 is greedy.
        max_length: most words that are written; null for as many as in training.
        meteor: whether METEOR is computed, which needs Java.
    """

    name: str
    dataset: str = "SQuAD"
    train: str = "squad/train.json"
    test: str = "squad/dev.json"
    test_limit: int | None = None
    validation_share: float = 0.1
    validation_limit: int | None = None
    systems: tuple[str, ...] = ("daanet", "mono_answer", "mono_ask", "s2s_answer", "s2s_ask")
    seeds: tuple[int, ...] = (1,)
    vocabulary_size: int = 8000
    min_count: int = 1
    num_oov_buckets: int = 64
    generation_vocabulary_size: int = 4000
    passage_length: int = 150
    question_length: int = 30
    answer_length: int = 20
    word_length: int = 16
    model: dict[str, Any] = field(default_factory=dict)
    baseline: dict[str, Any] = field(default_factory=dict)
    batch_size: int = 16
    steps: int = 2000
    eval_every_steps: int = 500
    learning_rate: float = 0.001
    warmup_steps: int = 1000
    clip_norm: float | None = 5.0
    coverage_weight: float = 1.0
    max_minutes: float | None = None
    num_beams: int = 1
    max_length: int | None = None
    meteor: bool = True


def load(path: str | Path, overrides: Sequence[str] = ()) -> Settings:
    """The settings of a YAML file, with overrides like flags (`--steps=200`).

    Raises:
        ValueError: the file or an override names what there is not, a value is of a wrong type,
            or `steps` does not end with a look at the validation questions.
    """
    made = load_settings(Settings, path, overrides)
    if made.steps % made.eval_every_steps:
        raise ValueError(
            "Training ends with a look at the validation questions, so `steps` is a multiple of "
            f"`eval_every_steps`. Received: steps={made.steps}, eval_every_steps={made.eval_every_steps}"
        )
    return made


def examples(settings: Settings, folder: Path) -> dict[str, list[data.Example]]:
    """The answerable questions of `train`, `dev` (articles of the training file) and `test`."""
    rest, dev = data.split_by_group(
        _answerable(folder / settings.train), settings.validation_share, SPLIT_SEED
    )
    test = _answerable(folder / settings.test)
    return {
        "train": list(rest),
        "dev": limited(dev, settings.validation_limit),
        "test": limited(test, settings.test_limit),
    }


def _answerable(path: Path) -> list[data.Example]:
    return [example for example in data.read_squad(path) if example.answers]

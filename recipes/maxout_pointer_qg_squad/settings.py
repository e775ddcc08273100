"""What the recipe's YAML file may say."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfmrc.experiments.configuration import load_settings


@dataclass(frozen=True)
class Settings:
    """The settings of all runs of the recipe.

    Args:
        name: of the folder below `runs/`.
        dataset: name of the data in the reports.
        seed: of splits, weights and order.
        format: of the files: "squad"; "msmarco", of which the questions are kept whose answer
            stands in a passage; "pairs", sentences and questions without answers.
        train: training file below the data folder.
        test: the file that is reported on.
        split: "split1" (the test file is the test set, articles of the training file are dev) or
            "split2" (the test file's sentences, one half dev and one half test).
        ids: folder with the lists of ids `train.txt`, `dev.txt` and `test.txt`, as a run writes
            them, in place of a split and of `limit`; null for none.
        contexts: what is read: "sentence", "paragraph".
        variants: names of `tfmrc.models.maxout_pointer_qg.VARIANTS`.
        vocabulary_size: rows of the embedding but for the buckets.
        num_oov_buckets: rows for unknown words.
        passage_length: words of a passage that are read.
        question_length: words of a question.
        generation_vocabulary_size: rows that can be generated.
        vectors: file of word vectors below the data folder, as GloVe's are offered; null for none.
        model: further arguments of `MaxoutPointerQG`.
        batch_size: of training.
        epochs: most epochs of a run.
        learning_rate: of the first epochs.
        first_halving: the first epoch of half the rate.
        halving_every: epochs from one halving to the next.
        clip_norm: largest norm of the gradient; null for no clipping.
        max_minutes: most minutes of a run; null for no limit.
        validation_share: share of the training articles that are dev in split1.
        limit: at most so many questions of the test set, drawn by id; null for all.
        num_beams: beams of the reported search, beside greedy search.
    """

    name: str
    dataset: str = "SQuAD"
    seed: int = 1
    format: str = "squad"
    train: str = "squad/train.json"
    test: str = "squad/dev.json"
    split: str = "split1"
    ids: str | None = None
    contexts: tuple[str, ...] = ("sentence", "paragraph")
    variants: tuple[str, ...] = ("s2s-a-at-mp-gsa",)
    vocabulary_size: int = 8000
    num_oov_buckets: int = 64
    passage_length: int = 150
    question_length: int = 30
    generation_vocabulary_size: int = 4000
    vectors: str | None = None
    model: dict[str, Any] = field(default_factory=dict)
    batch_size: int = 32
    epochs: int = 8
    learning_rate: float = 0.1
    first_halving: int = 5
    halving_every: int = 1
    clip_norm: float | None = 5.0
    max_minutes: float | None = None
    validation_share: float = 0.1
    limit: int | None = None
    num_beams: int = 10

    @property
    def with_answers(self) -> bool:
        """Whether the data say what a question asks for."""
        return self.format != "pairs"

    @property
    def searches(self) -> list[int]:
        """The numbers of beams that are reported: greedy search and the beam search."""
        return sorted({1, self.num_beams})


def load(path: str | Path, overrides: Sequence[str] = ()) -> Settings:
    """The settings of a YAML file, with overrides like flags (`--epochs=2`).

    Raises:
        ValueError: the file or an override names what there is not, or a value is of a wrong type.
    """
    return load_settings(Settings, path, overrides)

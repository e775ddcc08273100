"""What config.yaml may say."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tfmrc.experiments.configuration import load_settings


@dataclass(frozen=True)
class Settings:
    """The settings of a round trip and of the comparison.

    Args:
        name: of the folder below `runs/`.
        passages: files below the data folder, of any format that `tfmrc.data.formats.detect` knows.
        predictor: folder of a saved `tfmrc.predictors.MaxoutPointerQGPredictor`.
        predictor: folder of a saved `tfmrc.predictors.SANPredictor`.
        limit: at most so many passages, drawn by their text; null for all.
        batch_size: passages that are asked about at once.
        max_answers: answers of a passage, the first ones.
        num_beams: of the search for questions.
        min_length: fewest words of a question.
        least_probability: of a question that is kept.
        agreement: "f1" or "exact_match", by SQuAD's rules.
        threshold: least agreement of a question that is kept.
        san: configuration of `recipes/san_squad`.
        answer: its answer module.
        without: folder of its runs without our questions.
        seeds: of the runs with and without.
    """

    name: str
    passages: tuple[str, ...]
    predictor: str
    predictor: str
    limit: int | None = None
    batch_size: int = 4
    max_answers: int = 20
    num_beams: int = 3
    min_length: int = 3
    least_probability: float = 0.0
    agreement: str = "f1"
    threshold: float = 0.8
    san: str = "recipes/san_squad/config.yaml"
    answer: str = "stochastic"
    without: str = "runs/san_squad"
    seeds: tuple[int, ...] = (1, 2, 3)

    def __post_init__(self) -> None:
        if self.agreement not in ("f1", "exact_match"):
            raise ValueError(
                f"Agreement is f1 or exact_match. Received: agreement={self.agreement!r}"
            )


def load(path: str | Path, overrides: Sequence[str] = ()) -> Settings:
    """The settings of a YAML file, with overrides like flags (`--threshold=1`).

    Raises:
        ValueError: the file or an override names what there is not, or a value is of a wrong type.
    """
    return load_settings(Settings, path, overrides)

"""Settings of a round trip."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tfmrc.experiments.loading import load_settings


@dataclass(frozen=True)
class Settings:
    """The settings of a round trip and of the comparison.

    Args:
        name: Name of the folder below `runs/`.
        passages: Files below the data folder, of any format that `tfmrc.data.formats.detect` knows.
        question_predictor: Folder of a saved predictor that asks.
        answer_predictor: Folder of a saved predictor that answers.
        limit: Largest number of passages, drawn by their text; null for all.
        batch_size: Passages that are asked about at once.
        max_answers: Largest number of answers per passage, the first ones.
        num_beams: Beams of the search for questions.
        min_length: Smallest number of words of a question.
        least_probability: Smallest probability of a question that is kept.
        agreement: `f1` or `exact_match`, by SQuAD's rules.
        threshold: Smallest agreement of a question that is kept.
        san: Configuration of SAN, a file or the name of a recipe.
        variant: Variant of its grid that is compared.
        without: Folder of its runs without the generated questions.
        seeds: Seeds of the runs with and without.
    """

    name: str
    passages: tuple[str, ...]
    question_predictor: str
    answer_predictor: str
    limit: int | None = None
    batch_size: int = 4
    max_answers: int = 20
    num_beams: int = 3
    min_length: int = 3
    least_probability: float = 0.0
    agreement: Literal["f1", "exact_match"] = "f1"
    threshold: float = 0.8
    san: str = "san_squad"
    variant: str = "stochastic"
    without: str = "runs/san_squad"
    seeds: tuple[int, ...] = (1, 2, 3)


def load(path: str | Path, *overrides: str) -> Settings:
    """Reads the settings of a YAML file, with overrides such as `threshold=1`.

    Raises:
        ValueError: A setting does not exist, or a value has the wrong type.
    """
    return load_settings(Settings, path, *overrides)

"""Settings of a round trip."""

from pathlib import Path
from typing import Literal

from pydantic.dataclasses import dataclass

from tfmrc.experiments.settings import STRICT, read_dataclass


@dataclass(frozen=True, config=STRICT)
class Settings:
    """The settings of a round trip and of the comparison.

    Args:
        name: str. Name of the folder below `runs/`.
        passages: tuple of str. Files below the data folder, in any format that
            `tfmrc.data.formats.detect` recognises.
        question_predictor: str. Folder of a saved predictor that generates questions.
        answer_predictor: str. Folder of a saved predictor that answers.
        limit: int or None. Largest number of passages, drawn by their text; null for all.
            Default: None.
        batch_size: int. Passages per batch. Default: 4.
        max_answers: int. Largest number of answers per passage, the first ones. Default: 20.
        num_beams: int. Beams of the search for questions. Default: 3.
        min_length: int. Least number of words of a question. Default: 3.
        least_probability: float. Least probability of a question that is kept. Default: 0.0.
        agreement: str. `f1` or `exact_match`, by SQuAD's rules. Default: "f1".
        threshold: float. Least agreement of a question that is kept. Default: 0.8.
        san: str. Configuration of SAN, a file or the name of a recipe. Default: "san_squad".
        variant: str. Variant of its grid that is compared. Default: "stochastic".
        without: str. Folder of its runs without the generated questions. Default: "runs/san_squad".
        seeds: tuple of int. Seeds of the runs with and without. Default: (1, 2, 3).
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
        ValueError: If a setting does not exist, or a value has the wrong type.
    """
    return read_dataclass(Settings, path, *overrides)

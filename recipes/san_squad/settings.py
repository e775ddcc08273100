"""What config.yaml says, and which examples it means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tfmrc import data
from tfmrc.data import Example
from tfmrc.experiments.sources import limited

ANSWERS = ("stochastic", "one_step", "last_step", "average", "reasonet")
SPLIT_SEED = 1  # the same articles are validated on whatever the seed of the run


@dataclass(frozen=True)
class Settings:
    """A YAML file's settings; every part is what the function of its name takes.

    `tags` says whether words come with part of speech, type of entity and lemma, as `tagger`, a
    spaCy pipeline, makes them; `vectors` is a file of word vectors below the data folder, as those
    of GloVe are offered; `dataset` is what reports call the data.
    """

    name: str
    train: str
    test: str
    test_limit: int | None
    vocabulary: Mapping[str, Any]
    preprocessor: Mapping[str, Any]
    model: Mapping[str, Any]
    training: Mapping[str, Any]
    tags: bool = False
    tagger: str = "en_core_web_sm"
    vectors: str | None = None
    dataset: str = "SQuAD"

    @classmethod
    def load(cls, path: Path) -> "Settings":
        """Reads a file.

        Raises:
            ValueError: a setting is missing or unknown.
        """
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        try:
            return cls(**found)
        except TypeError as error:
            raise ValueError(f"{path}: {error}") from error


def training_examples(settings: Settings, folder: Path) -> tuple[list[Example], list[Example]]:
    """Answerable questions to train on, and those of other articles to validate with."""
    examples = answerable(folder / settings.train)
    share = settings.training["validation_share"]
    rest, chosen = data.split_by_group(examples, share, SPLIT_SEED)
    return list(rest), limited(chosen, settings.training["validation_limit"])


def test_examples(settings: Settings, folder: Path) -> list[Example]:
    """The questions that are reported on."""
    return limited(answerable(folder / settings.test), settings.test_limit)


test_examples.__test__ = False  # type: ignore[attr-defined]


def references(examples: Sequence[Example], style: str = "span") -> dict[str, list[str]]:
    """The answers that a prediction is compared with, by id."""
    return {example.id: list(example.answers[style]) for example in examples}


def answerable(path: Path) -> list[Example]:
    """The questions of a SQuAD file that have an answer, each with its own paragraph."""
    return [example for example in data.read_squad(path) if example.answers]

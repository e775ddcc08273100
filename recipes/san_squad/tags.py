"""Part of speech, type of entity and lemma of every word: made once, kept in a file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmrc.data import Example, TagCache
from tfmrc.data.tagging import spacy_tagger

FILE = "tags.jsonl"


@dataclass(frozen=True)
class Tags:
    """The tags of a recipe's texts, in a file that all its runs share."""

    cache: TagCache

    @classmethod
    def of(cls, pipeline: str, folder: Path) -> "Tags":
        """Opens or begins the file.

        Args:
            pipeline: name or folder of a spaCy pipeline.
            folder: of all runs.

        Raises:
            ValueError: the pipeline is not installed, or the file is another one's.
        """
        name, tag = spacy_tagger(pipeline)
        return cls(TagCache(folder / FILE, name, tag))

    def add(self, examples: Iterable[Example]) -> None:
        """Tags the questions and passages that the file does not hold."""
        self.cache.add(text for e in examples for text in (e.question, *e.passages))

    def of_features(self, examples: Sequence[Example]) -> dict[str, Any]:
        """Arguments of `tfmrc.text.SanFeatures`: the tags that the training texts have."""
        texts = {text for e in examples for text in (e.question, *e.passages)}
        return {
            "lemmas": True,
            "pos_tags": self.cache.names("pos", texts),
            "ner_tags": self.cache.names("ner", texts),
        }

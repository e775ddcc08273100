"""Tags of an experiment's texts, cached in a file that its runs share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tfmrc.data import Example, TagCache
from tfmrc.data.transforms.tagging import spacy_tagger, tagger_of_file


@dataclass(frozen=True)
class Tags:
    """Part of speech, entity type and lemma of every word, computed once."""

    cache: TagCache

    @classmethod
    def open(cls, pipeline: str, path: Path) -> "Tags":
        """Opens or creates the file. The pipeline is loaded when a text has no tags yet.

        Args:
            pipeline: str. Name or folder of a spaCy pipeline.
            path: Path. The file.

        Raises:
            ValueError: If the file is damaged or another pipeline's, or the pipeline is not
                installed.
        """
        load = cache(lambda: spacy_tagger(pipeline))
        name = tagger_of_file(path) or load()[0]
        if f" {pipeline} " not in f"{name} ":
            raise ValueError(f"{path} holds the tags of {name!r}. Received: tagger={pipeline!r}")

        def tag(texts: Sequence[Sequence[str]]) -> Iterable[Mapping[str, Sequence[str]]]:
            loaded, tagger = load()
            if loaded != name:
                raise ValueError(f"{path} holds the tags of {name!r}. Received: {loaded!r}")
            return tagger(texts)

        return cls(TagCache(path, name, tag))

    @property
    def name(self) -> str:
        """Name and version of the tagger."""
        return self.cache.tagger

    def add(self, examples: Iterable[Example]) -> None:
        """Tags the questions and passages that are not in the file."""
        self.cache.add(text for e in examples for text in (e.question, *e.passages))

    def preprocessor_arguments(self, examples: Iterable[Example]) -> dict[str, Any]:
        """Returns preprocessor arguments with the tags that occur in the training texts."""
        texts = {text for e in examples for text in (e.question, *e.passages)}
        return {
            "lemmas": True,
            "pos_tags": self.cache.names("pos", texts),
            "ner_tags": self.cache.names("ner", texts),
        }

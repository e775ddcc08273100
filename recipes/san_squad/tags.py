"""Part of speech, type of entity and lemma of every word: made once, kept in a file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tfmrc.data import Example, TagCache
from tfmrc.data.transforms.tagging import spacy_tagger

FILE = "tags.jsonl"


@dataclass(frozen=True)
class Tags:
    """The tags of a recipe's texts, in a file that all its runs share."""

    cache: TagCache

    @classmethod
    def of(cls, pipeline: str, folder: Path) -> "Tags":
        """Opens or begins the file. The pipeline is loaded when a text has no tags yet.

        Args:
            pipeline: name or folder of a spaCy pipeline.
            folder: of all runs.

        Raises:
            ValueError: the file is another pipeline's, or the pipeline is not installed.
        """
        load = cache(lambda: spacy_tagger(pipeline))
        path = folder / FILE
        if path.is_file():
            with path.open(encoding="utf-8") as file:
                name = json.loads(file.readline())["tagger"]
        else:
            name = load()[0]
        if f" {pipeline} " not in f"{name} ":
            raise ValueError(f"{path} holds the tags of {name!r}. Received: tagger={pipeline!r}")

        def tag(texts: Sequence[Sequence[str]]) -> Iterable[Mapping[str, Sequence[str]]]:
            found, tagger = load()
            if found != name:
                raise ValueError(f"{path} holds the tags of {name!r}. Received: {found!r}")
            return tagger(texts)

        return cls(TagCache(path, name, tag))

    def add(self, examples: Iterable[Example]) -> None:
        """Tags the questions and passages that the file does not hold."""
        self.cache.add(text for e in examples for text in (e.question, *e.passages))

    def of_preprocessor(self, examples: Sequence[Example]) -> dict[str, Any]:
        """Arguments of `tfmrc.preprocessing.SANPreprocessor`: the tags that the training texts have."""
        texts = {text for e in examples for text in (e.question, *e.passages)}
        return {
            "lemmas": True,
            "pos_tags": self.cache.names("pos", texts),
            "ner_tags": self.cache.names("ner", texts),
        }

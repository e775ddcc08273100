"""Tags of texts by an external tagger, computed once and cached in a file."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.data.batching.training_example import TrainingExample
from tfmrc.utils.files import write_text
from tfmrc.utils.optional import optional_import
from tfmrc.utils.progress import counted

KINDS = ("lemmas", "pos", "ner")

TagWords = Callable[[Sequence[Sequence[str]]], Iterable[Mapping[str, Sequence[str]]]]
"""Maps the words of several texts to `lemmas`, `pos` and `ner`, one string per word."""


def spacy_tagger(model: str) -> tuple[str, TagWords]:
    """Loads a spaCy pipeline as a tagger of pretokenized words.

    Args:
        model: str. Name of an installed pipeline such as `en_core_web_sm`.

    Returns:
        The pipeline's name and version, and the tagger. A word without an entity has the type "-".

    Raises:
        ImportError: spaCy is not installed.
        OSError: The pipeline is not installed.
    """
    with optional_import("tfmrc[spacy]"):
        import spacy
    pipeline = spacy.load(model)
    name = f"spacy {spacy.__version__} {model} {pipeline.meta.get('version', '')}".strip()
    return name, words_tagger(pipeline)


def words_tagger(pipeline: Any) -> TagWords:
    """Converts a spaCy `Language` object to a tagger of pretokenized words.

    Args:
        pipeline: spaCy `Language`.
    """
    from spacy.tokens import Doc

    def tag(texts: Sequence[Sequence[str]]) -> Iterable[Mapping[str, Sequence[str]]]:
        docs = (Doc(pipeline.vocab, words=list(words)) for words in texts)
        for doc in pipeline.pipe(docs):
            yield {
                "lemmas": [word.lemma_ or word.lower_ for word in doc],
                "pos": [word.tag_ or word.pos_ or "-" for word in doc],
                "ner": [word.ent_type_ or "-" for word in doc],
            }

    return tag


def tagger_of_file(path: str | PathLike[str]) -> str | None:
    """Returns the tagger that the first line of a cache names; None if it has no line yet.

    Args:
        path: str or path. The file of a `TagCache`.

    Raises:
        ValueError: The first line names no tagger.
    """
    if not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        first = file.readline()
    if not first:
        return None
    try:
        return json.loads(first)["tagger"]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}, line 1: damaged. Remove the file.") from error


class TagCache:
    """A cache of tags in a file of JSON lines, whose first line names the tagger.

    An interrupted run continues with the missing texts. Several processes can add to one file. Tags
    contain no spaces: spaces in a lemma become underscores.

    Args:
        path: str or path. The file; created if it does not exist.
        tagger: str. Name and version of the tagger.
        tag: callable. The tagger. Default: None, read only.

    Raises:
        ValueError: The file holds the tags of another tagger.

    Example:

    >>> import tempfile
    >>> def tag(texts):
    ...     for words in texts:
    ...         yield {"lemmas": [w.lower() for w in words], "pos": ["X"] * len(words),
    ...                "ner": ["-"] * len(words)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = TagCache(folder + "/tags.jsonl", "demo 1", tag)
    ...     cache.add(["An owl flew."])
    ...     cache.of("An owl flew.", "pos"), cache.of("An owl flew.", "lemmas")
    ('X X X X', 'an owl flew .')
    """

    def __init__(self, path: str | PathLike[str], tagger: str, tag: TagWords | None = None):
        self.path, self.tagger, self._tag = Path(path), tagger, tag
        self._known: dict[str, dict[str, str]] = {}
        result = tagger_of_file(path)
        if result is None:
            write_text(path, json.dumps({"tagger": tagger}) + "\n")
        elif result != tagger:
            raise ValueError(f"{path} holds the tags of {result!r}. Received: tagger={tagger!r}")
        # `splitlines` would also split at Unicode line separators within texts.
        _, *lines = self.path.read_bytes().split(b"\n")
        for line in lines:
            try:
                record = json.loads(line.decode("utf-8"))
            except ValueError:
                continue  # a part of a line: of a run that was killed, or that is writing it now
            self._known[record.pop("text")] = record

    def add(self, texts: Iterable[str], batch_size: int = 256) -> None:
        """Tags the texts that are not in the file, in batches.

        Args:
            texts: iterable of str.
            batch_size: int. Number of texts per batch. Default: 256.

        Raises:
            ValueError: The cache is read only, or the tagger gives something else.
        """
        from tfmrc.text import Tokenizer

        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if not missing:
            return
        if self._tag is None:
            raise ValueError(f"{len(missing)} texts have no tags, and there is no tagger.")
        tokenizer = Tokenizer()
        starts = range(0, len(missing), batch_size)
        for start in counted(starts, "tagging", f"batches of {batch_size}"):
            part = missing[start : start + batch_size]
            surfaces = [row.numpy() for row in tokenizer.tokenize(part).surface]
            words = [[word.decode("utf-8", "replace") for word in row] for row in surfaces]
            records = {
                text: {kind: _joined(tags[kind], len(row), kind) for kind in KINDS}
                for text, row, tags in zip(part, words, self._tag(words), strict=True)
            }
            self._append({"text": text, **record} for text, record in records.items())
            self._known |= records

    def _append(self, lines: Iterable[dict[str, Any]]) -> None:
        """Appends lines by one write, so that those of several processes do not mix."""
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with open(self.path, "a+b", buffering=0) as file:
            file.seek(-1, os.SEEK_END)
            begin = b"" if file.read(1) == b"\n" else b"\n"  # ends a part of a line
            left = begin + text.encode()
            while left:  # a full disk takes a part, and the rest is an error
                left = left[file.write(left) :]

    def of(self, text: str, kind: str) -> str:
        """Returns the tags of a text, one per word, separated by single spaces.

        Raises:
            KeyError: The text was not added.
        """
        return self._known[text][kind]

    def names(self, kind: str, texts: Iterable[str] | None = None) -> list[str]:
        """Returns all tags of a kind except "-", the most frequent first.

        Args:
            kind: str. One of `KINDS`.
            texts: iterable of str. The texts to count. Default: None, all texts.
        """
        tagged = [self._known[text][kind] for text in (self._known if texts is None else texts)]
        counts = Counter(name for tags in tagged for name in tags.split())
        del counts["-"]
        return sorted(counts, key=lambda name: (-counts[name], name))

    def annotate(
        self, annotations: Sequence[str]
    ) -> Callable[[Sequence[TrainingExample]], dict[str, np.ndarray]]:
        """Returns the `annotate` argument of `tfmrc.data.make_dataset` for a preprocessor.

        Args:
            annotations: sequence of str. `preprocessor.annotations`.
        """

        def of_records(records: Sequence[TrainingExample]) -> dict[str, np.ndarray]:
            result = {name: np.full([len(records)], b"", object) for name in annotations}
            for row, record in enumerate(records):
                span = record.example.span_of(record.answer)
                number = span.passage if span else 0
                passages = record.example.passages or ("",)
                texts = {"question": record.example.question, "passage": passages[number]}
                for name in annotations:
                    side, kind = name.split("_", 1)
                    result[name][row] = self.of(texts[side], kind).encode()
            return result

        return of_records

    def tagger_of(self, annotations: Sequence[str]) -> Callable[..., dict[str, list[str]]]:
        """Returns the `tagger` argument of `tfmrc.predictors.SANPredictor`, which tags new texts.

        Args:
            annotations: sequence of str. `preprocessor.annotations`.
        """

        def tag(questions: Sequence[str], passages: Sequence[str]) -> dict[str, list[str]]:
            self.add([*questions, *passages])
            texts = {"question": questions, "passage": passages}
            return {
                name: [self.of(text, name.split("_", 1)[1]) for text in texts[name.split("_")[0]]]
                for name in annotations
            }

        return tag


def _joined(tags: Sequence[str], count: int, kind: str) -> str:
    if len(tags) != count:
        raise ValueError(
            f"A tagger must give one tag per word. Received: {len(tags)} {kind} for {count} words"
        )
    return " ".join("_".join((tag or "").split()) or "-" for tag in tags)

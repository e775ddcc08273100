"""Tags of texts by a tagger outside the graph: made once, kept in a file, looked up in training."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.data.batching.training_example import TrainingExample

KINDS = ("lemmas", "pos", "ner")

TagWords = Callable[[Sequence[Sequence[str]]], Iterable[Mapping[str, Sequence[str]]]]
"""From the words of several texts to `lemmas`, `pos` and `ner`, one string a word, of each."""


def spacy_tagger(model: str, processes: int = 1) -> tuple[str, TagWords]:
    """A spaCy pipeline over words that are split already.

    Args:
        model: name of an installed pipeline, as `en_core_web_sm`.
        processes: how many run side by side.

    Returns:
        Its name and version, and the tagger. A word without an entity has the type "-".

    Raises:
        ValueError: spaCy or the pipeline is not installed; the message says how to.
    """
    try:
        import spacy
    except ImportError as error:
        raise ValueError("Tags need spaCy: pip install tfmrc[spacy]") from error
    try:
        pipeline = spacy.load(model)
    except OSError as error:
        raise ValueError(
            f"The pipeline is not installed: python -m spacy download {model}. "
            f"Received: model={model!r}"
        ) from error
    name = f"spacy {spacy.__version__} {model} {pipeline.meta.get('version', '')}".strip()
    return name, words_tagger(pipeline, processes)


def words_tagger(pipeline: Any, processes: int = 1) -> TagWords:
    """A spaCy `Language` object as a tagger of words."""
    from spacy.tokens import Doc

    def tag(texts: Sequence[Sequence[str]]) -> Iterable[Mapping[str, Sequence[str]]]:
        docs = (Doc(pipeline.vocab, words=list(words)) for words in texts)
        for doc in pipeline.pipe(docs, n_process=processes):
            yield {
                "lemmas": [word.lemma_ or word.lower_ for word in doc],
                "pos": [word.tag_ or word.pos_ or "-" for word in doc],
                "ner": [word.ent_type_ or "-" for word in doc],
            }

    return tag


class TagCache:
    """Tags of texts in a file of JSON lines, whose first line names the tagger.

    A run that is stopped goes on with the texts that are missing. Tags hold no spaces: those in a
    lemma become underscores.

    Args:
        path: the file; it is made if it is not there.
        tagger: name and version of the tagger.
        tag: the tagger; None to read only.

    Raises:
        ValueError: the file is another tagger's.

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
        if self.path.is_file() and self.path.stat().st_size:
            self._read()
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps({"tagger": tagger}) + "\n", encoding="utf-8")

    def _read(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:  # a line that was being written when a run was killed
            self.path.write_text(whole, encoding="utf-8")
        # Not `splitlines`, which also parts texts at separators of lines that stand in them.
        first, *lines = whole.rstrip("\n").split("\n")
        result = json.loads(first).get("tagger")
        if result != self.tagger:
            raise ValueError(
                f"{self.path} holds the tags of {result!r}. Received: tagger={self.tagger!r}"
            )
        for line in lines:
            record = json.loads(line)
            self._known[record.pop("text")] = record

    def add(self, texts: Iterable[str], batch_size: int = 256) -> None:
        """Tags the texts that the file does not hold, some at a time, with progress.

        Raises:
            ValueError: the cache only reads.
        """
        from rich.progress import track

        from tfmrc.text import Tokenizer

        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing and self._tag is None:
            raise ValueError(f"{len(missing)} texts have no tags, and there is no tagger.")
        tokenizer = Tokenizer()
        starts = range(0, len(missing), batch_size)
        with open(self.path, "a", encoding="utf-8") as file:
            for start in track(starts, "tagging", disable=len(missing) <= batch_size):
                part = missing[start : start + batch_size]
                surfaces = [row.numpy() for row in tokenizer.tokenize(part).surface]
                words = [[word.decode("utf-8", "replace") for word in row] for row in surfaces]
                for text, row, tags in zip(part, words, self._tags(words), strict=True):
                    record = {kind: _joined(tags[kind], len(row), kind) for kind in KINDS}
                    file.write(json.dumps({"text": text, **record}, ensure_ascii=False) + "\n")
                    self._known[text] = record
                file.flush()

    def _tags(self, words: list[list[str]]) -> Iterable[Mapping[str, Sequence[str]]]:
        if self._tag is None:
            raise ValueError("The cache only reads. Received: tag=None")
        return self._tag(words)

    def of(self, text: str, kind: str) -> str:
        """The tags of a text, one a word, with single spaces between them.

        Raises:
            KeyError: the text was not added.
        """
        return self._known[text][kind]

    def names(self, kind: str, texts: Iterable[str] | None = None) -> list[str]:
        """All tags of a kind but "-", the commonest first; of some texts, or of all."""
        counts: dict[str, int] = {}
        for text in self._known if texts is None else texts:
            for name in self._known[text][kind].split():
                counts[name] = counts.get(name, 0) + 1
        counts.pop("-", None)
        return sorted(counts, key=lambda name: (-counts[name], name))

    def annotate(
        self, annotations: Sequence[str]
    ) -> Callable[[Sequence[TrainingExample]], dict[str, np.ndarray]]:
        """What `tfmrc.data.make_dataset` takes as `annotate`, for `features.annotations`."""

        def of_records(records: Sequence[TrainingExample]) -> dict[str, np.ndarray]:
            result = {name: np.full([len(records)], b"", object) for name in annotations}
            for row, record in enumerate(records):
                spans = [s for s in record.example.spans if _is_target(record, s)]
                number = spans[0].passage if spans else 0
                passages = record.example.passages or ("",)
                texts = {"question": record.example.question, "passage": passages[number]}
                for name in annotations:
                    side, kind = name.split("_", 1)
                    result[name][row] = self.of(texts[side], kind).encode()
            return result

        return of_records

    def tagger_of(self, annotations: Sequence[str]) -> Callable[..., dict[str, list[str]]]:
        """What `tfmrc.predictors.SANPredictor` takes as `tagger`; tags what is missing."""

        def tag(questions: Sequence[str], passages: Sequence[str]) -> dict[str, list[str]]:
            self.add([*questions, *passages])
            texts = {"question": questions, "passage": passages}
            return {
                name: [self.of(text, name.split("_", 1)[1]) for text in texts[name.split("_")[0]]]
                for name in annotations
            }

        return tag


def _is_target(record: TrainingExample, span: Any) -> bool:
    return bool(record.answer) and record.example.span_text(span) == record.answer


def _joined(tags: Sequence[str], count: int, kind: str) -> str:
    if len(tags) != count:
        raise ValueError(
            f"A tagger gives one tag a word. Received: {len(tags)} {kind} for {count} words"
        )
    return " ".join("_".join(tag.split()) or "-" for tag in tags)

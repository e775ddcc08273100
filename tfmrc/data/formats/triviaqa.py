"""TriviaQA: questions, and documents that may hold the answer."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.fields import Place
from tfmrc.data.formats.json_stream import json_items
from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_binary
from tfmrc.data.transforms.windows import windows

Domain = Literal["wikipedia", "web"]
# Where a domain's questions name their documents.
DOCUMENTS = {"wikipedia": ("EntityPages",), "web": ("SearchResults", "EntityPages")}
FOLDERS = {"EntityPages": "wikipedia", "SearchResults": "web"}


def read_triviaqa(
    path: str | PathLike,
    evidence: str | PathLike,
    *,
    domain: Domain = "wikipedia",
    style: str = "span",
    passage_words: int = 800,
    on_error: OnError = "raise",
) -> ExampleStream:
    """Read TriviaQA in SQuAD's form, as DAANET reads it: an example a question and document.

    The passage is the beginning of the document, whole sentences of at most ``passage_words``
    words. The answer is where one of its aliases first stands there, upper and lower case alike;
    the official answer is a further reference. A document whose beginning holds no alias is left
    out and noted, as is one that is not in the folder. A question whose answer is not told (the
    test sets) gives its documents without answers. One question is held at a time.

    Args:
        path: a file of ``qa/``, as ``wikipedia-train.json``, ``.gz`` as it is.
        evidence: the folder ``evidence/``, which holds ``wikipedia/`` and ``web/``.
        domain: which documents of a question are read: its pages of ``"wikipedia"`` alone, or
            for ``"web"`` its search results too.
        style: name of the answers' style.
        passage_words: the most words of a passage; marks count as words.
        on_error: ``"raise"`` a ``RecordError`` at a broken question, or ``"skip"`` and count it.

    Returns:
        A stream of examples; ``id`` is the question's with the document's file behind it,
        ``group`` is the question's id.

    Raises:
        ValueError: if there is no such domain.
        RecordError: while reading: a field is missing or has a wrong type, a text is blank, the
            file is cut short or no JSON.

    Example:

    >>> import json, pathlib, tempfile
    >>> question = {"QuestionId": "tc_1", "Question": "Who flew?",
    ...             "Answer": {"Value": "Owl", "Aliases": ["Owl", "Owls"]},
    ...             "EntityPages": [{"Filename": "Night.txt"}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qa.json")
    ...     _ = path.write_text(json.dumps({"Data": [question]}))
    ...     pathlib.Path(folder, "wikipedia").mkdir()
    ...     _ = pathlib.Path(folder, "wikipedia", "Night.txt").write_text("At night an owl flew.")
    ...     [example] = read_triviaqa(path, folder)
    >>> example.answers, example.id
    ({'span': ('owl', 'Owl')}, 'tc_1--Night.txt')

    Reference: Joshi et al. 2017; Xiao et al. 2018 (DAANET), Table 1.
    """
    if domain not in DOCUMENTS:
        raise ValueError(f"`domain` is one of {sorted(DOCUMENTS)}. Received: domain={domain!r}")

    def read(report: Report) -> Iterator[Example]:
        number = 0
        with open_binary(path) as file:
            for number, record in json_items(file, path, "Data", "question", report):
                try:
                    question = _Question(record, Place(path, f"question {number}"))
                    files = question.files(domain)
                except RecordError as error:
                    report.error(error)
                    continue
                for index, (folder, name) in enumerate(files):
                    if name in [other for _, other in files[:index]]:
                        report.note("documents that a question names twice")
                        continue
                    document = Path(evidence, folder, name)
                    if not document.is_file():
                        report.note("documents that are not in the folder")
                        continue
                    text = document.read_text(encoding="utf-8", errors="replace")
                    example = question.example(name, text, style, passage_words, report)
                    if example is not None:
                        report.location = Place(path, f"question {number}, document {name!r}")
                        yield example
        if not number and not report.skipped:
            raise RecordError("holds no question", path=path, record="file", field="Data")

    return ExampleStream(read, on_error)


class _Question:
    """A question of the file, and what its answer may be called."""

    def __init__(self, record: Any, place: Place) -> None:
        self.id = place.text(record, "QuestionId")
        self.place = Place(place.path, f"QuestionId {self.id!r}")
        self.record = record
        self.text = self.place.text(record, "Question")
        self.answer: str | None = None
        self.aliases: list[str] = []
        if "Answer" in record:
            self.answer = self.place.text(record["Answer"], "Value")
            listed = self.place.list(record["Answer"], "Aliases")
            if not all(isinstance(alias, str) for alias in listed):
                raise self.place.error("must be a list of strings", "Aliases")
            names = dict.fromkeys([self.answer, *listed])
            self.aliases = [alias.strip() for alias in names if alias.strip()]

    def files(self, domain: Domain) -> list[tuple[str, str]]:
        """Folder and name of each document."""
        return [
            (FOLDERS[field], self.place.text(document, "Filename"))
            for field in DOCUMENTS[domain]
            if field in self.record
            for document in self.place.list(self.record, field)
        ]

    def example(
        self, name: str, text: str, style: str, size: int, report: Report
    ) -> Example | None:
        places = windows(text, size, 1)
        if not places:
            report.note("documents without words")
            return None
        [(start, end)] = places
        passage = text[start:end]
        untold = Example(f"{self.id}--{name}", self.text, (passage,), group=self.id)
        if self.answer is None:
            return untold
        span = _first(passage, self.aliases)
        if span is None:
            report.note("documents whose beginning holds no answer")
            return None
        return replace(
            untold,
            answers={style: tuple(dict.fromkeys([untold.span_text(span), self.answer]))},
            answerable=True,
            relevance=(True,),
            spans=(span,),
        )


def _first(text: str, aliases: Sequence[str]) -> Span | None:
    """Where the first alias stands as words of its own, the longest of those that begin there."""
    longest_first = sorted(aliases, key=len, reverse=True)
    either = "|".join(re.escape(alias) for alias in longest_first)
    result = re.search(rf"(?<!\w)(?:{either})(?!\w)", text, re.IGNORECASE)
    return None if result is None else Span(0, result.start(), result.end())

"""TriviaQA: questions with evidence documents."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.json_stream import json_items
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream, OnError, RecordError, open_binary
from tfmrc.data.transforms.windows import windows

Domain = Literal["wikipedia", "web"]
# Fields of a question that list its documents, per domain.
DOCUMENTS = {"wikipedia": ("EntityPages",), "web": ("SearchResults", "EntityPages")}
FOLDERS = {"EntityPages": "wikipedia", "SearchResults": "web"}


@register_format("triviaqa")
def read_triviaqa(
    path: str | PathLike,
    evidence: str | PathLike | None = None,
    *,
    domain: Domain | None = None,
    style: str = "span",
    passage_words: int = 800,
    on_error: OnError = "raise",
) -> ExampleStream:
    """Reads TriviaQA in SQuAD's form, as DAANET does: one example per question and document.

    The passage is the beginning of the document, whole sentences of at most ``passage_words``
    words. The answer is the first occurrence of one of its aliases, ignoring case; the official
    answer is a further reference. A document whose beginning contains no alias, or that is missing,
    is left out and noted. A question without an answer (the test sets) gives its documents without
    answers. A question without documents is noted. One question is held at a time.

    Args:
        path: str or path. A file of ``qa/`` such as ``wikipedia-train.json``, which may be gzipped.
        evidence: str or path. The folder ``evidence/``, which contains ``wikipedia/`` and ``web/``.
            Default: None, beside the folder of the file, as in the official archive.
        domain: str. ``"wikipedia"`` reads a question's Wikipedia pages; ``"web"`` reads its search
            results too. Default: None, the one that the file's name has (``web-train.json``),
            else ``"wikipedia"``.
        style: str. Answer style. Default: ``"span"``.
        passage_words: int. Largest number of words and punctuation marks per passage.
            Default: 800.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken question; ``"skip"`` counts
            the question and continues. Default: ``"raise"``.

    Returns:
        A stream of examples; ``id`` is the question's id followed by the document's file name,
        ``group`` is the question's id.

    Raises:
        RecordError: The folder of the documents does not exist. While reading: a field is missing
            or has a wrong type, a text is blank, the file is truncated or not JSON.

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
    if domain is None:
        domain = "web" if "web" in re.split(r"[\W_]", Path(path).name) else "wikipedia"
    documents = Path(evidence or Path(path).resolve().parents[1] / "evidence")
    if not documents.is_dir():
        raise RecordError(
            f"needs the documents. Received: no folder {documents}", path=path, record="evidence"
        )

    def read(account: Account) -> Iterator[Example]:
        with open_binary(path) as file:
            for number, record in json_items(file, path, "Data", "question"):
                try:
                    question = _Question(record, RecordLocation(path, f"question {number}"))
                    files = question.files(domain)
                except RecordError as error:
                    account.error(error)
                    continue
                if not files:
                    account.note("questions without documents")
                for index, (folder, name) in enumerate(files):
                    if name in [other for _, other in files[:index]]:
                        account.note("documents that a question names twice")
                        continue
                    document = _document(documents / folder, name)
                    if document is None:
                        account.note("documents that are not in the folder")
                        continue
                    text = document.read_text(encoding="utf-8-sig", errors="replace")
                    try:
                        example = question.example(name, text, style, passage_words, account)
                    except ValueError as error:  # the texts are no valid Unicode
                        account.error(question.location.error(str(error)))
                        break
                    if example is not None:
                        account.location = RecordLocation(
                            path, f"question {number}, document {name!r}"
                        )
                        yield example

    return ExampleStream(read, on_error)


def _document(folder: Path, name: str) -> Path | None:
    """Returns the file of a document; None if the folder has none, or the name leads out of it."""
    path = Path(folder, name)
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


class _Question:
    """A question of the file with its answer and aliases."""

    def __init__(self, record: Mapping[str, Any], location: RecordLocation) -> None:
        self.id = location.text(record, "QuestionId")
        self.location = RecordLocation(location.path, f"QuestionId {self.id!r}")
        self.record = record
        self.text = self.location.text(record, "Question")
        self.answer: str | None = None
        self.aliases: list[str] = []
        if "Answer" in record:
            self.answer = self.location.text(record["Answer"], "Value")
            listed = self.location.list(record["Answer"], "Aliases")
            if not all(isinstance(alias, str) for alias in listed):
                raise self.location.error("must be a list of strings", "Aliases")
            names = dict.fromkeys([self.answer, *listed])
            self.aliases = [alias.strip() for alias in names if alias.strip()]

    def files(self, domain: Domain) -> list[tuple[str, str]]:
        """Returns the folder and the name of each document."""
        return [
            (FOLDERS[field], self.location.text(document, "Filename"))
            for field in DOCUMENTS[domain]
            if field in self.record
            for document in self.location.list(self.record, field)
        ]

    def example(
        self, name: str, text: str, style: str, size: int, account: Account
    ) -> Example | None:
        spans = windows(text, size, 1)
        if not spans:
            account.note("documents without words")
            return None
        [(start, end)] = spans
        passage = text[start:end]
        unanswered = Example(f"{self.id}--{name}", self.text, (passage,), group=self.id)
        if self.answer is None:
            return unanswered
        span = _first(passage, self.aliases)
        if span is None:
            account.note("documents whose beginning contains no answer")
            return None
        return replace(
            unanswered,
            answers={style: tuple(dict.fromkeys([unanswered.span_text(span), self.answer]))},
            answerable=True,
            relevance=(True,),
            spans=(span,),
        )


def _first(text: str, aliases: Sequence[str]) -> Span | None:
    """Returns the first occurrence of an alias as whole words; the longest alias wins a tie."""
    longest_first = sorted(aliases, key=len, reverse=True)
    either = "|".join(re.escape(alias) for alias in longest_first)
    result = re.search(rf"(?<!\w)(?:{either})(?!\w)", text, re.IGNORECASE)
    return None if result is None else Span(0, result.start(), result.end())

"""TriviaQA: questions with evidence documents."""

import re
from collections.abc import Iterator, Sequence
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

    def examples(
        record: Any, location: RecordLocation, account: Account
    ) -> Iterator[tuple[str, Example]]:
        """Yields the name and the example of each document of a question."""
        key = location.text(record, "QuestionId")
        location = RecordLocation(path, f"QuestionId {key!r}")
        question = location.text(record, "Question")
        answer, aliases = _answer(record, location)
        files = [
            (FOLDERS[field], location.text(document, "Filename"))
            for field in DOCUMENTS[domain]
            if field in record
            for document in location.list(record, field)
        ]
        if not files:
            account.notes["questions without documents"] += 1
        names: set[str] = set()
        for folder, name in files:
            if name in names:
                account.notes["documents that a question names twice"] += 1
                continue
            names.add(name)
            document = _document(documents / folder, name)
            if document is None:
                account.notes["documents that are not in the folder"] += 1
                continue
            text = document.read_text(encoding="utf-8-sig", errors="replace")
            bounds = windows(text, passage_words, 1)
            if not bounds:
                account.notes["documents without words"] += 1
                continue
            [(start, end)] = bounds
            passage = text[start:end]
            fields: dict[str, Any] = {"id": f"{key}--{name}", "question": question, "group": key}
            if answer is not None:
                span = _first(passage, aliases)
                if span is None:
                    account.notes["documents whose beginning contains no answer"] += 1
                    continue
                texts = dict.fromkeys([passage[span.start : span.end], answer])
                fields |= {"answers": {style: tuple(texts)}, "spans": (span,)}
                fields |= {"answerable": True, "relevance": (True,)}
            yield name, location.example(passages=(passage,), **fields)

    def read(account: Account) -> Iterator[Example]:
        with open_binary(path) as file:
            for number, record in json_items(file, path, "Data", "question"):
                place = f"question {number}"
                with account.checked():
                    for name, example in examples(record, RecordLocation(path, place), account):
                        account.location = RecordLocation(path, f"{place}, document {name!r}")
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


def _answer(record: Any, location: RecordLocation) -> tuple[str | None, list[str]]:
    """Returns the official answer of a question, None in the test sets, and its aliases."""
    if "Answer" not in record:
        return None, []
    answer = location.text(record["Answer"], "Value")
    aliases = location.list(record["Answer"], "Aliases")
    if not all(isinstance(alias, str) for alias in aliases):
        raise location.error("must be a list of strings", "Aliases")
    names = dict.fromkeys([answer, *aliases])
    return answer, [alias.strip() for alias in names if alias.strip()]


def _first(text: str, aliases: Sequence[str]) -> Span | None:
    """Returns the first occurrence of an alias as whole words; the longest alias wins a tie."""
    longest_first = sorted(aliases, key=len, reverse=True)
    either = "|".join(re.escape(alias) for alias in longest_first)
    result = re.search(rf"(?<!\w)(?:{either})(?!\w)", text, re.IGNORECASE)
    return None if result is None else Span(0, result.start(), result.end())

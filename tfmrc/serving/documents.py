"""Answers from an index of documents by a served model, and the files that they cite."""

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError
from starlette.responses import FileResponse

from tfmrc.documents.answer import DocumentAnswer, cite
from tfmrc.documents.collection import NUM_PASSAGES, DocumentCollection
from tfmrc.documents.original import original_file
from tfmrc.documents.page_picture import page_picture
from tfmrc.documents.store import open_store
from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.queries import SignatureQuery, answer_query
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.predictors.results.result import Result
from tfmrc.serving.lane import Arrays
from tfmrc.serving.service import Call, Service

AROUND = 400  # characters of a document before and after an answer
PDF = ".pdf"
HEADERS = {"cache-control": "private, no-cache", "cross-origin-resource-policy": "same-origin"}

Value = TypeVar("Value")
Fields = TypeVar("Fields", bound=BaseModel)


class Question(BaseModel, extra="forbid"):
    """The body of `POST /v1/documents:answer`.

    Attributes:
        question: str. The question.
        model: str. Name of the model that reads; `""` for the only one. Default: "".
        style: str or None. The answer style; None for the first one. Default: None.
        num_passages: int. Number of passages that are read. Default: 10.
        num_alternatives: int. Largest number of further candidates. Default: 3.
    """

    question: str
    model: str = ""
    style: str | None = None
    num_passages: int = Field(NUM_PASSAGES, ge=1, le=100)
    num_alternatives: int = Field(3, ge=0, le=20)


class Place(BaseModel):
    """The query of a page: name of the document, page from 1, characters to mark."""

    name: str
    page: int = 1
    start: int = 0
    end: int = 0


class ServedDocuments:
    """The documents of a server.

    Args:
        path: str or path. The index, as of `tfmrc.documents.open_store`.
        service: `Service`. Computes the answers, within its limits.

    Attributes:
        name: str. Name of the index.
    """

    def __init__(self, path: str | PathLike[str], service: Service):
        self.name = Path(path).name
        self._store = open_store(path)
        self._service = service
        self._drawing = ThreadPoolExecutor(1, "tfmrc-draw")  # PDFium is not thread-safe

    def close(self) -> None:
        """Ends the use of the index."""
        self._drawing.shutdown(wait=False, cancel_futures=True)
        self._store.close()

    async def answer(self, call: Call, value: Any) -> dict[str, Any]:
        """Answers a question from the passages that fit it best.

        Args:
            call: `Call`. The request's record, which is completed.
            value: The body of the request as JSON value; see `Question`.

        Returns:
            The fields of a `DocumentAnswer`, with a `headline`; each answer and alternative with
            `place`, `marked_sentence`, and the text of its document `before`, of and `after` the
            `quotation`.

        Raises:
            RequestError: If the question cannot be answered.
        """
        asked = _checked(Question, value)
        names = self._service.manager.names
        if not asked.model and len(names) > 1:
            raise RequestError(f"`model` must name one of the models: {', '.join(names)}.")
        search = DocumentCollection(self._store).search
        async with self._service.admitted():
            passages = await self._service.read(search, asked.question, asked.num_passages)
        result = Result("", is_confident=False)
        if passages:
            texts = [passage.text for passage in passages]
            queries: list[SignatureQuery] = []

            def read(model: SavedModel) -> tuple[str, Arrays]:
                queries.append(_query(model, asked, texts))
                signature = model.signature(queries[0].signature)
                return queries[0].signature, signature.arrays(queries[0].inputs)

            name = asked.model or next(iter(names), "")
            outputs = await self._service.predict(call, name, read)
            result = queries[0].read(outputs)
        answer = cite(result, passages, asked.num_alternatives)
        return await asyncio.to_thread(self._with_context, answer)

    def _with_context(self, answer: DocumentAnswer) -> dict[str, Any]:
        """Returns an answer as JSON value, with the text of the documents around it."""
        value = answer.to_json() | {"headline": answer.headline}
        values = (value, *value.get("alternatives", ()))
        for each, part in zip((answer, *answer.alternatives), values, strict=True):
            if each.document:
                text = self._store.document_text(each.document)
                first, last = max(0, each.start - AROUND), min(len(text), each.end + AROUND)
                before, after = text[first : each.start], text[each.end : last]
                if first > 0:  # no part of a word
                    before = "… " + before.partition(" ")[2]
                if last < len(text):
                    after = after.rpartition(" ")[0] + " …"
                quotation = text[each.start : each.end]
                part |= {"place": each.place, "before": before, "quotation": quotation}
                part["after"] = after
            if each.sentence:
                part["marked_sentence"] = each.marked_sentence
        return value

    async def picture(self, query: Mapping[str, str]) -> bytes:
        """Returns a page of a PDF file as PNG, with characters marked.

        Args:
            query: dict. The values of a `Place`.

        Raises:
            RequestError: If there is no such page, or the file has changed since it was indexed.
        """
        place = _checked(Place, query)
        if not place.name.lower().endswith(PDF):
            raise RequestError("Only PDF files have pictures of their pages.", 404)

        def draw() -> bytes:
            path = _found(original_file, self._store, place.name)
            text = self._store.document_text(place.name)
            return _found(page_picture, path, place.page, text, place.start, place.end)

        async with self._service.admitted():
            return await asyncio.get_running_loop().run_in_executor(self._drawing, draw)

    async def file(self, query: Mapping[str, str]) -> FileResponse:
        """Returns the file of a document: PDF to be shown, other forms to be saved.

        Args:
            query: dict. The `name` of the document.

        Raises:
            RequestError: If there is no such document, or it has changed since it was indexed.
        """
        name = _checked(Place, query).name
        path = await asyncio.to_thread(_found, original_file, self._store, name)
        # A page of the handbook must not run as a page of the server.
        is_pdf = name.lower().endswith(PDF)
        return FileResponse(
            path,
            headers=HEADERS,
            media_type="application/pdf" if is_pdf else "application/octet-stream",
            filename=path.name,
            content_disposition_type="inline" if is_pdf else "attachment",
            stat_result=os.stat(path),
        )


def _query(model: SavedModel, asked: Question, texts: list[str]) -> SignatureQuery:
    styles = (task.get("style") for task in model.card.get("tasks") or ())
    first = next(filter(None, styles), "")
    signatures = {name: signature.inputs for name, signature in model.signatures.items()}
    try:
        return answer_query(signatures, asked.question, texts, asked.style or (lambda: first))
    except ValueError as error:  # it does not answer questions, or has no styles
        raise RequestError(str(error)) from error


def _checked(kind: type[Fields], values: Any) -> Fields:
    """Returns the values of a request as a model of pydantic."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = (f"`{'.'.join(map(str, e['loc'])) or 'body'}`: {e['msg']}" for e in error.errors())
        raise RequestError("; ".join(faults)) from error


def _found(function: Callable[..., Value], *arguments: Any) -> Value:
    """Returns the value of a function; what is missing or has changed is a request's error."""
    try:
        return function(*arguments)
    except KeyError as error:
        raise RequestError(f"There is no document {error}.", 404) from error
    except IndexError as error:
        raise RequestError(str(error), 404) from error
    except ValueError as error:
        raise RequestError(str(error), 409, reason="changed") from error

"""Answers from an index of documents by a served model, and the files that they cite."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from tfmrc.documents.answer import cite, span_query
from tfmrc.documents.collection import NUM_PASSAGES, load
from tfmrc.documents.document import Passage
from tfmrc.documents.original import original_file
from tfmrc.documents.page_picture import page_picture
from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.queries import SignatureQuery, answer_query
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.predictors.results.result import Result
from tfmrc.serving.lane import Arrays
from tfmrc.serving.service import Call, Service

PDF = ".pdf"
SAMPLE, HEADINGS = 1000, 8  # passages whose headings are shown, and most of these
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
        about: dict. What the page shows before the first question: the name, and some headings.
    """

    def __init__(self, path: str | PathLike[str], service: Service):
        self.name = Path(path).name
        self._collection = load(path)
        found = islice(self._collection.store.passages(), SAMPLE)
        headings = list(dict.fromkeys(each.heading[-1] for each in found if each.heading))
        step = 1 + len(headings) // HEADINGS
        self.about = {"documents": self.name, "headings": headings[::step]}
        self._service = service
        self._drawing = ThreadPoolExecutor(1, "tfmrc-draw")  # PDFium is not thread-safe

    def close(self) -> None:
        """Ends the use of the index."""
        self._drawing.shutdown(wait=False, cancel_futures=True)
        self._collection.store.close()

    async def answer(self, call: Call, value: Any) -> dict[str, Any]:
        """Answers a question from the passages that fit it best.

        Args:
            call: `Call`. The request's record, which is completed.
            value: The body of the request as JSON value; see `Question`.

        Returns:
            The JSON value of a `DocumentAnswer`, with its `headline`.

        Raises:
            RequestError: If the question cannot be answered.
        """
        asked = _checked(Question, value)
        names = self._service.manager.names
        name = asked.model or (names[0] if len(names) == 1 else "")
        async with self._service.admitted():
            passages = await self._service.read(
                self._collection.search, asked.question, asked.num_passages
            )
        result = Result("", is_confident=False)
        if passages:
            with self._service.manager.use(name) as used:
                query = _query(used.loaded.model, asked, passages)

            def read(model: SavedModel) -> tuple[str, Arrays]:
                return query.signature, model.signature(query.signature).arrays(query.inputs)

            result = query.read(await self._service.predict(call, name, read))
        answer = cite(result, passages, asked.num_alternatives)
        return answer.to_json() | {"headline": answer.headline}

    async def picture(self, request: Request, call: Call) -> Response:
        """Returns a page of a PDF file as PNG, with characters marked.

        Args:
            request: `Request`. Its query has the values of a `Place`.
            call: `Call`. The request's record.

        Raises:
            RequestError: If there is no such page, or the file has changed since it was indexed.
        """
        place = _checked(Place, request.query_params)
        if not place.name.lower().endswith(PDF):
            raise RequestError("Only PDF files have pictures of their pages.", 404)

        def draw() -> bytes:
            path = _found(original_file, self._collection.store, place.name)
            text = self._collection.document_text(place.name)
            return _found(page_picture, path, place.page, text, place.start, place.end)

        async with self._service.admitted():
            picture = await asyncio.get_running_loop().run_in_executor(self._drawing, draw)
        return Response(picture, headers=HEADERS, media_type="image/png")

    async def file(self, request: Request, call: Call) -> FileResponse:
        """Returns the file of a document: PDF to be shown, other forms to be saved.

        Args:
            request: `Request`. Its query has the `name` of the document.
            call: `Call`. The request's record.

        Raises:
            RequestError: If there is no such document, or it has changed since it was indexed.
        """
        name = _checked(Place, request.query_params).name
        path = await asyncio.to_thread(_found, original_file, self._collection.store, name)
        # A page of the handbook must not run as a page of the server.
        is_pdf = name.lower().endswith(PDF)
        return FileResponse(
            path,
            headers=HEADERS,
            media_type="application/pdf" if is_pdf else "application/octet-stream",
            filename=path.name,
            content_disposition_type="inline" if is_pdf else "attachment",
            stat_result=path.stat(),
        )


def _query(model: SavedModel, asked: Question, passages: list[Passage]) -> SignatureQuery:
    styles = (task.get("style") for task in model.card.get("tasks") or ())
    first = next(filter(None, styles), "")
    signatures = {name: signature.inputs for name, signature in model.signatures.items()}
    texts = [passage.text for passage in passages]
    try:
        query = answer_query(signatures, asked.question, texts, asked.style or (lambda: first))
    except ValueError as error:  # it does not answer questions, or has no styles
        raise RequestError(str(error)) from error
    is_reader = "starts" in model.signatures[query.signature].outputs
    return span_query(asked.question, passages) if is_reader else query


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
    except (IndexError, FileNotFoundError) as error:
        raise RequestError(str(error), 404) from error

"""Clients of served models, over HTTP or gRPC."""

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self
from urllib.parse import unquote

from tfmrc.predictors.errors import RequestError
from tfmrc.predictors.generated import GeneratedText
from tfmrc.predictors.queries import (
    SignatureQuery,
    answer_query,
    ask_query,
    check_finds_answers,
    read_answer,
)
from tfmrc.predictors.result import Result
from tfmrc.predictors.task import stream_of_passages
from tfmrc.serving.api_key import check_api_key
from tfmrc.serving.transports import Address, split, transport_of
from tfmrc.utils.files import version_of

__all__ = ["AsyncClient", "Client"]

REPEATED = (429, 503)
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
MOST_AT_A_TIME = 100  # requests of an asynchronous client: as many as httpx has connections


class _Base:
    """What both clients share: the address, the pauses, and requests as values."""

    asynchronous = False

    def __init__(
        self,
        name: str,
        url: str = "http://127.0.0.1:8501",
        version: int | None = None,
        timeout: float = 60.0,
        *,
        label: str | None = None,
        api_key: str | None = None,
        certificate: str | None = None,
        retries: int = 4,
    ):
        if retries < 0:
            raise ValueError(f"`retries` must be 0 or more. Received: retries={retries!r}")
        if api_key is not None:
            check_api_key(api_key)
        self.address = Address(url.rstrip("/"), name, version, label)
        self.retries = retries
        self._transport: Any = transport_of(self.address, timeout, api_key, certificate)
        self._signatures: dict[str, list[str]] | None = None
        self._first_outputs: dict[str, str] | None = None
        self._style: str | None = None
        self._is_open = False
        self._lock = threading.Lock()

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Returns a client of the model of an address.

        Args:
            url: str. `http://HOST:PORT/v1/models/NAME`, optionally with `/versions/NUMBER` or
                `/labels/LABEL`; `grpc://HOST:PORT/NAME`; or `http://HOST:PORT` of a tfmrc server
                with a single model.
            **options: Further arguments of the client.

        Raises:
            ValueError: If the address is none of these.

        Example:

        >>> from tfmrc.serving import Client
        >>> Client.from_url("http://127.0.0.1:8501/v1/models/hills/versions/3")
        <Client http://127.0.0.1:8501/v1/models/hills/versions/3>
        """
        parts = split(url)
        server = f"{parts.scheme}://{parts.netloc}"
        path = [unquote(part) for part in parts.path.split("/") if part]
        if path[:2] == ["v1", "models"] and len(path) > 2:
            path = path[2:]
        name, *rest = path or [""]
        selected: dict[str, Any]
        match rest:
            case []:
                selected = {}
            case ["versions", number] if version_of(number) is not None:
                selected = {"version": int(number)}
            case ["labels", label]:
                selected = {"label": label}
            case _:
                raise ValueError(
                    "The address of a model is http://HOST:PORT/v1/models/NAME or "
                    f"grpc://HOST:PORT/NAME. Received: {url!r}"
                )
        return cls(name, server, **selected, **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address.url}{self.address.path}>"

    def _open(self) -> Any:
        with self._lock:
            if not self._is_open:
                self._transport.open(self.asynchronous)
                self._is_open = True
        return self._transport

    def _pause(self, attempt: int, error: RequestError) -> float:
        """Returns the seconds to wait after a failed attempt; raises the error after the last."""
        if error.status not in REPEATED or attempt >= self.retries:
            raise error
        pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
        return pause * random.uniform(0.5, 1.5)  # so that clients do not return at the same time

    def _model_of(self, listed: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the entry of the model in a list of models."""
        models = listed["models"]
        name = self.address.name
        for entry in models:
            if entry["name"] == name or (not name and len(models) == 1):
                found: dict[str, Any] = entry
                return found
        names = ", ".join(entry["name"] for entry in models)
        raise ValueError(
            f"Name the model: {self.address.url}/v1/models/NAME. The server has {names}. "
            f"Received: {name!r}"
        )

    def _name_from(self, listed: Mapping[str, Any]) -> None:
        self.address = replace(self.address, name=self._model_of(listed)["name"])
        self._transport.address = self.address

    def _style_from(self, listed: Mapping[str, Any]) -> str:
        styles = self._model_of(listed)["styles"]
        if not styles:
            raise ValueError("This model needs a style. Received: style=None")
        return str(styles[0])

    def _needs_style(self, signatures: Mapping[str, Sequence[str]]) -> bool:
        name = "answer" if "answer" in signatures else "serving_default"
        return "style" in signatures.get(name, ())


def _columns(
    questions: Sequence[str], passages: Sequence[Sequence[str]], styles: Sequence[str] | None
) -> dict[str, list[Any]]:
    """Returns the inputs of a signature; rows of passages are padded.

    Raises:
        TypeError: If a question has a single text in place of a list of passages.
    """
    if single := next((row for row in passages if isinstance(row, str | bytes)), None):
        raise TypeError(
            "`passages` holds a list of passages per question: put a single one in a list. "
            f"Received: {single!r:.80}"
        )
    width = max(map(len, passages), default=0)
    columns: dict[str, list[Any]] = {
        "question": list(questions),
        "passages": [[*row, *[""] * (width - len(row))] for row in passages],
    }
    return columns if styles is None else columns | {"style": list(styles)}


def _check_order(inputs: Any, signature: Any) -> None:
    if isinstance(inputs, str) or isinstance(signature, Mapping):
        raise TypeError(
            "`run` of a client takes the inputs first and then the signature: "
            "run({'question': [...]}, 'serving_default'). "
            f"Received: inputs={inputs!r:.80}, signature={signature!r:.80}"
        )


def _answers(outputs: Mapping[str, Any], passages: Sequence[Sequence[str]]) -> list[Result]:
    return [read_answer(outputs, row, len(texts)) for row, texts in enumerate(passages)]


class Client(_Base):
    """A client of TensorFlow Serving or `tfmrc.serving.Server`, over HTTP or gRPC.

    It can be used by several threads. A request that the server refuses for the moment (429, 503)
    is repeated after a pause that doubles each time.

    Args:
        name: str. The model's name.
        url: str. Address of the server: `http://`, `https://`, `grpc://` or `grpcs://`.
            Default: "http://127.0.0.1:8501".
        version: int or None. A version; None for the server's default. Default: None.
        timeout: float. Timeout of a request in seconds. Default: 60.0.
        label: str or None. Label of a version. Default: None.
        api_key: str or None. Key of the server. Default: None.
        certificate: str or None. File with the certificates (PEM) to trust, for a server with a
            certificate of its own. Default: None.
        retries: int. Number of repetitions of a request that is refused for the moment. Default: 4.

    Raises:
        ValueError: If the address or the key is wrong.

    Example:

    >>> from tfmrc.serving import Client
    >>> Client("masque", url="http://127.0.0.1:8501")
    <Client http://127.0.0.1:8501/v1/models/masque>
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        if self._is_open:
            self._transport.close()
            self._is_open = False

    def status(self) -> dict[str, Any]:
        """Returns the state of the model's versions, as the REST API has it."""
        return _status(self._send(self._transport.status()))

    def signatures(self) -> dict[str, list[str]]:
        """Returns the names of the inputs of each signature."""
        if self._signatures is None:
            if not self.address.name:
                self._name_from(self._send(self._transport.models()))
            self._signatures = self._transport.signatures(self._send(self._transport.metadata()))
        return self._signatures

    def answer(
        self, *, question: str, passages: str | Sequence[str], style: str | None = None
    ) -> Result:
        """Answers one question; see `tfmrc.Predictor.answer`.

        Args:
            question: str. The question.
            passages: str or list of str. One or more passages.
            style: str or None. The answer style; None for the first one, which only tfmrc's server
                tells. Default: None.

        Returns:
            A `SpanAnswer` or `GeneratedText`, as of the exported predictor.

        Raises:
            RequestError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
            TimeoutError: If it does not answer in time.
        """
        return self._run(
            answer_query(
                self.signatures(), question, passages, self._first_style if style is None else style
            )
        )

    def ask(self, *, passage: str, answer: str, answer_start: int | None = None) -> GeneratedText:
        """Generates a question about an answer; see `tfmrc.Predictor.ask`.

        Args:
            passage: str. The passage.
            answer: str. The answer to ask about.
            answer_start: int or None. Offset of its first character in the passage; None for its
                first occurrence. Default: None.

        Raises:
            RequestError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
        """
        question: GeneratedText = self._run(
            ask_query(self.signatures(), passage, answer, answer_start)
        )
        return question

    def generate_from_passage(self, passages: Iterable[str]) -> Iterator[list[GeneratedText]]:
        """Generates questions about answer candidates of each passage.

        Args:
            passages: str or iterable of str. The passages.

        Yields:
            For each passage its candidates in their order, each with the best question.

        Raises:
            ValueError: If the model does not find answers.
        """
        check_finds_answers(self.signatures())
        for passage in stream_of_passages(passages):
            outputs = self.run({"passage": [passage]}, "generate_from_passage")
            yield GeneratedText.of_candidates(outputs, 0)

    def predict(
        self,
        *,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        styles: Sequence[str] | None = None,
    ) -> list[Result]:
        """Answers several questions in one request.

        Args:
            questions: list of str. The questions.
            passages: list of lists of str. The passages of each question.
            styles: list of str or None. The style of each answer, of a model with styles.
                Default: None.

        Raises:
            RequestError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
            TypeError: If a question has a single text in place of a list of passages.
        """
        return _answers(self.run(_columns(questions, passages, styles)), passages)

    def run(
        self, inputs: Mapping[str, Sequence[Any]], signature: str = "serving_default"
    ) -> dict[str, Any]:
        """Runs any signature of any model; every output has a row per example.

        `SpanAnswer.from_outputs` and `GeneratedText.from_outputs` read a row.

        Args:
            inputs: dict. For each input the values, one per example.
            signature: str. Name of the signature. Default: "serving_default".

        Returns:
            Nested lists of a REST reply, or arrays of a gRPC reply.

        Raises:
            RequestError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
            TypeError: If inputs and signature are swapped; `Predictor.run` has the other order.
        """
        _check_order(inputs, signature)
        outputs = self._transport.outputs(self._send(self._transport.predict(signature, inputs)))
        if not isinstance(outputs, dict):
            if self._first_outputs is None:
                metadata = self._send(self._transport.metadata())
                self._first_outputs = self._transport.first_outputs(metadata)
            outputs = {self._first_outputs[signature or "serving_default"]: outputs}
        return outputs

    def _run(self, query: SignatureQuery) -> Any:
        return query.read(self.run(query.inputs, query.signature))

    def _first_style(self) -> str:
        if self._style is None:
            self._style = self._style_from(self._send(self._transport.models()))
        return self._style

    def _send(self, call: Any) -> Any:
        transport = self._open()
        attempt = 0
        while True:
            try:
                return transport.send(call)
            except RequestError as error:
                time.sleep(self._pause(attempt, error))
                attempt += 1


class AsyncClient(_Base):
    """As `Client`, with coroutines: for many requests at a time from one thread.

    At most 100 are sent at a time; the others wait for them, which is no part of their `timeout`.

    Args:
        name: str. The model's name.
        url: str. Address of the server. Default: "http://127.0.0.1:8501".
        version: int or None. A version; None for the server's default. Default: None.
        timeout: float. Timeout of a request in seconds. Default: 60.0.
        label: str or None. Label of a version. Default: None.
        api_key: str or None. Key of the server. Default: None.
        certificate: str or None. File with the certificates (PEM) to trust. Default: None.
        retries: int. Number of repetitions of a request that is refused for the moment. Default: 4.

    Raises:
        ValueError: If the address or the key is wrong.

    Example:

    >>> from tfmrc.serving import AsyncClient
    >>> AsyncClient("masque", url="grpc://127.0.0.1:8500")
    <AsyncClient grpc://127.0.0.1:8500/v1/models/masque>
    """

    asynchronous = True

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        # The time of a request begins when it is sent, not while others are.
        self._slots = asyncio.Semaphore(MOST_AT_A_TIME)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        if self._is_open:
            await self._transport.close()
            self._is_open = False

    async def status(self) -> dict[str, Any]:
        """Returns the state of the model's versions, as the REST API has it."""
        return _status(await self._send(self._transport.status()))

    async def signatures(self) -> dict[str, list[str]]:
        """Returns the names of the inputs of each signature."""
        if self._signatures is None:
            if not self.address.name:
                self._name_from(await self._send(self._transport.models()))
            reply = await self._send(self._transport.metadata())
            self._signatures = self._transport.signatures(reply)
        return self._signatures

    async def answer(
        self, *, question: str, passages: str | Sequence[str], style: str | None = None
    ) -> Result:
        """Answers one question; see `Client.answer`.

        Args:
            question: str. The question.
            passages: str or list of str. One or more passages.
            style: str or None. The answer style; None for the first one. Default: None.
        """
        signatures = await self.signatures()
        if style is None and self._needs_style(signatures):
            style = await self._first_style()
        return await self._run(
            answer_query(signatures, question, passages, str if style is None else style)
        )

    async def ask(
        self, *, passage: str, answer: str, answer_start: int | None = None
    ) -> GeneratedText:
        """Generates a question about an answer; see `Client.ask`.

        Args:
            passage: str. The passage.
            answer: str. The answer to ask about.
            answer_start: int or None. Offset of its first character in the passage; None for its
                first occurrence. Default: None.
        """
        question: GeneratedText = await self._run(
            ask_query(await self.signatures(), passage, answer, answer_start)
        )
        return question

    async def generate_from_passage(
        self, passages: Iterable[str]
    ) -> AsyncIterator[list[GeneratedText]]:
        """Generates questions about answer candidates; see `Client.generate_from_passage`.

        Args:
            passages: str or iterable of str. The passages.

        Yields:
            For each passage its candidates in their order, each with the best question.
        """
        check_finds_answers(await self.signatures())
        for passage in stream_of_passages(passages):
            outputs = await self.run({"passage": [passage]}, "generate_from_passage")
            yield GeneratedText.of_candidates(outputs, 0)

    async def predict(
        self,
        *,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        styles: Sequence[str] | None = None,
    ) -> list[Result]:
        """Answers several questions in one request; see `Client.predict`.

        Args:
            questions: list of str. The questions.
            passages: list of lists of str. The passages of each question.
            styles: list of str or None. The style of each answer, of a model with styles.
                Default: None.
        """
        return _answers(await self.run(_columns(questions, passages, styles)), passages)

    async def run(
        self, inputs: Mapping[str, Sequence[Any]], signature: str = "serving_default"
    ) -> dict[str, Any]:
        """Runs any signature of any model; see `Client.run`.

        Args:
            inputs: dict. For each input the values, one per example.
            signature: str. Name of the signature. Default: "serving_default".
        """
        _check_order(inputs, signature)
        reply = await self._send(self._transport.predict(signature, inputs))
        outputs = self._transport.outputs(reply)
        if not isinstance(outputs, dict):
            if self._first_outputs is None:
                metadata = await self._send(self._transport.metadata())
                self._first_outputs = self._transport.first_outputs(metadata)
            outputs = {self._first_outputs[signature or "serving_default"]: outputs}
        return outputs

    async def _run(self, query: SignatureQuery) -> Any:
        return query.read(await self.run(query.inputs, query.signature))

    async def _first_style(self) -> str:
        if self._style is None:
            self._style = self._style_from(await self._send(self._transport.models()))
        return self._style

    async def _send(self, call: Any) -> Any:
        transport = self._open()
        attempt = 0
        while True:
            try:
                async with self._slots:
                    return await transport.send_async(call)
            except RequestError as error:
                await asyncio.sleep(self._pause(attempt, error))
                attempt += 1


def _status(reply: Any) -> dict[str, Any]:
    """Returns a status reply of either protocol as the REST API has it."""
    if isinstance(reply, dict):
        return reply
    entries = []
    for each in reply.model_version_status:
        code = "OK" if each.status.error_code == 0 else "UNKNOWN"
        entries.append(
            {
                "version": str(each.version),
                "state": type(each).State.Name(each.state),
                "status": {"error_code": code, "error_message": each.status.error_message},
            }
        )
    return {"model_version_status": entries}

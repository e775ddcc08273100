"""A client of served models."""

import base64
import json
import random
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote, unquote, urlsplit

from tfmrc.utils.optional import optional_import

with optional_import("tfmrc[serve]"):
    import httpx

from tfmrc.documents.answer import DocumentAnswer
from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.queries import (
    SignatureQuery,
    answer_query,
    ask_query,
    check_finds_answers,
)
from tfmrc.predictors.results.generated import GeneratedText
from tfmrc.predictors.results.result import Result
from tfmrc.predictors.task import stream_of_passages

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Client:
    """A client of TensorFlow Serving or `tfmrc.serving.Server`, over REST.

    It can be used by several threads. A request that the server refuses temporarily (429, 503) is
    retried after the pause that the server asks for, or with exponential backoff. The environment's
    proxy is used, except for this machine. For gRPC use the stubs of tensorflow-serving-api.

    Args:
        name: str. The model's name; `""` for the only one of a tfmrc server.
        url: str. Address of the server: `http://` or `https://`.
            Default: "http://127.0.0.1:8501".
        version: int or None. A version; None for the server's default. Default: None.
        timeout: float. Timeout of a request in seconds; by default longer than the server's, whose
            error message says more. Default: 70.0.
        label: str or None. Label of a version (TensorFlow Serving only). Default: None.
        api_key: str or None. Key of the server. Default: None.
        certificate: str or None. PEM file of the certificate authorities to trust, for a server or
            proxy with a self-signed certificate. Default: None.
        retries: int. Number of retries of a request that is refused temporarily. Default: 4.

    Example:

    >>> from tfmrc.serving import Client
    >>> Client("masque", url="http://127.0.0.1:8501")
    <Client http://127.0.0.1:8501/v1/models/masque>
    """

    def __init__(
        self,
        name: str,
        url: str = "http://127.0.0.1:8501",
        version: int | None = None,
        timeout: float = 70.0,
        *,
        label: str | None = None,
        api_key: str | None = None,
        certificate: str | None = None,
        retries: int = 4,
    ):
        self.url = url.rstrip("/")
        self.name = name
        self.retries = retries
        self._selected = "" if version is None else f"/versions/{version}"
        if label is not None:
            self._selected = f"/labels/{quote(label, safe='')}"
        self._http = httpx.Client(
            base_url=self.url,
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            verify=certificate is None or ssl.create_default_context(cafile=certificate),
            timeout=timeout,
            trust_env=urlsplit(self.url).hostname not in LOOPBACK,
        )
        self._definitions: dict[str, Any] | None = None
        self._style: str | None = None

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Returns a client of the model at an address.

        Args:
            url: str. `http://HOST:PORT/v1/models/NAME`, optionally with `/versions/NUMBER` or
                `/labels/LABEL`; or `http://HOST:PORT` of a tfmrc server with a single model.
            **options: Other arguments of the client.

        Raises:
            ValueError: If the address has another form.

        Example:

        >>> from tfmrc.serving import Client
        >>> Client.from_url("http://127.0.0.1:8501/v1/models/hills/versions/3")
        <Client http://127.0.0.1:8501/v1/models/hills/versions/3>
        """
        parts = urlsplit(url)
        server = f"{parts.scheme}://{parts.netloc}"
        match [parts.scheme, *(unquote(part) for part in parts.path.split("/") if part)]:
            case ["http" | "https"]:
                return cls("", server, **options)
            case ["http" | "https", "v1", "models", name]:
                return cls(name, server, **options)
            case ["http" | "https", "v1", "models", name, "versions", number]:
                return cls(name, server, version=int(number), **options)
            case ["http" | "https", "v1", "models", name, "labels", label]:
                return cls(name, server, label=label, **options)
        raise ValueError(
            "The address of a model is http://HOST:PORT/v1/models/NAME, or https://. "
            f"Received: {url!r}"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url}{self._path}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def status(self) -> dict[str, Any]:
        """Returns the state of the model's versions, as the REST API has it."""
        return self._send(self._named_path())

    def signatures(self) -> dict[str, list[str]]:
        """Returns the names of the inputs of each signature."""
        return {name: list(definition["inputs"]) for name, definition in self._metadata().items()}

    def answer(
        self, *, question: str, passages: str | Sequence[str], style: str | None = None
    ) -> Result:
        """Answers one question; see `tfmrc.Predictor.answer`.

        Args:
            question: str. The question.
            passages: str or list of str. One or more passages.
            style: str or None. The answer style; None for the first one, which is known only to
                tfmrc's server. Default: None.

        Returns:
            A `SpanAnswer` or `GeneratedText`, as from the exported predictor.

        Raises:
            RequestError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
            TimeoutError: If it does not answer in time.
        """
        chosen = self._first_style if style is None else style
        return self._run(answer_query(self.signatures(), question, passages, chosen))

    def answer_from_documents(self, *, question: str, **options: Any) -> DocumentAnswer:
        """Answers one question from the documents of a tfmrc server.

        Args:
            question: str. The question.
            **options: `num_passages`, `num_alternatives` and `style`, as of
                `tfmrc.documents.DocumentCollection.answer`.

        Raises:
            RequestError: If the server refuses the request, or has no documents.
            ConnectionError: If there is no server.
        """
        body = {"question": question, "model": self.name, **options}
        reply = self._send("/v1/documents:answer", json.dumps(body).encode())
        return DocumentAnswer.from_json(reply)

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
        query = ask_query(self.signatures(), passage, answer, answer_start)
        question: GeneratedText = self._run(query)
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

    def run(
        self, inputs: Mapping[str, Sequence[Any]], signature: str = "serving_default"
    ) -> dict[str, Any]:
        """Runs any signature of any model; every output has a row per example.

        `SpanAnswer.from_outputs` and `GeneratedText.from_outputs` read a row.

        Args:
            inputs: dict. For each input the values, one per example.
            signature: str. Name of the signature. Default: "serving_default".

        Returns:
            Nested lists.

        Raises:
            RequestError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
        """
        body = {"signature_name": signature, "inputs": inputs}
        content = json.dumps(body, default=_json_value).encode()
        outputs = self._send(f"{self._named_path()}:predict", content)["outputs"]
        if not isinstance(outputs, dict):  # a single output comes without its name
            outputs = {next(iter(self._metadata()[signature]["outputs"])): outputs}
        return outputs

    @property
    def _path(self) -> str:
        return f"/v1/models/{quote(self.name, safe='')}{self._selected}"

    def _named_path(self) -> str:
        if not self.name:
            self.name = self._described()["name"]
        return self._path

    def _run(self, query: SignatureQuery) -> Any:
        return query.read(self.run(query.inputs, query.signature))

    def _metadata(self) -> dict[str, Any]:
        """Returns the definitions of the signatures."""
        if self._definitions is None:
            reply = self._send(f"{self._named_path()}/metadata")
            self._definitions = reply["metadata"]["signature_def"]["signature_def"]
        return self._definitions

    def _described(self) -> dict[str, Any]:
        """Returns a tfmrc server's description of the model."""
        models = self._send("/v1/models")["models"]
        for model in models:
            if model["name"] == self.name or (not self.name and len(models) == 1):
                return model
        names = ", ".join(model["name"] for model in models)
        raise ValueError(f"Name a model: {self.url}/v1/models/NAME. The server has {names}.")

    def _first_style(self) -> str:
        if self._style is None:
            self._style = next(iter(self._described()["styles"]), "")
        return self._style

    def _send(self, path: str, content: bytes | None = None) -> dict[str, Any]:
        """Sends a GET request, or a POST request with content, and returns the reply's value."""
        for attempt in range(self.retries + 1):
            pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
            try:
                reply = self._http.request(
                    "GET" if content is None else "POST", path, content=content
                )
            except httpx.TimeoutException as error:
                raise TimeoutError(f"{self.url} did not answer in time.") from error
            except (httpx.ConnectError, httpx.UnsupportedProtocol) as error:
                raise ConnectionError(f"There is no server at {self.url}: {error}") from error
            except httpx.TransportError as error:
                # A server may close an idle connection just as a request is sent.
                status, message = 503, f"The connection was lost: {error}"
            else:
                if reply.is_success:
                    result: dict[str, Any] = reply.json()
                    return result
                status = reply.status_code
                pause = max(pause, _retry_after(reply))
                message = f"{reply.request.url} answered {status}: {_error_of(reply)}"
            if status not in (429, 503):
                break
            if attempt < self.retries:  # with jitter
                time.sleep(pause * random.uniform(0.5, 1.5))
        raise RequestError(message, status)


def _error_of(reply: httpx.Response) -> str:
    try:
        return str(reply.json()["error"])
    except (KeyError, TypeError, ValueError):  # such as a proxy's page
        return reply.text[:500]


def _retry_after(reply: httpx.Response) -> float:
    try:
        return min(float(reply.headers.get("retry-after", 0)), 60.0)
    except ValueError:  # a date
        return 0.0


def _json_value(value: Any) -> Any:
    """Converts bytes and arrays to JSON values."""
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode("ascii")}
    return value.tolist()

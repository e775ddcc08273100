"""A client of served models over HTTP, with the standard library only."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tfmrc.predictors.answer import Answer

__all__ = ["Client"]


class Client:
    """A client of the REST API of TensorFlow Serving or `tfmrc.serving.Server`.

    Args:
        name: str. The model's name.
        url: str. Address of the server. Default: "http://127.0.0.1:8501".
        version: int or None. A version; None for the server's default. Default: None.
        timeout: float. Timeout of a request in seconds. Default: 60.0.

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
        timeout: float = 60.0,
    ):
        self.url = f"{url.rstrip('/')}/v1/models/{quote(name, safe='')}"
        if version is not None:
            self.url += f"/versions/{version}"
        self.timeout = timeout

    def __repr__(self) -> str:
        return f"<Client {self.url}>"

    def status(self) -> dict[str, Any]:
        """Returns the state of the model's versions."""
        return self._send(self.url, None)

    def answer(self, *, question: str, passages: Sequence[str], style: str) -> Answer:
        """Answers one question with a served Masque; see `tfmrc.Predictor.answer`.

        Raises:
            ValueError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
        """
        return self.predict(questions=[question], passages=[passages], styles=[style])[0]

    def predict(
        self,
        *,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        styles: Sequence[str],
    ) -> list[Answer]:
        """Answers several questions with a served Masque, in one request.

        Raises:
            ValueError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
        """
        width = max(map(len, passages), default=0)
        inputs: dict[str, list[Any]] = {
            "question": list(questions),
            "passages": [[*row, *[""] * (width - len(row))] for row in passages],
            "style": list(styles),
        }
        outputs = self.run(inputs)
        return [
            Answer.from_outputs(outputs, row, num_passages=len(texts))
            for row, texts in enumerate(passages)
        ]

    def run(
        self, inputs: Mapping[str, Sequence[Any]], signature: str = "serving_default"
    ) -> dict[str, Any]:
        """Runs any signature of any model; every output is a list with a row per example.

        `Answer.from_outputs`, `SpanAnswer.from_outputs`, `GeneratedText.from_outputs` and
        `GeneratedQuestion.about` read a row.

        Raises:
            ValueError: If the server refuses the request; the message is the server's.
            ConnectionError: If there is no server.
        """
        request = {"signature_name": signature, "inputs": inputs}
        outputs: dict[str, Any] = self._send(f"{self.url}:predict", request)["outputs"]
        return outputs

    def _send(self, url: str, value: Any) -> dict[str, Any]:
        body = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise ValueError(f"{url} answered {error.code}: {_message(error)}") from error
        except urllib.error.URLError as error:
            raise ConnectionError(f"There is no server at {url}: {error.reason}") from error


def _message(error: urllib.error.HTTPError) -> str:
    body = error.read().decode("utf-8", "replace")
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return body[:500]

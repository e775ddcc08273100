"""A small server with TensorFlow Serving's REST API, for a laptop and for tests."""

import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import PathLike
from typing import Any
from urllib.parse import unquote

import numpy as np
from tensorflow.core.framework.types_pb2 import DataType

from tfmrc.serving.signature import RequestError, SavedModel

__all__ = ["Server"]

MAX_BODY = 64 * 2**20
MAX_DIGITS = 18  # of Content-Length
ROUTE = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d+))?(?P<action>:\w+|/metadata)?/?"
)
Status = tuple[int, dict[str, Any]]


class Server:
    """Serves exported models over HTTP with the REST API of TensorFlow Serving.

    `POST /v1/models/NAME:predict` takes `{"instances": [{"question": ..., "passages": [...],
    "style": ...}, ...]}` and returns `predictions`, or takes `{"inputs": {"question": [...], ...}}`
    and returns `outputs`. `"signature_name"` selects another signature than `serving_default`.
    `GET /v1/models/NAME` returns the state, and `GET /v1/models/NAME/metadata` the signatures.
    Bytes are written as `{"b64": "..."}`. Unlike TensorFlow Serving, the server accepts rows with
    different numbers of passages. It computes one request at a time; for parallel requests use
    TensorFlow Serving, which reads the same folders.

    Args:
        models: dict. For each name the folder of an export (`<name>` for its newest version, or
            `<name>/<version>`).
        host: str. Address to listen on. Default: "127.0.0.1", the local machine only.
        port: int. Port to listen on; 0 for any free port. Default: 8501.

    Raises:
        FileNotFoundError: If a folder holds no SavedModel.
        ValueError: If an export is damaged, or `models` is no dict.
        OSError: If the port is in use.

    Use it as a context manager to serve in the background, or call `serve_forever`.
    """

    def __init__(
        self,
        models: Mapping[str, str | PathLike[str]],
        host: str = "127.0.0.1",
        port: int = 8501,
    ):
        if not isinstance(models, Mapping):
            raise ValueError(
                "`models` must be a dict with the folder of an export for each name, as in "
                f'Server({{"hills": "savedmodels/hills"}}). Received: models={models!r}'
            )
        self.models = {name: SavedModel(path) for name, path in models.items()}
        handler = type("Handler", (_Handler,), {"answer": staticmethod(self._answer)})
        try:
            self._http = ThreadingHTTPServer((host, port), handler)
        except OSError as error:
            raise OSError(
                error.errno,
                f"Cannot listen on {host}:{port} ({error.strerror}). Choose another port, or 0 for "
                "any that is free",
            ) from error
        self._http.daemon_threads = True
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address: `http://host:port`."""
        host, port = self._http.server_address[:2]
        return f"http://{host!s}:{port}"

    def __repr__(self) -> str:
        return f"<Server {self.url}: {', '.join(self.models)}>"

    def serve_forever(self) -> None:
        """Serves until the process is interrupted."""
        try:
            self._http.serve_forever()
        except KeyboardInterrupt:
            print()
        finally:
            self._http.server_close()

    def __enter__(self) -> "Server":
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        if self._thread is not None:
            self._thread.join()

    def _answer(self, method: str, path: str, body: bytes) -> Status:
        route = ROUTE.fullmatch(unquote(path.partition("?")[0]))
        if not route:
            return 404, {"error": "The paths are /v1/models/NAME, .../metadata and ...:predict."}
        name, action = route["name"], route["action"]
        model = self.models.get(name)
        if model is None or route["version"] not in (None, model.path.name):
            served = ", ".join(f"{n} version {m.path.name}" for n, m in self.models.items())
            return 404, {"error": f"Not served here: {path}. Served: {served}."}
        if method == "GET" and action is None:
            return 200, _state(model)
        if method == "GET" and action == "/metadata":
            return 200, _metadata(name, model)
        if method == "POST" and action == ":predict":
            return 200, _predict(model, body)
        return 405, {"error": f"{method} is not possible here. Predict by POST to {name}:predict."}


class _Handler(BaseHTTPRequestHandler):
    answer: Callable[[str, str, bytes], Status]
    protocol_version = "HTTP/1.1"
    server_version = "tfmrc"

    def do_GET(self) -> None:
        size = self._size()
        if size == 0:
            self._handle(b"")
        elif size is not None:
            self._refuse(400, "A GET request must have no body.")

    def do_POST(self) -> None:
        size = self._size()
        if size is None:
            return
        if size > MAX_BODY:
            self._refuse(413, f"The body must not have more than {MAX_BODY:,} bytes.")
        elif not self.headers.get_all("Content-Length"):
            self._refuse(411, "The request must give its length (Content-Length).")
        else:
            self._handle(self.rfile.read(size))

    def _size(self) -> int | None:
        """Returns the bytes of the body; None after refusing a request that is ambiguous.

        A proxy could read an ambiguous length in another way and take a part of the body for the
        next request.
        """
        sizes = self.headers.get_all("Content-Length") or []
        if "Transfer-Encoding" in self.headers or len(sizes) > 1:
            self._refuse(400, "The request must give its length once (Content-Length).")
            return None
        size = sizes[0] if sizes else "0"
        if not (size.isascii() and size.isdecimal()):
            self._refuse(400, f"Content-Length must be a number. Received: {size!r:.80}")
            return None
        return int(size) if len(size) <= MAX_DIGITS else MAX_BODY + 1

    def _refuse(self, status: int, message: str) -> None:
        """Replies and closes the connection, whose remaining bytes are not read."""
        self.close_connection = True
        self._reply(status, {"error": message})

    def _handle(self, body: bytes) -> None:
        try:
            self._reply(*self.answer(self.command, self.path, body))
        except RequestError as error:
            self._reply(error.status, {"error": str(error)})
        except Exception as error:  # one bad request must not end the server
            self._reply(500, {"error": f"{type(error).__name__}: {error}"})

    def _reply(self, status: int, value: Mapping[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Writes no log, because requests may contain private texts."""


def _predict(model: SavedModel, body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"The body is not JSON: {error}") from error
    if not isinstance(request, dict):
        raise RequestError('The body must be an object with "instances" or "inputs".')
    signature = model.signature(request.get("signature_name", "serving_default"))
    if ("instances" in request) == ("inputs" in request):
        raise RequestError('The body must hold either "instances" or "inputs".')
    if "inputs" in request:
        if not isinstance(request["inputs"], dict):
            raise RequestError('"inputs" must be an object: a list for each input.')
        return {"outputs": {k: _json(v) for k, v in signature(request["inputs"]).items()}}
    instances = request["instances"]
    if not isinstance(instances, list) or not all(isinstance(item, dict) for item in instances):
        raise RequestError('"instances" must be a list of objects.')
    if not instances:
        raise RequestError('"instances" is empty.')
    for item in instances:
        if set(item) != set(instances[0]):
            raise RequestError("All instances must have the same inputs.")
    outputs = signature({name: [item[name] for item in instances] for name in instances[0]})
    columns = {name: _json(values) for name, values in outputs.items()}
    rows = [{name: column[i] for name, column in columns.items()} for i in range(len(instances))]
    return {"predictions": rows}


def _json(values: np.ndarray) -> Any:
    if values.dtype != object:
        return values.tolist()
    strings = [value.decode("utf-8", "replace") for value in values.ravel()]
    return np.array(strings, dtype=object).reshape(values.shape).tolist()


def _state(model: SavedModel) -> dict[str, Any]:
    status = {"error_code": "OK", "error_message": ""}
    entry = {"version": model.path.name, "state": "AVAILABLE", "status": status}
    return {"model_version_status": [entry]}


def _metadata(name: str, model: SavedModel) -> dict[str, Any]:
    def described(specs: Mapping[str, Any]) -> dict[str, Any]:
        return {key: _tensor_info(spec) for key, spec in specs.items()}

    signatures = {
        key: {
            "inputs": described(signature.inputs),
            "outputs": described(signature.outputs),
            "method_name": "tensorflow/serving/predict",
        }
        for key, signature in model.signatures.items()
    }
    return {
        "model_spec": {"name": name, "version": model.path.name},
        "metadata": {"signature_def": {"signature_def": signatures}},
    }


def _tensor_info(spec: Any) -> dict[str, Any]:
    sizes = [{"size": "-1" if size is None else str(size), "name": ""} for size in spec.shape]
    return {
        "dtype": DataType.Name(spec.dtype.as_datatype_enum),
        "tensor_shape": {"dim": sizes, "unknown_rank": False},
    }

"""The two protocols of a server, as a client speaks them."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from tfmrc.predictors.errors import GRPC_CODES, RequestError
from tfmrc.utils.arguments import nearest

__all__ = ["Address", "GrpcTransport", "RestTransport", "split", "transport_of"]

SCHEMES = ("http", "https", "grpc", "grpcs")

#: The HTTP status that a client reports for gRPC's codes.
STATUS = {
    **{code: status for status, code in GRPC_CODES.items() if status not in (408, 413)},
    "UNIMPLEMENTED": 501,
}

#: What gRPC says of an address at which it reaches no server.
NO_SERVER = re.compile("failed to connect|errors? resolving|resolution failed")


@dataclass(frozen=True)
class Address:
    """A model of a server.

    Attributes:
        url: str. Address of the server: `http://`, `https://`, `grpc://` or `grpcs://`.
        name: str. Name of the model; `""` if it is not known.
        version: int or None. Its version; None for the server's default. Default: None.
        label: str or None. Label of the version. Default: None.

    Raises:
        ValueError: If the address is no such URL.

    Example:

    >>> from tfmrc.serving.transports import Address
    >>> Address("http://127.0.0.1:8501", "hills", version=3).path
    '/v1/models/hills/versions/3'
    """

    url: str
    name: str
    version: int | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        split(self.url)
        if self.version is not None and self.label is not None:
            raise ValueError(
                "A model is selected by version or by label. "
                f"Received: version={self.version!r}, label={self.label!r}"
            )

    @property
    def path(self) -> str:
        """Path of the model in the REST API."""
        path = f"/v1/models/{quote(self.name, safe='')}"
        if self.version is not None:
            return f"{path}/versions/{self.version}"
        return path if self.label is None else f"{path}/labels/{quote(self.label, safe='')}"


def split(url: str) -> SplitResult:
    """Returns the parts of an address.

    Raises:
        ValueError: If it is none of a server.
    """
    scheme = url.partition(":")[0]
    similar = None if scheme in SCHEMES else nearest(scheme, SCHEMES)
    with suppress(ValueError):  # such as that of `port`
        parts = urlsplit(url)
        if parts.scheme in SCHEMES and parts.hostname and parts.port != 0:
            return parts
    raise ValueError(
        "A server's address is http://HOST:PORT, https://, grpc:// or grpcs://"
        + (f"; did you mean {similar}://?" if similar else ".")
        + f" Received: {url!r}"
    )


class RestTransport:
    """Calls a model over HTTP.

    Args:
        address: `Address`. The model.
        timeout: float. Seconds to wait for a reply.
        api_key: str or None. Key of the server.
        certificate: str or None. File with the certificates (PEM) to trust.
    """

    def __init__(
        self, address: Address, timeout: float, api_key: str | None, certificate: str | None
    ):
        self.address = address
        self._options: dict[str, Any] = {"timeout": timeout, "trust_env": False}
        if api_key is not None:
            self._options["headers"] = {"Authorization": f"Bearer {api_key}"}
        if certificate is not None:
            import ssl

            self._options["verify"] = ssl.create_default_context(cafile=certificate)
        self._client: Any = None

    def open(self, asynchronous: bool) -> None:
        """Creates the pool of connections."""
        httpx = _httpx()
        kind = httpx.AsyncClient if asynchronous else httpx.Client
        self._client = kind(base_url=self.address.url, **self._options)

    def close(self) -> Any:
        """Closes the connections; returns a coroutine for an asynchronous client."""
        if self._client is None:
            return None
        is_asynchronous = hasattr(self._client, "aclose")
        return self._client.aclose() if is_asynchronous else self._client.close()

    # A call is a path, a body (None for GET) and a name that its reply has.

    def predict(self, signature: str, inputs: Mapping[str, Sequence[Any]]) -> tuple[str, Any, str]:
        """Returns the call of a signature."""
        body = {"signature_name": signature, "inputs": inputs}
        return f"{self.address.path}:predict", body, "outputs"

    def status(self) -> tuple[str, Any, str]:
        """Returns the call for the state of the versions."""
        return self.address.path, None, "model_version_status"

    def metadata(self) -> tuple[str, Any, str]:
        """Returns the call for the signatures."""
        return f"{self.address.path}/metadata", None, "metadata"

    def models(self) -> tuple[str, Any, str]:
        """Returns the call that lists the models, which only tfmrc's server has."""
        return "/v1/models", None, "models"

    def send(self, call: tuple[str, Any, str]) -> dict[str, Any]:
        """Sends a call and returns the reply's value."""
        try:
            return self._value(self._client.send(self._request(call)), call[-1])
        except _httpx().TransportError as error:
            raise self._failure(error) from error

    async def send_async(self, call: tuple[str, Any, str]) -> dict[str, Any]:
        """Sends a call and returns the reply's value."""
        try:
            return self._value(await self._client.send(self._request(call)), call[-1])
        except _httpx().TransportError as error:
            raise self._failure(error) from error

    def _request(self, call: tuple[str, Any, str]) -> Any:
        path, body, _ = call
        if body is None:
            return self._client.build_request("GET", path)
        content = json.dumps(body, default=_json_value).encode()
        headers = {"Content-Type": "application/json"}
        return self._client.build_request("POST", path, content=content, headers=headers)

    def _value(self, reply: Any, name: str) -> dict[str, Any]:
        try:
            value: Any = reply.json()
        except ValueError:
            value = None
        value = value if isinstance(value, dict) else {}
        if reply.status_code == 200:
            if name not in value:  # such as the page of a proxy
                raise ConnectionError(
                    f"{reply.request.url} is of no model server: its reply has no {name!r}. "
                    f"Received: {reply.text[:80]!r}"
                )
            return value
        message = str(value.get("error", reply.text[:500]))
        message = f"{reply.request.url} answered {reply.status_code}: {message}"
        raise RequestError(message, reply.status_code)

    def _failure(self, error: Exception) -> Exception:
        httpx = _httpx()
        if isinstance(error, httpx.TimeoutException):
            return TimeoutError(f"{self.address.url} did not answer in time.")
        if isinstance(error, httpx.ConnectError | httpx.UnsupportedProtocol):
            return ConnectionError(f"There is no server at {self.address.url}: {error}")
        # A server closes a connection that was idle, perhaps just as the request was sent.
        return RequestError(f"The connection to {self.address.url} was lost: {error}", 503)

    @staticmethod
    def outputs(reply: Mapping[str, Any]) -> Any:
        """Returns the outputs of a predict reply; a single one has no name."""
        return reply["outputs"]

    @staticmethod
    def signatures(reply: Mapping[str, Any]) -> dict[str, list[str]]:
        """Returns the names of the inputs of each signature, of a metadata reply."""
        definitions = reply["metadata"]["signature_def"]["signature_def"]
        return {name: list(each["inputs"]) for name, each in definitions.items()}

    @staticmethod
    def first_outputs(reply: Mapping[str, Any]) -> dict[str, str]:
        """Returns the name of the first output of each signature, of a metadata reply."""
        definitions = reply["metadata"]["signature_def"]["signature_def"]
        return {name: next(iter(each["outputs"])) for name, each in definitions.items()}


def _json_value(value: Any) -> Any:
    """Returns bytes and arrays as JSON values, as gRPC takes them too."""
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode("ascii")}
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"An input holds texts and numbers. Received: {value!r:.80}")


def _tensor_proto(values: Sequence[Any]) -> Any:
    """Returns a `TensorProto`; without a value, as of no passage, one of strings."""
    import numpy as np
    import tensorflow as tf

    array = np.array(values, dtype=object)
    if not all(isinstance(value, str) for value in array.flat):
        return tf.make_tensor_proto(values)
    # As JSON's reader does, in place of half a character that no encoding knows.
    texts = [value.encode("utf-8", "replace") for value in array.flat]
    return tf.make_tensor_proto(texts, dtype=tf.string, shape=array.shape)


class GrpcTransport:
    """Calls a model over gRPC.

    Args:
        address: `Address`. The model.
        timeout: float. Seconds to wait for a reply.
        api_key: str or None. Key of the server.
        certificate: str or None. File with the certificates (PEM) to trust.
    """

    def __init__(
        self, address: Address, timeout: float, api_key: str | None, certificate: str | None
    ):
        self.address = address
        self._timeout = timeout
        self._metadata = [] if api_key is None else [("authorization", f"Bearer {api_key}")]
        self._certificate = None if certificate is None else Path(certificate).read_bytes()
        self._channel: Any = None

    def open(self, asynchronous: bool) -> None:
        """Creates the channel."""
        grpc = _grpc()
        module = grpc.aio if asynchronous else grpc
        parts = urlsplit(self.address.url)
        host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
        target = f"{host}:{parts.port or 8500}"
        options = [("grpc.max_receive_message_length", -1)]
        if parts.scheme == "grpcs":
            credentials = grpc.ssl_channel_credentials(self._certificate)
            self._channel = module.secure_channel(target, credentials, options)
        else:
            self._channel = module.insecure_channel(target, options)

    def close(self) -> Any:
        """Closes the channel; returns a coroutine for an asynchronous client."""
        return None if self._channel is None else self._channel.close()

    # A call is a pair of a method's name and a request.

    def predict(self, signature: str, inputs: Mapping[str, Sequence[Any]]) -> tuple[str, Any]:
        """Returns the call of a signature."""
        from tensorflow_serving.apis.predict_pb2 import PredictRequest

        request = PredictRequest()
        self._select(request.model_spec).signature_name = signature
        for name, values in inputs.items():
            request.inputs[name].CopyFrom(_tensor_proto(values))
        return "Predict", request

    def status(self) -> tuple[str, Any]:
        """Returns the call for the state of the versions."""
        from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusRequest

        request = GetModelStatusRequest()
        self._select(request.model_spec)
        return "GetModelStatus", request

    def metadata(self) -> tuple[str, Any]:
        """Returns the call for the signatures."""
        from tensorflow_serving.apis.get_model_metadata_pb2 import GetModelMetadataRequest

        request = GetModelMetadataRequest(metadata_field=["signature_def"])
        self._select(request.model_spec)
        return "GetModelMetadata", request

    def models(self) -> tuple[str, Any]:
        """Raises a ValueError: the protocol has no list of models."""
        raise ValueError(
            "gRPC tells neither the models of a server nor their styles: name the model "
            f"(grpc://HOST:PORT/NAME) and the style. Received: {self.address.url}"
        )

    def send(self, call: tuple[str, Any]) -> Any:
        """Sends a call and returns the reply."""
        method, request = call
        try:
            return self._stub(method)(request, timeout=self._timeout, metadata=self._metadata)
        except _grpc().RpcError as error:
            raise self._failure(error) from error

    async def send_async(self, call: tuple[str, Any]) -> Any:
        """Sends a call and returns the reply."""
        method, request = call
        try:
            return await self._stub(method)(request, timeout=self._timeout, metadata=self._metadata)
        except _grpc().RpcError as error:
            raise self._failure(error) from error

    def _stub(self, method: str) -> Any:
        from tensorflow_serving.apis.model_service_pb2_grpc import ModelServiceStub
        from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

        kind = ModelServiceStub if method == "GetModelStatus" else PredictionServiceStub
        return getattr(kind(self._channel), method)

    def _select(self, spec: Any) -> Any:
        spec.name = self.address.name
        if self.address.version is not None:
            spec.version.value = self.address.version
        if self.address.label is not None:
            spec.version_label = self.address.label
        return spec

    def _failure(self, error: Any) -> Exception:
        code, details = error.code().name, str(error.details())
        if code == "UNAVAILABLE" and NO_SERVER.search(details):
            return ConnectionError(f"There is no server at {self.address.url}: {details:.200}")
        if code == "DEADLINE_EXCEEDED":
            return TimeoutError(f"{self.address.url} did not answer in time: {details:.200}")
        status = STATUS.get(code, 500)
        return RequestError(f"{self.address.url} answered {status} ({code}): {details}", status)

    @staticmethod
    def outputs(reply: Any) -> dict[str, Any]:
        """Returns the outputs of a predict reply."""
        import tensorflow as tf

        return {name: tf.make_ndarray(proto) for name, proto in reply.outputs.items()}

    @staticmethod
    def signatures(reply: Any) -> dict[str, list[str]]:
        """Returns the names of the inputs of each signature, of a metadata reply."""
        from tensorflow_serving.apis.get_model_metadata_pb2 import SignatureDefMap

        definitions = SignatureDefMap()
        reply.metadata["signature_def"].Unpack(definitions)
        return {name: list(each.inputs) for name, each in definitions.signature_def.items()}


def transport_of(
    address: Address, timeout: float, api_key: str | None, certificate: str | None
) -> RestTransport | GrpcTransport:
    """Returns the transport of an address's protocol.

    Args:
        address: `Address`. The model.
        timeout: float. Seconds to wait for a reply.
        api_key: str or None. Key of the server.
        certificate: str or None. File with the certificates (PEM) to trust.
    """
    kind = GrpcTransport if address.url.startswith("grpc") else RestTransport
    return kind(address, timeout, api_key, certificate)


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise ImportError(f"{error}. Install it with `pip install tfmrc[serve]`.") from error
    return httpx


def _grpc() -> Any:
    try:
        import grpc
    except ImportError as error:
        raise ImportError(f"{error}. Install it with `pip install tfmrc[serve]`.") from error
    return grpc

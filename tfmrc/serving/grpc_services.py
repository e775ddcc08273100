"""The gRPC services of TensorFlow Serving, and gRPC's health service."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import grpc
import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError, Message
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow_serving.apis.get_model_metadata_pb2 import (
    GetModelMetadataRequest,
    GetModelMetadataResponse,
)
from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusRequest
from tensorflow_serving.apis.model_pb2 import ModelSpec
from tensorflow_serving.apis.predict_pb2 import PredictRequest, PredictResponse

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.serving.lane import Arrays
from tfmrc.serving.limits import Limits
from tfmrc.serving.service import Call, Service, unexpected

MESSAGE = 600  # characters of an error; a client refuses 8 KiB, percent-encoded, as a whole
SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"  # `grpc.health.v1.HealthCheckResponse`
WATCH_SECONDS = 1.0

Context: TypeAlias = grpc.aio.ServicerContext
Messages: TypeAlias = AsyncIterator[bytes]
Work: TypeAlias = Callable[[Call, Any, Context], Awaitable[Message]]


def add_services(server: grpc.aio.Server, service: Service) -> None:
    """Adds `PredictionService`, `ModelService` and `Health` to a server.

    Args:
        server: `grpc.aio.Server`. The server.
        service: `Service`. Processes the requests.
    """
    calls = _Calls(service)
    serving = "tensorflow.serving"
    methods = {
        f"{serving}.PredictionService": {
            "Predict": calls.handler("predict", PredictRequest, calls.predict),
            "GetModelMetadata": calls.handler("metadata", GetModelMetadataRequest, calls.metadata),
        },
        f"{serving}.ModelService": {
            "GetModelStatus": calls.handler("status", GetModelStatusRequest, calls.status)
        },
        "grpc.health.v1.Health": {
            "Check": grpc.stream_unary_rpc_method_handler(calls.check),
            "Watch": grpc.stream_stream_rpc_method_handler(calls.watch),
        },
    }
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(name, each) for name, each in methods.items()]
    )


class _Calls:
    """The methods, declared as streams of requests, so that gRPC reads a message on demand.

    On the wire there is no difference. A message is received only after the key was checked and
    while there is space for it, and the health service receives none.
    """

    def __init__(self, service: Service):
        self.service = service
        limits = service.limits
        self._receiving = asyncio.Semaphore(max(1, limits.buffered_bytes // limits.body_bytes))

    def handler(
        self, method: str, request_class: type[Message], work: Work
    ) -> grpc.RpcMethodHandler:
        """Returns a handler that writes a line of the access log and turns errors into codes."""

        async def handle(_: Messages, context: Context) -> bytes:
            metadata = {key: value for key, value in context.invocation_metadata()}
            call = Call("gRPC", method, client=context.peer())
            call.id = metadata.get("x-request-id", call.id)[:128]
            context.set_trailing_metadata((("x-request-id", call.id),))
            refused: RequestError | None = None
            with self.service.record(call), self.service.buffer() as add:
                try:
                    self.service.check_key(metadata)
                    request = await self._receive(context, call, add, request_class)
                    reply = (await work(call, request, context)).SerializeToString()
                    call.bytes_out = len(reply)
                except DecodeError as error:
                    refused = RequestError(f"The message cannot be decoded: {error}")
                except RequestError as error:
                    refused = error.with_traceback(None)  # whose frames hold the request
                except Exception as error:  # one bad request must not end the server
                    refused = unexpected(error)
                if refused is not None:
                    call.status, call.reason = refused.status, refused.reason
            if refused is not None:
                await context.abort(grpc.StatusCode[refused.grpc_code], str(refused)[:MESSAGE])
            return reply

        return grpc.stream_unary_rpc_method_handler(handle)

    async def _receive(
        self, context: Context, call: Call, add: Callable[[int], None], request_class: type[Message]
    ) -> Any:
        seconds = self.service.limits.receive_seconds
        try:
            async with self._receiving:
                async with asyncio.timeout(seconds):
                    # The iterator of messages would hold the message after the call.
                    message = await context.read() or b""
                call.bytes_in = len(message)
                add(len(message))
                return await self.service.read(request_class.FromString, message)
        except TimeoutError:
            message = f"The message did not arrive within {seconds:g} s."
            raise RequestError(message, 408, reason="slow") from None

    async def predict(self, call: Call, request: PredictRequest, context: Context) -> Any:
        spec = request.model_spec
        name = spec.signature_name or "serving_default"

        def read(model: SavedModel) -> tuple[str, Arrays]:
            signature = model.signature(name)
            specs, limits = signature.inputs, self.service.limits
            arrays = {  # None for a name that the signature lacks
                key: _array(key, proto, specs[key].shape.rank, limits) if key in specs else None
                for key, proto in request.inputs.items()
            }
            return name, signature.arrays(arrays)

        outputs = await self.service.predict(
            call, spec.name, read, version=_version(spec), seconds=context.time_remaining()
        )
        reply = PredictResponse()
        for output in request.output_filter or outputs:
            if output not in outputs:
                names = ", ".join(sorted(outputs))
                raise RequestError(f"The outputs are {names}. Received: {output!r:.80}")
            values = outputs[output]
            dtype = tf.string if values.dtype == object else None
            reply.outputs[output].CopyFrom(tf.make_tensor_proto(values, dtype, values.shape))
        reply.model_spec.name = spec.name
        reply.model_spec.version.value = call.version
        reply.model_spec.signature_name = name
        return reply

    async def metadata(self, call: Call, request: GetModelMetadataRequest, context: Context) -> Any:
        spec = request.model_spec
        signatures = self.service.signatures(call, spec.name, _version(spec))
        reply = GetModelMetadataResponse()
        reply.model_spec.name = spec.name
        reply.model_spec.version.value = call.version
        reply.metadata["signature_def"].Pack(signatures)
        return reply

    async def status(self, call: Call, request: GetModelStatusRequest, context: Context) -> Any:
        spec = request.model_spec
        return self.service.status(call, spec.name, _version(spec))

    async def check(self, messages: Messages, context: Context) -> bytes:
        """Returns whether the server is ready, whatever service is named."""
        return SERVING if self.service.is_ready else NOT_SERVING

    async def watch(self, messages: Messages, context: Context) -> AsyncIterator[bytes]:
        """Yields whether the server is ready, at first and after each change."""
        last = b""
        while True:
            state = await self.check(messages, context)
            if state != last:
                yield state
            last = state
            await asyncio.sleep(WATCH_SECONDS)


def _array(name: str, proto: TensorProto, rank: int, limits: Limits) -> np.ndarray:
    """Returns a `TensorProto` as an array; one beyond the limits is not built."""
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if len(shape) != rank:
        raise RequestError(f"`{name}` must have {rank} dimensions. Received: {len(shape)}")
    limits.check_shape(name, shape)
    texts = len(proto.string_val)
    # TensorFlow would repeat the last text.
    if proto.dtype == tf.string.as_datatype_enum and texts != math.prod(shape):
        raise RequestError(f"`{name}` must have one string per element. Received: {texts} strings")
    try:
        return np.asarray(tf.make_ndarray(proto))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise RequestError(f"`{name}` is not a valid tensor: {error}") from error


def _version(spec: ModelSpec) -> int | None:
    kind = spec.WhichOneof("version_choice")
    if kind == "version_label":
        raise RequestError("This server does not support version labels.", 404)
    return spec.version.value if kind == "version" else None

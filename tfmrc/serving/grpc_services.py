"""The gRPC services of TensorFlow Serving."""

import hmac
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from tfmrc.predictors.errors import RequestError
from tfmrc.predictors.signature import SavedSignature
from tfmrc.serving.limits import Limits
from tfmrc.serving.service import Call, Service, offload, unexpected

__all__ = ["ApiKeyInterceptor", "add_services", "arrays_of"]

MOST_ENCODED = 6000  # bytes of an error's message; a client refuses a longer one as a whole


def add_services(server: grpc.aio.Server, service: Service) -> None:
    """Adds `PredictionService` and `ModelService` to a server.

    Args:
        server: `grpc.aio.Server`. The server.
        service: `Service`. Processes the requests.
    """
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
        _PredictionService(service), server
    )
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(_ModelService(service), server)


class ApiKeyInterceptor(grpc.aio.ServerInterceptor):
    """Refuses calls without the server's key in `authorization: Bearer KEY` or `x-api-key`.

    Args:
        api_key: str. The key.
    """

    def __init__(self, api_key: str):
        self._key = api_key.encode()

        async def refuse(request: Any, context: Any) -> None:
            await context.abort(
                grpc.StatusCode.UNAUTHENTICATED,
                "The call needs the server's key: metadata `authorization: Bearer KEY`, or "
                "`x-api-key`.",
            )

        self._refusal = grpc.unary_unary_rpc_method_handler(refuse)

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """Continues with the call if it has the key."""
        metadata = dict(handler_call_details.invocation_metadata or ())
        kind, _, bearer = str(metadata.get("authorization", "")).partition(" ")
        given = bearer.strip() if kind.lower() == "bearer" else metadata.get("x-api-key", "")
        given = given if isinstance(given, bytes) else given.encode()
        if hmac.compare_digest(given, self._key):
            return await continuation(handler_call_details)
        return self._refusal


class _Base:
    def __init__(self, service: Service):
        self.service = service
        self.manager = service.manager

    async def _run(
        self, method: str, request: Any, context: Any, work: Callable[[Call], Awaitable[Any]]
    ) -> Any:
        """Runs a method, with a line in the access log; errors end the call with their code."""
        call = Call("gRPC", method, client=_address(context.peer()), bytes_in=request.ByteSize())
        refused: RequestError | None = None
        with self.service.record(call):
            try:
                reply = await work(call)
                call.bytes_out = reply.ByteSize()
            except RequestError as error:
                refused = error
            except Exception as error:  # one bad request must not end the server
                refused = unexpected(error)
            call.status = 200 if refused is None else refused.status
        if refused is not None:
            await context.abort(grpc.StatusCode[refused.grpc_code], _cut(str(refused)))
        return reply

    async def _refuse(self, context: Any, name: str) -> NoReturn:
        await context.abort(
            grpc.StatusCode.UNIMPLEMENTED, f"tfmrc's server has no {name}; use Predict."
        )
        raise AssertionError("abort raises")


class _PredictionService(_Base, prediction_service_pb2_grpc.PredictionServiceServicer):
    async def Predict(self, request: Any, context: Any) -> Any:
        async def work(call: Call) -> Any:
            spec = request.model_spec
            signature = spec.signature_name or "serving_default"
            limits = self.service.limits

            def read(function: SavedSignature) -> dict[str, np.ndarray]:
                return function.arrays(arrays_of(request.inputs, limits))

            outputs = await self.service.predict(
                call,
                spec.name,
                signature,
                read,
                seconds=context.time_remaining(),
                **_version(spec),
            )
            size = sum(values.nbytes for values in outputs.values())
            reply = await offload(size, _reply, outputs, list(request.output_filter))
            reply.model_spec.name = spec.name
            reply.model_spec.version.value = call.version
            reply.model_spec.signature_name = signature
            return reply

        return await self._run("predict", request, context, work)

    async def GetModelMetadata(self, request: Any, context: Any) -> Any:
        async def work(call: Call) -> Any:
            if list(request.metadata_field) != ["signature_def"]:
                raise RequestError(
                    "`metadata_field` must be signature_def. "
                    f"Received: {list(request.metadata_field)!r:.200}"
                )
            spec = request.model_spec
            version = _version(spec)
            with self.manager.use(spec.name, version["version"], version["label"]) as used:
                call.model, call.version = spec.name, used.number
                signatures = get_model_metadata_pb2.SignatureDefMap()
                for name, definition in used.loaded.model.signature_defs.items():
                    signatures.signature_def[name].CopyFrom(definition)
                reply = get_model_metadata_pb2.GetModelMetadataResponse()
                reply.model_spec.name = spec.name
                reply.model_spec.version.value = used.number
                reply.metadata["signature_def"].Pack(signatures)
            return reply

        return await self._run("metadata", request, context, work)

    async def Classify(self, request: Any, context: Any) -> Any:
        await self._refuse(context, "Classify")

    async def Regress(self, request: Any, context: Any) -> Any:
        await self._refuse(context, "Regress")

    async def MultiInference(self, request: Any, context: Any) -> Any:
        await self._refuse(context, "MultiInference")


class _ModelService(_Base, model_service_pb2_grpc.ModelServiceServicer):
    async def GetModelStatus(self, request: Any, context: Any) -> Any:
        async def work(call: Call) -> Any:
            spec = request.model_spec
            version = _version(spec)
            number = version["version"]
            if version["label"] is not None:
                number = self.manager.labelled(spec.name, version["label"])
            versions = self.manager.versions(spec.name, number)
            call.model = spec.name
            reply = get_model_status_pb2.GetModelStatusResponse()
            states = get_model_status_pb2.ModelVersionStatus.State
            for each in versions:
                status = reply.model_version_status.add()
                status.version = each.number
                status.state = states.Value(each.state)
                if each.error:
                    status.status.error_code = grpc.StatusCode.UNKNOWN.value[0]
                    status.status.error_message = each.error
            return reply

        return await self._run("status", request, context, work)

    async def HandleReloadConfigRequest(self, request: Any, context: Any) -> Any:
        await self._refuse(context, "HandleReloadConfigRequest: folders are polled")


def arrays_of(inputs: Mapping[str, Any], limits: Limits) -> dict[str, np.ndarray]:
    """Returns the tensors of a request as arrays.

    Args:
        inputs: dict. For each name a `TensorProto`.
        limits: `Limits`. Limits of a request; a tensor is not built if it is larger, however few
            bytes the message has.

    Raises:
        RequestError: If a tensor is damaged or too large.
    """
    arrays = {}
    for name, proto in inputs.items():
        shape = tuple(dim.size for dim in proto.tensor_shape.dim)
        if proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
            raise RequestError(f"`{name}` has no shape.")
        limits.check_shape(name, shape)
        if math.prod(shape) > 2**24:
            raise RequestError(f"`{name}` must have at most {2**24:,} elements.", 413)
        try:
            arrays[name] = np.asarray(tf.make_ndarray(proto))
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise RequestError(f"`{name}` is no tensor: {error}") from error
    return arrays


def _reply(outputs: Mapping[str, np.ndarray], only: list[str]) -> Any:
    unknown = sorted(set(only) - set(outputs))
    if unknown:
        raise RequestError(
            f"The outputs are {', '.join(sorted(outputs))}. "
            f"Received: output_filter={unknown!r:.200}"
        )
    reply = predict_pb2.PredictResponse()
    for name, values in outputs.items():
        if not only or name in only:
            dtype = tf.string if values.dtype == object else None
            reply.outputs[name].CopyFrom(tf.make_tensor_proto(values, dtype, values.shape))
    return reply


def _cut(message: str) -> str:
    """Returns a message as clients take it: gRPC percent-encodes it into 8 KiB of metadata."""
    size = 0
    for end, character in enumerate(message):
        size += 1 if " " <= character <= "~" and character != "%" else 3 * len(character.encode())
        if size > MOST_ENCODED:
            return f"{message[:end]}..."
    return message


def _version(spec: Any) -> dict[str, Any]:
    kind = spec.WhichOneof("version_choice")
    return {
        "version": spec.version.value if kind == "version" else None,
        "label": spec.version_label if kind == "version_label" else None,
    }


def _address(peer: str) -> str:
    """Returns the address of gRPC's name of a client, such as `ipv6:%5B::1%5D:51000`."""
    return unquote(peer.partition(":")[2].rpartition(":")[0]).strip("[]")

"""The gRPC services of TensorFlow Serving."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

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
from tfmrc.serving.service import Call, Service, unexpected

__all__ = ["add_services"]

MESSAGE = 600  # characters of an error; a client refuses 8 KiB, percent-encoded, as a whole


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


class _Base:
    def __init__(self, service: Service):
        self.service = service
        self.manager = service.manager

    async def _run(
        self, method: str, request: Any, context: Any, work: Callable[[Call], Awaitable[Any]]
    ) -> Any:
        """Runs a method, with a line in the access log; errors end the call with their code."""
        call = Call("gRPC", method, client=context.peer(), bytes_in=request.ByteSize())
        refused: RequestError | None = None
        with self.service.record(call):
            try:
                self.service.check_key(dict(context.invocation_metadata()))
                reply = await work(call)
                call.bytes_out = reply.ByteSize()
            except RequestError as error:
                refused = error
            except Exception as error:  # one bad request must not end the server
                refused = unexpected(error)
            call.status = 200 if refused is None else refused.status
        if refused is not None:
            await context.abort(grpc.StatusCode[refused.grpc_code], str(refused)[:MESSAGE])
        return reply


class _PredictionService(_Base, prediction_service_pb2_grpc.PredictionServiceServicer):
    async def Predict(self, request: Any, context: Any) -> Any:
        async def work(call: Call) -> Any:
            spec = request.model_spec
            signature = spec.signature_name or "serving_default"

            def read(function: SavedSignature) -> dict[str, np.ndarray]:
                return function.arrays(arrays_of(request.inputs, self.service.limits))

            outputs = await self.service.predict(
                call,
                spec.name,
                signature,
                read,
                version=_version(spec),
                seconds=context.time_remaining(),
            )
            reply = predict_pb2.PredictResponse()
            for name in request.output_filter or outputs:
                if name not in outputs:
                    names = ", ".join(sorted(outputs))
                    raise RequestError(f"The outputs are {names}. Received: {name!r:.80}")
                values = outputs[name]
                dtype = tf.string if values.dtype == object else None
                reply.outputs[name].CopyFrom(tf.make_tensor_proto(values, dtype, values.shape))
            reply.model_spec.name = spec.name
            reply.model_spec.version.value = call.version
            reply.model_spec.signature_name = signature
            return reply

        return await self._run("predict", request, context, work)

    async def GetModelMetadata(self, request: Any, context: Any) -> Any:
        async def work(call: Call) -> Any:
            spec = request.model_spec
            with self.manager.use(spec.name, _version(spec)) as used:
                call.model, call.version = spec.name, used.number
                signatures = get_model_metadata_pb2.SignatureDefMap(
                    signature_def=used.loaded.model.signature_defs
                )
                reply = get_model_metadata_pb2.GetModelMetadataResponse()
                reply.model_spec.name = spec.name
                reply.model_spec.version.value = used.number
                reply.metadata["signature_def"].Pack(signatures)
            return reply

        return await self._run("metadata", request, context, work)


class _ModelService(_Base, model_service_pb2_grpc.ModelServiceServicer):
    async def GetModelStatus(self, request: Any, context: Any) -> Any:
        async def work(call: Call) -> Any:
            spec = request.model_spec
            versions = self.manager.versions(spec.name, _version(spec))
            call.model = spec.name
            reply = get_model_status_pb2.GetModelStatusResponse()
            states = get_model_status_pb2.ModelVersionStatus.State
            for version in versions:
                status = reply.model_version_status.add()
                status.version = version.number
                status.state = states.Value(version.state)
                if version.error:
                    status.status.error_code = grpc.StatusCode.UNKNOWN.value[0]
                    status.status.error_message = version.error
            return reply

        return await self._run("status", request, context, work)


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
        limits.check_shape(name, tuple(dim.size for dim in proto.tensor_shape.dim))
        try:
            arrays[name] = np.asarray(tf.make_ndarray(proto))
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise RequestError(f"`{name}` is no tensor: {error}") from error
    return arrays


def _version(spec: Any) -> int | None:
    kind = spec.WhichOneof("version_choice")
    if kind == "version_label":
        raise RequestError("This server has no labels of versions.", 404)
    return spec.version.value if kind == "version" else None

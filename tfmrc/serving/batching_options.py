"""The batching file of TensorFlow Serving."""

from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["BatchingOptions"]

#: The fields of TensorFlow Serving's message BatchingParameters that a batching file can hold.
INTEGERS = ("max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads")
INT64_VALUE = ".google.protobuf.Int64Value"


@dataclass(frozen=True, kw_only=True)
class BatchingOptions:
    """Limits of the batches that a server makes of simultaneous requests.

    The names and meanings are those of TensorFlow Serving's batching file.

    Attributes:
        max_batch_size: int. Largest number of examples per batch. A request with more examples is
            computed alone. Default: 32.
        batch_timeout_micros: int. Time that an incomplete batch waits for further requests. With 0
            a batch takes what arrived while the one before it was computed. Default: 0.
        max_enqueued_batches: int. Number of batches that may wait, per model; further requests get
            the status 503. Default: 100.
        num_batch_threads: int. Number of batches of a model that are computed at the same time.
            Each thread prepares the graph again, and each batch uses all cores. Default: 1.
        allowed_batch_sizes: tuple of int. Sizes to which batches are padded, for a graph that is
            compiled for each size; () for any size. Default: ().

    Raises:
        ValueError: If a value is impossible.

    Example:

    >>> from tfmrc.serving import BatchingOptions
    >>> BatchingOptions.parse("max_batch_size { value: 8 }  # small").max_batch_size
    8
    """

    max_batch_size: int = 32
    batch_timeout_micros: int = 0
    max_enqueued_batches: int = 100
    num_batch_threads: int = 1
    allowed_batch_sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in INTEGERS:
            least = 0 if name == "batch_timeout_micros" else 1
            if getattr(self, name) < least:
                raise ValueError(
                    f"`{name}` must be at least {least}. Received: {name}={getattr(self, name)}"
                )
        sizes = self.allowed_batch_sizes
        if sizes and (list(sizes) != sorted(set(sizes)) or sizes[-1] != self.max_batch_size):
            raise ValueError(
                "`allowed_batch_sizes` must increase and end with max_batch_size. "
                f"Received: allowed_batch_sizes={sizes}, max_batch_size={self.max_batch_size}"
            )

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> "BatchingOptions":
        """Reads a batching file of TensorFlow Serving.

        Args:
            path: str or path. The file, a BatchingParameters message as text.

        Raises:
            OSError: If it cannot be read.
            ValueError: If it is no batching file, or a value is impossible.
        """
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is no batching file: {error}") from error

    @classmethod
    def parse(cls, text: str) -> "BatchingOptions":
        """Returns the options of the text of a batching file; fields it lacks have the defaults.

        `pad_variable_length_inputs` has no effect: ragged rows are always padded with empty
        strings.

        Args:
            text: str. A BatchingParameters message as text.

        Raises:
            ValueError: If a field is unknown or a value is impossible.
        """
        from google.protobuf import text_format

        message = _message_class()()
        try:
            text_format.Parse(text, message)
        except text_format.ParseError as error:
            raise ValueError(str(error)) from error
        options: dict[str, Any] = {
            name: getattr(message, name).value for name in INTEGERS if message.HasField(name)
        }
        return cls(**options, allowed_batch_sizes=tuple(message.allowed_batch_sizes))


@cache
def _message_class() -> Any:
    """Returns the class of BatchingParameters, which tensorflow-serving-api does not include."""
    from google.protobuf import (
        descriptor_pb2,
        descriptor_pool,
        message_factory,
        wrappers_pb2,
    )

    proto = descriptor_pb2.FileDescriptorProto(
        name="tfmrc_batching.proto",
        package="tfmrc",
        syntax="proto3",
        dependency=["google/protobuf/wrappers.proto"],
    )
    message = proto.message_type.add(name="BatchingParameters")
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, name in enumerate(INTEGERS, 1):
        message.field.add(
            name=name,
            number=number,
            label=kinds.LABEL_OPTIONAL,
            type=kinds.TYPE_MESSAGE,
            type_name=INT64_VALUE,
        )
    message.field.add(
        name="thread_pool_name",
        number=5,
        label=kinds.LABEL_OPTIONAL,
        type=kinds.TYPE_MESSAGE,
        type_name=".google.protobuf.StringValue",
    )
    message.field.add(
        name="allowed_batch_sizes", number=6, label=kinds.LABEL_REPEATED, type=kinds.TYPE_INT64
    )
    message.field.add(
        name="pad_variable_length_inputs",
        number=7,
        label=kinds.LABEL_OPTIONAL,
        type=kinds.TYPE_BOOL,
    )
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(proto)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tfmrc.BatchingParameters"))

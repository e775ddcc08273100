"""Requests that TensorFlow Serving runs when it loads an export."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import tensorflow as tf

__all__ = ["ANSWER", "PASSAGES", "QUESTION", "prediction_log", "write_warmup_requests"]

WARMUP_FILE = Path("assets.extra") / "tf_serving_warmup_requests"

#: The texts of the papers' warm-up requests.
QUESTION = "How high is the hill?"
PASSAGES = ("The hill is 310 metres high.", "Nobody has measured the valley.")
ANSWER = "310 metres"


def write_warmup_requests(
    saved_model: str | PathLike[str], name: str, requests: Sequence[Mapping[str, Any]]
) -> Path:
    """Writes the requests that TensorFlow Serving runs when it loads the model.

    Args:
        saved_model: str or path. Folder of the version.
        name: str. The model's name.
        requests: list. For each request, nested lists of strings by input name.

    Returns:
        The file, a TFRecord of `tensorflow.serving.PredictionLog`.
    """
    path = Path(saved_model) / WARMUP_FILE
    path.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for inputs in requests:
            writer.write(prediction_log(name, inputs))
    return path


def prediction_log(name: str, inputs: Mapping[str, Any]) -> bytes:
    """Returns the serialised `PredictionLog` of one predict request.

    The message is assembled field by field (the numbers are those of TensorFlow Serving's
    `prediction_log.proto`, `predict.proto` and `model.proto`), because the package
    tensorflow-serving-api, which holds its Python class, is tied to other versions of TensorFlow.
    """
    request = _field(1, _field(1, name.encode()) + _field(3, b"serving_default"))  # model_spec
    for key, value in sorted(inputs.items()):
        tensor = tf.make_tensor_proto(tf.constant(value, tf.string)).SerializeToString()
        request += _field(2, _field(1, key.encode()) + _field(2, tensor))  # inputs
    return _field(6, _field(1, request))  # predict_log.request


def _field(number: int, content: bytes) -> bytes:
    """Returns a length-delimited field of a protocol buffer."""
    size, head = len(content), bytearray([number << 3 | 2])
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    head.append(size)
    return bytes(head) + content

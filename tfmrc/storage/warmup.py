"""Requests that TensorFlow Serving runs when it loads an export."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.storage.manifest import EXTRA

WARMUP_FILE = Path(EXTRA) / "tf_serving_warmup_requests"

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
            writer.write(prediction_log(name, inputs).SerializeToString())
    return path


def prediction_log(name: str, inputs: Mapping[str, Any]) -> Any:
    """Returns the `PredictionLog` of one predict request.

    Args:
        name: str. The model's name.
        inputs: dict. For each input, nested lists of strings.

    Example:

    >>> from tfmrc.storage.warmup import prediction_log
    >>> log = prediction_log("hills", {"question": ["How high?"]})
    >>> log.predict_log.request.model_spec.name
    'hills'
    """
    from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

    log = PredictionLog()
    request = log.predict_log.request
    request.model_spec.name = name
    request.model_spec.signature_name = "serving_default"
    for key, value in sorted(inputs.items()):
        request.inputs[key].CopyFrom(tf.make_tensor_proto(tf.constant(value, tf.string)))
    return log


def read_warmup_requests(saved_model: str | PathLike[str]) -> list[Any]:
    """Returns the `PredictRequest`s of an export's warm-up file; [] if there is none.

    Args:
        saved_model: str or path. Folder of the version.

    Raises:
        ValueError: If the file is damaged.
    """
    from google.protobuf.message import DecodeError
    from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

    path = Path(saved_model) / WARMUP_FILE
    if not path.is_file():
        return []
    try:
        logs = [
            PredictionLog.FromString(record.numpy())
            for record in tf.data.TFRecordDataset(str(path))
        ]
    except (tf.errors.DataLossError, DecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return [log.predict_log.request for log in logs if log.HasField("predict_log")]

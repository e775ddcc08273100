"""The files that TensorFlow Serving reads beside a SavedModel."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import tensorflow as tf

__all__ = ["prediction_log", "write_serving_config", "write_warmup_requests"]

WARMUP_FILE = Path("assets.extra") / "tf_serving_warmup_requests"

BATCHING = """\
# Requests that arrive together are answered together. Every request must bring the same number of
# passages (fill up with empty strings): TensorFlow Serving would fill up a shorter row with copies
# of its first passage, so pad_variable_length_inputs stays off.
max_batch_size { value: 32 }
batch_timeout_micros { value: 5000 }
max_enqueued_batches { value: 100 }
num_batch_threads { value: 2 }
"""


def write_warmup_requests(
    saved_model: str | PathLike[str], name: str, requests: Sequence[Mapping[str, Any]]
) -> Path:
    """Writes the requests that TensorFlow Serving runs when it loads the model.

    Args:
        saved_model: folder of the version.
        name: the model's name.
        requests: for each request, nested lists of strings by input name.

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
    """A serialised `PredictionLog` of one predict request.

    The message is put together field by field (the numbers are those of TensorFlow Serving's
    `prediction_log.proto`, `predict.proto` and `model.proto`), because the package
    tensorflow-serving-api, which holds its Python class, is tied to other versions of TensorFlow.
    """
    request = _field(1, _field(1, name.encode()) + _field(3, b"serving_default"))  # model_spec
    for key, value in sorted(inputs.items()):
        tensor = tf.make_tensor_proto(tf.constant(value, tf.string)).SerializeToString()
        request += _field(2, _field(1, key.encode()) + _field(2, tensor))  # inputs
    return _field(6, _field(1, request))  # predict_log.request


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited field of a protocol buffer."""
    size, head = len(content), bytearray([number << 3 | 2])
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    head.append(size)
    return bytes(head) + content


def write_serving_config(
    folder: str | PathLike[str], served_from: str | None = None
) -> tuple[Path, Path]:
    """Writes `models.config` and `batching.config` for all exports below a folder.

    Args:
        folder: holds `<name>/<version>/`.
        served_from: the same folder as the server sees it, for instance "/models" in a
            container; None for the folder itself.

    Returns:
        Both files.

    Raises:
        ValueError: if the folder holds no export.
    """
    folder = Path(folder).absolute()
    names = sorted({path.parents[1].name for path in folder.glob("*/[0-9]*/saved_model.pb")})
    if not names:
        raise ValueError(f"There is no <name>/<version>/saved_model.pb. Received: folder={folder}")
    base = served_from or str(folder)
    entries = "".join(
        f'  config {{ name: "{name}" base_path: "{base}/{name}" model_platform: "tensorflow" }}\n'
        for name in names
    )
    models, batching = folder / "models.config", folder / "batching.config"
    models.write_text(f"model_config_list {{\n{entries}}}\n", encoding="utf-8")
    batching.write_text(BATCHING, encoding="utf-8")
    return models, batching

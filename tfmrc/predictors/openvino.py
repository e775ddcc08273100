"""OpenVINO as the engine of readers: what lies between the ids of windows and their scores.

Strings, windows and the search for spans stay in TensorFlow's graph. OpenVINO is imported when a
reader uses it, without its telemetry.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Protocol, cast, get_args

import keras
import numpy as np
import tensorflow as tf

from tfmrc.models import EvidenceReader, ExtractiveReader, ReaderEnsemble
from tfmrc.models.protocols import ReaderModel
from tfmrc.ops.portable import has_gpu, portable
from tfmrc.predictors.spans.reader_windows import SCORES, Tensors, window_scores
from tfmrc.predictors.task import Query
from tfmrc.storage.manifest import EXTRA
from tfmrc.utils.optional import optional_import

Runtime = Literal["tensorflow", "openvino", "auto"]
FOLDER = Path(EXTRA, "openvino")  # in an export: the graphs of its strings, and the network
NETWORK = "network.xml"
TEXTS = (
    tf.TensorSpec([None], tf.string, name="question"),
    tf.TensorSpec([None, None], tf.string, name="passages"),
)
MEASURED = (ExtractiveReader, EvidenceReader, ReaderEnsemble)  # what `auto` leaves to OpenVINO
STEP = 16  # subwords
INPUTS = ("encoder_ids", "segment_ids")
LEAST_WEIGHTS = 2**20  # of a reader that `auto` reads with OpenVINO; smaller ones are fast anyway
TELEMETRY = "openvino_telemetry"
NNCF_PYTHON = "TFMRC_NNCF_PYTHON"  # variable: another Python that has NNCF, which needs no tfmrc
QUANTIZE = """
import sys
sys.modules["openvino_telemetry"] = None  # nothing is sent
import nncf, numpy, openvino
file, arrays = sys.argv[1:]
with numpy.load(arrays) as content:
    items = [dict(zip(("encoder_ids", "segment_ids"), content[name])) for name in content.files]
model = nncf.quantize(
    openvino.Core().read_model(file), nncf.Dataset(items), subset_size=len(items),
    model_type=nncf.ModelType.TRANSFORMER,
)
openvino.save_model(model, file + ".int8.xml", compress_to_fp16=False)
"""


class ReaderPredictor(Protocol):
    """What an export needs of `ExtractiveReaderPredictor` and `EvidenceReaderPredictor`."""

    model: Any
    preprocessor: Any

    def read(self, question: tf.Tensor, passages: tf.Tensor) -> Tensors:
        """Returns the windows of questions and passages."""

    def find(self, model: ReaderModel, windows: Tensors, options: Any) -> Tensors:
        """Returns the outputs of `serving_default` for windows."""

    def with_confidence(self, signatures: Mapping[str, Any], options: Any) -> dict[str, Any]:
        """Returns signatures with calibrated probabilities and `is_confident`."""


class Network:
    """A reader's network on OpenVINO; computes in float32, or in int8 if its file does.

    It takes the place of the model where a graph asks for scores. A thread of its own computes
    them: TensorFlow's threads take the smallest floats for zero, and in them OpenVINO returns wrong
    scores on CPUs without AVX-512.

    Args:
        network: path or `openvino.Model`. A file `network.xml`, or the result of `converted`.
    """

    def __init__(self, network: Any):
        self._thread = ThreadPoolExecutor(1, "openvino")  # one: a request uses all cores
        self.load(network)

    def load(self, network: Any) -> None:
        """Takes another network, such as with new weights; graphs that ask for scores stay."""
        self._thread.submit(self._load, network).result()

    def _load(self, network: Any) -> None:
        ov = imported()
        options: dict[str, Any] = {
            # The default would be bfloat16 wherever the CPU multiplies it.
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
        }
        if threads := tf.config.threading.get_intra_op_parallelism_threads():
            options["INFERENCE_NUM_THREADS"] = threads
        compiled = ov.Core().compile_model(network, "CPU", options)
        self._width = compiled.output(0).partial_shape[2].get_length()  # scores of a subword
        self._request = compiled.create_infer_request()

    def scores(self, inputs: Mapping[str, Any]) -> tf.Tensor:
        """Returns the scores of subwords; see `tfmrc.models.protocols.ReaderModel`."""
        values = [inputs[name] for name in INPUTS]  # [C, P] each
        scores = tf.numpy_function(self._compute, values, tf.float32)  # [C, P, 1 or 2]
        return tf.ensure_shape(scores, [None, None, self._width])

    def _compute(self, *values: Any) -> Any:
        inputs = dict(zip(INPUTS, values, strict=True))
        return self._thread.submit(self._request.infer, inputs).result()[0]


class _Given:
    """A model whose scores are among the windows."""

    def scores(self, inputs: Mapping[str, Any]) -> Any:
        return inputs[SCORES]


@cache
def imported() -> Any:
    """Returns the package OpenVINO, imported without its telemetry, which would send its use.

    Raises:
        ImportError: If it is not installed.
    """
    with optional_import("tfmrc[openvino]"), _without_telemetry():
        import openvino
        import openvino.opset13
        import openvino.tools.ovc
        from openvino.frontend.tensorflow import utils

    # OpenVINO's fails on Python 3.13, where `exec` does not share the names of a function.
    utils.get_environment_setup = lambda framework: {"tensorflow": tf.__version__}
    return openvino


@contextmanager
def _without_telemetry() -> Iterator[None]:
    """Imports as where the package of telemetry is not installed, which OpenVINO allows for."""
    before = sys.modules.pop(TELEMETRY, None)
    sys.modules[TELEMETRY] = cast(Any, None)
    try:
        yield
    finally:
        del sys.modules[TELEMETRY]
        if before is not None:
            sys.modules[TELEMETRY] = before


def check_runtime(runtime: str, model: keras.Model) -> None:
    """Raises a ValueError if a runtime is unknown, or cannot compute a model.

    Args:
        runtime: str. "tensorflow", "openvino" or "auto".
        model: `keras.Model`. The model.

    Raises:
        ValueError: If it is another one, or OpenVINO is asked for and the model is not a reader.
        ImportError: If OpenVINO is asked for and not installed.
    """
    if runtime not in get_args(Runtime):
        known = ", ".join(get_args(Runtime))
        raise ValueError(f"`runtime` must be one of {known}. Received: runtime={runtime!r}")
    if runtime != "openvino":
        return
    if model.compute_dtype != "float32":
        raise ValueError(
            "OpenVINO converts models in float32; in another dtype a model stays in TensorFlow. "
            f"Received: runtime={runtime!r}, dtype={model.compute_dtype!r}"
        )
    if not isinstance(model, ExtractiveReader | ReaderEnsemble):
        raise ValueError(
            "OpenVINO computes extractive readers and evidence readers. Models that go word by "
            "word or step by step stay in TensorFlow, which is faster for them: "
            f"runtime='tensorflow'. Received: runtime={runtime!r} for {type(model).__name__}"
        )
    imported()


def chooses_openvino(runtime: str, model: keras.Model) -> bool:
    """Returns True if OpenVINO computes a model.

    For "auto" it must be installed, on a CPU of x86 without a GPU beside it, and the model one of
    tfmrc's readers, in float32 and not small. A model that is compiled for training stays in
    TensorFlow: its weights change.

    Args:
        runtime: str. "tensorflow", "openvino" or "auto".
        model: `keras.Model`. The model.
    """
    if runtime == "tensorflow" or getattr(model, "optimizer", None) is not None:
        return False
    return runtime == "openvino" or (
        is_useful()
        and type(model) in MEASURED
        and model.compute_dtype == "float32"
        and model.count_params() >= LEAST_WEIGHTS
    )


def is_useful() -> bool:
    """Returns True if OpenVINO is installed, and this machine one where it is faster."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return is_x86 and find_spec("openvino") is not None and not has_gpu()


def state_of(model: keras.Model) -> Any:
    """Returns a graph that reads the vectors of a model, by which other weights are noticed.

    They are its biases and the scales of its normalizations: they change when its matrices do, and
    are read in a fraction of a millisecond.
    """
    vectors = [weight.value for weight in model.weights if weight.ndim == 1]

    def read() -> tf.Tensor:
        return tf.concat([tf.cast(vector, tf.float32) for vector in vectors], axis=0)

    return tf.function(read, autograph=False).get_concrete_function()


def converted(model: Any) -> Any:
    """Returns a model's network as `openvino.Model`: ids and segments `[C, P]` to scores.

    It pads P to a multiple of `STEP`: OpenVINO keeps memory for every size that it has computed.

    Args:
        model: A `tfmrc.models.ExtractiveReader` or `ReaderEnsemble`.
    """
    ov, encoder = imported(), model.encoder
    specs = [tf.TensorSpec([None, None], tf.int32, name=name) for name in INPUTS]

    def scores(*values: tf.Tensor) -> dict[str, tf.Tensor]:
        length = tf.shape(values[0])[1]  # P
        more = tf.minimum(-length % STEP, encoder.backbone.max_sequence_length - length)
        padded = {
            name: tf.pad(ids, [[0, 0], [0, more]], constant_values=fill)
            for name, ids, fill in zip(INPUTS, values, (encoder.pad_id, 0), strict=True)
        }  # [C, P'] each
        return {SCORES: model.scores(padded)[:, :length]}

    with portable():
        traced = tf.function(scores, input_signature=specs, autograph=False).get_concrete_function()
    whole = ov.convert_model(traced)
    # Functions with a gradient of their own have further outputs.
    network = ov.Model([whole.output(SCORES)], whole.get_parameters(), "reader")
    for node in network.get_ops():
        if node.get_type_name() == "ShapeOf" and node.get_input_partial_shape(0).is_static:
            # Of the words' table, which int8 would keep in float32 for this alone.
            shape = ov.opset13.constant([*node.get_input_shape(0)], node.get_output_element_type(0))
            node.output(0).replace(shape.output(0))
    return network


def write_parts(
    predictor: ReaderPredictor, options: Any, queries: Sequence[Query] | None, folder: Path
) -> None:
    """Writes what an export is computed with on OpenVINO, below `FOLDER` of it.

    It is the network, and a SavedModel of the graphs around it: `windows`, from strings to windows,
    and `answers`, from windows and their scores to the outputs of `serving_default`.

    Args:
        predictor: The predictor of a reader.
        options: An instance of its `options_class`.
        queries: list of `Query` or None. What int8 is calibrated with; None for float32.
        folder: path. The folder of the version.
    """
    windows = tf.function(predictor.read, input_signature=TEXTS, autograph=False)
    made = windows.get_concrete_function().structured_outputs
    network = converted(predictor.model)
    scores = tf.TensorSpec([None, None, network.output(0).partial_shape[2].get_length()])
    names = [*made, SCORES]

    def find(*values: tf.Tensor) -> Tensors:
        return predictor.find(_Given(), dict(zip(names, values, strict=True)), options)

    specs = [
        tf.TensorSpec(value.shape, value.dtype, name=name)
        for name, value in zip(names, [*made.values(), scores], strict=True)
    ]
    answers = tf.function(find, input_signature=specs, autograph=False)
    signatures = {"windows": windows} | predictor.with_confidence({"answers": answers}, options)
    module = tf.Module()
    module.preprocessor = predictor.preprocessor
    tf.saved_model.save(module, str(folder / FOLDER), signatures=signatures)
    file = folder / FOLDER / NETWORK
    imported().save_model(network, file, compress_to_fp16=False)
    if queries is not None:
        _quantize(file, [windows([one.question], [list(one.passages)]) for one in queries])


def python_of_nncf() -> str:
    """Returns the Python that quantises: this one, or that of the variable `TFMRC_NNCF_PYTHON`.

    Raises:
        ImportError: If NNCF is not installed.
    """
    python = os.environ.get(NNCF_PYTHON)
    if python is None and find_spec("nncf") is None:
        raise ImportError(
            "int8 needs NNCF: `pip install tfmrc[int8]`, or set the variable "
            f"{NNCF_PYTHON} to a Python that has it (`pip install nncf openvino`)."
        )
    return python or sys.executable


def _quantize(file: Path, windows: Sequence[Mapping[str, tf.Tensor]]) -> None:
    """Replaces a network by one in int8: NNCF's quantisation after training, with SmoothQuant.

    Args:
        file: path. The file of the network.
        windows: list of dicts. The windows of each question, from which the ranges are taken.
    """
    arrays = [np.stack([each[name] for name in INPUTS]) for each in windows]  # [2, W, P] each
    with TemporaryDirectory() as folder:
        content, small = Path(folder, "windows.npz"), Path(folder, NETWORK)
        np.savez(content, *arrays)
        for suffix in (".xml", ".bin"):
            shutil.move(file.with_suffix(suffix), small.with_suffix(suffix))
        command = [python_of_nncf(), "-c", QUANTIZE, str(small), str(content)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for suffix in (".xml", ".bin"):
            shutil.move(Path(f"{small}.int8{suffix}"), file.with_suffix(suffix))


def load_parts(folder: Path) -> tuple[Any, dict[str, Any]]:
    """Returns the graphs of an export's strings, and its signatures with OpenVINO between them.

    Args:
        folder: path. The folder of the version.
    """
    loaded, network = tf.saved_model.load(str(folder / FOLDER)), Network(folder / FOLDER / NETWORK)
    windows, answers = loaded.signatures["windows"], loaded.signatures["answers"]

    def answer(**texts: tf.Tensor) -> Tensors:
        made = windows(**texts)
        result: Tensors = answers(**made, **{SCORES: window_scores(network, made)})
        return result

    specs = windows.structured_input_signature[1]
    traced = tf.function(answer, autograph=False).get_concrete_function(**specs)
    return loaded, {"serving_default": traced}


def uses_parts(folder: Path, runtime: str) -> bool:
    """Returns True if an export is computed with OpenVINO.

    Args:
        folder: path. The folder of the version.
        runtime: str. "tensorflow", "openvino" or "auto".

    Raises:
        ValueError: If OpenVINO is asked for, and the export was written without it.
        ImportError: If OpenVINO is asked for and not installed.
    """
    has_parts = (folder / FOLDER / NETWORK).is_file()
    if runtime == "openvino" and not has_parts:
        raise ValueError(
            f"{folder} was exported without OpenVINO's file: `tfmrc export --openvino` writes it, "
            f"of a reader. Received: runtime={runtime!r}"
        )
    if runtime == "openvino":
        imported()
    return has_parts and (runtime == "openvino" or (runtime == "auto" and is_useful()))

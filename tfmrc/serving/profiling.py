"""Where the time of an export goes: executed operations, time by part of the model, memory."""

import json
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  # registers its operations

from tfmrc.predictors.signature import newest_version
from tfmrc.storage.manifest import manifest_of, verify_files
from tfmrc.storage.warmup import read_warmup_requests
from tfmrc.utils.files import check_links
from tfmrc.utils.memory import peak_memory

__all__ = ["Loop", "Part", "Profile", "profile"]

_CALL = re.compile(r"(Stateful)?PartitionedCall(_\d+)?|ConstantFolding|Func")
_LOOP = re.compile(r"while(_\d+)?")
NO_LAYER = "(strings, and what belongs to no layer)"
SHOWN = 20  # parts in the table

Node = tuple[str, str, float]  # name, label with the operation and its inputs, milliseconds


@dataclass(frozen=True)
class Part:
    """A part of the graph.

    Attributes:
        name: str. Its layers, outer to inner, joined by `/`. In the search for the words of an
            answer the parts of a decoder stand alone (`past`, `memory_residual_0`).
        operations: int. Executed operations.
        milliseconds: float. Their time, added up. Operations that run at the same time add up to
            more than passes on the clock.
    """

    name: str
    operations: int
    milliseconds: float


@dataclass(frozen=True)
class Loop:
    """A loop of the graph, such as the search for the words of an answer.

    Attributes:
        name: str. Its scope.
        steps: int. How often its body ran.
        operations: int. Executed operations, of all steps.
        milliseconds: float. Their time, added up.
    """

    name: str
    steps: int
    operations: int
    milliseconds: float


@dataclass(frozen=True)
class Profile:
    """What one request to an export costs; `str(profile)` is a table.

    Attributes:
        path: Path. The folder of the version.
        signature: str. The signature.
        rows: int. Rows of the request.
        milliseconds: float. Median time of a request, without tracing.
        operations: int. Executed operations.
        parts: tuple of `Part`. By time, the longest first.
        loops: tuple of `Loop`. By time, the longest first; those inside others belong to them.
        loaded_mib: float. Greatest memory of the process after loading, in MiB.
        peak_mib: float. Greatest memory of the process after the requests, in MiB.
    """

    path: Path
    signature: str
    rows: int
    milliseconds: float
    operations: int
    parts: tuple[Part, ...]
    loops: tuple[Loop, ...]
    loaded_mib: float
    peak_mib: float

    def __str__(self) -> str:
        lines = [
            f"{self.path}, {self.signature}, {self.rows} rows",
            f"{self.milliseconds:.1f} ms per request, {self.operations:,} operations; "
            f"memory {self.loaded_mib:,.0f} MiB after loading, {self.peak_mib:,.0f} MiB at most",
        ]
        for loop in self.loops:
            steps = max(1, loop.steps)
            lines.append(
                f"loop {loop.name}: {loop.steps} steps, {loop.operations / steps:,.0f} operations "
                f"and {loop.milliseconds / steps:.2f} ms per step"
            )
        every = sum(part.milliseconds for part in self.parts) or 1.0
        rest = self.parts[SHOWN:]
        shown = [*self.parts[:SHOWN]]
        if rest:
            operations = sum(part.operations for part in rest)
            times = sum(part.milliseconds for part in rest)
            shown.append(Part(f"({len(rest)} more)", operations, times))
        lines += ["", f"{'ms':>10} {'share':>6} {'operations':>10}  part"]
        for part in shown:
            share = 100 * part.milliseconds / every
            lines.append(
                f"{part.milliseconds:10.2f} {share:5.1f}% {part.operations:10,}  {part.name}"
            )
        return "\n".join(lines)


def profile(
    path: str | PathLike[str],
    request: Mapping[str, Any] | None = None,
    *,
    signature: str = "serving_default",
    batch_size: int | None = None,
    depth: int = 2,
    repeats: int = 5,
) -> Profile:
    """Runs an export as TensorFlow Serving does and measures one request.

    Args:
        path: str or path. Folder of the version, or of the model (then the greatest version).
        request: dict or None. For each input nested lists. None for the request that the export
            holds for its warm-up. Default: None.
        signature: str. Name of the signature. Default: "serving_default".
        batch_size: int or None. Number of rows, which are those of the request again and again.
            None for those of the request. Default: None.
        depth: int. Number of layers in the name of a part. Default: 2.
        repeats: int. Number of requests whose median time is given. Default: 5.

    Raises:
        FileNotFoundError: There is no SavedModel.
        ValueError: The signature is unknown, the request does not fit it or is missing, or a number
            is below 1.
        tfmrc.storage.DamagedError: A file differs from what was written.
    """
    for name, value in (("batch_size", batch_size), ("depth", depth), ("repeats", repeats)):
        if value is not None and value < 1:
            raise ValueError(f"`{name}` must be at least 1. Received: {name}={value}")
    folder = newest_version(path)
    check_links(folder)
    if (folder / "assets.extra" / "model_card.json").is_file() or manifest_of(folder) is not None:
        verify_files(folder)
    held = _warmup_request(folder, signature) if request is None else request
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        with _without_deprecations():
            loaded = v1.saved_model.load(session, ["serve"], str(folder))
        known = {name: s for name, s in loaded.signature_def.items() if not name.startswith("__")}
        if signature not in known:
            raise ValueError(
                f"The signatures are {', '.join(known)}. Received: signature={signature!r}"
            )
        if held is None:
            raise ValueError(
                f"{folder} holds no warm-up request of {signature}; give a request. "
                f"Its inputs are {', '.join(known[signature].inputs)}."
            )
        feeds = _feeds(known[signature], held, batch_size)
        variables = [node.name for node in graph.get_operations() if node.type == "VarHandleOp"]
        fetches = {name: info.name for name, info in known[signature].outputs.items()}
        loaded_mib = peak_memory()
        try:
            session.run(fetches, feeds)  # prepares the graph
            times = []
            for _ in range(repeats):
                start = time.perf_counter()
                session.run(fetches, feeds)
                times.append(1000 * (time.perf_counter() - start))
            peak_mib = peak_memory()
            trace = v1.RunMetadata()
            full = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
            session.run(fetches, feeds, options=full, run_metadata=trace)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(f"The graph refuses the request: {error.message}") from error
    nodes = [
        (node.node_name, node.timeline_label, node.all_end_rel_micros / 1000)
        for device in trace.step_stats.dev_stats
        for node in device.node_stats
    ]
    layers = {scope for name in variables for scope in name.split("/")[:-1]}
    return Profile(
        path=folder,
        signature=signature,
        rows=len(next(iter(feeds.values()))),
        milliseconds=statistics.median(times),
        operations=len(nodes),
        parts=_parts(nodes, layers, depth),
        loops=_loops(nodes),
        loaded_mib=loaded_mib,
        peak_mib=peak_mib,
    )


def read_request(path: str | PathLike[str]) -> dict[str, Any]:
    """Returns the inputs of a file in the column form of TensorFlow Serving's REST API.

    Raises:
        ValueError: It is no JSON object with `inputs`.
    """
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    inputs = body.get("inputs") if isinstance(body, dict) else None
    if not isinstance(inputs, dict):
        raise ValueError(
            f'{path} must be a JSON object, for example {{"inputs": {{"question": ["Who?"], '
            '"passages": [["An owl."]]}}. '
            f"Received: {str(body)[:60]}"
        )
    return inputs


def _warmup_request(folder: Path, signature: str) -> dict[str, np.ndarray] | None:
    """Returns the first request of a signature in the export's warm-up file."""
    for request in read_warmup_requests(folder):
        if (request.model_spec.signature_name or "serving_default") == signature:
            return {name: tf.make_ndarray(value) for name, value in request.inputs.items()}
    return None


def _feeds(
    definition: Any, request: Mapping[str, Any], batch_size: int | None
) -> dict[str, np.ndarray]:
    """Returns the arrays of the inputs by the name of their tensors."""
    if set(request) != set(definition.inputs):
        raise ValueError(
            f"The inputs are {', '.join(definition.inputs)}. Received: {', '.join(request)}"
        )
    feeds = {}
    for name, info in definition.inputs.items():
        dtype = tf.as_dtype(info.dtype)
        kind = object if dtype == tf.string else dtype.as_numpy_dtype
        array = np.array(request[name], dtype=kind)
        if array.ndim != len(info.tensor_shape.dim) or not len(array):
            raise ValueError(
                f"`{name}` must have {len(info.tensor_shape.dim)} dimensions and a row. "
                f"Received: shape {array.shape}"
            )
        if kind is object and not all(isinstance(text, str | bytes) for text in array.flat):
            raise ValueError(f"`{name}` holds texts. Received: {request[name]!r:.200}")
        if kind is object:  # half a character, which no encoding knows, as a server reads it
            texts = [t.encode("utf-8", "replace") if isinstance(t, str) else t for t in array.flat]
            array = np.array(texts, dtype=object).reshape(array.shape)
        if batch_size is not None:
            array = np.resize(array, (batch_size, *array.shape[1:]))
        feeds[info.name] = array
    return feeds


@contextmanager
def _without_deprecations() -> Iterator[None]:
    """Silences the warning that a session is an older interface: the server uses one too."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


def _parts(nodes: list[Node], layers: Collection[str], depth: int) -> tuple[Part, ...]:
    counts: Counter[str] = Counter()
    times: defaultdict[str, float] = defaultdict(float)
    for name, _, milliseconds in nodes:
        part = part_of(name, layers, depth)
        counts[part] += 1
        times[part] += milliseconds
    longest = sorted(times, key=lambda name: -times[name])
    return tuple(Part(name, counts[name], times[name]) for name in longest)


def part_of(name: str, layers: Collection[str], depth: int) -> str:
    """Returns the layers in the name of a node.

    Keras adds `_1`, `_2` and so on to the scope of a layer that is called again.

    Example:

    >>> from tfmrc.serving.profiling import part_of
    >>> name = "StatefulPartitionedCall/while/body/_3/while/decoder_2/block_0_1/Reshape/shape"
    >>> part_of(name, {"decoder", "block_0"}, depth=2)
    'decoder/block_0'
    """
    found: list[str] = []
    for scope in name.split("/"):
        plain = re.sub(r"_\d+$", "", scope)
        layer = scope if scope in layers else plain if plain in layers else None
        if layer is not None:
            found.append(layer)
    return "/".join(found[:depth]) or NO_LAYER


def _loops(nodes: list[Node]) -> tuple[Loop, ...]:
    """Returns the outermost loops."""
    steps: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    times: defaultdict[str, float] = defaultdict(float)
    for name, label, milliseconds in nodes:
        scopes = [scope for scope in name.split("/") if not _CALL.fullmatch(scope)]
        whiles = [number for number, scope in enumerate(scopes) if _LOOP.fullmatch(scope)]
        if not whiles:
            continue
        loop = "/".join(scopes[: whiles[0] + 1])
        counts[loop] += 1
        times[loop] += milliseconds
        steps[loop] += len(whiles) == 1 and " = LoopCond(" in label
    # The condition is computed once more than the body.
    longest = sorted(times, key=lambda name: -times[name])
    return tuple(
        Loop(name, steps[name] - 1, counts[name], times[name]) for name in longest if steps[name]
    )

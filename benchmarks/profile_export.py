"""Where the time of an export goes: executed operations, time by part of the model, memory.

    python benchmarks/profile_export.py savedmodels/hills/1 --batch-size 8

Runs the first warm-up request of the export as TensorFlow Serving does. Prints the median time of
the request, the loops (of the search: one step for each word), and the parts of the model by the
time of their operations in one traced request. Operations that run at the same time add up to more
than the request.
"""

import argparse
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  # registers its operations

from tfmrc.predictors.exported.versions import newest_version
from tfmrc.storage.warmup import read_warmup_requests
from tfmrc.utils.memory import peak_memory

CALL = re.compile(r"(Stateful)?PartitionedCall(_\d+)?|ConstantFolding|Func")
LOOP = re.compile(r"while(_\d+)?")
NO_LAYER = "(strings, and what belongs to no layer)"

Node = tuple[str, str, float]  # name, label with the operation and its inputs, milliseconds


@dataclass
class Traced:
    """The nodes of a traced request, its layers, the times of requests in ms, memory in MiB."""

    nodes: list[Node]
    layers: set[str]
    times: list[float]
    memory: tuple[float, float]


def trace(folder: Path, signature: str, rows: int | None, repeats: int) -> Traced:
    """Runs a request of an export several times, and once more with a trace."""
    v1 = tf.compat.v1
    inputs = next(
        {name: tf.make_ndarray(value) for name, value in request.inputs.items()}
        for request in read_warmup_requests(folder)
        if (request.model_spec.signature_name or "serving_default") == signature
    )
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        definition = v1.saved_model.load(session, ["serve"], str(folder)).signature_def[signature]
        loaded = peak_memory()
        feeds: dict[Any, np.ndarray] = {
            definition.inputs[name].name: np.resize(value, (rows or len(value), *value.shape[1:]))
            for name, value in inputs.items()
        }
        fetches = {name: info.name for name, info in definition.outputs.items()}
        session.run(fetches, feeds)  # prepares the graph
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            session.run(fetches, feeds)
            times.append(1000 * (time.perf_counter() - start))
        memory = loaded, peak_memory()
        metadata = v1.RunMetadata()
        full = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(fetches, feeds, options=full, run_metadata=metadata)
        variables = [node.name for node in graph.get_operations() if node.type == "VarHandleOp"]
    nodes = [
        (node.node_name, node.timeline_label, node.all_end_rel_micros / 1000)
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    ]
    layers = {scope for name in variables for scope in name.split("/")[:-1]}
    return Traced(nodes, layers, times, memory)


def part_of(name: str, layers: Collection[str], depth: int) -> str:
    """Returns the layers in the name of a node.

    Keras adds `_1`, `_2` and so on to the scope of a layer that is called again.
    """
    found = []
    for scope in name.split("/"):
        plain = re.sub(r"_\d+$", "", scope)
        if scope in layers or plain in layers:
            found.append(scope if scope in layers else plain)
    return "/".join(found[:depth]) or NO_LAYER


def loops(nodes: list[Node]) -> dict[str, tuple[int, int, float]]:
    """Returns steps, operations and milliseconds of the outermost loops."""
    steps: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    times: defaultdict[str, float] = defaultdict(float)
    for name, label, milliseconds in nodes:
        scopes = [scope for scope in name.split("/") if not CALL.fullmatch(scope)]
        whiles = [number for number, scope in enumerate(scopes) if LOOP.fullmatch(scope)]
        if whiles:
            loop = "/".join(scopes[: whiles[0] + 1])
            counts[loop] += 1
            times[loop] += milliseconds
            steps[loop] += len(whiles) == 1 and " = LoopCond(" in label
    # The condition is computed once more than the body.
    return {name: (steps[name] - 1, counts[name], times[name]) for name in times if steps[name]}


def main() -> None:
    """Traces a request and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", help="folder of a model's versions, or of one version")
    parser.add_argument("--signature", default="serving_default")
    parser.add_argument("--batch-size", type=int, help="rows, those of the request repeated")
    parser.add_argument("--depth", type=int, default=2, help="layers in a part's name")
    parser.add_argument("--repeats", type=int, default=5, help="requests for the median time")
    options = parser.parse_args()
    found = trace(
        newest_version(options.export), options.signature, options.batch_size, options.repeats
    )
    print(
        f"{statistics.median(found.times):.1f} ms per request, {len(found.nodes):,} operations; "
        f"memory {found.memory[0]:,.0f} MiB after loading, {found.memory[1]:,.0f} MiB at most"
    )
    for name, (steps, operations, milliseconds) in loops(found.nodes).items():
        print(
            f"loop {name}: {steps} steps, {operations / max(1, steps):,.0f} operations and "
            f"{milliseconds / max(1, steps):.2f} ms per step"
        )
    counts: Counter[str] = Counter()
    times: defaultdict[str, float] = defaultdict(float)
    for name, _, milliseconds in found.nodes:
        part = part_of(name, found.layers, options.depth)
        counts[part] += 1
        times[part] += milliseconds
    print(f"\n{'ms':>10} {'share':>6} {'operations':>10}  part")
    for part in sorted(times, key=lambda part: -times[part]):
        share = times[part] / sum(times.values())
        print(f"{times[part]:10.2f} {share:6.1%} {counts[part]:10,}  {part}")


if __name__ == "__main__":
    main()

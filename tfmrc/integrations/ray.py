"""Ray Data: files of questions answered by actors on one machine or a cluster.

Needs `pip install tfmrc[ray]`.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import fsspec
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.json as pa_json
import ray
from fsspec.implementations.local import LocalFileSystem
from ray.data.block import BlockMetadata
from ray.data.checkpoint import CheckpointConfig
from ray.data.datasource import BlockBasedFileDatasink, Datasource, ReadTask

from tfmrc.data import Example, RecordError
from tfmrc.experiments.answering import WINDOW, Asked, digest_of
from tfmrc.experiments.loaded import open_model
from tfmrc.experiments.tables.reading import Reading, read_questions
from tfmrc.integrations.batch import Answerer, columns_of
from tfmrc.utils.batches import batches_of

SPARE_CPUS = 2  # for reading and writing, and for the rows that an earlier command has answered

_TEXT, _NUMBER = pa.string(), pa.int64()
_READ = pa.schema([(name, _TEXT) for name in ("digest", "id", "example", "error")])
_ANSWERED = pa.schema([
    ("id", _TEXT), ("answer", _TEXT), ("probability", pa.float64()), ("is_confident", pa.bool_()),
    ("answerable_probability", pa.float64()), ("passage", _NUMBER), ("start", _NUMBER),
    ("end", _NUMBER), ("truncated", pa.bool_()), ("error", _TEXT), ("digest", _TEXT),
])  # fmt: skip
_LINES = pa.schema([("line", _TEXT), ("digest", _TEXT)])


def predict(
    model: str,
    questions: str,
    output: str,
    *,
    options: Mapping[str, Any] | None = None,
    task: str | None = None,
    batch_size: int | None = None,
    lines: bool = False,
    rows_per_file: int = WINDOW,
    address: str | None = None,
    actors: int | None = None,
    cpus_per_actor: float = 1,
    gpus_per_actor: float = 0,
    **reading: Unpack[Reading],
) -> int:
    """Answers the questions of many files, and writes the answers to a folder in any order.

    Every row gives one answer, or its `error`. The same command continues what was interrupted: it
    computes no answer again that is in a finished file, by the digest of model, options and
    question in the column `digest`. Beside the output, `OUTPUT.done` holds these digests.

    Args:
        model: str. "ready", a run, a saved predictor or a folder of Hugging Face, at the same place
            on every machine.
        questions: str. A file, or many by a pattern such as `"questions/*.parquet"`, of any format
            of `tfmrc.predict`; local or of fsspec (`"s3://..."`).
        output: str. Folder of the answers, local (shared by all machines) or of pyarrow
            (`"s3://..."`).
        options, task, **reading: As of `tfmrc.experiments.predict`.
        batch_size: int or None. Rows that the model reads at once; None for that of the run's
            settings, or 32. Default: None.
        lines: bool. Whether to write JSON lines as `tfmrc predict` does, instead of Parquet.
            Default: False.
        rows_per_file: int. Fewest rows of a file of answers, but for the last ones.
            Default: 2,048.
        address: str or None. The cluster, such as `"auto"`; None to start one here, if the program
            has not done so. Default: None.
        actors: int or None. Processes that hold the model; None for as many as there is room for.
            Default: None.
        cpus_per_actor: float. CPUs of each. Default: 1.
        gpus_per_actor: float. GPUs of each. Default: 0.

    Returns:
        The number of rows with an `error` in the output.

    Raises:
        FileNotFoundError: If no file matches.
        ValueError: If the cluster has no room for so many actors, or the output has answers of
            another model, other options or another task.

    Example:

        from tfmrc.integrations.ray import predict

        predict("runs/my_reader", "questions/*.parquet", "answers", address="auto", actors=8,
                cpus_per_actor=4, gpus_per_actor=1)
    """
    files = Files.of(questions)
    model, output = (_absolute(model) if Path(model).exists() else model), _absolute(output)
    with suppress(RuntimeError):
        import tensorflow as tf

        tf.config.set_visible_devices([], "GPU")  # they are the actors'
    loaded = open_model(model, options)
    name = loaded.predictor.task(task).name
    batch_size = batch_size or loaded.batch_size
    reading["on_error"] = reading.get("on_error") or "skip"
    reader = Questions(
        files,
        partial(read_questions, labels="none", usual=loaded.table_options, **reading),
        Asked.of(loaded.predictor, name),
        partial(digest_of, task=name, model=loaded.digest, options=loaded.options),
    )
    done = _done(output, [loaded.digest, name, dict(sorted(loaded.options.items()))])
    answerer = Answerer(
        model, task=name, batch_size=batch_size, threads=max(1, int(cpus_per_actor)),
        **(options or {}),
    )  # fmt: skip
    with _cluster(address):
        count = _number_of_actors(actors, cpus_per_actor, gpus_per_actor)
        dataset = ray.data.read_datasource(reader, override_num_blocks=len(files.paths))
        dataset.context.checkpoint_config = CheckpointConfig(
            "digest", done, delete_checkpoint_on_success=False
        )
        # Ray would join small files to one block, which one actor gets.
        block = min(rows_per_file, 8 * batch_size)
        answers = dataset.repartition(target_num_rows_per_block=block).map_batches(
            _Actor,
            batch_size=None,
            batch_format="pyarrow",
            fn_constructor_args=(answerer, lines),
            compute=ray.data.ActorPoolStrategy(size=count),
            num_cpus=cpus_per_actor,
            num_gpus=gpus_per_actor or None,
        )
        if lines:
            answers.write_datasink(_Lines(output, rows_per_file))
        else:
            answers.write_parquet(output, min_rows_per_file=rows_per_file)
    return _errors(output, lines)


@dataclass(frozen=True)
class Files:
    """The files of a pattern."""

    system: Any
    paths: list[str]

    @classmethod
    def of(cls, pattern: str) -> "Files":
        system, path = fsspec.url_to_fs(os.path.expanduser(pattern))
        paths = sorted(system.glob(path))
        if not paths:
            raise FileNotFoundError(f"No file matches. Received: {pattern}")
        return cls(system, paths)

    @contextmanager
    def local(self, path: str) -> Iterator[str]:
        """Yields the path of a local copy, for readers of this file system."""
        if isinstance(self.system, LocalFileSystem):
            yield path
            return
        with TemporaryDirectory() as folder:
            copy = str(Path(folder, Path(path).name))
            self.system.get_file(path, copy)
            yield copy


class Questions(Datasource):
    """The records of files as `tfmrc predict` reads them, with their digests; a task per file."""

    def __init__(self, files: Files, rows: Any, asked: Asked, digest: Any):
        super().__init__()
        self._files, self._rows, self._asked, self._digest = files, rows, asked, digest

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(self, *_: Any, **__: Any) -> list[ReadTask]:
        return [
            ReadTask(partial(self._read, path), BlockMetadata(None, None, [path], None))
            for path in self._files.paths
        ]

    def _read(self, path: str) -> Iterator[pa.Table]:
        with self._files.local(path) as local:
            for records in batches_of(self._rows(local)[0], WINDOW):
                yield pa.Table.from_pylist(list(map(self._row, records)), _READ)

    def _row(self, record: Example | RecordError) -> dict[str, str]:
        record = self._asked(record)
        if isinstance(record, Example):
            digest, example = self._digest(record), record.to_json()
            return {"digest": digest, "id": record.id, "example": example}
        digest = hashlib.sha256(f"{self._digest(_NONE)} {record}".encode()).hexdigest()[:16]
        return {"digest": digest, "id": record.id, "error": str(record)}


_NONE = Example("", "", ())


class _Actor:
    """Answers the records of a block."""

    def __init__(self, answerer: Answerer, lines: bool):
        self._answerer, self._lines = answerer, lines

    def __call__(self, block: pa.Table) -> pa.Table:
        records = [
            RecordError(row["error"], path="", record="", id=row["id"])
            if row["example"] is None
            else Example.from_json(row["example"])
            for row in block.to_pylist()
        ]
        digests = block["digest"].to_pylist()
        found = [
            replace(one, digest=digest)
            for one, digest in zip(self._answerer.answers(records), digests, strict=True)
        ]
        if not self._lines:
            return pa.table({**columns_of(found), "digest": digests}, _ANSWERED)
        texts = [json.dumps(one.to_json(), ensure_ascii=False) for one in found]
        return pa.table({"line": texts, "digest": digests}, _LINES)


class _Lines(BlockBasedFileDatasink):
    """Files of the column `line`."""

    def __init__(self, folder: str, rows: int):
        super().__init__(folder, min_rows_per_file=rows, file_format="jsonl")

    def write_block_to_file(self, block: Any, file: Any) -> None:
        for line in block.to_arrow()["line"].to_pylist():
            file.write(f"{line}\n".encode())


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Connects to a cluster, or starts one that ends with the block, unless there is one."""
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS") or None  # of `ray job submit`
    ray.init(address=address, num_cpus=None if address else (os.cpu_count() or 1) + SPARE_CPUS)
    try:
        yield
    finally:
        ray.shutdown()


def _absolute(path: str) -> str:
    """Returns a path that means the same in every process."""
    return path if "://" in path else os.path.abspath(os.path.expanduser(path))


def _done(output: str, facts: Iterable[Any]) -> str:
    """Returns the folder of the digests that are done; raises if the output has other answers."""
    name = hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:16]
    system, path = fsspec.url_to_fs(output.rstrip("/"))
    if system.exists(path) and system.ls(path) and not system.exists(f"{path}.done/{name}"):
        raise ValueError(
            "The folder has other files than answers of this model with these options and task. "
            f"Name another one. Received: output={output}"
        )
    return f"{output.rstrip('/')}.done/{name}"


def _errors(output: str, lines: bool) -> int:
    system, path = fsspec.url_to_fs(output)
    if not system.exists(path):  # there was no question
        return 0
    schema = pa.schema([("error", _TEXT)])
    parse = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    read = pa_json.ReadOptions(block_size=2**24)  # more than any line
    form = pa_dataset.JsonFileFormat(parse_options=parse, read_options=read)
    found = pa_dataset.dataset(path, schema, form if lines else "parquet", system)
    return int(found.count_rows(filter=pa_dataset.field("error").is_valid()))


def _number_of_actors(actors: int | None, cpus: float, gpus: float) -> int:
    """Returns the number of actors; Ray would wait for ever if they left no CPU to the readers."""
    cluster = ray.cluster_resources()
    room = int((cluster.get("CPU", 0) - SPARE_CPUS) / cpus)
    if gpus:
        room = min(room, int(cluster.get("GPU", 0) / gpus))
    count = room if actors is None else actors
    if not 0 < count <= room:
        raise ValueError(
            f"The cluster has room for {max(room, 0)} actors of {cpus:g} CPUs and {gpus:g} GPUs: "
            f"{cluster.get('CPU', 0):g} CPUs, of which {SPARE_CPUS} are left for I/O, and "
            f"{cluster.get('GPU', 0):g} GPUs. Received: actors={count}"
        )
    return count

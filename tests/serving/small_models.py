"""Small SavedModels that are written and loaded in a moment, and servers of them."""

import json
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import tensorflow as tf

from tests import fresh_python
from tfmrc.storage.manifest import EXPORT_FORMAT, write_manifest
from tfmrc.storage.warmup import write_warmup_requests


def _write(module, path):
    """Writes an export with a manifest and nothing else beside the graph."""
    tf.saved_model.save(module, str(path), signatures=module.__call__)
    (path / "assets.extra").mkdir(exist_ok=True)
    write_manifest(path)
    return path


class Echo(tf.Module):
    """Returns its version with each text; refuses `bad`."""

    def __init__(self, version):
        super().__init__()
        self.version = tf.Variable(version, dtype=tf.int32)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")], autograph=False)
    def __call__(self, text):
        tf.debugging.assert_none_equal(text, "bad", message="The text is bad.")
        return {
            "text": tf.strings.join([text, "!"]),
            "version": tf.fill(tf.shape(text), self.version),
        }


def write_echo(folder, version, warm_up=("ready?",)):
    """Writes `<folder>/<version>` as tfmrc's exports appear: with a manifest, by a rename."""
    path = folder / str(version)
    part = folder / f".{version}.part"
    module = Echo(version)
    tf.saved_model.save(module, str(part), signatures=module.__call__)
    if warm_up:
        write_warmup_requests(part, folder.name, [{"text": list(warm_up)}])
    write_manifest(part)
    part.rename(path)
    return path


class Words(tf.Module):
    """Returns its version, and the line of each text in a vocabulary: -1 for an unknown one."""

    def __init__(self, version, file):
        super().__init__()
        self.version = tf.Variable(version, dtype=tf.int32)
        index = tf.lookup.TextFileIndex
        lines = tf.lookup.TextFileInitializer(
            str(file), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(lines, -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")], autograph=False)
    def __call__(self, text):
        return {"line": self.table.lookup(text), "version": tf.fill(tf.shape(text), self.version)}


def write_words(folder, version, words):
    """Writes `<folder>/<version>` with a vocabulary as its asset, and a manifest."""
    path = folder / str(version)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocabulary.txt"
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    return _write(Words(version, vocabulary), path)


class Joined(tf.Module):
    """Answers with question and passages: one output, which REST gives without its name."""

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="question"),
            tf.TensorSpec([None, None], tf.string, name="passages"),
        ],
        autograph=False,
    )
    def __call__(self, question, passages):
        return {"answer": tf.strings.reduce_join(tf.concat([question[:, None], passages], 1), 1)}


def write_joined(folder):
    """Writes `<folder>/1`."""
    _write(Joined(), folder / "1")


class Quoting(tf.Module):
    """Quotes the word `owl` from the first two passages that have it, as a reader does.

    It is not confident if the question has the word `perhaps`.
    """

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="question"),
            tf.TensorSpec([None, None], tf.string, name="passages"),
        ],
        autograph=False,
    )
    def __call__(self, question, passages):
        passages = tf.pad(passages, [[0, 0], [0, 2]])  # [B, N + 2]
        before = tf.strings.regex_replace(passages, "(?s)owl.*", "")
        found = tf.cast(before != passages, tf.float32)
        found, order = tf.math.top_k(found, 2)  # [B, 2]
        has = found > 0
        starts = tf.strings.length(tf.gather(before, order, batch_dims=1), "UTF8_CHAR")
        starts = tf.where(has, starts, -1)
        several = {
            "answers": tf.where(has, "owl", ""),
            "starts": starts,
            "ends": tf.where(has, starts + 3, -1),
            "answer_passages": tf.where(has, order, -1),
            "probabilities": found * [0.5, 0.25],
        }
        names = ("answer", "start", "end", "passage", "probability")
        one = dict(zip(names, (values[:, 0] for values in several.values()), strict=True))
        doubtful = tf.strings.regex_full_match(question, ".*perhaps.*")
        marks = {"is_confident": ~doubtful, "truncated": tf.zeros_like(doubtful)}
        return several | one | marks


def write_quoting(folder):
    """Writes `<folder>/1`."""
    _write(Quoting(), folder / "1")


class Lengths(tf.Module):
    """Returns the number of passages of each row."""

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.string, name="passages")], autograph=False
    )
    def __call__(self, passages):
        return {"length": tf.reduce_sum(tf.cast(passages != "", tf.int32), axis=1)}


def write_lengths(folder, max_passages):
    """Writes `<folder>/1`, whose card says how many passages it reads."""
    module = Lengths()
    tf.saved_model.save(module, str(folder / "1"), signatures=module.__call__)
    (folder / "1" / "assets.extra").mkdir()
    card = json.dumps({"format": EXPORT_FORMAT, "max_passages": max_passages})
    (folder / "1" / "assets.extra" / "model_card.json").write_text(card)
    write_manifest(folder / "1")


class Endless(tf.Module):
    """Multiplies a matrix as often as it is told."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="steps")], autograph=False)
    def __call__(self, steps):
        most = tf.reduce_max(steps)
        _, matrix = tf.while_loop(
            lambda step, matrix: step < most,
            lambda step, matrix: (step + 1, tf.tanh(tf.matmul(matrix, matrix))),
            (0, tf.eye(600)),
        )
        return {"total": tf.fill(tf.shape(steps), tf.reduce_sum(matrix))}


def write_endless(folder):
    """Writes `<folder>/1`, which computes for hours if it is told so."""
    _write(Endless(), folder / "1")


def write_broken(folder, version):
    """Writes a version that cannot be loaded."""
    path = folder / str(version)
    path.mkdir(parents=True)
    (path / "saved_model.pb").write_bytes(b"no graph")
    return path


class Gate:
    """Holds the computation of every signature of a server's model until it is opened."""

    def __init__(self, server, name, number=None):
        with server.manager.use(name, number) as version:
            signatures = version.loaded.batcher._signatures
        self.begun, self._go = threading.Event(), threading.Event()
        for signature in signatures.values():
            signature.run = self._held(signature.run)

    def _held(self, run):
        def held(arrays):
            self.begun.set()
            self._go.wait()
            return run(arrays)

        return held

    def open(self):
        self._go.set()


def wait_until(condition):
    """Waits until a function returns True; the test's own limit ends it."""
    while not condition():
        time.sleep(0.005)


@contextmanager
def served(models, *words):
    """Runs `tfmrc serve`; yields the process, and its addresses of REST and gRPC."""
    words = [sys.executable, "-m", "tfmrc", "serve", models, "--port=0", "--grpc-port=0", *words]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=fresh_python.ROOT,
        env=fresh_python.environment(),
    ) as process:
        try:
            lines = [process.stdout.readline().split() for _ in range(4)]
            yield process, lines[1][-1], lines[2][-1]
        finally:
            process.kill()

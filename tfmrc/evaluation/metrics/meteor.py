"""METEOR 1.5 through the jar that pycocoevalcap ships.

pycocoevalcap's own wrapper hangs on a line break inside an answer, starts the program again for
every call and depends on the locale. This module uses the same jar with the same options.
"""

import atexit
import shutil
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from tfmrc.evaluation.metrics.score import Score, Statistics, package_version

# Columns of the jar's counts that are used here (the others are matches by module).
_TEST_LENGTH, _REFERENCE_LENGTH, _CHUNKS, _TEST_MATCHES, _REFERENCE_MATCHES = 0, 1, -3, -2, -1


def meteor(
    predictions: Mapping[Any, str], references: Mapping[Any, Sequence[str]], tokenisation: str
) -> Score:
    """Computes METEOR 1.5 (English, `-norm`) over the corpus; needs Java.

    Without Java or pycocoevalcap the value of the score is None and its note says what is missing.
    The first call of a process loads the paraphrase table, which takes 10 to 20 seconds.

    Args:
        predictions: dict. Prediction by id.
        references: dict. References by id, the same ids.
        tokenisation: str. Description of the tokenization before METEOR's own normalizer.
    """
    ids = tuple(predictions)
    score = Score(
        name="meteor",
        label="METEOR",
        value=None,
        scorer="METEOR 1.5 jar of pycocoevalcap (-l en -norm)",
        version=package_version("pycocoevalcap"),
        tokenisation=f"{tokenisation}; then METEOR's normaliser",
        size=len(ids),
        note=unavailable() or ("" if ids else "no example to score"),
    )
    if score.note:
        return score
    lines = [_line(text, references[key]) for key, text in predictions.items()]
    counts = _engine().ask(lines)
    *single, corpus = _evaluate(counts)
    rows = np.array([[float(x) for x in line.split()] for line in counts])
    perfect = (
        (rows[:, _TEST_MATCHES] == rows[:, _TEST_LENGTH])
        & (rows[:, _REFERENCE_MATCHES] == rows[:, _REFERENCE_LENGTH])
        & (rows[:, _CHUNKS] == 1)
    )
    rows[perfect, _CHUNKS] = 0  # as the jar adds up chunks: an exact answer has no fragments
    return replace(
        score,
        value=corpus,
        per_example=dict(zip(ids, single, strict=True)),
        statistics=Statistics(ids, rows, _of_sums),
    )


def unavailable() -> str:
    """Returns the reason why METEOR cannot run here, or an empty string."""
    if shutil.which("java") is None:
        return "METEOR needs Java and no `java` is on the PATH (Debian: apt install default-jre)"
    if _jar() is None:
        return "METEOR's jar comes with pycocoevalcap (pip install pycocoevalcap)"
    return ""


def _line(prediction: str, references: Sequence[str]) -> str:
    texts = [" ".join(text.replace("|||", " ").split()) for text in (*references, prediction)]
    return " ||| ".join(["SCORE", *texts])


def _of_sums(sums: np.ndarray) -> np.ndarray:
    lines = [" ".join(repr(float(x)) for x in row) for row in sums]
    return np.array(_evaluate(lines)[:-1])


def _evaluate(counts: Sequence[str]) -> list[float]:
    """Returns the score of each line of counts, and last the score of all lines together."""
    request = "EVAL ||| " + " ||| ".join(counts)
    return [float(answer) for answer in _engine().ask([request], len(counts) + 1)]


def _jar() -> Path | None:
    try:
        import pycocoevalcap.meteor as package
    except ImportError:
        return None
    jars = [Path(folder) / "meteor-1.5.jar" for folder in package.__path__]
    return next((jar for jar in jars if jar.exists()), None)


class _Engine:
    """A running jar that answers lines with lines."""

    def __init__(self, jar: Path):
        options = ["-Xmx2G", "-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US"]
        self._process = subprocess.Popen(
            ["java", *options, "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"],
            cwd=jar.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lock = threading.Lock()
        atexit.register(self.close)

    def ask(self, lines: Sequence[str], answers: int | None = None) -> list[str]:
        """Sends lines while it reads the answers (one per line unless `answers` is given)."""
        source: Any = self._process.stdout
        sink: Any = self._process.stdin
        with self._lock:
            try:
                writer = threading.Thread(target=_write, args=(sink, lines), daemon=True)
                writer.start()
                numbers = range(answers or len(lines))
                received = [source.readline().decode().strip() for _ in numbers]
                writer.join()
                if "" in received:
                    raise RuntimeError(
                        "METEOR's jar stopped (is there 2 GB of memory for Java?). Received: exit "
                        f"code {self._process.poll()} after {received.index('')} answers"
                    )
            except BaseException:  # what is left unread would answer the next lines
                self.close()
                _engine.cache_clear()
                raise
        return received

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def _write(sink: IO[bytes], lines: Iterable[str]) -> None:
    try:
        for line in lines:
            sink.write(line.encode() + b"\n")
        sink.flush()
    except BrokenPipeError:
        return  # the reading side notices the end of the jar and raises


@lru_cache(maxsize=1)
def _engine() -> _Engine:
    jar = _jar()
    if jar is None:
        raise RuntimeError(unavailable())
    return _Engine(jar)

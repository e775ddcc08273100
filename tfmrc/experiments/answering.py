"""Writes predictions to a file, which an interrupted command continues."""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tfmrc.data import Example, RecordError, with_exact_spans
from tfmrc.evaluation import Prediction, PredictionWriter
from tfmrc.utils.batches import batches_of
from tfmrc.utils.files import replacing
from tfmrc.utils.progress import Progress

if TYPE_CHECKING:
    from tfmrc.predictors import Predictor
    from tfmrc.predictors.results.result import Result

WINDOW = 2048
"""Most examples that are held at once, batched by length and answered in their order."""
SECONDS = 15  # a window that takes longer does not grow

Records = Iterable[Example | RecordError]


class Predicts(Protocol):
    """A `tfmrc.Predictor`, or a `tfmrc.documents.DocumentCollection`."""

    def predict(
        self, examples: Iterable[Any], *, task: str, batch_size: int, **options: Any
    ) -> Iterable["Result"]:
        """Returns a result per example, in their order."""


def prediction_of(
    example_id: str, result: "Result", task: str, are_evidence: bool = False
) -> Prediction:
    """Converts a predictor's result to a line of a prediction file.

    Args:
        example_id: str. The example's id.
        result: `tfmrc.predictors.Result`.
        task: str. Name of the task.
        are_evidence: bool. Whether the result is the first of all spans of evidence, whose places
            are then `spans` of the scores. Default: False.
    """
    from tfmrc.predictors.spans.span_answer import SpanAnswer

    scores = dict(result.to_json())
    text = scores.pop("text")
    scores.pop("alternatives", None)
    words = tuple(scores.pop("words", ()))
    alternatives = tuple(other.text for other in result.alternatives)
    if are_evidence and isinstance(result, SpanAnswer):
        found = (result, *result.alternatives)
        scores["spans"] = [[one.passage, one.start, one.end] for one in found if one.start >= 0]
    return Prediction(example_id, text, task, scores, words, alternatives)


def digest_of(example: Example, task: str, model: str, options: Mapping[str, Any]) -> str:
    """Returns the digest of all that a prediction depends on: model, options, task and example.

    Args:
        example: `Example`. The example.
        task: str. Name of the task.
        model: str. Digest of the model.
        options: dict. Options of the predictor.
    """
    facts = [model, task, dict(sorted(options.items())), json.loads(example.to_json())]
    text = json.dumps(facts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_answers(
    predictor: Predicts,
    read: Callable[[], Records],
    path: Path,
    *,
    task: str,
    options: Mapping[str, Any],
    batch_size: int,
    model: str,
    window: int | None = WINDOW,
) -> None:
    """Predicts examples into a file, without those that the file already has from the same model.

    A file with other content is left unchanged. Predictions of another model, with other options
    or of a changed example are computed again; those of other examples stay. No more than a window
    of examples is held in memory, nor lost by an interruption. It begins with a batch and grows
    while it takes less than 15 seconds, so that an interruption costs little time.

    Args:
        predictor: A `tfmrc.Predictor`, or documents to answer from.
        read: callable. Returns the examples, whose ids differ; a broken record has its error in
            place of an answer. A file to resume is compared with the examples in a pass before.
        path: path. File of JSON lines.
        task: str. Name of a task of the predictor.
        options: dict. Options of the predictor.
        batch_size: int. Examples per batch.
        model: str. Digest of the model.
        window: int or None. Most examples among which batches are formed by length; None to
            batch them as they come. Default: 2,048.

    Raises:
        ValueError: If the file has other content, or an id twice.
        OSError: If another process writes to the file.
    """

    def digest(example: Example | RecordError) -> str:
        return digest_of(example, task, model, options) if isinstance(example, Example) else ""

    _drop_stale(path, task, read, digest)
    digests: dict[str, str] = {}

    def left() -> Iterator[Example | RecordError]:
        for example in read():
            if writer.digest_of(example.id, task) is None:
                digests[example.id] = digest(example)
                yield example

    with PredictionWriter(path, resume=True) as writer:
        examples = left() if window else list(left())  # whose number is known
        for prediction in predictions_of(predictor, examples, task, options, batch_size, window):
            writer.write(replace(prediction, digest=digests.pop(prediction.id)))


def predictions_of(
    predictor: Predicts,
    examples: Records,
    task: str,
    options: Mapping[str, Any],
    batch_size: int,
    window: int | None = WINDOW,
) -> Iterator[Prediction]:
    """Yields a prediction per example, and in the place of a broken record its error.

    Args:
        predictor: A `tfmrc.Predictor`, or documents to answer from.
        examples: iterable of `Example`, and of the errors of broken records. Read lazily.
        task: str. Name of a task of the predictor.
        options: dict. Options of the predictor.
        batch_size: int. Examples per batch.
        window: int or None. See `write_answers`. Default: 2,048.
    """
    total = len(examples) if isinstance(examples, Sized) else 0
    from tfmrc.predictors.options import EvidenceOptions

    progress, done = Progress(f"predicting ({task})", total, "examples"), 0
    are_evidence = getattr(predictor, "options_class", None) is EvidenceOptions
    size = batch_size
    windows = batches_of(examples, lambda: size)
    for records in windows:
        begin = time.monotonic()
        given = [record for record in records if isinstance(record, Example)]
        if window:
            given.sort(key=_length)
        results: dict[int, Any] = {}
        predicted = predictor.predict(given, task=task, batch_size=batch_size, **options)
        for example, result in zip(given, predicted, strict=True):
            results[id(example)] = result
            done += 1
            progress.update(done)
        for record in records:
            if isinstance(record, Example):
                yield prediction_of(record.id, results[id(record)], task, are_evidence)
            else:
                yield Prediction(record.id, "", task, error=str(record))
        if window and time.monotonic() - begin < SECONDS:
            size = min(2 * size, window)


def _length(example: Example) -> int:
    return len(example.question) + sum(map(len, example.passages))


@dataclass(frozen=True)
class Asked:
    """What a task needs of an example: of a model that asks the answer, maybe in the passage.

    Args:
        style: str or None. Style of the answer that is asked about.
        answered: bool. Whether an example needs an answer.
        located: bool. Whether a passage must contain it.
    """

    style: str | None
    answered: bool
    located: bool

    @classmethod
    def of(cls, predictor: "Predictor[Any]", task: str) -> "Asked":
        """Returns that of a predictor's task."""
        chosen = predictor.task(task)
        with_answers = getattr(predictor.preprocessor, "with_answers", None)
        asks = chosen.target == "question" and with_answers is not False
        return cls(chosen.style, asks, asks and bool(with_answers))

    @property
    def reason(self) -> str:
        """Why an example cannot be predicted."""
        where = " that a passage contains word by word" if self.located else ""
        return f"the model asks about an answer{where}"

    def __call__(self, example: Example | RecordError) -> Example | RecordError:
        """Returns the example as the model gets it, or an error; an error stays."""
        if isinstance(example, RecordError) or not self.answered:
            return example
        found: Example | None = example if example.answers else None
        if self.located:
            style = self.style or ""
            style = style if style in example.answers else next(iter(example.answers), "")
            found = next(iter(with_exact_spans([example], style)), None)
        return found or RecordError(self.reason, path="", record=example.id, id=example.id)


def _drop_stale(
    path: Path,
    task: str,
    read: Callable[[], Records],
    digest: Callable[[Example | RecordError], str],
) -> None:
    """Removes predictions of these ids that another model, other options or examples produced."""
    if not path.exists() or not path.stat().st_size:
        return
    # Raises unless all lines are predictions; nobody else writes to the file meanwhile.
    with PredictionWriter(path, resume=True) as writer:
        count = 0
        for example in read():
            if writer.digest_of(example.id, task) not in (None, digest(example)):
                writer.forget(example.id, task)
                count += 1
        if not count:
            return
        print(
            f"{path}: {count:,} predictions are of another model, other options or changed "
            "examples; they are computed again.",
            file=sys.stderr,
            flush=True,
        )
        # A link stays one.
        with replacing(path.resolve()) as part, path.open("rb") as lines, part.open("wb") as kept:
            for line in filter(bytes.strip, lines):
                record = json.loads(line)
                if writer.digest_of(str(record["id"]), record.get("style", "")) is not None:
                    kept.write(line)

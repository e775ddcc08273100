"""Writes predictions to a file, which an interrupted command continues."""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfmrc.data import Example, RecordError, with_exact_spans
from tfmrc.evaluation import Prediction, PredictionWriter, read_predictions
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.inputs import describe_inputs
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.sources import data_folder, input_files
from tfmrc.utils.files import replacing, sha256_of
from tfmrc.utils.progress import counted

__all__ = [
    "answer_all",
    "askable",
    "digest_of",
    "folder_digest",
    "model_digest",
    "prediction_of",
    "predictions_of",
    "run_digest",
]

TFIDF = "tfidf"  # the ranker that is no folder


def prediction_of(example_id: str, result: Any, task: str) -> Prediction:
    """Converts a predictor's result to a line of a prediction file.

    Args:
        example_id: str. The example's id.
        result: `tfmrc.predictors.Result`.
        task: str. Name of the task.
    """
    scores = dict(result.to_json())
    text = scores.pop("text")
    scores.pop("alternatives", None)
    words = tuple(scores.pop("words", ()))
    alternatives = tuple(other.text for other in result.alternatives)
    return Prediction(example_id, text, task, scores, words, alternatives)


def model_digest(folder: Path) -> str:
    """Returns the digest of a saved predictor, computed from the digests of its files."""
    from tfmrc.storage.manifest import manifest_of

    manifest: Any = manifest_of(folder)
    return hashlib.sha256(manifest.read_bytes()).hexdigest()


def run_digest(experiment: Experiment, folder: Path) -> str:
    """Returns the digest of a run's predictor and of the ranker that orders its answers.

    Args:
        experiment: `Experiment`. The run's settings.
        folder: Path. The run's folder.
    """
    digest, ranker = model_digest(folder / folders.PREDICTOR), experiment.evaluation.ranker
    if ranker is None:
        return digest
    if ranker != TFIDF:
        return f"{digest} {folder_digest(ranker)}"
    data = data_folder(folders.remembered_data(folder), experiment)  # whose words it counts
    counted = describe_inputs(input_files(experiment, data))
    words = hashlib.sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()
    return f"{digest} {ranker} {words}"


def folder_digest(folder: str | Path, dtype: str | None = None) -> str:
    """Returns a digest of a model's folder, whatever else a report beside it adds.

    That of a run covers its predictor and its settings, which name tagger and ranker; that of a
    folder with a predictor in it, as `tfmrc.load` reads it, the predictor. Without digests of
    tfmrc's own, as in a reader of Hugging Face, it covers the files that a reader consists of.

    Args:
        folder: str or path. A run, a saved predictor, a reader, or a name of the hub (`hf://`).
        dtype: str or None. The precision in which a reader is loaded, if not its own.
            Default: None.
    """
    from tfmrc.predictors.hugging_face import is_hugging_face, local_folder, reader_files
    from tfmrc.storage.manifest import manifest_of

    folder = local_folder(folder)
    if folders.is_run(folder):
        paths = [folder / folders.CONFIG, manifest_of(folder / folders.PREDICTOR)]
    elif is_hugging_face(folder):
        paths = [manifest_of(folder)]
    else:
        paths = [manifest_of(folder) or manifest_of(folder / folders.PREDICTOR)]
    known = [path for path in paths if path is not None]
    digest = hashlib.sha256(b"" if dtype is None else f"{dtype}\n".encode())
    for path in known or reader_files(folder):
        digest.update(f"{path.name} {sha256_of(path)}\n".encode())
    return digest.hexdigest()


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


def answer_all(
    predictor: Any,
    examples: Sequence[Example | RecordError],
    path: Path,
    *,
    task: str,
    options: Mapping[str, Any],
    batch_size: int,
    model: str,
) -> dict[str, Prediction]:
    """Predicts examples into a file, without those that the file already has from the same model.

    A file with other content is left unchanged. Predictions of another model, with other options
    or of a changed example are computed again; those of other examples stay.

    Args:
        predictor: A `tfmrc.Predictor`.
        examples: list of `Example`. The examples, whose ids differ; a broken record has its error
            in place of an answer.
        path: path. File of JSON lines. Each prediction is written as soon as it is computed.
        task: str. Name of a task of the predictor.
        options: dict. Options of the predictor.
        batch_size: int. Examples per batch.
        model: str. Digest of the model.

    Returns:
        The predictions by id, in the order of the examples.

    Raises:
        ValueError: If the file has other content, or an id twice.
        OSError: If another process writes to the file.
    """
    digests = {
        e.id: digest_of(e, task, model, options) if isinstance(e, Example) else "" for e in examples
    }
    _drop_stale(path, task, digests)
    with PredictionWriter(path, resume=True) as writer:
        left = [example for example in examples if (example.id, task) not in writer.done]
        for prediction in predictions_of(predictor, left, task, options, batch_size):
            writer.write(replace(prediction, digest=digests[prediction.id]))
    known = read_predictions(path, style=task)
    return {example.id: known[example.id] for example in examples}


def predictions_of(
    predictor: Any,
    examples: Sequence[Example | RecordError],
    task: str,
    options: Mapping[str, Any],
    batch_size: int,
) -> Iterator[Prediction]:
    """Yields a prediction per example, and in the place of a broken record its error."""
    given = [example for example in examples if isinstance(example, Example)]
    shown = counted(given, f"predicting ({task})", "examples")
    results = iter(predictor.predict(shown, task=task, batch_size=batch_size, **options))
    for example in examples:
        if isinstance(example, RecordError):
            yield Prediction(example.id, "", task, error=str(example))
        else:
            yield prediction_of(example.id, next(results), task)


def askable(predictor: Any, task: str, examples: Sequence[Any]) -> list[Any]:
    """Returns the examples that a task can predict; says how many are left out.

    A model that asks about an answer which its passage contains gets the passage with the answer.
    Examples without such an answer are left out, and so are those without any answer for other
    models that ask about one. For other tasks all examples are returned.

    Args:
        predictor: A `tfmrc.Predictor`.
        task: str. Name of a task of the predictor.
        examples: list of `Example`, and of the errors of broken records, which stay.

    Raises:
        ValueError: If all are left out.
    """
    target = predictor.task(task).target
    with_answers = getattr(predictor.preprocessor, "with_answers", None)
    if target != "question" or with_answers is False:
        return list(examples)
    if with_answers:
        style = predictor.task(task).style
        result: list[Any] = []
        for example in examples:
            if isinstance(example, RecordError):
                result.append(example)
                continue
            named = style if style in example.answers else next(iter(example.answers), "")
            result += with_exact_spans([example], named)
        reason = "the model asks about an answer that a passage contains word by word"
    else:
        result = [e for e in examples if isinstance(e, RecordError) or e.answers]
        reason = "the model asks about an answer"
    if len(result) < len(examples):
        if not result:
            raise ValueError(f"No example has one: {reason}. Received: {len(examples):,} examples")
        left_out = len(examples) - len(result)
        print(
            f"{left_out:,} of {len(examples):,} examples are left out: {reason}.",
            file=sys.stderr,
            flush=True,
        )
    return result


def _drop_stale(path: Path, task: str, digests: Mapping[str, str]) -> None:
    """Removes predictions of these ids that another model, other options or examples produced."""
    if not path.exists():
        return
    # Raises unless all lines are predictions; nobody else writes to the file meanwhile.
    with PredictionWriter(path, resume=True):
        lines = path.read_text(encoding="utf-8").split("\n")
        records = [json.loads(line) for line in lines if line.strip()]
        current = [
            record
            for record in records
            if record.get("style", "") != task
            or str(record["id"]) not in digests
            or record.get("digest", "") == digests[str(record["id"])]
        ]
        if len(current) < len(records):
            print(
                f"{path}: {len(records) - len(current):,} predictions are of another model, other "
                "options or changed examples; they are computed again.",
                file=sys.stderr,
                flush=True,
            )
            with replacing(path.resolve()) as part:  # a link stays one
                text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in current)
                part.write_text(text, encoding="utf-8")
    read_predictions(path, style=task)  # an id that occurs twice is an error before the prediction

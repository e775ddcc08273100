"""Prediction files in the official formats, read and written."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from tfmrc.evaluation.files.json_lines import open_text, read_json_lines, short
from tfmrc.evaluation.files.predictions import Prediction, read_predictions
from tfmrc.evaluation.metrics.rules import NO_ANSWER

Form = Literal["msmarco", "squad", "squad-no-answer", "lines"]


def read_answers(path: str | Path, style: str | None = None) -> dict[str, str]:
    """Reads answers by id from a prediction file of any known form.

    Known forms: tfmrc's JSON lines (`id`, `answer`, ...), MS MARCO's candidates (`query_id` and
    `answers` with at most one text; none is an empty answer), SQuAD's object from id to text.

    Args:
        path: str or path. The file, also `.gz`.
        style: str or None. The style to read from tfmrc's JSON lines. Default: None.

    Raises:
        ValueError: If a line is broken (the message names file and line), an id is repeated, or
            the form is unknown.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "candidates.json"
    >>> _ = path.write_text('{"query_id": 7, "answers": ["the mill"]}')
    >>> read_answers(path)
    {'7': 'the mill'}
    """
    first, rest = _first(path)
    if isinstance(first, dict) and "query_id" in first:
        return _msmarco(Path(path))
    if isinstance(first, dict) and "id" not in first:
        wrong = next((key for key, text in first.items() if not isinstance(text, str)), None)
        if wrong is not None:
            raise ValueError(
                f"{path}: expected JSON lines with 'id' and 'answer', MS MARCO's candidates, "
                f"or an object from id to text. Received: {wrong!r}: {first[wrong]!r}"
            )
        if rest.strip():
            raise ValueError(
                f"{path}: an object from id to text is the whole file; a line of a file of lines "
                f"has 'id' and 'answer'. Received: after the object {short(rest)!r}"
            )
        return first
    return {key: p.answer for key, p in read_predictions(path, style).items()}


def read_no_answer(path: str | Path, style: str | None = None) -> dict[str, float] | None:
    """Reads the probability of no answer by id: one minus the score `answerable_probability`.

    Args:
        path: str or path. The file, in any form of `read_answers`.
        style: str or None. The style to read from tfmrc's JSON lines. Default: None.

    Returns:
        A dict, or None if the file has another form or a prediction lacks the score.

    Raises:
        ValueError: If a line is broken, an id is repeated, or a score is not a number.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> _ = path.write_text('{"id": "q", "answer": "", "scores": {"answerable_probability": 0.25}}')
    >>> read_no_answer(path)
    {'q': 0.75}
    """
    first, _ = _first(path)
    if not isinstance(first, dict) or "query_id" in first or "id" not in first:
        return None
    predictions = read_predictions(path, style)
    if any(p.scores.get("answerable_probability") is None for p in predictions.values()):
        return None
    return {key: 1.0 - _answerable_probability(p) for key, p in predictions.items()}


def write_official(
    predictions: Mapping[str, Prediction],
    path: str | Path,
    form: Form,
    *,
    order: Iterable[str] | None = None,
    threshold: float | None = None,
) -> Path:
    """Writes predictions in a form that an official script reads.

    Forms: `"msmarco"` (JSON lines with `query_id` and `answers`), `"squad"` (an object from id to
    text, where "No Answer Present." is empty), `"squad-no-answer"` (an object from id to the
    probability of no answer, one minus the score `answerable_probability`), `"lines"` (one text per
    line, for the coco scripts).

    Args:
        predictions: dict. Predictions by id.
        path: str or path. The file to write.
        form: str. The form, see above.
        order: iterable of str or None. Ids in the order to write (`"lines"` has no ids). By default
            the order of `predictions`.
        threshold: float or None. A prediction with a lower `answerable_probability` is written as
            no answer. None writes all answers. Default: None.

    Raises:
        ValueError: If the form is unknown, an id of `order` has no prediction, or a prediction
            has no `answerable_probability`.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "squad.json"
    >>> write_official({"q": Prediction("q", "York")}, path, "squad").read_text()
    '{"q": "York"}'
    """
    if form not in get_args(Form):
        raise ValueError(f"`form` must be one of {get_args(Form)}. Received: form={form!r}")
    ids = list(predictions if order is None else order)
    absent = [key for key in ids if key not in predictions]
    if absent:
        raise ValueError(f"No prediction for {len(absent)} ids. Received: {absent[0]!r} first")
    rows = [predictions[key] for key in ids]
    if threshold is not None:
        rows = [
            replace(p, answer=NO_ANSWER) if _answerable_probability(p) < threshold else p
            for p in rows
        ]
    if form == "msmarco":
        text = "".join(json.dumps(_candidate(p), ensure_ascii=False) + "\n" for p in rows)
    elif form == "squad":
        answers = {p.id: "" if p.answer.strip() == NO_ANSWER else p.answer for p in rows}
        text = json.dumps(answers, ensure_ascii=False)
    elif form == "squad-no-answer":
        text = json.dumps({p.id: 1.0 - _answerable_probability(p) for p in rows})
    else:
        text = "".join(" ".join(p.answer.split()) + "\n" for p in rows)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def _msmarco(path: Path) -> dict[str, str]:
    candidates: dict[str, str] = {}
    for number, record in read_json_lines(path):
        where = f"{path}, line {number}"
        if not isinstance(record, dict) or not {"query_id", "answers"} <= record.keys():
            raise ValueError(f"{where}: expected 'query_id' and 'answers'. Received: {record!r}")
        key, answers = str(record["query_id"]), record["answers"]
        if not isinstance(answers, list) or len(answers) > 1:
            raise ValueError(
                f"{where}: a candidate has at most one answer. Received: answers={answers!r}"
            )
        if key in candidates:
            raise ValueError(f"{where}: the id occurs twice. Received: query_id={key!r}")
        candidates[key] = answers[0] if answers else ""
    return candidates


def _candidate(prediction: Prediction) -> dict[str, Any]:
    key = prediction.id
    return {
        "query_id": int(key) if re.fullmatch("0|[1-9][0-9]{0,17}", key) else key,
        "answers": [prediction.answer] if prediction.answer else [],
    }


def _answerable_probability(prediction: Prediction) -> float:
    value = prediction.scores.get("answerable_probability")
    if not isinstance(value, int | float):
        raise ValueError(
            "This form needs the score 'answerable_probability' of every prediction. "
            f"Received: id={prediction.id!r}, answerable_probability={value!r}"
        )
    return float(value)


def _first(path: str | Path) -> tuple[Any, str]:
    """Returns the value of a file's first line, or of the whole file; None if neither is JSON.

    The second value is the beginning of what follows the first line, or "".
    """
    with open_text(path) as file:
        line = file.readline()
        first, rest = _parsed(line, path), file.read(1 << 10)
        if first is None:
            return _parsed(line + rest + file.read(), path), ""
    return first, rest


def _parsed(text: str, path: str | Path) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs) and all(isinstance(text, str) for _, text in pairs):
            [(key, _), *_] = Counter(key for key, _ in pairs).most_common(1)
            raise ValueError(f"{path}: an id occurs twice. Received: id={key!r}")
        return result

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError:
        return None

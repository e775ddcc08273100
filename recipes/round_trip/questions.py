"""Questions about passages, a predictor's answers to them, and the questions where both agree."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from recipes.round_trip.settings import Settings
from tfmrc import Predictor, data, evaluation
from tfmrc.data.formats.detect import file_format, read_file
from tfmrc.data.transforms.splits import group_number
from tfmrc.experiments.run_folder import write_json
from tfmrc.predictors import MaxoutPointerQGPredictor

ASKED, ANSWERED, KEPT, COUNTS = "asked.jsonl", "answered.jsonl", "kept.json", "counts.json"


class Passage(NamedTuple):
    """A passage and its article or document."""

    group: str
    text: str


def passages(settings: Settings, folder: Path) -> list[Passage]:
    """Returns the passages of the files, each once, in an order that depends only on their text.

    A larger limit therefore extends the passages of a smaller one.
    """
    by_text: dict[str, Passage] = {}
    for name in settings.passages:
        path = folder / name
        # For NarrativeQA, the official training set.
        split = "train" if file_format(path) == "narrativeqa" else None
        for example in read_file(path, split=split):
            for text in example.passages:
                if text.strip():
                    by_text.setdefault(text, Passage(example.group or example.id, text))
    return sorted(by_text.values(), key=lambda p: group_number(p.text))[: settings.limit]


def ask(settings: Settings, folder: Path, run: Path) -> Path:
    """Writes `asked.jsonl`: one passage per line, with its answers and their best questions."""

    def asked(left: Sequence[Passage]) -> Iterator[list[dict[str, Any]]]:
        predictor = MaxoutPointerQGPredictor.load(settings.question_predictor)
        proposed = predictor.generate_from_passage(
            (passage.text for passage in left),
            batch_size=settings.batch_size,
            max_answers=settings.max_answers,
            num_beams=settings.num_beams,
            min_length=settings.min_length,
        )
        for generated in proposed:
            yield [
                {
                    "question": one.text,
                    "answer": one.answer,
                    "answer_start": one.answer_start,
                    "probability": one.probability,
                    "log_probability": one.log_probability,
                }
                for one in generated
                if one.finished and one.text.strip()
            ]

    return continued(run / ASKED, passages(settings, folder), asked)


def answer(settings: Settings, run: Path) -> Path:
    """Writes `answered.jsonl`: the predicted answer of each question, and its agreement."""

    def answered(left: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
        predictor = Predictor.load(settings.answer_predictor)
        questions = (
            data.Example("asked", one["question"], (line["text"],))
            for line in left
            for one in line["questions"]
        )
        answers = predictor.predict(questions)
        for line in left:
            answered_questions = [{**one, "found": next(answers).text} for one in line["questions"]]
            yield [{**one, **agreement(one["found"], one["answer"])} for one in answered_questions]

    lines = _lines(run / ASKED)
    return continued(run / ANSWERED, lines, answered)


def agreement(text: str, reference: str) -> dict[str, float]:
    """Returns exact match and F1 of two answers by SQuAD's rules.

    Example:

    >>> agreement("the old mill", "Mill")["exact_match"]
    0.0
    """
    scores = evaluation.score_squad({"": text}, {"": [reference]})
    return {name: float(scores[name]) for name in ("exact_match", "f1")}


def keep(settings: Settings, run: Path) -> Path:
    """Writes the questions that agree to `kept.json`, in SQuAD's format, and `counts.json`.

    A question is kept once per passage, with its most probable answer. Besides `answers` each
    question has `agreement` and `probability`, which readers of SQuAD's format ignore.
    """
    articles: dict[str, list[dict[str, Any]]] = {}
    counts: dict[str, Any] = {
        "passages": 0,
        "questions": 0,
        "exact_match": 0.0,
        "f1": 0.0,
        "kept": 0,
    }
    for number, line in enumerate(_lines(run / ANSWERED)):
        counts["passages"] += 1
        counts["questions"] += len(line["questions"])
        for name in ("exact_match", "f1"):
            counts[name] += sum(one[name] for one in line["questions"])
        best: dict[str, dict[str, Any]] = {}
        for one in sorted(line["questions"], key=lambda one: -one["probability"]):
            enough = one["probability"] >= settings.least_probability
            if enough and one[settings.agreement] >= settings.threshold:
                best.setdefault(one["question"].lower(), one)
        qas = [
            {
                "id": f"{settings.name}-{number}-{index}",
                "question": one["question"],
                "answers": [{"text": one["answer"], "answer_start": one["answer_start"]}],
                "agreement": one[settings.agreement],
                "probability": one["probability"],
            }
            for index, one in enumerate(best.values())
        ]
        counts["kept"] += len(qas)
        if qas:
            paragraph = {"context": line["text"], "qas": qas}
            articles.setdefault(line["group"], []).append(paragraph)
    for name in ("exact_match", "f1"):
        counts[name] /= max(1, counts["questions"])
    content = [{"title": title, "paragraphs": paragraphs} for title, paragraphs in articles.items()]
    write_json(run / KEPT, {"version": "1.1", "data": content})
    counts |= {"agreement": settings.agreement, "threshold": settings.threshold}
    write_json(run / COUNTS, counts)
    return run / KEPT


def continued(
    path: Path, items: Sequence[Any], make: Callable[[Sequence[Any]], Iterable[list[Any]]]
) -> Path:
    """Adds a line to a JSON lines file for each item without one; replaces an incomplete line.

    Args:
        path: Path. The file.
        items: list. The items of the lines, in their order.
        make: callable. Function of items that yields the questions of each.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    done = path.read_bytes() if path.is_file() else b""
    whole = done[: done.rfind(b"\n") + 1]
    count = whole.count(b"\n")
    left = list(islice(items, count, None))
    if whole != done:
        path.write_bytes(whole)
    if left:
        with path.open("a", encoding="utf-8") as file:
            for item, questions in zip(left, make(left), strict=True):
                known = item._asdict() if isinstance(item, Passage) else item
                line = {**known, "questions": questions}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
    return path


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise ValueError(f"{path} does not exist: an earlier command writes it.")
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]

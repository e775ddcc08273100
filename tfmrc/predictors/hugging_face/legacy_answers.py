"""Answers with the numbers of the question-answering pipeline that transformers 5.3 removed.

Each window has a softmax of its own, and the scores of answers with the same text are added, over
windows and places, so that they can exceed 1 and depend on `top_k`. This file exists to compare
with old results; `tfmrc.predictors.spans.reader_windows` computes the default.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

OUTSIDE = -10000.0  # score of a subword that cannot be part of an answer
MOST = 1_000_000.0  # probability of "no answer" before the first window


class Window(NamedTuple):
    """One window of n subwords.

    Attributes:
        begin, end: float32 `[n]`, the scores.
        starts, ends, words: int32 `[n]`, characters and number of the word; -1 outside the passage.
        is_cls: bool `[n]`, True where the id is that of `[CLS]`, in a text too.
    """

    begin: np.ndarray
    end: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    words: np.ndarray
    is_cls: np.ndarray


def legacy_answers(
    windows: Iterable[Window],
    context: str,
    *,
    top_k: int,
    max_answer_len: int,
    handle_impossible_answer: bool,
    align_to_words: bool,
) -> list[dict[str, Any]]:
    """Returns the answers of one question, best first.

    Args:
        windows: iterable of `Window`. The windows of the context.
        context: str. The context.
        top_k: int. Number of answers.
        max_answer_len: int. Greatest number of subwords.
        handle_impossible_answer: bool. Whether "no answer" is an answer.
        align_to_words: bool. Whether answers are whole words, as far as the window has them.
    """
    answers: dict[str, dict[str, Any]] = {}
    none = MOST
    count = top_k * 2 + 10 if align_to_words else top_k
    for window in windows:
        allowed = (window.starts >= 0) | window.is_cls
        begin, end = (_softmax(x, allowed) for x in (window.begin, window.end))
        if handle_impossible_answer:
            none = min(none, float(begin[0] * end[0]))
        begin[0] = end[0] = 0.0
        for first, last, score in _best(begin, end, max_answer_len, count):
            if not (allowed[first] and allowed[last]):
                continue
            start, stop = _characters(window, first, last, align_to_words)
            text = context[start:stop]
            known = answers.get(text.lower())
            if known is None:
                answers[text.lower()] = answer_of(score, start, stop, text)
            else:
                known["score"] += score
    result = list(answers.values())
    if handle_impossible_answer:
        result.append(answer_of(none, 0, 0, ""))
    return sorted(result, key=lambda answer: answer["score"], reverse=True)[:top_k]


def answer_of(score: float, start: int, end: int, text: str) -> dict[str, Any]:
    """Returns an answer as the pipeline writes it."""
    return {"score": score, "start": start, "end": end, "answer": text}


def _softmax(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    scores = np.where(allowed, scores, np.float32(OUTSIDE))
    exponentials = np.exp(scores - scores.max())
    normed: np.ndarray = exponentials / exponentials.sum()
    return normed


def _best(
    begin: np.ndarray, end: np.ndarray, max_length: int, count: int
) -> Iterable[tuple[int, int, float]]:
    """Yields the most probable pairs `i <= j < i + max_length`, best first."""
    size = len(begin)
    last = np.arange(size)[:, None] + np.arange(min(max_length, size))
    products = begin[:, None] * np.where(last < size, end[np.minimum(last, size - 1)], 0.0)
    flat = products.reshape(-1)
    most = min(count, flat.size)
    selected = np.argpartition(-flat, most - 1)[:most]
    for index in selected[np.argsort(-flat[selected], kind="stable")]:
        first, offset = divmod(int(index), products.shape[1])
        if first + offset < size:
            yield first, first + offset, float(flat[index])


def _characters(window: Window, first: int, last: int, align: bool) -> tuple[int, int]:
    if not align or min(window.words[first], window.words[last]) < 0:
        return max(int(window.starts[first]), 0), max(int(window.ends[last]), 0)
    of_first = np.flatnonzero(window.words == window.words[first])[0]
    of_last = np.flatnonzero(window.words == window.words[last])[-1]
    return int(window.starts[of_first]), int(window.ends[of_last])


def windows_of(outputs: Mapping[str, np.ndarray], row: int, cls_id: int) -> list[Window]:
    """Returns the windows of one example from arrays `[W, P]`.

    Args:
        outputs: dict. `begin`, `end`, and the output of `ExtractiveReaderPreprocessor.source`.
        row: int. The example.
        cls_id: int. Id of `[CLS]`.
    """
    result = []
    for number in np.flatnonzero(outputs["row"] == row):
        size = outputs["lengths"][number]
        fields = {name: outputs[name][number, :size] for name in Window._fields[:5]}
        is_cls = outputs["encoder_ids"][number, :size] == cls_id
        result.append(Window(**fields, is_cls=is_cls))
    return result

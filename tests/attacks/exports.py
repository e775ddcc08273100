"""Odd texts into the exports of all four models: a right answer or a clear error."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.attacks import models
from tests.fuzz.texts import odd_text

BATCH = 25
NUMBERS_OF_PASSAGES = (0, 1, 2, 3, 5, 20, 1000)
Inputs = dict[str, list[Any]]
Outputs = Mapping[str, Any]
Run = Callable[[Inputs], Outputs]


def attack(count: int, seed: int, folder: Path) -> list[str]:
    """Gives `count` requests of odd texts to the export of each model.

    Returns:
        A description of each wrong outcome.
    """
    wrong: list[str] = []
    for name, make in models.PREDICTORS.items():
        path = make().export(folder / name / "1")
        loaded = tf.saved_model.load(str(path))
        for signature in SIGNATURES[name]:
            run = runner(loaded.signatures[signature])
            counts, found = attack_signature(run, f"{name} {signature}", count, seed)
            wrong += found
            print(f"{name}, {signature}: {dict(counts)}, {len(found)} wrong", flush=True)
    return wrong


def runner(function: Any) -> Run:
    """Returns a signature on lists of bytes; short rows are filled with empty texts, as served."""

    def run(inputs: Inputs) -> Outputs:
        tensors = {
            name: tf.ragged.constant(values, ragged_rank=1, dtype=tf.string).to_tensor("")
            if name == "passages"
            else tf.constant(values, tf.string)
            for name, values in inputs.items()
        }
        return {name: value.numpy() for name, value in function(**tensors).items()}

    return run


def attack_signature(run: Run, name: str, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Gives `count` requests to one signature.

    Returns:
        Numbers of answers, refused requests, checked offsets and ties; a description of each wrong
        outcome.
    """
    counts: Counter[str] = Counter(answers=0, refused=0, offsets=0, ties=0)
    wrong: list[str] = []
    size = 1 if name == "MaxoutPointerQG serving_default" else BATCH  # it refuses whole batches
    for begin in range(0, count, size):
        rng = random.Random(f"{seed}-{name}-{begin}")
        inputs = _inputs(name, rng, min(size, count - begin))
        rows = len(next(iter(inputs.values())))
        try:
            outputs = run(inputs)
        except tf.errors.InvalidArgumentError as error:
            counts["refused"] += rows
            if size > 1 or "must have words and occur in its passage" not in str(error):
                wrong.append(f"{name}, texts from {begin}: {error!s:.300}")
            continue
        counts["answers"] += rows
        row = rng.randrange(rows)
        problems = [*_numbers(outputs), *_offsets(inputs, outputs, counts)]
        if not name.startswith("DAANet"):  # in a greedy search rounding decides between words
            alone = run({key: values[row : row + 1] for key, values in inputs.items()})
            problems += _alone(outputs, alone, row, counts)
        wrong += [f"{name}, texts from {begin}: {problem}" for problem in problems]
    return counts, wrong


def _text(rng: random.Random) -> bytes:
    """One in a hundred is very long."""
    return odd_text(rng) * rng.choice((1,) * 99 + (1000,))


def _masque(rng: random.Random, rows: int) -> Inputs:
    passages = [
        [odd_text(rng)[:400] for _ in range(rng.choice(NUMBERS_OF_PASSAGES))] for _ in range(rows)
    ]
    passages[0] = [_text(rng)]
    styles = [rng.choice((b"qa", b"nlg")) for _ in range(rows)]
    return {"question": [_text(rng) for _ in range(rows)], "passages": passages, "style": styles}


def _inputs(name: str, rng: random.Random, rows: int) -> Inputs:
    if name.startswith("Masque"):
        return _masque(rng, rows)
    texts = [_text(rng) for _ in range(rows)]
    if "generate" in name:
        return {"passage": texts}
    if name.startswith("MaxoutPointerQG"):
        words = texts[0].split() or [b""]
        return {"passage": texts, "answer": [rng.choice([*words, _text(rng)])]}
    given = [_text(rng) for _ in range(rows)]
    if "ask" in name:
        return {"passage": texts, "answer": given}
    return {"passages": [[text] for text in texts], "question": given}


def _numbers(outputs: Outputs) -> Iterator[str]:
    for name, values in outputs.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            yield f"{name} is not finite"
        if (
            "probabilit" in name
            and not name.startswith("log")
            and not np.all((values >= 0) & (values <= 1 + 1e-5))
        ):
            yield f"{name} is no probability"


def _offsets(inputs: Inputs, outputs: Outputs, counts: Counter[str]) -> Iterator[str]:
    """What is said to stand in the caller's text is there."""
    for source, start, end, shown in _spans(inputs, outputs):
        counts["offsets"] += 1
        text = source.decode("utf-8", "replace")
        if not 0 <= start < end <= len(text) or text[start:end] != shown.decode("utf-8", "replace"):
            yield f"{shown!r:.200} is not at {start}:{end} in {source!r:.200}"


def _spans(inputs: Inputs, outputs: Outputs) -> Iterator[tuple[bytes, int, int, bytes]]:
    """Yields a text of the request, two offsets, and what is to be between them."""
    if "source_texts" in outputs:
        for row, column in np.argwhere(outputs["word_ends"] > outputs["word_starts"]):
            number = outputs["word_passages"][row, column]
            source = inputs["passages"][row][number] if number >= 0 else inputs["question"][row]
            names = ("word_starts", "word_ends", "source_texts")
            span = (outputs[name][row, column] for name in names)
            yield source, *span  # type: ignore[misc]
    elif "starts" in outputs:
        for row, column in np.argwhere(outputs["ends"] > outputs["starts"]):
            span = (outputs[name][row, column] for name in ("starts", "ends", "answers"))
            number = outputs["answer_passages"][row, column]
            yield inputs["passages"][row][number], *span  # type: ignore[misc]
    elif "answer_starts" in outputs:
        for row, column in np.argwhere(outputs["answer_starts"] >= 0):
            answer, start = (outputs[name][row, column] for name in ("answers", "answer_starts"))
            yield inputs["passage"][row], start, start + _length(answer), answer
    elif "answer_start" in outputs:
        for row, start in enumerate(outputs["answer_start"]):
            answer = inputs["answer"][row]
            yield inputs["passage"][row], start, start + _length(answer), answer


def _length(text: bytes) -> int:
    return len(text.decode("utf-8", "replace"))


def _alone(batch: Outputs, alone: Outputs, row: int, counts: Counter[str]) -> Iterator[str]:
    """An example alone has the answer that it has in a batch, or another that is as probable.

    In odd texts of equal words all spans have one probability, and rounding decides between them.
    """
    different = [name for name in batch if not _same(*_cut(batch[name], alone[name], row))]
    if different and "probability" in batch:
        whole, single = _cut(batch["probability"], alone["probability"], row)
        if np.allclose(whole, single, rtol=1e-5, atol=0.0):
            counts["ties"] += 1
            return
    for name in different:
        whole, single = _cut(batch[name], alone[name], row)
        yield f"{name} is {whole!r:.100} in a batch and {single!r:.100} alone"


def _cut(batch: np.ndarray, alone: np.ndarray, row: int) -> tuple[np.ndarray, np.ndarray]:
    single = alone[:1]
    return batch[row : row + 1][tuple(slice(size) for size in single.shape)], single


def _same(whole: np.ndarray, single: np.ndarray) -> bool:
    if whole.dtype.kind == "f":
        return np.allclose(whole, single, rtol=1e-5, atol=1e-5)
    return np.array_equal(whole, single)


SIGNATURES = {
    "SAN": ("serving_default",),
    "Masque": ("serving_default",),
    "MaxoutPointerQG": ("serving_default", "generate_from_passage"),
    "DAANet": ("answer", "ask"),
}

"""Flipped bits in every file that tfmrc writes and reads again: found, or without effect."""

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tfmrc
from tests.attacks import commands
from tests.toy_paper import ToyModel, ToyPredictor, ToyPreprocessor
from tests.training.callbacks.test_checkpoint import fit
from tfmrc import data, text, training
from tfmrc.experiments.spans import write_spans

REFUSED = (ValueError, OSError)


def attack(count: int, seed: int, folder: Path) -> list[str]:
    """Flips `count` bits of every file, one at a time.

    Returns:
        A description of each flip that was neither refused nor without effect.
    """
    wrong: list[str] = []
    for name, build in KINDS.items():
        place = folder / name
        place.mkdir(parents=True)
        paths, read = build(place)
        right = read()
        for path in paths:
            found = _attack_file(path, read, right, count, random.Random(f"{seed}-{path.name}"))
            wrong += [f"{name}, {path.relative_to(place)}: {problem}" for problem in found]
        if not _same(read(), right):
            wrong.append(f"{name}: another result although every bit was flipped back")
        print(f"{name}: {len(paths)} files, {len(wrong)} wrong", flush=True)
    return wrong


def _attack_file(
    path: Path, read: Callable[[], Any], right: Any, count: int, rng: random.Random
) -> list[str]:
    wrong = []
    whole = path.read_bytes()
    for _ in range(count):
        bit = rng.randrange(8 * len(whole))
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(changed))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not _same(read(), right):
                    wrong.append(f"bit {bit}: another result")
        except REFUSED as error:
            if not str(error) or isinstance(error, UnicodeError):
                wrong.append(f"bit {bit}: unclear: {error!r}")
        except Exception as error:
            wrong.append(f"bit {bit}: {error!r:.300}")
    path.write_bytes(whole)
    return wrong


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(_same(one[name], two[name]) for name in one)
    return bool(np.array_equal(one, two))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _checkpoints(folder: Path) -> tuple[list[Path], Callable[[], Any]]:
    """The newest of two checkpoints: the one before it is read, with its own weights."""
    fit(folder, 2)
    older, newest = _files(folder)
    expected = training.Checkpoint(folder)._read()
    newest.rename(folder / "aside")
    before = training.Checkpoint(folder)._read()
    (folder / "aside").rename(newest)

    def read() -> Any:
        arrays, facts = training.Checkpoint(folder)._read()
        for known, known_facts in (expected, before):
            if facts["step"] == known_facts["step"]:
                return {name: np.array_equal(arrays[name], known[name]) for name in known}
        raise RuntimeError(f"step {facts['step']}")

    return [newest], read


def _best_weights(folder: Path) -> tuple[list[Path], Callable[[], Any]]:
    model, path = _toy_model(), folder / "best.weights.h5"
    training.save_weights(model, path)

    def read() -> Any:
        model.set_weights([np.zeros_like(array) for array in model.get_weights()])
        training.load_weights(model, path)
        return {str(number): array for number, array in enumerate(model.get_weights())}

    return [path], read


def _toy_model() -> ToyModel:
    return ToyModel(vocabulary_size=16)


def _predictor() -> ToyPredictor:
    words = "was it ann bob who ran slept home .".split()
    preprocessor = ToyPreprocessor(text.Vocabulary(words, num_oov_buckets=3))
    return ToyPredictor(ToyModel(vocabulary_size=len(preprocessor.vocabulary)), preprocessor)


def _answer(folder: Path) -> Callable[[], Any]:
    question = commands.example(3)

    def read() -> Any:
        loaded = tfmrc.load(folder)
        answer = loaded.answer(question=question.question, passages=question.passages)
        return {"text": answer.text, "probability": answer.probability}

    return read


def _saved(folder: Path) -> tuple[list[Path], Callable[[], Any]]:
    saved = _predictor().save(folder / "predictor", metrics={"f1": 0.5})
    return _files(saved), _answer(saved)


def _exported(folder: Path) -> tuple[list[Path], Callable[[], Any]]:
    exported = _predictor().export(folder / "toy" / "1")
    return _files(exported), _answer(exported)


def _spans(folder: Path) -> tuple[list[Path], Callable[[], Any]]:
    path = folder / "spans.jsonl.gz"
    write_spans(path, [commands.example(number) for number in range(20)], "span", 8)
    return [path], lambda: [example.to_json() for example in data.read_examples(path)]


def _tags(folder: Path) -> tuple[list[Path], Callable[[], Any]]:
    path = folder / "tags.jsonl"
    texts = [commands.example(number).question for number in range(8)]

    def tag(rows: Any) -> Any:
        for words in rows:
            yield {"lemmas": words, "pos": ["X"] * len(words), "ner": ["-"] * len(words)}

    def read() -> Any:
        cache = data.TagCache(path, "rules 1", tag)
        cache.add(texts)
        return [cache.of(each, kind) for each in texts for kind in ("lemmas", "pos", "ner")]

    read()
    return [path], read


KINDS: dict[str, Callable[[Path], tuple[list[Path], Callable[[], Any]]]] = {
    "checkpoint": _checkpoints,
    "best weights": _best_weights,
    "predictor": _saved,
    "export": _exported,
    "spans": _spans,
    "tags": _tags,
}

"""Makes a ready model: prepares questions, trains, writes what differs from MiniLM, calibrates.

    python -m recipes.ready_models.main --data FOLDER

The same command goes on where it was interrupted.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors.numpy import save_file

import tfmrc
from recipes.ready_models import prepare
from tfmrc import encoders, experiments, models
from tfmrc.data import Example, read_examples
from tfmrc.data.transforms.splits import draw_by_id
from tfmrc.evaluation import score_squad
from tfmrc.predictors import Calibration
from tfmrc.predictors.ready.reader import (
    CARD,
    DIFFERENCE,
    FILES,
    LEFT,
    RIGHT,
    first_values,
    load_ready,
)
from tfmrc.storage.parts import CALIBRATION
from tfmrc.utils.files import sha256_of

RECIPE = Path(__file__).with_name("reader.yaml")
BYTES = 6_000_000
SMALL = 64  # of a matrix of fewer rows or columns all values are written
UNANSWERABLE = 0.13  # share of such questions on which probabilities are calibrated, as in SQuAD


def difference_of(trained: keras.Model, start: keras.Model, limit: int) -> dict[str, np.ndarray]:
    """Returns what the weights of a reader differ from those that it began with.

    Of a matrix `[m, n]` the product of `[m, r]` and `[r, n]`, its r greatest singular values. The
    ranks are those with the smallest square error over all matrices in at most `limit` bytes.

    Args:
        trained: `keras.Model`. The reader.
        start: `keras.Model`. A reader of the same structure, on MiniLM as it is.
        limit: int. Bytes.

    Returns:
        Float16 arrays, as `tfmrc.predictors.ready.reader.add_difference` reads them.
    """
    pairs = zip(trained.weights, start.weights, strict=True)
    changes = {after.path: after.numpy() - first_values(before) for after, before in pairs}
    changes = {path: change for path, change in changes.items() if change.any()}
    result, factors = {}, {}
    for path, change in changes.items():
        matrix = as_matrix(change)
        if min(matrix.shape) < SMALL:
            result[path] = change.astype("float16")
        else:
            factors[path] = np.linalg.svd(matrix, full_matrices=False)
    free = limit - sum(change.nbytes for change in result.values())
    for path, rank in ranks(factors, free).items():
        left, values, right = factors[path]
        root = np.sqrt(values[:rank])
        result[path + LEFT] = (left[:, :rank] * root).astype("float16")
        result[path + RIGHT] = (root[:, None] * right[:rank]).astype("float16")
    return result


def ranks(factors: dict[str, Any], free: int) -> dict[str, int]:
    """Returns the rank of each matrix: singular values by their square per byte, while they fit."""
    gains = []
    for path, (left, values, right) in factors.items():
        size = 2 * (left.shape[0] + right.shape[1])
        gains += [(float(value) ** 2 / size, size, path) for value in values]
    chosen = dict.fromkeys(factors, 0)
    for _, size, path in sorted(gains, reverse=True):
        if size <= free:
            chosen[path] += 1
            free -= size
    return chosen


def as_matrix(change: np.ndarray) -> np.ndarray:
    """Returns `[d, heads, size]` as `[d, heads * size]`; `[heads, size, d]` by its last axis."""
    first = change.shape[0] >= change.shape[-1]
    return change.reshape(change.shape[0], -1) if first else change.reshape(-1, change.shape[-1])


def write(run: Path, data: Path) -> None:
    """Writes difference and card of a trained run.

    Args:
        run: path. The run of the recipe.
        data: path. The folder of the data.
    """
    predictor = tfmrc.load(run)
    start = models.ExtractiveReader(encoder=encoders.from_preset("minilm"))
    FILES.mkdir(exist_ok=True)
    save_file(difference_of(predictor.model, start, BYTES), FILES / DIFFERENCE)
    sizes = ("window_length", "overlap", "question_length", "answer_length", "unanswerable")
    config = predictor.preprocessor.get_config()
    card = {
        "sha256": {
            "difference": sha256_of(FILES / DIFFERENCE),
            "recipe": sha256_of(RECIPE),
            **{name: sha256_of(data / name) for name in prepare.SOURCES},
        },
        "preprocessor": {name: config[name] for name in sizes if name in config},
    }
    (FILES / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def held_out(prepared: Path) -> list[Example]:
    """Returns the questions that no model is trained on."""
    ids = {*(prepared / "ids" / "validation.txt").read_text(encoding="utf-8").split("\n")}
    return [example for example in read_examples(prepared / "train.jsonl") if example.id in ids]


def mixed(examples: list[Example], share: float) -> list[Example]:
    """Returns as many examples as possible, drawn by id, of which `share` have no answer."""
    parts = [[(e.id, e) for e in examples if bool(e.answers) != none] for none in (False, True)]
    total = min(len(parts[0]) / (1 - share), len(parts[1]) / share)
    limits = (round(total * (1 - share)), round(total * share))
    return [e for part, n in zip(parts, limits, strict=True) for e in draw_by_id(part, n)]


def calibrate(prepared: Path) -> None:
    """Calibrates the reader as it is shipped, and chooses the threshold of a confident answer.

    The threshold gives the best F1 by SQuAD 2.0's rules on as many questions with an answer as
    without one.
    """
    (FILES / CALIBRATION).unlink(missing_ok=True)
    predictor, examples = load_ready(), held_out(prepared)
    print(predictor.calibrate(mixed(examples, UNANSWERABLE), precision=None).markdown())
    balanced = mixed(examples, 0.5)
    known = {e.id: e.answers.get("span", ()) for e in balanced}
    results = dict(zip(known, predictor.predict(balanced), strict=True))
    texts = {key: result.text for key, result in results.items()}
    f1 = score_squad(texts, known, version="2.0")["f1"].per_example or {}
    order = sorted(known, key=lambda key: -float(results[key].probability))
    # Answering one question more gains its F1, and loses 1 if it has no answer.
    gains = np.cumsum([f1[key] - (not known[key]) for key in order])
    threshold = float(results[order[int(np.argmax(gains))]].probability)
    fitted: Calibration = replace(predictor.calibration, threshold=threshold)
    text = json.dumps(fitted.to_json(), indent=2)
    (FILES / CALIBRATION).write_text(text + "\n", encoding="utf-8")
    print(text)


def main() -> None:
    """Makes the ready reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of squad and reading")
    parser.add_argument("--work", type=Path, default=Path("runs/ready_models"))
    options = parser.parse_args()
    prepared, run = options.work / "prepared", options.work / "reader"
    if not (prepared / "ids").is_dir():
        prepare.prepare(options.data, prepared)
    settings = experiments.read_settings(RECIPE, f"split.ids={(prepared / 'ids').resolve()}")
    experiments.train(settings, prepared, run)
    write(run, options.data)
    calibrate(prepared)


if __name__ == "__main__":
    main()

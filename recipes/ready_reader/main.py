"""Makes the files of the ready reader: trains it, writes what differs from MiniLM, calibrates."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors.numpy import save_file

import tfmrc
from tfmrc import encoders, experiments, models
from tfmrc.data import Example, read_squad
from tfmrc.data.transforms.splits import draw_by_id
from tfmrc.encoders.presets import packaged
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.plan import Plan
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

RECIPE = Path(__file__).with_name("config.yaml")
BYTES = 3_900_000
SMALL = 64  # of a matrix of fewer rows or columns all values are written


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
    room = limit - sum(change.nbytes for change in result.values())
    for path, rank in ranks(factors, room).items():
        left, values, right = factors[path]
        root = np.sqrt(values[:rank])
        result[path + LEFT] = (left[:, :rank] * root).astype("float16")
        result[path + RIGHT] = (root[:, None] * right[:rank]).astype("float16")
    return result


def ranks(factors: dict[str, Any], room: int) -> dict[str, int]:
    """Returns the rank of each matrix: singular values by their square per byte, while they fit."""
    gains = []
    for path, (left, values, right) in factors.items():
        size = 2 * (left.shape[0] + right.shape[1])
        gains += [(float(value) ** 2 / size, size, path) for value in values]
    chosen = dict.fromkeys(factors, 0)
    for _, size, path in sorted(gains, reverse=True):
        if size <= room:
            chosen[path] += 1
            room -= size
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
            "minilm": sha256_of(packaged("minilm")[0] / "model.safetensors"),
            "recipe": sha256_of(RECIPE),
            "squad/train.json": sha256_of(data / "squad" / "train.json"),
        },
        "preprocessor": {name: config[name] for name in sizes if name in config},
    }
    (FILES / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def calibrate(data: Path) -> None:
    """Calibrates the reader as it is shipped, on the articles held out of its training."""
    (FILES / CALIBRATION).unlink(missing_ok=True)
    predictor = load_ready()
    # Not one article's many unanswerable questions: the share that they have in the whole file.
    questions = mixed(held_out(data), share_unanswerable(data))
    # No threshold: 90 percent precision would leave hardly any answer.
    print(predictor.calibrate(questions, precision=None).markdown())
    calibration = json.dumps(predictor.calibration.to_json(), indent=2)
    (FILES / CALIBRATION).write_text(calibration + "\n", encoding="utf-8")


def held_out(data: Path) -> list[Example]:
    """Returns the questions of the articles that the reader is not trained on."""
    plan = Plan(experiments.read_settings(RECIPE), Path("runs/ready_reader"), data=data)
    return list(splits(plan)[0].held_out)


def share_unanswerable(data: Path) -> float:
    """Returns the share of the questions of the whole training file that have no answer."""
    answerable = [e.answerable for e in read_squad(data / "squad" / "train.json")]
    return answerable.count(False) / len(answerable)


def mixed(examples: Sequence[Example], share: float) -> list[Example]:
    """Returns as many examples as possible, drawn by id, of which `share` have no answer."""
    parts = [[(e.id, e) for e in examples if (e.answerable is False) == none] for none in (0, 1)]
    total = min(len(parts[0]) / (1 - share), len(parts[1]) / share)
    limits = (round(total * (1 - share)), round(total * share))
    return [e for part, n in zip(parts, limits, strict=True) for e in draw_by_id(part, n)]


def main() -> None:
    """Trains the reader, unless it is trained, and writes its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of squad/train.json")
    parser.add_argument("--run", type=Path, default=Path("runs/ready_reader"))
    options = parser.parse_args()
    experiments.train(experiments.read_settings(RECIPE), options.data, options.run)
    write(options.run, options.data)
    calibrate(options.data)


if __name__ == "__main__":
    main()

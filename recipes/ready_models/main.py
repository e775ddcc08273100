"""Makes the ready models: prepares questions, trains, writes what differs from MiniLM, calibrates.

    python -m recipes.ready_models.main --data FOLDER                    # all, one by one
    python -m recipes.ready_models.main --data FOLDER --models ready-qg  # one of them

The same command goes on where it was interrupted. `ready` comes first: the others start from its
encoder.
"""

import argparse
import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

import tfmrc
from recipes.ready_models import prepare
from recipes.ready_models.compress import difference_of
from tfmrc import experiments
from tfmrc.data import Example, read_examples
from tfmrc.data.transforms.splits import draw_by_id
from tfmrc.evaluation import score_squad
from tfmrc.models.folder import CONFIG, WEIGHTS, build_model
from tfmrc.predictors.ready.shipped import (
    ALL,
    CARD,
    DIFFERENCE,
    EVIDENCE,
    FILES,
    READY,
    SPANS,
    WORD_PIECES,
    start_of,
)
from tfmrc.storage.parts import ASSETS, CALIBRATION, METRICS
from tfmrc.utils.files import sha256_of

RECIPES = {name: Path(__file__).with_name(f"{name.removeprefix('ready-')}.yaml") for name in ALL}
PARAGRAPHS = Path(__file__).with_name("masque_paragraphs.yaml")  # what ready-masque starts from
# Largest difference of the encoder; OTHERS for the other models.
BYTES = {READY: 4_000_000, "ready-masque": 0, EVIDENCE: 2_500_000, "ready-san": 2_900_000}
OTHERS = 3_000_000
UNANSWERABLE = 0.13  # share of such questions on which probabilities are calibrated, as in SQuAD
CALIBRATING = (*prepare.WIKIPEDIA, "squad_train_unanswerable")
CALIBRATED = 800  # questions that models which write answer


def train(name: str, prepared: Path, work: Path) -> Path:
    """Trains a model, or goes on with its training.

    Args:
        name: str. The ready model.
        prepared: path. What `prepare` wrote.
        work: path. The folder of the runs.

    Returns:
        The run.
    """
    recipes = {work / name: RECIPES[name]}
    if name == "ready-masque":
        recipes = {work / PARAGRAPHS.stem: PARAGRAPHS} | recipes
    for run, recipe in recipes.items():
        settings = experiments.read_settings(recipe)
        paths = {"split.ids": prepared / str(settings.split.ids)}
        if settings.encoder and name != READY:
            paths["encoder.preset"] = work / READY
        if settings.start_from:
            paths["start_from"] = work / PARAGRAPHS.stem
        changes = [f"{key}={json.dumps(str(path.resolve()))}" for key, path in paths.items()]
        experiments.train(experiments.read_settings(recipe, *changes), prepared, run)
    return run


def write(name: str, run: Path, data: Path) -> None:
    """Writes the files of a trained model that tfmrc ships.

    Args:
        name: str. The ready model.
        run: path. Its run.
        data: path. The folder of the data.
    """
    predictor = tfmrc.load(run)
    predictor.default_options = experiments.read_settings(RECIPES[name]).evaluation.options
    trained = {weight.path: weight.numpy().astype("float32") for weight in predictor.model.weights}
    with tempfile.TemporaryDirectory() as temporary:
        folder = predictor.save(Path(temporary, name))
        for part in (WEIGHTS, METRICS, "manifest.json"):
            (folder / part).unlink(missing_ok=True)
        config = (folder / CONFIG).read_text(encoding="utf-8")
        (folder / CONFIG).write_text(config.replace("mixed_bfloat16", "float32"), encoding="utf-8")
        start = start_of(build_model(folder), folder)
        (folder / ASSETS / WORD_PIECES).unlink()
        limit = BYTES.get(name, OTHERS)
        save_file(difference_of(trained, start, limit), folder / DIFFERENCE)
        sources = {name: sha256_of(data / name) for name in prepare.SOURCES}
        shipped = {"difference": folder / DIFFERENCE, "recipe": RECIPES[name]}
        if name == "ready-masque":
            shipped["encoder"] = FILES / READY / DIFFERENCE
        card = {part: sha256_of(path) for part, path in shipped.items()} | sources
        (folder / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(FILES / name, ignore_errors=True)
        shutil.copytree(folder, FILES / name)


def held_out(name: str, prepared: Path) -> list[Example]:
    """Returns the questions about Wikipedia that no model is trained on.

    The other sources know one way to answer where readers accept several, so that a probability
    fitted on them is too small elsewhere.
    """
    file = "evidence.jsonl" if name == EVIDENCE else "train.jsonl"
    examples = [
        e
        for e in validated(prepared / "ids", prepared / file)
        if e.id.partition("/")[0] in CALIBRATING
    ]
    if name != "ready-masque":
        return examples
    return [replace(e, answers=prepare.styled(e) if e.answers else {}) for e in examples]


def validated(ids: Path, file: Path) -> list[Example]:
    """Returns the questions of a file that a list of ids holds out."""
    known = {*(ids / "validation.txt").read_text(encoding="utf-8").split("\n")}
    return [e for e in read_examples(file) if e.id in known]


def mixed(examples: list[Example], share: float) -> list[Example]:
    """Returns as many examples as possible, drawn by id, of which `share` have no answer."""
    parts = [[(e.id, e) for e in examples if bool(e.answers) != none] for none in (False, True)]
    total = min(len(parts[0]) / (1 - share), len(parts[1]) / share)
    limits = (round(total * (1 - share)), round(total * share))
    return [e for part, n in zip(parts, limits, strict=True) for e in draw_by_id(part, n)]


def calibrate(name: str, prepared: Path) -> None:
    """Calibrates a model as it is shipped, and chooses the threshold of a confident answer.

    The threshold of each style gives the best F1 by SQuAD 2.0's rules on as many questions with an
    answer as without one.
    """
    (FILES / name / CALIBRATION).unlink(missing_ok=True)
    predictor = tfmrc.load(name)
    examples = held_out(name, prepared)
    if name not in (*SPANS, EVIDENCE):
        examples = draw_by_id([(e.id, e) for e in examples], CALIBRATED)
    fitting = mixed(examples, UNANSWERABLE)
    if name == "ready-masque":
        styles = validated(prepared / "styles", prepared / "styles.jsonl")
        fitting += [e for e in styles if "free" in e.answers]
    print(predictor.calibrate(fitting, precision=None).markdown())
    balanced = mixed(examples, 0.5)
    fitted = replace(predictor.calibration, threshold=best_threshold(predictor, balanced, None))
    styles = {
        style: replace(one, threshold=best_threshold(predictor, balanced, style))
        for style, one in fitted.styles.items()
    }
    text = json.dumps(replace(fitted, styles=styles).to_json(), indent=2)
    (FILES / name / CALIBRATION).write_text(text + "\n", encoding="utf-8")
    print(text)


def best_threshold(predictor: Any, examples: list[Example], style: str | None) -> float:
    """Returns the probability from which on answering gives the best F1 by SQuAD 2.0's rules.

    Args:
        predictor: The calibrated predictor.
        examples: list of `Example`. Questions, some without an answer.
        style: str or None. The style of the answers; None for the first, which `predict` writes. A
            question without answers in it is compared with those in its first style.
    """
    known = {
        e.id: tuple(e.answers.get(style) or next(iter(e.answers.values()), ())) for e in examples
    }
    results = dict(zip(known, predictor.predict(examples, task=style), strict=True))
    texts = {key: result.text for key, result in results.items()}
    f1 = score_squad(texts, known, version="2.0")["f1"].per_example or {}
    order = sorted(known, key=lambda key: -float(results[key].probability))
    # Answering one question more gains its F1, and loses 1 if it has no answer.
    gains = np.cumsum([f1[key] - (not known[key]) for key in order])
    return float(results[order[int(np.argmax(gains))]].probability)


def main() -> None:
    """Makes the ready models."""
    parser = argparse.ArgumentParser(description=__doc__)
    help_ = "the folder of squad, reading and narrativeqa"
    parser.add_argument("--data", type=Path, required=True, help=help_)
    parser.add_argument("--work", type=Path, default=Path("runs/ready_models"))
    parser.add_argument("--models", nargs="+", choices=ALL, default=ALL)
    options = parser.parse_args()
    prepared = options.work / "prepared"
    if not (prepared / "ids").is_dir():
        prepare.prepare(options.data, prepared)
    for name in options.models:
        write(name, train(name, prepared, options.work), options.data)
        if name != "ready-qg":
            calibrate(name, prepared)


if __name__ == "__main__":
    main()

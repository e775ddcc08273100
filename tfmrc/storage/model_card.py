"""Model card of an export: its content, inputs and outputs."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import keras

from tfmrc.storage.manifest import EXPORT_FORMAT, EXTRA
from tfmrc.storage.parts import tool_versions
from tfmrc.storage.protocols import ExportablePredictor
from tfmrc.utils.markdown import table_lines

REQUIREMENTS = (
    "The graph uses operations of tensorflow-text: TensorFlow Serving's official builds have them; "
    "in Python, import tensorflow_text before `tf.saved_model.load`."
)

INPUTS = {
    "question": "the question",
    "passages": "the passages; an empty string for a missing one",
    "style": "the style of the answer",
    "passage": "the passage",
    "answer": "the answer to ask about",
    "answer_start": "offset of its first character (code point); -1 for its first occurrence",
}
OUTPUTS = {
    "answer": "the best answer",
    "passage": "index of the passage that it is from; -1 for none",
    "probability": "its probability; that of being right if the model is calibrated",
    "is_confident": "false if the model refuses, and the answer is its best guess",
    "start": "offset of its first character (code point) in its passage; -1 for no answer",
    "end": "offset after its last character; -1 for no answer",
    "answers": "the best answers, best first; empty where there are fewer",
    "starts": "offset of the first character of each in its passage; -1 for none",
    "ends": "offset after the last character of each; -1 for none",
    "answer_passages": "index of the passage of each; -1 for none",
    "question": "the best question",
    "questions": "the questions, best first",
    "probabilities": "the probability of each",
    "log_probabilities": "the logarithm of each probability",
    "finished": "false for each text that was cut at the greatest length",
    "truncated": "true if a text was longer than the model reads",
}


def write_model_card(
    folder: Path,
    path: Path,
    predictor: ExportablePredictor,
    options: Any,
    concrete: Mapping[str, Any],
    metrics: Mapping[str, Any],
    request: Mapping[str, Any] | None,
) -> None:
    """Writes the model card and the metrics into `assets.extra` of a SavedModel.

    The card is `model_card.json` and `model_card.md`, the metrics are `metrics.json`.

    Args:
        folder: path. The SavedModel.
        path: path. The final folder: `<name>/<version>`.
        predictor: The exported predictor.
        options: Options of the search.
        concrete: dict. The concrete functions of the signatures, by name.
        metrics: dict. Measured results of the model, any JSON value.
        request: dict or None. An example of a request.
    """
    model, preprocessor = predictor.model, predictor.preprocessor
    signatures = {
        name: _signature(name, function, predictor.meanings) for name, function in concrete.items()
    }
    card = {
        "format": EXPORT_FORMAT,
        "name": path.parent.name,
        "version": int(path.name),
        "exported": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": tool_versions(),
        "requirements": REQUIREMENTS,
        "predictor": type(predictor).__name__,
        "tasks": [asdict(task) for task in predictor.tasks],
        "trained_outputs": getattr(model, "trained_outputs", None),
        "model": {
            "class": type(model).__name__,
            "parameters": int(model.count_params()),
            **({"tagger": model.tagger} if getattr(model, "tagger", None) else {}),
            **_pretrained(model),
        },
        "preprocessor": preprocessor.get_config(),
        "words": preprocessor.vocabulary.size,
        "calibration": predictor.calibration and predictor.calibration.to_json(),
        "max_passages": getattr(preprocessor, "num_passages", None),
        "decoding": {**asdict(options), "max_length": predictor.max_length(options)},
        **signatures["serving_default"],
        "signatures": {
            name: each for name, each in signatures.items() if name != "serving_default"
        },
        "example_request": request,
    }
    extra = folder / EXTRA
    extra.mkdir(exist_ok=True)
    _write(extra / "model_card.json", card)
    _write(extra / "metrics.json", dict(metrics))
    not_default = {
        field.name: getattr(options, field.name)
        for field in fields(options)
        if getattr(options, field.name) != field.default
    }
    text = _markdown(
        card, {**not_default, "max_length": card["decoding"]["max_length"]}, bool(metrics)
    )
    (extra / "model_card.md").write_text(text, encoding="utf-8")


def _pretrained(model: keras.Model) -> dict[str, Any]:
    """Returns family, name, licence and revision of a model's pretrained encoder."""
    encoder: Any = getattr(model, "encoder", None)
    preset = getattr(encoder, "preset", None)
    if not preset:
        return {}
    trained = encoder.num_trainable_layers
    return {"encoder": {"family": encoder.family, **preset, "trained_layers": trained}}


def _write(path: Path, value: Any) -> None:
    # An option may be a number of NumPy.
    text = json.dumps(value, ensure_ascii=False, indent=2, default=lambda number: number.item())
    path.write_text(text + "\n", encoding="utf-8")


def _signature(name: str, concrete: Any, meanings: Mapping[str, str]) -> dict[str, Any]:
    """Describes inputs and outputs. A meaning for one signature only has the key `NAME/output`."""

    def described(tensors: Mapping[str, Any], common: Mapping[str, str]) -> dict[str, Any]:
        known = {**common, **meanings}
        return {
            key: {
                "dtype": tensor.dtype.name,
                "shape": tensor.shape.as_list(),
                "meaning": known.get(f"{name}/{key}", known.get(key, "")),
            }
            for key, tensor in tensors.items()
        }

    inputs = {spec.name: spec for spec in concrete.structured_input_signature[0]}
    outputs = dict(sorted(concrete.structured_outputs.items()))
    return {"inputs": described(inputs, INPUTS), "outputs": described(outputs, OUTPUTS)}


def _markdown(card: Mapping[str, Any], options: Mapping[str, Any], has_metrics: bool) -> str:
    tasks = ", ".join(task["name"] for task in card["tasks"])
    lines = [
        f"# {card['name']}, version {card['version']}",
        "",
        f"{card['model']['class']} with {card['model']['parameters']:,} parameters and "
        f"{card['words']:,} words (tasks: {tasks}), exported {card['exported']} by "
        + ", ".join(f"{name} {version}" for name, version in card["versions"].items())
        + ".",
        "",
        card["requirements"],
    ]
    if "encoder" in card["model"]:
        lines += ["", "## Pretrained encoder", ""]
        lines += [f"- {name}: {value}" for name, value in card["model"]["encoder"].items()]
    for title in ("inputs", "outputs"):
        rows = []
        for name, tensor in card[title].items():
            shape = ", ".join("?" if size is None else str(size) for size in tensor["shape"])
            rows.append([f"`{name}`", f"{tensor['dtype']} [{shape}]", tensor["meaning"]])
        lines += ["", f"## {title.capitalize()}", ""]
        lines += table_lines(["name", "type", "meaning"], rows)
    if card["signatures"]:
        names = ", ".join(f"`{name}`" for name in card["signatures"])
        lines += ["", f"Further signatures, described in `model_card.json`: {names}."]
    if card["example_request"]:
        body = json.dumps({"inputs": card["example_request"]}, ensure_ascii=False)
        url = f"http://localhost:8501/v1/models/{card['name']}:predict"
        lines += ["", "## Example request", "", f"    curl -d '{body}' \\", f"        {url}"]
    lines += ["", "## Decoding", ""]
    lines += [f"- {name}: {value}" for name, value in options.items()]
    lines += ["", "## Metrics", ""]
    lines += ["In `metrics.json`." if has_metrics else "None were given."]
    return "\n".join(lines) + "\n"

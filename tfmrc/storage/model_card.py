"""Model card of an export: its content, inputs and outputs."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.storage.meanings import INPUTS, output_meanings
from tfmrc.storage.parts import tool_versions

__all__ = ["write_model_card"]

REQUIREMENTS = (
    "The graph uses operations of tensorflow-text: TensorFlow Serving's official builds have them; "
    "in Python, import tensorflow_text before `tf.saved_model.load`."
)


def write_model_card(
    folder: Path,
    path: Path,
    predictor: Any,
    options: Any,
    concrete: Mapping[str, Any],
    metrics: Mapping[str, Any],
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
    """
    model, preprocessor = predictor.model, predictor.preprocessor
    signatures = {name: _signature(function) for name, function in concrete.items()}
    card = {
        "name": path.parent.name,
        "version": int(path.name),
        "exported": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": tool_versions(),
        "requirements": REQUIREMENTS,
        "predictor": type(predictor).__name__,
        "tasks": [asdict(task) for task in predictor.tasks],
        "trained_parts": predictor.trained_parts,
        "model": {
            "class": type(model).__name__,
            "parameters": int(model.count_params()),
            **({"tagger": model.tagger} if getattr(model, "tagger", None) else {}),
            **_pretrained(model),
        },
        "preprocessor": preprocessor.get_config(),
        "words": preprocessor.vocabulary.size,
        "max_passages": getattr(preprocessor, "num_passages", None),
        "decoding": {**asdict(options), "max_length": predictor.max_length(options)},
        **signatures["serving_default"],
        "signatures": {
            name: each for name, each in signatures.items() if name != "serving_default"
        },
        "example_request": predictor.warmup_request(),
    }
    extra = folder / "assets.extra"
    extra.mkdir(exist_ok=True)
    _write(extra / "model_card.json", card)
    _write(extra / "metrics.json", dict(metrics))
    not_default = {
        each.name: getattr(options, each.name)
        for each in fields(options)
        if getattr(options, each.name) != each.default
    }
    text = _markdown(
        card, {**not_default, "max_length": card["decoding"]["max_length"]}, bool(metrics)
    )
    (extra / "model_card.md").write_text(text, encoding="utf-8")


def _pretrained(model: Any) -> dict[str, Any]:
    """Returns family, name, licence and revision of a model's pretrained encoder."""
    encoder: Any = getattr(model, "encoder", None)
    preset = getattr(encoder, "preset", None)
    if not preset:
        return {}
    trained = encoder.num_trainable_layers
    return {"encoder": {"family": encoder.family, **preset, "trained_layers": trained}}


def _write(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_number)
    path.write_text(text + "\n", encoding="utf-8")


def _number(value: Any) -> Any:
    """Returns a number of NumPy, which an option may be, as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"A {type(value).__name__} is no JSON value. Received: {value!r:.80}")


def _signature(concrete: Any) -> dict[str, Any]:
    inputs, outputs = concrete.structured_input_signature[0], concrete.structured_outputs
    meanings = output_meanings(outputs)
    return {
        "inputs": {spec.name: _described(INPUTS, spec.name, spec) for spec in inputs},
        "outputs": {name: _described(meanings, name, outputs[name]) for name in sorted(outputs)},
    }


def _described(meanings: Mapping[str, str], name: str, tensor: tf.Tensor) -> dict[str, Any]:
    shape = [None if size is None else int(size) for size in tensor.shape]
    return {"dtype": tensor.dtype.name, "shape": shape, "meaning": meanings.get(name, "")}


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
        lines += ["", f"## {title.capitalize()}", "", "| name | type | meaning |"]
        lines += ["| --- | --- | --- |"]
        for name, tensor in card[title].items():
            shape = ", ".join("?" if size is None else str(size) for size in tensor["shape"])
            lines.append(f"| `{name}` | {tensor['dtype']} [{shape}] | {tensor['meaning']} |")
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

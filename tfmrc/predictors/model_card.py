"""Model card of an export: its content, inputs and outputs."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.predictors.storage import tool_versions

__all__ = ["write_model_card"]

OUTPUTS = {
    "answer": "the answer; see `words` for the normalisation of its words",
    "num_words": "number of its words; the per-word outputs are padded beyond",
    "words": "its words; those of the generation vocabulary are lower-cased and normalised (NFKC)",
    "sources": "the source of each word: vocabulary, question or passage",
    "source_texts": "each copied word as the question or passage writes it; empty for the others",
    "passage_indices": "index of the passage it was copied from; -1 for none",
    "starts": "offset of the first character (code point) in the question or passage; -1 for none",
    "ends": "offset after the last character; -1 for none",
    "mixture": "weights of vocabulary, question and passages at each word",
    "score": "log-probability of the words, length-penalised if so exported",
    "log_probability": "log-probability of the answer's words",
    "finished": "false if the text was cut at the greatest length",
    "alternatives": "the other hypotheses, best first",
    "alternative_scores": "their scores",
    "alternative_log_probabilities": "their log-probabilities",
    "relevance": "relevance of each passage to the question, 0 to 1; 0 for a missing passage",
    "answerable_probability": "probability that the passages answer the question at all",
    "question": "the best question",
    "questions": "the questions, best first",
    "probabilities": "probability of each text (the product of its words') or span (of its ends')",
    "log_probabilities": "their logarithms",
    "answer_start": "offset of the answer's first character (code point) in the passage",
    "answers": "the best answers or spans; or the answer candidates, as the passage has them",
    "answer_starts": "offsets of the answer candidates; -1 where the passage has fewer",
    "start": "offset of the answer's first character (code point) in the passage; -1 for none",
    "end": "offset after its last character",
    "probability": "probability of the answer: the product of its words', or of its two ends'",
    "step_begin": "each step's probabilities that the answer begins with a word of the window",
    "step_end": "likewise that it ends with it",
    "step_weights": "the share of each step in the result",
    "word_starts": "offsets of the window's words in the passage",
    "word_ends": "offsets after them",
    "truncated": "true if the question or passages were longer, or more, than the model reads",
}
INPUTS = {
    "question": "the question",
    "passages": "the passages; an empty string for a missing one",
    "style": "the style of the answer",
    "passage": "the passage",
    "answer": "the answer to ask about",
    "answer_start": "offset of its first character (code point); -1 for its first occurrence",
    "question_lemmas": "the lemma of each word of the question, single spaces between them",
    "passage_lemmas": "the lemma of each word of the passage",
    "passage_pos": "the part-of-speech tag of each word of the passage",
    "passage_ner": "the type of entity of each word of the passage",
}
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
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _signature(concrete: Any) -> dict[str, Any]:
    inputs, outputs = concrete.structured_input_signature[0], concrete.structured_outputs
    return {
        "inputs": {spec.name: _described(INPUTS, spec.name, spec) for spec in inputs},
        "outputs": {name: _described(OUTPUTS, name, outputs[name]) for name in sorted(outputs)},
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

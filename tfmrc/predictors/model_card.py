"""A model card: what an export is, takes and gives, for people and programs."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.predictors.storage import tool_versions

__all__ = ["write_model_card"]

OUTPUTS = {
    "answer": "the answer",
    "num_words": "how many words it has; the per-word outputs are padded beyond",
    "words": "its words",
    "sources": "where each word came from: vocabulary, question or passage",
    "passage_indices": "the passage it was copied from, from 0; -1 for none",
    "starts": "offset of its first character (code point) in the question or passage; -1 for none",
    "ends": "offset behind its last character; -1 for none",
    "mixture": "weights of vocabulary, question and passages when it was chosen",
    "score": "log-probability of the words, length-penalised if so exported",
    "finished": "false if the answer was cut at the greatest length",
    "alternatives": "the other hypotheses, best first",
    "alternative_scores": "their scores",
    "relevance": "of each passage to the question, 0 to 1; 0 for a missing passage",
    "answerable_probability": "that the passages answer the question at all, 0 to 1",
    "question": "the best question",
    "questions": "the questions, best first",
    "probabilities": "of each question (the product of its words') or span (of its two ends')",
    "log_probabilities": "their logarithms",
    "answer_start": "offset of the answer's first character (code point) in the passage",
    "answers": "the answers that questions are about, as the passage has them; or the best spans",
    "answer_starts": "their offsets; -1 where the passage has fewer answers",
    "start": "offset of the answer's first character (code point) in the passage; -1 for none",
    "end": "offset behind its last character",
    "probability": "of its first word times that of its last word",
    "step_begin": "each step's probabilities that the answer begins with a word of the window",
    "step_end": "likewise that it ends with it",
    "step_weights": "the share of each step in the result",
    "word_starts": "offsets of the window's words in the passage",
    "word_ends": "offsets behind them",
    "truncated": "true if the question or passages were longer, or more, than the model reads",
}
INPUTS = {
    "question": "the question",
    "passages": "the passages; an empty string for a missing one",
    "style": "the style of the answer",
    "passage": "the passage",
    "answer": "the answer that the question is to have; it stands in the passage",
    "answer_start": "offset of its first character (code point); -1 for its first occurrence",
    "question_lemmas": "the lemma of each word of the question, single spaces between them",
    "passage_lemmas": "the lemma of each word of the passage",
    "passage_pos": "the part-of-speech tag of each word of the passage",
    "passage_ner": "the type of entity of each word of the passage",
}


def write_model_card(
    folder: Path,
    path: Path,
    model: Any,
    preprocessor: Any,
    options: Any,
    concrete: Any,
    metrics: Mapping[str, Any],
    max_length: int,
) -> None:
    """Writes `model_card.json` and `model_card.md` into `assets.extra` of a SavedModel.

    Args:
        folder: the SavedModel.
        path: where it will be served from: `<name>/<version>`.
        model: the model, for its sizes.
        preprocessor: the preprocessor, for styles and limits.
        options: how answers are searched for.
        concrete: the signature's concrete function.
        metrics: figures measured with this model, any JSON.
        max_length: most words that are generated.
    """
    inputs = concrete.structured_input_signature[0]
    outputs = concrete.structured_outputs
    card = {
        "name": path.parent.name,
        "version": int(path.name),
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": tool_versions(),
        "model": {
            "class": type(model).__name__,
            "parameters": int(model.count_params()),
            **({"tagger": model.tagger} if getattr(model, "tagger", None) else {}),
        },
        "preprocessor": preprocessor.get_config(),
        "words": preprocessor.vocabulary.size,
        "decoding": {
            **asdict(options),
            "max_length": max_length,
        },
        "inputs": {spec.name: _described(INPUTS, spec.name, spec) for spec in inputs},
        "outputs": {name: _described(OUTPUTS, name, outputs[name]) for name in sorted(outputs)},
        "metrics": dict(metrics),
    }
    extra = folder / "assets.extra"
    extra.mkdir(exist_ok=True)
    text = json.dumps(card, ensure_ascii=False, indent=2)
    (extra / "model_card.json").write_text(text + "\n", encoding="utf-8")
    (extra / "model_card.md").write_text(_markdown(card), encoding="utf-8")


def _described(meanings: Mapping[str, str], name: str, tensor: tf.Tensor) -> dict[str, Any]:
    shape = [None if size is None else int(size) for size in tensor.shape]
    return {"dtype": tensor.dtype.name, "shape": shape, "meaning": meanings.get(name, "")}


def _markdown(card: Mapping[str, Any]) -> str:
    lines = [
        f"# {card['name']}, version {card['version']}",
        "",
        f"{card['model']['class']} with {card['model']['parameters']:,} parameters and "
        f"{card['words']:,} words, exported {card['made']} by "
        + ", ".join(f"{name} {version}" for name, version in card["versions"].items())
        + ".",
    ]
    for title in ("inputs", "outputs"):
        lines += [
            "",
            f"## {title.capitalize()}",
            "",
            "| name | type | meaning |",
            "| --- | --- | --- |",
        ]
        for name, tensor in card[title].items():
            shape = ", ".join("?" if size is None else str(size) for size in tensor["shape"])
            lines.append(f"| `{name}` | {tensor['dtype']} [{shape}] | {tensor['meaning']} |")
    for title in ("preprocessor", "decoding", "metrics"):
        lines += ["", f"## {title.capitalize()}", ""]
        rows = _flat(card[title])
        lines += [f"- {name}: {value}" for name, value in rows] or ["None were given."]
    return "\n".join(lines) + "\n"


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{name}.")
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            rows.append((f"{prefix}{name}", shown))
    return rows

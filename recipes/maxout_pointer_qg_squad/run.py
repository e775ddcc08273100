"""Train one variant on one context, and ask about the answers of the test set."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import keras

from recipes.maxout_pointer_qg_squad.settings import Settings
from tfmrc import data, evaluation, models, text, training
from tfmrc.models.maxout_pointer_qg import VARIANTS
from tfmrc.recipe.time_limit import TimeLimit
from tfmrc.serving import Asker

Parts = dict[str, list[data.Example]]


def train(settings: Settings, variant: str, context: str, parts: Parts, folder: Path) -> Asker:
    """A trained asker; a run that is trained is loaded, a stopped one goes on."""
    if (folder / "training.json").is_file():
        return Asker.load(folder / "asker")
    keras.utils.set_random_seed(settings.seed)
    features = text.QuestionFeatures(
        _vocabulary(settings, parts, folder.parent),
        context=context,
        passage_length=settings.passage_length,
        question_length=settings.question_length,
        generation_vocabulary_size=settings.generation_vocabulary_size,
    )
    model = models.MaxoutPointerQG(
        vocabulary_size=len(features.vocabulary),
        num_oov_buckets=settings.num_oov_buckets,
        generation_vocabulary_size=features.generation_vocabulary_size,
        **VARIANTS[variant],
        **settings.model,
    )
    steps = len(parts["train"]) // settings.batch_size
    model.compile(
        **training.maxout_pointer_qg(
            steps,
            settings.learning_rate,
            first_halving=settings.first_halving,
            halving_every=settings.halving_every,
            clip_norm=settings.clip_norm,
            model=model,
        )
    )
    callbacks = training.callbacks(folder, averages=False, among=4)
    limit = TimeLimit(settings.max_minutes)
    callbacks.checkpoint.callbacks.append(limit)

    def of_model(x: Any, y: Any, weight: Any) -> Any:
        names = training.recipe.output_names(model)
        return x, {name: y[name] for name in names}, {name: weight[name] for name in names}

    batches = callbacks.checkpoint.dataset(
        lambda start_step: data.batched(
            parts["train"], features, settings.batch_size, shuffle=True, seed=settings.seed,
            drop_remainder=True, repeat=True, start_step=start_step, rotate_unknown=True,
        ).map(of_model)
    )  # fmt: skip
    dev = data.batched(parts["dev"], features, settings.batch_size).map(of_model)
    model.fit(
        batches,
        epochs=settings.epochs,
        steps_per_epoch=steps,
        validation_data=dev,
        shuffle=False,
        verbose=1 if sys.stdout.isatty() else 2,
        callbacks=[*callbacks[:-1], limit, callbacks.checkpoint],
    )
    facts = {
        "variant": variant,
        "context": context,
        "weights": model.count_params(),
        "steps": callbacks.checkpoint.step,
        "seconds": round(limit.seconds, 1),
        "kept_epoch": None if callbacks.best.best_epoch is None else callbacks.best.best_epoch + 1,
        "lowest_dev_loss": callbacks.best.best,
    }
    asker = Asker(model, features)
    asker.save_to(folder / "asker", metrics=facts)
    _write(folder / "training.json", facts)
    return asker


def ask(
    asker: Asker, examples: list[data.Example], settings: Settings, beams: int, folder: Path
) -> dict[str, Any]:
    """Questions about the test set's answers, in a file, and their scores."""
    path = folder / f"metrics-beam-{beams}.json"
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    answers = [(e.passages[0], e.answers["span"][0], e.spans[0].start) for e in examples]
    began = time.monotonic()
    asked = list(asker.predict(answers, settings.batch_size, num_beams=beams))
    seconds = time.monotonic() - began
    found = {e.id: questions[0] for e, questions in zip(examples, asked, strict=True)}
    with (folder / f"questions-beam-{beams}.jsonl").open("w", encoding="utf-8") as file:
        for example in examples:
            line = {
                "id": example.id,
                "question": found[example.id].question,
                "probability": found[example.id].probability,
                "answer": found[example.id].answer,
                "reference": example.question,
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    texts = {key: question.question for key, question in found.items()}
    references = {e.id: [e.question] for e in examples}
    scores = evaluation.score_answers(texts, references, "plain", meteor=True)
    rates = evaluation.score_duplication(texts)
    rows = {row.name: row.value for row in (*scores.rows, *rates.rows)}
    metrics = {"scores": rows, "size": len(examples), "seconds": round(seconds, 1)}
    _write(path, metrics)
    return metrics


def _vocabulary(settings: Settings, parts: Parts, folder: Path) -> text.Vocabulary:
    path = folder / "vocabulary.txt"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        made = text.Vocabulary.from_examples(parts["train"], size=settings.vocabulary_size)
        made.save(path)
    return text.Vocabulary.load(path, settings.num_oov_buckets)


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")

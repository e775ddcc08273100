"""Train one variant on one context, and ask about the answers of the test set."""

import json
import sys
import time
from pathlib import Path

import keras

from recipes.maxout_pointer_qg_squad import scoring
from recipes.maxout_pointer_qg_squad.self_attention import plot_self_attention
from recipes.maxout_pointer_qg_squad.settings import Settings
from recipes.maxout_pointer_qg_squad.splits import Parts
from tfmrc import data, encoders, evaluation, models, preprocessing, text, training
from tfmrc.experiments.environment import in_words, machine
from tfmrc.experiments.run_folder import write_json
from tfmrc.models.maxout_pointer_qg import VARIANTS
from tfmrc.predictors import MaxoutPointerQGPredictor
from tfmrc.training.callbacks.time_limit import TimeLimit

DONE = "training.json"


def run(settings: Settings, variant: str, context: str, parts: Parts, folder: Path) -> None:
    """All that one variant needs: it is trained, asks, and draws; what is there is not made again.

    Args:
        settings: of the recipe.
        variant: a name of `tfmrc.models.maxout_pointer_qg.VARIANTS`.
        context: "sentence" or "paragraph".
        parts: the examples.
        folder: of this variant and context.
    """
    left = [
        beams for beams in settings.searches if not scoring.metrics_file(folder, beams).is_file()
    ]
    picture = folder / "self_attention"
    draws = VARIANTS[variant]["self_attention"] and not picture.with_suffix(".svg").is_file()
    if (folder / DONE).is_file() and not left and not draws:
        return
    predictor = train(settings, variant, context, parts, folder)
    evaluation.plot_learning_curves(folder / "log.csv", folder / "learning_curves")
    for beams in left:
        ask(predictor, parts, settings, beams, folder)
    if draws:
        first = parts.test[0]
        given = first.passages[0], first.answers["span"][0]
        plot_self_attention(predictor, *given, picture, first.spans[0].start)


def untrained(
    settings: Settings, variant: str, context: str, parts: Parts, folder: Path
) -> MaxoutPointerQGPredictor:
    """A variant before its training; the vocabulary of all variants lies beside their folders."""
    keras.utils.set_random_seed(settings.seed)
    preprocessor = preprocessing.MaxoutPointerQGPreprocessor(
        _vocabulary(settings, parts, folder.parent),
        context=context if settings.with_answers else "paragraph",
        passage_length=settings.passage_length,
        question_length=settings.question_length,
        generation_vocabulary_size=settings.generation_vocabulary_size,
        with_answers=settings.with_answers,
    )
    model = models.MaxoutPointerQG(
        vocabulary_size=len(preprocessor.vocabulary),
        num_oov_buckets=settings.num_oov_buckets,
        generation_vocabulary_size=preprocessor.generation_vocabulary_size,
        **VARIANTS[variant],
        **settings.model,
    )
    predictor = MaxoutPointerQGPredictor(model, preprocessor)
    if settings.vectors is not None:
        found = encoders.set_vectors(
            model.word_embedding, preprocessor.vocabulary, settings.vectors
        )
        predictor.metrics["words_with_a_vector"] = round(found.share, 4)
    return predictor


def train(
    settings: Settings, variant: str, context: str, parts: Parts, folder: Path
) -> MaxoutPointerQGPredictor:
    """A trained predictor; a run that is trained is loaded, a stopped one goes on."""
    if (folder / DONE).is_file():
        return MaxoutPointerQGPredictor.load(folder / "predictor")
    predictor = untrained(settings, variant, context, parts, folder)
    model, preprocessor = predictor.model, predictor.preprocessor
    steps = len(parts.train) // settings.batch_size
    model.compile(
        **training.compile_arguments(
            model,
            steps=steps * settings.epochs,
            steps_per_epoch=steps,
            learning_rate=settings.learning_rate,
            first_halving=settings.first_halving,
            halving_every=settings.halving_every,
            clip_norm=settings.clip_norm,
        )
    )
    callbacks = training.callbacks(folder, ema_weights=False, among=4)
    limit = TimeLimit(settings.max_minutes)
    callbacks.checkpoint.callbacks.append(limit)
    of_model = training.only_outputs(model)
    batches = callbacks.checkpoint.dataset(
        lambda start_step: data.make_dataset(
            parts.train, preprocessor, settings.batch_size, shuffle=True, seed=settings.seed,
            drop_remainder=True, repeat=True, start_step=start_step, randomize_oov_buckets=True,
        ).map(of_model)
    )  # fmt: skip
    dev = data.make_dataset(parts.dev, preprocessor, settings.batch_size).map(of_model)
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
        "examples": len(parts.train),
        "steps": callbacks.checkpoint.step,
        "seconds": round(limit.seconds, 1),
        "ended_by": "time limit" if limit.reached else "all epochs done",
        "kept_epoch": None if callbacks.best.best_epoch is None else callbacks.best.best_epoch + 1,
        "lowest_dev_loss": callbacks.best.best,
        "machine": in_words(machine()),
        **predictor.metrics,
    }
    predictor.save(folder / "predictor", metrics=facts)
    write_json(folder / DONE, facts)
    return predictor


def ask(
    predictor: MaxoutPointerQGPredictor, parts: Parts, settings: Settings, beams: int, folder: Path
) -> None:
    """Questions about the test set's answers in a file, and their scores in another."""
    began = time.monotonic()
    asked = list(predictor.predict(parts.test, batch_size=settings.batch_size, num_beams=beams))
    seconds = time.monotonic() - began
    with scoring.questions_file(folder, beams).open("w", encoding="utf-8") as file:
        for example, found in zip(parts.test, asked, strict=True):
            line = {
                "id": example.id,
                "question": found.text,
                "probability": found.probability,
                "log_probability": found.log_probability,
                "answer": found.answer,
                "references": parts.references[example.id],
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    scores = {row.name: row.value for part in scoring.scored(folder, beams) for row in part.rows}
    facts = {"scores": scores, "size": len(parts.test), "seconds": round(seconds, 1)}
    write_json(scoring.metrics_file(folder, beams), facts)


def _vocabulary(settings: Settings, parts: Parts, folder: Path) -> text.Vocabulary:
    path = folder / "vocabulary.txt"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        made = text.Vocabulary.from_examples(parts.train, size=settings.vocabulary_size)
        made.save(path)
    return text.Vocabulary.load(path, settings.num_oov_buckets)

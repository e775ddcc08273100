"""Train a recipe: `fit` with checkpoints, a bound in time, and the best weights kept."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tfmrc import predictors, text, training
from tfmrc.data import TrainingExample, make_dataset, padding_share, records
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.building import build_model, build_preprocessor
from tfmrc.experiments.configuration import Recipe
from tfmrc.experiments.environment import in_words, machine
from tfmrc.experiments.prepare import prepare_in
from tfmrc.experiments.sources import Mixed, Splits, data_folder, limited, splits
from tfmrc.training.base import only_outputs
from tfmrc.training.callbacks.time_limit import TimeLimit


def train(
    recipe: Recipe,
    data: str | Path | None = None,
    run: str | Path | None = None,
    fresh: bool = False,
) -> Path:
    """Train a recipe, or go on where a stopped run of it stands.

    The folder of the run afterwards holds, beside what `prepare` writes, `log.csv` (a row for
    each look at the validation examples), `predictor/` (model, preprocessor and the averaged weights of
    the best look) and `training.json` (what it took).

    Args:
        recipe: the recipe.
        data: the data folder; TFMRC_DATA unless given.
        run: the run's folder; `runs/NAME` unless given.
        fresh: drop what the folder holds.

    Returns:
        The run's folder.

    Raises:
        ValueError: the data is not there or broken, settings contradict each other, or the folder
            holds a run of other settings.
    """
    chosen = recipe.training
    if chosen.steps % chosen.eval_every_steps:
        raise ValueError(
            "Training ends with a look at the validation examples, so `steps` must be a multiple "
            f"of `eval_every_steps`. Received: steps={chosen.steps}, "
            f"eval_every_steps={chosen.eval_every_steps}"
        )
    sources = splits(recipe, data_folder(data))
    folder = places.open_run(recipe, run, fresh)
    if (folder / places.TRAINING).is_file():
        print(f"{folder} is trained already; --fresh trains anew.")
        return folder
    found = prepare_in(folder, recipe, sources)
    keras.utils.set_random_seed(recipe.seed)
    vocabulary = text.Vocabulary.load(folder / places.VOCABULARY, recipe.vocabulary.num_oov_buckets)
    preprocessor = build_preprocessor(recipe, vocabulary)
    with _devices(chosen.batch_size):
        model = build_model(recipe, preprocessor)
        model.compile(**_compile_arguments(recipe, model))

    callbacks = training.callbacks(
        folder,
        ema_weights=chosen.ema > 0,
        patience=chosen.patience,
        every_steps=chosen.checkpoint_every,
    )
    limit = TimeLimit(chosen.max_minutes)
    callbacks.checkpoint.callbacks.append(limit)
    if callbacks.checkpoint.step:
        print(f"Going on after step {callbacks.checkpoint.step:,} of {chosen.steps:,}.")
    examples = _training_records(recipe, sources, found)
    batches = callbacks.checkpoint.dataset(
        lambda start_step: make_dataset(
            examples,
            preprocessor,
            chosen.batch_size,
            shuffle=True,
            seed=recipe.seed,
            drop_remainder=True,
            repeat=True,
            start_step=start_step,
            randomize_oov_buckets=True,
        )
    )
    batches = batches.map(only_outputs(model))
    validation = make_dataset(
        _validation_records(recipe, sources), preprocessor, chosen.batch_size
    ).map(only_outputs(model))
    print(f"{model.count_params():,} weights; {in_words(machine())}", flush=True)
    history = model.fit(
        batches,
        epochs=chosen.steps // chosen.eval_every_steps,
        steps_per_epoch=chosen.eval_every_steps,
        validation_data=validation,
        shuffle=False,  # the batches are shuffled already
        verbose=1 if sys.stdout.isatty() else 2,
        callbacks=[*callbacks[:-1], limit, callbacks.checkpoint],
    )
    facts = {
        "steps": callbacks.checkpoint.step,
        "seconds": round(limit.seconds, 1),
        "ended_by": _end(history, limit, callbacks.checkpoint.step, chosen.steps),
        "best_eval_step": callbacks.best.best_epoch,
        "best_val_loss": callbacks.best.best,
        "weights": model.count_params(),
        "seed": recipe.seed,
        "validation_padding": padding_share(validation),
        "machine": machine(),
    }
    places.write_json(folder / places.TRAINING, facts)
    predictors.Predictor(model, preprocessor).save(
        folder / places.PREDICTOR, metrics={"training": facts}
    )
    print(f"Trained {facts['steps']:,} steps in {facts['seconds'] / 60:.1f} minutes: {folder}")
    return folder


def _devices(batch_size: int) -> Any:
    if len(tf.config.list_physical_devices("GPU")) < 2:
        return nullcontext()
    return training.mirrored(batch_size=batch_size).scope()


def _compile_arguments(recipe: Recipe, model: Any) -> dict[str, Any]:
    chosen = recipe.training
    return training.compile_arguments(
        model,
        steps=chosen.steps,
        learning_rate=chosen.learning_rate,
        warmup_steps=chosen.warmup_steps,
        weight_decay=chosen.weight_decay,
        ema=chosen.ema,
        clip_norm=chosen.clip_norm,
    )


def _training_records(recipe: Recipe, sources: list[Splits], found: dict[str, Any]) -> Any:
    parts = [part for part in sources if part.source.train is not None]
    if not recipe.training.stream:
        return [record for part in parts for record in records(part.train, part.source.styles)]
    lengths = tuple(facts["train"]["examples"] for facts in found["sources"] if "train" in facts)
    return lambda: Mixed(tuple(records(p.train, p.source.styles) for p in parts), lengths)


def _validation_records(recipe: Recipe, sources: list[Splits]) -> list[TrainingExample]:
    limit = recipe.training.validation_limit
    chosen = [(part, limited(part.validation, limit)) for part in sources]
    return [record for part, kept in chosen for record in records(kept, part.source.styles)]


def _end(history: Any, limit: TimeLimit, step: int, steps: int) -> str:
    if step >= steps:
        return "all steps done"
    return "time limit" if limit.reached else "no better validation loss"

"""Train one system with one seed, or go on where a stopped run stands."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

from recipes.daanet_squad import systems
from recipes.daanet_squad.settings import Settings
from tfmrc.data import Example
from tfmrc.experiments.run_folder import read_json, write_json

DONE = "training.json"
SETTINGS = "settings.json"
# What may differ when a run goes on: what is trained beside it, how long, and what is reported.
FREE = ("name", "dataset", "systems", "seeds", "max_minutes", "test", "test_limit", "num_beams",
        "max_length", "meteor")  # fmt: skip


def train(
    settings: Settings, name: str, seed: int, parts: dict[str, list[Example]], run: Path
) -> dict[str, Any]:
    """Trains; a run that is trained already is left as it is.

    Args:
        settings: sizes and budget.
        name: the system, one of `recipes.daanet_squad.systems.SYSTEMS`.
        seed: of weights, dropout and order.
        parts: the examples of `train` and `dev`.
        run: the run's folder; afterwards it holds `predictor/`, `log.csv` and `training.json`.

    Returns:
        What `training.json` holds: what it took.

    Raises:
        ValueError: the folder holds a run of other settings.
    """
    _claim(settings, run)
    if (run / DONE).is_file():
        return read_json(run / DONE, "train")
    import keras

    from tfmrc import evaluation, training
    from tfmrc.data import make_dataset
    from tfmrc.experiments.environment import in_words, machine
    from tfmrc.training.callbacks.time_limit import TimeLimit

    keras.utils.set_random_seed(seed)
    system = systems.build(settings, name, _vocabulary(settings, parts["train"], run.parent))
    model, preprocessor = system.predictor.model, system.predictor.preprocessor
    model.compile(**system.compile_arguments(settings))
    callbacks = training.callbacks(run, ema_weights=False, every_steps=200)
    limit = TimeLimit(settings.max_minutes)
    callbacks.checkpoint.callbacks.append(limit)
    of_model = training.only_outputs(model)
    examples = system.records(parts["train"])
    batches = callbacks.checkpoint.dataset(
        lambda start_step: make_dataset(
            examples,
            preprocessor,
            settings.batch_size,
            shuffle=True,
            seed=seed,
            drop_remainder=len(examples) >= settings.batch_size,
            repeat=True,
            start_step=start_step,
            randomize_oov_buckets=True,
        ).map(of_model)
    )
    dev = make_dataset(system.records(parts["dev"]), preprocessor, settings.batch_size).map(
        of_model
    )
    began = callbacks.checkpoint.step
    print(
        f"\n{name}, seed {seed}: {model.count_params():,} weights, {settings.steps:,} steps"
        + f", going on after step {began:,}" * bool(began),
        flush=True,
    )
    model.fit(
        batches,
        epochs=settings.steps // settings.eval_every_steps,
        steps_per_epoch=settings.eval_every_steps,
        validation_data=dev,
        shuffle=False,  # the batches are shuffled already
        verbose=1 if sys.stdout.isatty() else 2,
        callbacks=[*callbacks[:-1], limit, callbacks.checkpoint],
    )
    found = machine()
    facts = {
        "system": name,
        "seed": seed,
        "steps": callbacks.checkpoint.step,
        "seconds": round(limit.seconds, 1),
        "ended_by": "time limit" if limit.reached else "all steps done",
        "best_eval_step": callbacks.best.best_epoch,
        "best_val_loss": callbacks.best.best,
        "weights": model.count_params(),
        "examples": len(examples),
        "machine": in_words(found),
        "versions": found["versions"],
    }
    system.predictor.save(run / "predictor", metrics={"training": facts})
    evaluation.plot_learning_curves(run / "log.csv", run / "learning_curves")
    write_json(run / DONE, facts)
    return facts


def _claim(settings: Settings, run: Path) -> None:
    """Notes what the run is trained with, or compares it with what was noted."""
    chosen = {k: v for k, v in dataclasses.asdict(settings).items() if k not in FREE}
    if not (run / SETTINGS).is_file():
        write_json(run / SETTINGS, chosen)
        return
    noted = read_json(run / SETTINGS, "train")
    for key, value in chosen.items():
        if noted.get(key, value) != value:
            raise ValueError(
                f"{run} holds a run of other settings; remove it, or name another by --runs. "
                f"Received: {key}={value!r}, there: {noted[key]!r}"
            )


def _vocabulary(settings: Settings, examples: list[Example], folder: Path) -> Any:
    """The words of all runs in a folder, counted once."""
    from tfmrc import text

    path = folder / "vocabulary.txt"
    if not path.is_file():
        made = text.Vocabulary.from_examples(
            examples, size=settings.vocabulary_size, min_count=settings.min_count
        )
        made.save(path)
    return text.Vocabulary.load(path, settings.num_oov_buckets)

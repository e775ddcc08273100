"""Trains an experiment: `fit` with checkpoints, a time limit and the best weights."""

import csv
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tfmrc import evaluation, training
from tfmrc.data import TrainingExample, make_dataset, padding_share, records
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.building.parts import Parts, build_parts, compile_model
from tfmrc.experiments.environment import machine, summary
from tfmrc.experiments.examples.sources import Mixed, Splits, splits
from tfmrc.experiments.plan import Plan, members, plan_of
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.steps.predictions import print_predictions
from tfmrc.experiments.steps.prepare import Prepared, prepare_in
from tfmrc.training.callbacks.ema_weights import has_averages
from tfmrc.training.distribution.hosts import (
    is_first_host,
    is_single_host,
    named_failure,
    on_this_host,
    wait_for_hosts,
)
from tfmrc.utils import keras_private
from tfmrc.utils.memory import peak_memory

_TIME_LIMIT = "time limit"


@dataclass(frozen=True)
class Data:
    """What a run is trained and validated on.

    Attributes:
        examples: list of `TrainingExample`, or a function that reads them again.
        validation: list of `TrainingExample`.
        steps: int. Optimizer steps of the whole training.
        per_epoch: int. Steps between two evaluations on the validation examples.
        facts: dict. Facts for `training.json`.
    """

    examples: Any
    validation: list[TrainingExample]
    steps: int
    per_epoch: int
    facts: dict[str, Any]


def train(
    experiment: Experiment,
    data: str | Path | None = None,
    run: str | Path | None = None,
    *,
    fresh: bool = False,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> Path:
    """Trains an experiment, or resumes an interrupted training.

    Besides the files of `prepare`, the folder of each run gets `log.csv` (one row per evaluation
    on the validation examples), `predictor/` (model and preprocessor with the best weights) and,
    last, `training.json` (steps, time and machine). The runs of a grid are in `VARIANT-SEED` and
    share vocabulary and tags.

    Args:
        experiment: `Experiment`. The experiment.
        data: str, path or None. The data folder. Default: the environment variable TFMRC_DATA.
        run: str, path or None. The run's folder. Default: `runs/NAME`.
        fresh: bool. Whether the runs in the folder are first renamed to `NAME.old-1` and so on.
            Default: False.
        variants: list of str or None. Variants of the grid to train; None for all. Default: None.
        seeds: list of int or None. Seeds to train; None for those of the grid. Default: None.

    Returns:
        The run's folder.

    Raises:
        ValueError: If a setting does not exist, settings contradict each other, the data does not
            exist or is broken or has changed, the folder has a run of other settings, or another
            process trains there.
        OSError: If the disk is full.
    """
    shared = plan_of(experiment, run, data)
    plans = members(experiment, shared.folder, variants, seeds, shared.data)
    for plan in plans:
        plan.check()
    chosen = bool(variants or seeds)  # `fresh` is about these runs, and no others
    with _opened(shared, fresh and not chosen):
        prepared = _prepared(shared)
        if plans == [shared]:
            train_run(shared, prepared)
            return shared.folder
    for plan in plans:
        again = fresh and chosen
        if plan.is_trained and not again and not _has_more_time(plan):
            folders.check_settings(plan.experiment, plan.folder)
            continue
        try:
            with _opened(plan, again):
                # The shared files, or those of a variant that counts other words or examples.
                own = plan.experiment.differences(experiment, "data")
                train_run(plan, _prepared(plan) if own else prepared)
        except folders.RunLockedError as error:
            print(f"Skipping {plan.folder.name}: {error}", flush=True)
        keras.utils.clear_session()  # graphs of the run that ended
    return shared.folder


def _opened(plan: Plan, fresh: bool) -> AbstractContextManager[Any]:
    """Opens a run's folder; of several hosts the first one alone does, and writes to it."""
    if not is_first_host():
        return nullcontext()
    return folders.open_run(plan.experiment, plan.folder, fresh)


def _prepared(plan: Plan) -> Prepared:
    """Prepares a folder; the other hosts read what the first one has written."""
    if is_first_host():
        prepared = prepare_in(plan)
        wait_for_hosts("prepared")
        return prepared
    wait_for_hosts("prepared")
    return prepare_in(plan)


def train_run(plan: Plan, prepared: Prepared) -> dict[str, Any]:
    """Trains one run in its open folder, unless it is trained.

    Args:
        plan: `Plan`. The run.
        prepared: `Prepared`. The shared files.

    Returns:
        The content of `training.json`.
    """
    if plan.is_trained:
        facts = dict(folders.read_json(plan.folder / folders.TRAINING, "train"))
        end = f"is trained for {facts['steps']:,} steps, ended by: {facts['ended_by']}"
        if not _has_more_time(plan):
            print(f"{plan.folder} {end}. --fresh trains again, a longer time limit trains on.")
            return facts
        print(f"{plan.folder} {end}; it goes on.")
        (plan.folder / folders.TRAINING).unlink()
    keras.utils.set_random_seed(plan.seed)
    same = plan.experiment.sources == prepared.plan.experiment.sources
    sources = prepared.sources if same else splits(plan)
    tags = prepared.tags if plan.classes.read_tags else None
    strategy = _strategy(plan.experiment.training.batch_size)
    with nullcontext() if strategy is None else strategy.scope():
        parts = build_parts(plan, prepared.vocabulary, tags, sources)
    data = training_data(plan, prepared, parts, sources)
    with nullcontext() if strategy is None else strategy.scope():
        model = compile_model(plan, parts, data.steps, data.per_epoch)
    facts = fit(plan, parts, data, model)
    if is_first_host():
        with on_this_host():
            facts = finish(plan, parts, data, model, facts)
    wait_for_hosts("trained")
    return facts


def _has_more_time(plan: Plan) -> bool:
    """Returns True if a lower time limit than that of the settings ended a training."""
    facts = folders.read_json(plan.folder / folders.TRAINING, "train")
    minutes = plan.experiment.training.max_minutes
    ended = facts["ended_by"] == _TIME_LIMIT
    return ended and (minutes is None or facts["seconds"] < 60 * minutes)


def _strategy(batch_size: int) -> tf.distribute.Strategy | None:
    """Returns a strategy for all GPUs of TensorFlow, or None for one device or on JAX."""
    if keras.backend.backend() != "tensorflow" or len(tf.config.list_physical_devices("GPU")) < 2:
        return None
    return training.mirrored(batch_size=batch_size)


def training_data(plan: Plan, prepared: Prepared, parts: Parts, sources: list[Splits]) -> Data:
    """Returns the records to train and to validate on, and the number of steps.

    Raises:
        ValueError: If there are none, or the steps do not end with an evaluation.
    """
    examples, size = _training_records(plan, prepared, sources)
    facts: dict[str, Any] = {"examples": size}
    if hasattr(parts.preprocessor, "align") and isinstance(examples, list):
        located = [r for r in examples if r.example.span_of(r.answer) is not None]
        lost = facts["without_a_span"] = size - len(located)
        lines = f"Training examples without a usable span: {lost:,} of {size:,} (left out)"
        print(lines, flush=True)
        if plan.experiment.training.teacher is None:  # examples without a label learn from it, too
            examples, size = located, len(located)
    validation = [
        record for part in sources for record in records(part.validation, part.source.styles)
    ]
    if not size or not validation:
        raise ValueError(
            "There is nothing to train or to validate on: give examples answers (for a reader of "
            "spans in the words of a passage, see `spans` of a source) and a `group`, or raise "
            f"`split.validation_share`. Received: {size} training and {len(validation)} validation "
            "examples with an answer"
        )
    facts["records"] = size
    facts["validation_examples"] = len(validation)
    return Data(examples, validation, *count_steps(plan.experiment, size), facts)


def _training_records(plan: Plan, prepared: Prepared, sources: list[Splits]) -> tuple[Any, int]:
    """Returns records of all sources, or a function that reads them again, and their number."""
    parts = [part for part in sources if part.source.train is not None]
    if not plan.experiment.training.stream:
        held = [record for part in parts for record in records(part.train, part.source.styles)]
        return held, len(held)
    counted = [facts["train"] for facts in prepared.facts["sources"] if "train" in facts]
    lengths = tuple(facts["training_targets"] for facts in counted)
    size = sum(lengths)
    return (lambda: Mixed(tuple(records(p.train, p.source.styles) for p in parts), lengths)), size


def count_steps(experiment: Experiment, size: int) -> tuple[int, int]:
    """Returns the number of steps on `size` examples, and of those between two evaluations."""
    settings = experiment.training
    per_epoch = settings.eval_every_steps or max(1, size // settings.batch_size)
    if settings.steps is None:
        return settings.epochs * per_epoch, per_epoch
    if settings.steps % per_epoch:
        near = per_epoch * max(1, round(settings.steps / per_epoch))
        raise ValueError(
            "Training ends with an evaluation on the validation examples, so `steps` must be a "
            f"multiple of `eval_every_steps`, by default a pass: steps={near}, or "
            f"eval_every_steps={settings.steps}. Received: steps={settings.steps}, "
            f"a pass of {per_epoch} steps"
        )
    return settings.steps, per_epoch


def fit(plan: Plan, parts: Parts, data: Data, model: keras.Model) -> dict[str, Any]:
    """Trains the compiled model from the newest checkpoint of the run's folder on.

    Returns:
        Facts for `training.json`.

    Raises:
        OSError: If the disk is full.
    """
    folder, settings = plan.folder, plan.experiment.training
    if settings.max_minutes and not is_single_host():
        raise ValueError(
            "`training.max_minutes` needs a single host; several train `training.steps` steps. "
            f"Received: training.max_minutes={settings.max_minutes}"
        )
    callbacks = training.callbacks(
        folder,
        ema_weights=has_averages(model),
        patience=settings.patience,
        among=settings.best_of,
        every_steps=settings.checkpoint_every_steps,
    )
    checkpoint, limit = callbacks.checkpoint, training.TimeLimit(settings.max_minutes)
    checkpoint.callbacks.append(limit)
    began, hardware = checkpoint.step, machine()
    # `fit` counts the steps of a pass that was cut short once more.
    progress = training.ProgressLog(first_step=began - checkpoint.step_in_epoch, steps=data.steps)
    batches = checkpoint.dataset(lambda step: _batches(plan, parts, data, start_step=step))
    validation = _batches(plan, parts, data)
    resumed = f", resuming after step {began:,}" if began else ""
    weights = f"{parts.model.count_params():,} weights"
    print(
        f"{folder.name}: {weights}, {data.steps:,} steps{resumed}; {summary(hardware)}", flush=True
    )
    terminal = sys.stdout.isatty()
    with training.SaveOnInterrupt(checkpoint) as interrupt, named_failure():
        model.fit(
            batches,
            epochs=_epochs(checkpoint, data.steps, data.per_epoch),
            steps_per_epoch=data.per_epoch,
            validation_data=validation,
            shuffle=False,  # the batches are shuffled already
            verbose=1 if terminal else 2,
            callbacks=[
                *callbacks[:-1],
                *([] if terminal else [progress]),
                limit,
                checkpoint,
                _LastStep(checkpoint, data.steps),
                interrupt,
            ],
        )
    return {
        "steps": checkpoint.step,
        "batch_size": settings.batch_size,
        "seconds": round(limit.seconds, 1),
        "seconds_per_step": limit.seconds_per_step,
        "peak_memory_gib": round(peak_memory() / 1024, 2),
        "ended_by": _end(limit, checkpoint.step, data.steps),
        "best_eval": None if callbacks.best.best_epoch is None else callbacks.best.best_epoch + 1,
        "best_val_loss": callbacks.best.best,
        "weights": parts.model.count_params(),
        "validation_padding": padding_share(validation),
        "machine": hardware,
    }


def _batches(
    plan: Plan, parts: Parts, data: Data, start_step: int | None = None
) -> tf.data.Dataset:
    """Returns the training batches after a step; without one, those of the validation."""
    size = plan.experiment.training.batch_size
    shared = {
        "annotate": parts.annotate,
        "static_shapes": keras.backend.backend() == "jax",  # which compiles for each shape
    }
    if start_step is None:
        batches = make_dataset(data.validation, parts.preprocessor, size, bucket=True, **shared)
    else:
        batches = make_dataset(
            data.examples,
            parts.preprocessor,
            size,
            shuffle=True,
            seed=plan.seed,
            drop_remainder=data.facts["records"] >= size,
            repeat=True,
            start_step=start_step,
            randomize_oov_buckets=True,
            **shared,
        )
    if isinstance(parts.model.output, dict):
        batches = batches.map(training.only_outputs(parts.model))
    return training.rows_of_host(batches)


def _epochs(checkpoint: training.Checkpoint, steps: int, per_epoch: int) -> int:
    """Returns the epochs of a run, those before it was stopped included.

    After an epoch that was cut short there are more epochs than usual.
    """
    left = max(0, steps - (checkpoint.step - checkpoint.step_in_epoch))
    return checkpoint.epoch + -(-left // per_epoch)


class _LastStep(keras.callbacks.Callback):
    """Ends `fit` after a step, in an epoch too: those after one that was cut short are whole."""

    def __init__(self, checkpoint: training.Checkpoint, step: int) -> None:
        super().__init__()
        self.checkpoint, self.step = checkpoint, step

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        done = batch + 1
        if (
            done < self.params["steps"]
            and self.checkpoint.steps_of_earlier_epochs + done >= self.step
        ):
            self.model.stop_training = True


def _end(limit: training.TimeLimit, step: int, steps: int) -> str:
    if step >= steps:
        return "all steps done"
    return _TIME_LIMIT if limit.reached else "no better validation loss"


def finish(
    plan: Plan, parts: Parts, data: Data, fitted: keras.Model, facts: dict[str, Any]
) -> dict[str, Any]:
    """Saves the predictor, draws the learning curves and writes `training.json`, which it returns.

    It prints what the model predicts for three held-out examples, unless Keras runs on JAX, where
    a predictor reads no strings.

    Raises:
        OSError: If the disk is full.
    """
    folder, model = plan.folder, parts.model
    facts = {**parts.facts, **data.facts, **facts}
    model.trained_outputs = None  # the log has those of all epochs, before a resume too
    predictor: Any = plan.classes.predictor(model, parts.preprocessor)
    predictor.calibration = parts.calibration
    trained = _trained_parts(fitted, folder / folders.LOG)
    if trained is not None and parts.earlier is not None:  # trained before, if not now
        trained = [name for name in model.output if name in (*trained, *parts.earlier)]
    model.trained_outputs = None if trained is None else tuple(trained)
    predictor.save(folder / folders.PREDICTOR, metrics={"training": facts})
    evaluation.plot_learning_curves(folder / folders.LOG, folder / "learning_curves")
    folders.write_json(folder / folders.TRAINING, facts)
    how_many, why = f"{facts['steps']:,}", ""
    if facts["steps"] < data.steps:
        how_many, why = f"{how_many} of {data.steps:,}", f", ended by: {facts['ended_by']},"
    print(
        f"Trained {how_many} steps{why} in {facts['seconds'] / 60:.1f} minutes: {folder}",
        flush=True,
    )
    if keras.backend.backend() == "tensorflow":
        if parts.tagger is not None:
            predictor.tagger = parts.tagger
        print_predictions(predictor, data.validation, plan.experiment.evaluation.options)
    return facts


def _trained_parts(model: keras.Model, log: Path) -> list[str] | None:
    """Returns the outputs whose loss was ever above 0; others had no label, or have no loss."""
    if not isinstance(model.output, dict):
        return None
    with log.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(model.output)
    named = keras_private.outputs_with_loss(model)
    with_loss = names if named is None else named
    trained = [
        name
        for name in names
        if name in with_loss
        and (
            f"{name}_loss" not in rows[0]
            or any(row[f"{name}_loss"] not in ("", "0", "0.0") for row in rows)
        )
    ]
    for name in names:
        if name not in (*trained, *getattr(model, "PENALTIES", ())):
            reason = "No training example has a label" if name in with_loss else "There is no loss"
            print(
                f"{reason} for `{name}`: it was not trained, and results and exports leave it out.",
                flush=True,
            )
    return trained

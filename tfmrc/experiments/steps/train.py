"""Trains an experiment: `fit` with checkpoints, a time limit and the best weights."""

import csv
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tfmrc import encoders, evaluation, training
from tfmrc.data import TrainingExample, make_dataset, padding_share, records
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.alignment import align_answers
from tfmrc.experiments.building import (
    build_contextual,
    build_encoder,
    build_model,
    build_preprocessor,
    check_encoder_exists,
    check_experiment,
    classes_of,
    compile_arguments,
    tag_arguments,
)
from tfmrc.experiments.environment import machine, summary
from tfmrc.experiments.grid import Member, base_of, is_grid, members
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.sources import Mixed, data_folder, input_files, validation_examples
from tfmrc.experiments.start import check_start, freeze, load_start, thaw
from tfmrc.experiments.steps.prepare import Prepared, prepare_in
from tfmrc.experiments.teacher import check_teacher_exists, with_teacher
from tfmrc.ops.ids import NUM_SPECIAL
from tfmrc.storage.folders import check_target
from tfmrc.storage.parts import is_saved_predictor
from tfmrc.training.callbacks.ema_weights import has_averages
from tfmrc.utils import keras_private
from tfmrc.utils.memory import peak_memory

# Copies of the weights that a run may have on the disk at a time: three checkpoints with moments
# and averages, the best weights and the predictor, the last two with their temporary files.
COPIES = 16

_TIME_LIMIT = "time limit"


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
        fresh: bool. Whether to delete the runs in the folder first. Default: False.
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
    check_experiment(experiment)
    folder = folders.run_folder(experiment, run)
    runs = members(experiment, folder, variants, seeds)
    for member in runs:
        check_experiment(member.experiment)
        check_steps(member.experiment)
        check_start(member.experiment)
        check_teacher_exists(member.experiment)
        check_encoder_exists(member.experiment)
    source_folder = data_folder(data, experiment)
    if fresh:  # before anything is deleted
        for member in runs:
            _check_kept(member.experiment, folder)
            input_files(member.experiment, source_folder)
    if not is_grid(experiment) and not seeds:
        with folders.open_run(experiment, folder, fresh):
            prepared = prepare_in(folder, experiment, source_folder)
            train_run(runs[0], prepared)
        return folder
    chosen = bool(variants or seeds)  # `fresh` deletes these runs, and no others
    with folders.open_run(experiment, folder, fresh and not chosen):
        prepared = prepare_in(folder, base_of(experiment), source_folder)
    for member in runs:
        again = fresh and chosen
        if member.is_trained and not again and not _has_more_time(member):
            folders.check_settings(member.experiment, member.folder)
            continue
        try:
            with folders.open_run(member.experiment, member.folder, again):
                train_run(member, _prepared_for(member, prepared))
        except folders.RunLockedError as error:
            print(f"Skipping {member.folder.name}: {error}", flush=True)
        keras.utils.clear_session()  # graphs of the run that ended
    return folder


def _check_kept(experiment: Experiment, folder: Path) -> None:
    """Raises a ValueError if training needs a model in the folder that is to be deleted."""
    for name, needed in (
        ("start_from", experiment.start_from),
        ("training.teacher", experiment.training.teacher),
        ("encoder.preset", experiment.encoder.get("preset")),
    ):
        if needed is not None and Path(needed).resolve().is_relative_to(folder.resolve()):
            raise ValueError(
                f"The folder holds the model of `{name}` and is not deleted. Train in another one: "
                f"--run FOLDER. Received: {name}={needed!r}, run={str(folder)!r}"
            )


def _prepared_for(member: Member, prepared: Prepared) -> Prepared:
    """Returns the shared files, or own ones if the variant counts other words or examples."""
    if folders.counts(member.experiment) == folders.counts(prepared.experiment):
        return prepared
    return prepare_in(member.folder, member.experiment, prepared.data)


def check_steps(experiment: Experiment) -> None:
    """Raises a ValueError unless training ends with an evaluation."""
    settings = experiment.training
    if settings.steps is None or settings.eval_every_steps is None:
        return
    if settings.steps % settings.eval_every_steps:
        raise ValueError(
            "Training ends with an evaluation on the validation examples, so `steps` must be a "
            f"multiple of `eval_every_steps`. Received: steps={settings.steps}, "
            f"eval_every_steps={settings.eval_every_steps}"
        )


def train_run(member: Member, prepared: Prepared) -> dict[str, Any]:
    """Trains one run in its open folder, unless it is trained.

    Args:
        member: `Member`. The run.
        prepared: `Prepared`. The shared files.

    Returns:
        The content of `training.json`.
    """
    folder, experiment = member.folder, member.experiment
    settings = experiment.training
    if member.is_trained:
        if not _has_more_time(member):
            trained = dict(folders.read_json(folder / folders.TRAINING, "train"))
            if trained["ended_by"] == _TIME_LIMIT:
                print(
                    f"{folder} is trained: its time limit ended it after {trained['steps']:,} "
                    "steps. A greater one goes on, as `--set training.max_minutes=null`; --fresh "
                    "trains again."
                )
            else:
                print(f"{folder} is already trained; --fresh trains again.")
            return trained
        print(f"{folder} was ended by its time limit, and goes on.")
        (folder / folders.TRAINING).unlink()
    check_target(folder / folders.PREDICTOR, is_saved_predictor)  # which is written at the end
    keras.utils.set_random_seed(experiment.seed)
    sources = prepared.splits(experiment)
    tags = prepared.tags()
    more: dict[str, Any] = {}
    if tags is not None:
        for part in sources:  # none is missing, unless the file was cut or removed
            tags.add(part.train)
            tags.add(validation_examples(experiment, part))
        known = tags.preprocessor_arguments(e for part in sources for e in part.train)
        more = tag_arguments(classes_of(experiment), known)
    tagger = None if tags is None else tags.name
    strategy = _strategy(settings.batch_size)
    with _scope(strategy):
        start = load_start(experiment, tagger)
        encoder = build_encoder(experiment) if start is None else None
        contextual = build_contextual(experiment, prepared.data) if start is None else None
    if encoder is not None:
        more["encoder"] = encoder
    if getattr(contextual, "reads", None) == "characters":
        more["characters"] = True
    vocabulary = prepared.vocabulary()
    if start is None:
        preprocessor = build_preprocessor(experiment, vocabulary, more)
    else:
        preprocessor = start.preprocessor
    annotate = None if tags is None else tags.cache.annotate(preprocessor.annotations)
    examples, size = _training_records(experiment, prepared, sources)
    facts: dict[str, Any] = {"variant": member.variant, "seed": experiment.seed, "examples": size}
    if hasattr(preprocessor, "align") and isinstance(examples, list):
        located, facts["alignment"] = align_answers(preprocessor, examples, annotate)
        if settings.teacher is None:  # which examples without a label learn from, too
            examples = located
    validation = _validation_records(experiment, sources)
    prepared.check_files()
    facts["records"] = len(examples) if isinstance(examples, list) else size
    steps, per_epoch = count_steps(experiment, facts["records"])
    with _scope(strategy):
        if start is None:
            model = build_model(experiment, preprocessor, tagger, encoder, contextual)
            vectors = _vectors(experiment, prepared, vocabulary, encoder)
            if vectors is not None:
                if getattr(model, "word_embedding", None) is None:
                    raise ValueError(
                        "This model reads an encoder in place of words' rows, so it takes no "
                        f"vectors. Received: vocabulary={experiment.vocabulary}"
                    )
                coverage = encoders.set_vectors(model.word_embedding, vocabulary, vectors)
                facts["words_with_a_vector"] = round(coverage.share, 4)
        else:
            model = start.model
            thaw(experiment, model)
            facts["started_from"] = str(experiment.start_from)
        freeze(experiment, model)
        fitted = with_teacher(experiment, model, preprocessor)
        fitted.compile(**compile_arguments(experiment, model, steps, per_epoch))
    folders.check_room(folder, COPIES * 4 * fitted.count_params(), "training")
    callbacks = training.callbacks(
        folder,
        ema_weights=has_averages(fitted),
        patience=settings.patience,
        among=settings.best_of,
        every_steps=settings.checkpoint_every_steps,
    )
    epochs = _epochs(callbacks.checkpoint, steps, per_epoch)
    limit = training.TimeLimit(settings.max_minutes)
    callbacks.checkpoint.callbacks.append(limit)
    select = _selection(model)
    static_shapes = keras.backend.backend() == "jax"  # which compiles for each shape
    enough = facts["records"] >= settings.batch_size
    batches = callbacks.checkpoint.dataset(
        lambda start_step: select(
            make_dataset(
                examples,
                preprocessor,
                settings.batch_size,
                shuffle=True,
                seed=experiment.seed,
                drop_remainder=enough,
                repeat=True,
                start_step=start_step,
                randomize_oov_buckets=True,
                annotate=annotate,
                static_shapes=static_shapes,
            )
        )
    )
    dev = select(
        make_dataset(
            validation,
            preprocessor,
            settings.batch_size,
            annotate=annotate,
            static_shapes=static_shapes,
        )
    )
    began = callbacks.checkpoint.step
    hardware = machine()
    print(
        f"{folder.name}: {model.count_params():,} weights, {steps:,} steps"
        + f", resuming after step {began:,}" * bool(began)
        + f"; {summary(hardware)}",
        flush=True,
    )
    terminal = sys.stdout.isatty()
    # `fit` counts the steps of a pass that was cut short once more.
    progress = training.Progress(first_step=began - callbacks.checkpoint.step_in_epoch, steps=steps)
    with training.SaveOnInterrupt(callbacks.checkpoint) as interrupt:
        fitted.fit(
            batches,
            epochs=epochs,
            steps_per_epoch=per_epoch,
            validation_data=dev,
            shuffle=False,  # the batches are shuffled already
            verbose=1 if terminal else 2,
            callbacks=[
                *callbacks[:-1],
                *([] if terminal else [progress]),
                limit,
                callbacks.checkpoint,
                _LastStep(callbacks.checkpoint, steps),
                interrupt,
            ],
        )
    if settings.stream:
        prepared.check_files()
    done = callbacks.checkpoint.step
    facts |= {
        "steps": done,
        "batch_size": settings.batch_size,
        "seconds": round(limit.seconds, 1),
        "seconds_per_step": limit.seconds_per_step,
        "peak_memory_gib": round(peak_memory() / 1024, 2),
        "ended_by": _end(limit, done, steps),
        "best_eval": None if callbacks.best.best_epoch is None else callbacks.best.best_epoch + 1,
        "best_val_loss": callbacks.best.best,
        "weights": model.count_params(),
        "validation_examples": len(validation),
        "validation_padding": padding_share(dev),
        "machine": hardware,
    }
    parts = _trained_parts(fitted, folder / folders.LOG)
    if start is not None and parts is not None:  # trained before, if not now
        earlier = start.model.trained_outputs or model.output
        parts = [name for name in model.output if name in parts or name in earlier]
    model.trained_outputs = None  # the log has those of all epochs, before a resume too
    predictor = classes_of(experiment).predictor(model, preprocessor)
    model.trained_outputs = None if parts is None else tuple(parts)
    folders.check_room(folder, 3 * 4 * model.count_params(), "the trained predictor")
    predictor.save(folder / folders.PREDICTOR, metrics={"training": facts})
    evaluation.plot_learning_curves(folder / folders.LOG, folder / "learning_curves")
    folders.write_json(folder / folders.TRAINING, facts)
    how_many, why = f"{done:,}", ""
    if done < steps:
        how_many, why = f"{done:,} of {steps:,}", f", ended by: {facts['ended_by']},"
    print(
        f"Trained {how_many} steps{why} in {facts['seconds'] / 60:.1f} minutes: {folder}",
        flush=True,
    )
    return facts


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


def _vectors(experiment: Experiment, prepared: Prepared, vocabulary: Any, encoder: Any) -> Any:
    """Returns the vectors of the words' rows, or their file; None for random rows."""
    if experiment.vocabulary.rows_from_encoder:
        return encoder.word_vectors(vocabulary.words[NUM_SPECIAL:])
    if experiment.vocabulary.vectors is None:
        return None
    return prepared.data / experiment.vocabulary.vectors


def _strategy(batch_size: int) -> Any:
    """Returns a strategy for all GPUs of TensorFlow, or None for one device or on JAX."""
    if keras.backend.backend() != "tensorflow" or len(tf.config.list_physical_devices("GPU")) < 2:
        return None
    return training.mirrored(batch_size=batch_size)


def _scope(strategy: Any) -> Any:
    return nullcontext() if strategy is None else strategy.scope()


def _selection(model: keras.Model) -> Any:
    """Returns a function that selects the labels of the model's outputs in a dataset."""
    if not isinstance(model.output, dict):
        return lambda dataset: dataset
    return lambda dataset: dataset.map(training.only_outputs(model))


def _training_records(
    experiment: Experiment, prepared: Prepared, sources: list[Any]
) -> tuple[Any, int]:
    """Returns records of all sources, or a function that reads them again, and their number."""
    parts = [part for part in sources if part.source.train is not None]
    if not experiment.training.stream:
        held = [record for part in parts for record in records(part.train, part.source.styles)]
        if not held:
            raise ValueError("There is nothing to train on: the training examples have no answer.")
        return held, len(held)
    counted = [facts["train"] for facts in prepared.facts["sources"] if "train" in facts]
    lengths = tuple(facts["training_targets"] for facts in counted)
    size = sum(lengths)
    return (lambda: Mixed(tuple(records(p.train, p.source.styles) for p in parts), lengths)), size


def _validation_records(experiment: Experiment, sources: list[Any]) -> list[TrainingExample]:
    parts = [(part, validation_examples(experiment, part)) for part in sources]
    built = [record for part, examples in parts for record in records(examples, part.source.styles)]
    if not built:
        raise ValueError(
            "There is nothing to validate on. Raise `split.validation_share`, or give examples a "
            f"`group`. Received: split.validation_share={experiment.split.validation_share}"
        )
    return built


def _has_more_time(member: Member) -> bool:
    """Returns True if a lower time limit than that of the settings ended a training."""
    facts = folders.read_json(member.folder / folders.TRAINING, "train")
    minutes = member.experiment.training.max_minutes
    ended = facts["ended_by"] == _TIME_LIMIT
    return ended and (minutes is None or facts["seconds"] < 60 * minutes)


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

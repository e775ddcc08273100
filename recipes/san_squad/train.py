"""Train one answer module with one seed, or go on where a stopped run stands."""

import sys
import time
from pathlib import Path
from typing import Any

from recipes.san_squad.settings import Settings, training_examples
from tfmrc.recipe.folder import read_json, write_json

DONE = "training.json"


def train(settings: Settings, answer: str, seed: int, folder: Path, run: Path) -> dict[str, Any]:
    """Trains; a run that is trained already is left as it is.

    Args:
        settings: sizes and budget.
        answer: which answer module (`tfmrc.models.SAN`).
        seed: of weights, dropout and order.
        folder: the data folder.
        run: the run's folder; afterwards it holds `reader/`, `log.csv` and `training.json`.

    Returns:
        What `training.json` holds: what it took, and how well answers and words align.
    """
    if (run / DONE).is_file():
        return read_json(run / DONE, "train")
    import keras

    from tfmrc import Reader, models, text, training
    from tfmrc.data import batched
    from tfmrc.recipe.machine import in_words, machine
    from tfmrc.recipe.time_limit import TimeLimit

    chosen = settings.training
    examples, validation = training_examples(settings, folder)
    keras.utils.set_random_seed(seed)
    features = text.SanFeatures(
        text.Vocabulary.from_examples(examples, **settings.vocabulary), **settings.features
    )
    model = models.SAN(
        vocabulary_size=len(features.vocabulary), answer=answer, seed=seed, **settings.model
    )
    size = chosen["batch_size"]
    steps = max(1, len(examples) // size)
    model.compile(
        **training.san(steps, chosen["learning_rate"], chosen["epochs_per_halving"], model=model)
    )
    callbacks = training.callbacks(run, averages=False, every_steps=200)
    limit = TimeLimit(chosen["max_minutes"])
    callbacks.checkpoint.callbacks.append(limit)
    batches = callbacks.checkpoint.dataset(
        lambda start_step: batched(
            examples,
            features,
            size,
            shuffle=True,
            seed=seed,
            drop_remainder=len(examples) >= size,
            repeat=True,
            start_step=start_step,
            rotate_unknown=True,
        )
    )
    began = time.monotonic()
    print(f"{answer}, seed {seed}: {model.count_params():,} weights", flush=True)
    model.fit(
        batches,
        epochs=chosen["epochs"],
        steps_per_epoch=steps,
        validation_data=batched(validation, features, size),
        shuffle=False,
        verbose=1 if sys.stdout.isatty() else 2,
        callbacks=[*callbacks[:-1], limit, callbacks.checkpoint],
    )
    found = machine()
    facts = {
        "answer": answer,
        "seed": seed,
        "steps": callbacks.checkpoint.step,
        "seconds": round(limit.seconds or time.monotonic() - began, 1),
        "ended_by": "time limit" if limit.reached else "all epochs done",
        "weights": model.count_params(),
        "examples": len(examples),
        "validation_examples": len(validation),
        "alignment": alignment(features, examples),
        "machine": in_words(found),
        "versions": found["versions"],
    }
    Reader(model, features).save_to(run / "reader", metrics={"training": facts})
    write_json(run / DONE, facts)
    return facts


def alignment(features: Any, examples: list[Any], batch_size: int = 256) -> dict[str, int]:
    """How many training answers are whole words, hold a part of one, or lie behind the cut."""
    counts = {"exact": 0, "part_of_a_word": 0, "outside_the_window": 0}
    for first in range(0, len(examples), batch_size):
        part = examples[first : first + batch_size]
        source = features.source([e.question for e in part], [e.passages[0] for e in part])
        spans = [e.spans[0] for e in part]
        begin, _, exact = features.align(source, [s.start for s in spans], [s.end for s in spans])
        inside, exact = begin.numpy() >= 0, exact.numpy()
        counts["exact"] += int(exact.sum())
        counts["part_of_a_word"] += int((inside & ~exact).sum())
        counts["outside_the_window"] += int((~inside).sum())
    return counts

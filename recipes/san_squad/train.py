"""Train a predictor of spans with one seed, or go on where a stopped run stands."""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recipes.san_squad.settings import Settings
from recipes.san_squad.tags import Tags
from tfmrc.data import Example
from tfmrc.experiments.run_folder import read_json, write_json

DONE = "training.json"


def train(
    settings: Settings,
    answer: str,
    seed: int,
    examples: Sequence[Example],
    validation: Sequence[Example],
    run: Path,
    data: Path,
    num_steps: int | None = None,
    tags: Tags | None = None,
) -> dict[str, Any]:
    """Trains, and leaves `predictor/`, `log.csv` and `training.json` in the run's folder.

    Args:
        settings: sizes and budget.
        answer: which answer module (`tfmrc.models.SAN`).
        seed: of weights, dropout and order.
        examples: what is trained on; each has a span.
        validation: what is validated with.
        run: the run's folder.
        data: the data folder, which word vectors stand below.
        num_steps: T of the answer module; None for that of the settings.
        tags: the cached tags of all these texts; None for a model without.

    Returns:
        What `training.json` holds: what it took, and how well answers and words align.
    """
    import keras

    from tfmrc import Predictor, encoders, models, preprocessing, text, training
    from tfmrc.data import make_dataset
    from tfmrc.experiments.environment import in_words, machine
    from tfmrc.training.callbacks.time_limit import TimeLimit

    chosen = settings.training
    keras.utils.set_random_seed(seed)
    vocabulary = text.Vocabulary.from_examples(examples, **settings.vocabulary)
    tagged: Mapping[str, Any] = {} if tags is None else tags.of_preprocessor(examples)
    preprocessor = preprocessing.SANPreprocessor(vocabulary, **settings.preprocessor, **tagged)
    annotate = None if tags is None else tags.cache.annotate(preprocessor.annotations)
    sizes = dict(settings.model) | ({} if num_steps is None else {"num_steps": num_steps})
    if tags is not None:
        sizes |= {"num_exact_match": preprocessor.num_exact_match, "tagger": tags.cache.tagger}
        sizes |= {f"num_{name}": count for name, count in preprocessor.num_tags.items()}
    model = models.SAN(
        vocabulary_size=len(preprocessor.vocabulary), answer=answer, seed=seed, **sizes
    )
    share = None
    if settings.vectors is not None:
        path = data / settings.vectors
        share = encoders.set_vectors(model.word_embedding, vocabulary, path).share
    size = chosen["batch_size"]
    steps = chosen.get("steps_per_epoch") or max(1, len(examples) // size)
    model.compile(
        **training.compile_arguments(
            model,
            steps=steps * chosen["epochs"],
            steps_per_epoch=steps,
            learning_rate=chosen["learning_rate"],
            epochs_per_halving=chosen["epochs_per_halving"],
        )
    )
    callbacks = training.callbacks(run, ema_weights=False, every_steps=200)
    limit = TimeLimit(chosen["max_minutes"])
    callbacks.checkpoint.callbacks.append(limit)
    batches = callbacks.checkpoint.dataset(
        lambda start_step: make_dataset(
            examples,
            preprocessor,
            size,
            shuffle=True,
            seed=seed,
            drop_remainder=len(examples) >= size,
            repeat=True,
            start_step=start_step,
            randomize_oov_buckets=True,
            annotate=annotate,
        )
    )
    began = time.monotonic()
    print(f"{run.name}: {model.count_params():,} weights", flush=True)
    model.fit(
        batches,
        epochs=chosen["epochs"],
        steps_per_epoch=steps,
        validation_data=make_dataset(validation, preprocessor, size, annotate=annotate),
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
        "words_with_a_vector": share,
        "examples": len(examples),
        "validation_examples": len(validation),
        "alignment": alignment(preprocessor, examples, annotate),
        "machine": in_words(found),
        "versions": found["versions"],
    }
    Predictor(model, preprocessor).save(run / "predictor", metrics={"training": facts})
    write_json(run / DONE, facts)
    return facts


def facts_of(run: Path) -> dict[str, Any] | None:
    """What a trained run's `training.json` holds; None of a run that is not trained."""
    return read_json(run / DONE, "train") if (run / DONE).is_file() else None


def alignment(
    preprocessor: Any, examples: Sequence[Example], annotate: Any = None, batch_size: int = 256
) -> dict[str, int]:
    """How many training answers are whole words, hold a part of one, or lie behind the cut."""
    from tfmrc.data import TrainingExample

    counts = {"exact": 0, "part_of_a_word": 0, "outside_the_window": 0}
    for first in range(0, len(examples), batch_size):
        part = examples[first : first + batch_size]
        spans = [e.spans[0] for e in part]
        annotations = {}
        if annotate is not None:
            annotations = annotate(
                [TrainingExample(e, "span", e.span_text(e.spans[0])) for e in part]
            )
        source = preprocessor.source(
            [e.question for e in part],
            [e.passages[s.passage] for e, s in zip(part, spans, strict=True)],
            **annotations,
        )
        begin, _, exact = preprocessor.align(
            source, [s.start for s in spans], [s.end for s in spans]
        )
        inside, exact = begin.numpy() >= 0, exact.numpy()
        counts["exact"] += int(exact.sum())
        counts["part_of_a_word"] += int((inside & ~exact).sum())
        counts["outside_the_window"] += int((~inside).sum())
    return counts

"""Exact match and F1 of SAN compared with its authors' own code, on the same questions.

    git clone https://github.com/kevinduh/san_mrc
    pip install torch
    python -m benchmarks.public_quality --san san_mrc --data FOLDER --runs runs/public_quality
    python -m benchmarks.public_quality --recipe san_squad/tags --san san_mrc --data FOLDER \
        --runs runs/san_squad_tags --dropout 0.35 0.4

Both are trained on the batches of a recipe of SAN with its settings: vocabulary, word vectors,
exact match and tags, widths, dropout, learning rates, number of steps, moving averages. Both use
the same windows and the same search for the best span, and are scored by SQuAD's rules with the
weights of the lowest validation loss. Fixed word vectors are the rows of our run. The public code
has no input for word features (`preprocessor.word_features`), so it reads exact match only.

Ours is a run of the recipe; an existing one is used. The public code is saved after every epoch, so
the same command resumes. Run with Python's option `-u` to see its losses.
"""

import argparse
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import public_code, public_san
from benchmarks.measuring import print_head, print_row
from tfmrc import evaluation, experiments
from tfmrc.data import records
from tfmrc.evaluation.files.references import answer_references
from tfmrc.experiments import run_folder
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.examples.tags import Tags
from tfmrc.experiments.loaded import open_model
from tfmrc.experiments.plan import Plan, members
from tfmrc.experiments.run_folder import read_json

VARIANT = "stochastic"


def main() -> None:
    """Trains both unless they are trained, scores both and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--recipe", default="san_squad", help="a recipe of SAN")
    parser.add_argument("--san", type=Path, required=True, help="a checkout of kevinduh/san_mrc")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--runs", type=Path, required=True, help="the folder of the runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, help="of the public code, if fewer than ours")
    parser.add_argument(
        "--dropout", type=float, nargs=2, metavar=("ALL", "WORDS"),
        help="the public code's dropout and that of its word vectors; default: the recipe's",
    )  # fmt: skip
    parser.add_argument("--every-epoch", action="store_true", help="score every epoch")
    options = parser.parse_args()
    san = experiments.read_settings(experiments.find_recipe(options.recipe))
    [ours] = members(san, options.runs, [VARIANT], [options.seed], options.data)
    experiments.train(san, options.data, options.runs, variants=[VARIANT], seeds=[options.seed])
    facts = read_json(ours.folder / "training.json", "train")
    predictor = open_model(ours.folder, settings=ours.experiment).predictor
    [part] = splits(ours)
    with tempfile.TemporaryDirectory() as copies:
        network = _network(options, copies, predictor)
        settings, progress = _train(network, ours, predictor, part, facts["steps"], options.epochs)
    test = list(part.tested)
    known = answer_references(test, None)
    print(f"\n{options.recipe}, seed {options.seed}, {len(test):,} questions\n")
    print_head("code", "steps", "epoch", "exact match", "F1", "trained weights", "minutes")

    def show(name: str, steps: int, epoch: int, answers: Any, weights: int, seconds: float) -> Any:
        scores = evaluation.score_squad(answers, known)
        match, f1 = (f"{100 * scores[name].value:.2f}" for name in ("exact_match", "f1"))
        print_row(name, f"{steps:,}", epoch, match, f1, f"{weights:,}", f"{seconds / 60:.1f}")
        return scores

    results = zip(test, predictor.predict(test), strict=True)
    answers = {example.id: result.text for example, result in results}
    weights = sum(int(np.prod(weight.shape)) for weight in predictor.model.trainable_variables)
    first = show("tfmrc", facts["steps"], facts["best_eval"], answers, weights, facts["seconds"])
    weights, folder = public_code.weights_of(network), options.runs / f"public-{options.seed}"
    differences = []
    for kind in settings.kinds:
        best = public_san.best_epoch(progress.epochs, kind)
        for epoch in range(1, len(progress.epochs) + 1) if options.every_epoch else [best]:
            public_san.load_epoch(network, folder, epoch, kind)
            answers = public_san.answer(network, predictor, test)
            steps = epoch * settings.per_epoch if options.every_epoch else progress.steps
            scores = show(f"public, {kind}", steps, epoch, answers, weights, progress.seconds)
            if epoch == best:
                differences += [
                    f"tfmrc above public, {kind}, {name}: "
                    f"{evaluation.paired_bootstrap(scores[name], first[name])}"
                    for name in ("exact_match", "f1")
                ]
    print("\n" + "\n".join(differences))
    print(f"public: {progress.cpu_seconds / 60:.1f} minutes of CPU time")
    for number, row in enumerate(progress.epochs, start=1):
        print(f"public, epoch {number}: " + ", ".join(f"{k} {v:.3f}" for k, v in row.items()))


def _network(options: argparse.Namespace, copies: str, predictor: Any) -> Any:
    """Builds the public network with the sizes of our trained model."""
    import torch

    sizes, inputs = predictor.model.arguments, predictor.preprocessor.model_kwargs()
    words = predictor.model.word_embedding.words.numpy()
    dropout, word_dropout = options.dropout or (sizes.dropout, sizes.dropout)
    torch.manual_seed(options.seed)
    if sizes.embeddings_trainable:
        vectors = 0.1 * torch.rand(sizes.vocabulary_size, sizes.word_dim) - 0.05
    else:
        vectors = torch.from_numpy(public_san.word_rows(words, options.seed))
    network = public_code.public_san(
        options.san, copies, vectors, sizes.units, sizes.num_steps, inputs["num_exact_match"],
        dropout, tuple(n and n + 1 for n in (inputs["num_pos"], inputs["num_ner"])), word_dropout,
    )  # fmt: skip
    network.lexicon_encoder.embedding.weight.requires_grad_(sizes.embeddings_trainable)
    random.seed(options.seed)
    return network


def _train(
    network: Any, ours: Plan, predictor: Any, part: Any, steps: int, epochs: int | None
) -> tuple[public_san.Settings, public_san.Progress]:
    """Trains the public network on our run's batches, for at most some epochs."""
    experiment, preprocessor = ours.experiment, predictor.preprocessor
    annotate = None
    if preprocessor.annotations:
        path = run_folder.shared_file(ours.folder, run_folder.TAGS)
        annotate = Tags.open(experiment.tagger, path).cache.annotate(preprocessor.annotations)
    given = records(part.train, experiment.styles)
    examples = [record for record in given if record.example.span_of(record.answer) is not None]
    size = experiment.training.batch_size
    settings = public_san.Settings(
        batch_size=size,
        per_epoch=len(examples) // size,
        seed=ours.seed,
        **experiment.training.optimizer,
    )
    data = {
        "examples": examples,
        "validation": list(records(part.validation, experiment.styles)),
        "preprocessor": preprocessor,
        "annotate": annotate,
    }
    most = steps // settings.per_epoch
    total = settings.per_epoch * (most if epochs is None else min(epochs, most))
    folder = ours.folder.parent / f"public-{ours.seed}"
    return settings, public_san.train(network, settings, total, data, folder)


if __name__ == "__main__":
    main()

"""Exact match and F1 of SAN compared with its authors' own code, on the same questions.

    git clone https://github.com/kevinduh/san_mrc
    pip install torch
    python -m benchmarks.public_quality --san san_mrc --data FOLDER --runs runs/public_quality

Both are trained on the batches of `recipes/san_squad` with its settings: vocabulary, trained word
vectors, exact match and no tags, widths, dropout, optimizer, number of steps. Both use the same
windows and the same search for the best span, and are scored by SQuAD's rules. Ours is a run of the
recipe; an existing one is used. The public code is saved after every epoch, so the same command
resumes.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks import public_code
from tfmrc import evaluation, experiments, ops, preprocessing
from tfmrc.data import make_dataset, records
from tfmrc.experiments.grid import Member, members
from tfmrc.experiments.predictor import load_run
from tfmrc.experiments.run_folder import read_json
from tfmrc.experiments.sources import answer_references, splits, test_examples
from tfmrc.predictors import SpanAnswer, SpanOptions, san_signature
from tfmrc.text import Vocabulary

VARIANT = "stochastic"


class PublicModel:
    """The public network with the interface of a `tfmrc.models.SAN` that finds spans."""

    def __init__(self, network: Any):
        self.network = network

    def find(self, inputs: dict[str, tf.Tensor], **_: Any) -> dict[str, tf.Tensor]:
        """Returns the log-probabilities of begin and end, `[B, n]` each."""
        names = list(inputs)
        begin, end = tf.numpy_function(
            lambda *values: self._find(dict(zip(names, values, strict=True))),
            list(inputs.values()),
            (tf.float32, tf.float32),
        )
        shape = inputs["passage_ids"].shape
        return {"begin": tf.ensure_shape(begin, shape), "end": tf.ensure_shape(end, shape)}

    def spans(self, outputs: dict[str, tf.Tensor], max_length: int, count: int) -> Any:
        """Returns the best spans, as `tfmrc.models.SAN.spans` does."""
        return ops.best_spans(outputs["begin"], outputs["end"], max_length, count)

    def _find(self, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        import torch

        with torch.no_grad():
            begin, end, _ = self.network(public_code.public_san_inputs(arrays))
        return begin.numpy(), end.numpy()


def main() -> None:
    """Trains both unless they are trained, scores both and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--san", type=Path, required=True, help="a checkout of kevinduh/san_mrc")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--runs", type=Path, required=True, help="the folder of the runs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    san = experiments.load(experiments.find_recipe("san_squad"))
    [ours] = members(san, options.runs, [VARIANT], [options.seed])
    experiments.train(san, options.data, options.runs, variants=[VARIANT], seeds=[options.seed])
    facts = read_json(ours.folder / "training.json", "train")
    [part] = splits(ours.experiment, options.data)
    test = test_examples(ours.experiment, part)
    known = answer_references(test, None)
    results = zip(test, load_run(ours).predict(test), strict=True)
    official = evaluation.score_squad({e.id: answer.text for e, answer in results}, known)
    scores = {"tfmrc": (official, facts["weights"], facts["seconds"])}
    with tempfile.TemporaryDirectory() as copies:
        answers, weights, seconds = _public(ours, options, copies, part.train, test, facts["steps"])
        scores["public"] = (evaluation.score_squad(answers, known), weights, seconds)
    print(f"\n{facts['steps']:,} steps, seed {options.seed}, {len(test):,} questions\n")
    print("| code | exact match | F1 | weights | minutes |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for code, (results, weights, seconds) in scores.items():
        match, f1 = (100 * results[name].value for name in ("exact_match", "f1"))
        print(f"| {code} | {match:.2f} | {f1:.2f} | {weights:,} | {seconds / 60:.1f} |")


def _public(
    ours: Member, options: argparse.Namespace, copies: str, train: Any, test: Any, total: int
) -> tuple[dict[str, str], int, float]:
    """Returns the public code's answers by id, its weights, and its training time in seconds."""
    import torch

    settings, seed, folder = ours.experiment, options.seed, options.san
    examples = list(records(train, settings.styles))
    vocabulary = Vocabulary.load(
        options.runs / "vocabulary.txt", settings.vocabulary.num_oov_buckets
    )
    preprocessor = preprocessing.SANPreprocessor(vocabulary, **settings.preprocessor)
    torch.manual_seed(seed)
    vectors = 0.1 * torch.rand(len(vocabulary), settings.model["word_dim"]) - 0.05
    sizes = {"units": settings.model["units"], "steps": settings.model["num_steps"]}
    sizes |= {"dropout": settings.model["dropout"], "exact_match": preprocessor.num_exact_match}
    network = public_code.public_san(folder, copies, vectors, **sizes, tags=False)
    network.lexicon_encoder.embedding.weight.requires_grad_(True)
    optimizer = torch.optim.Adamax(
        network.parameters(), settings.training.optimizer["learning_rate"]
    )
    checkpoint = options.runs / f"public-{seed}.pt"
    done, seconds = 0, 0.0
    if checkpoint.is_file():
        state = torch.load(checkpoint)
        done, seconds = state["done"], state["seconds"]
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
    size = settings.training.batch_size
    batches = make_dataset(
        examples, preprocessor, size, shuffle=True, seed=seed, drop_remainder=True, repeat=True,
        start_step=done, randomize_oov_buckets=True,
    )  # fmt: skip
    step = public_code.public_san_step(network, optimizer)
    losses: list[float] = []
    began = time.monotonic()
    for x, y, _ in batches.take(total - done):
        losses.append(step({name: value.numpy() for name, value in (x | y).items()}))
        done += 1
        if done % 50 == 0:
            print(
                f"public: step {done:,} of {total:,}, loss {np.mean(losses[-50:]):.3f}", flush=True
            )
        if done % max(1, len(examples) // size) == 0 or done == total:
            seconds += time.monotonic() - began
            began = time.monotonic()
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
            part = checkpoint.with_suffix(".part")  # an interruption must not damage the last one
            torch.save(state | {"done": done, "seconds": seconds}, part)
            part.replace(checkpoint)
    network.eval()
    read = san_signature(PublicModel(network), preprocessor, SpanOptions())
    answers = {}
    for example in test:
        outputs = read(tf.constant([example.question]), tf.constant([example.passages[0]]))
        arrays = {name: value.numpy() for name, value in outputs.items()}
        answers[example.id] = SpanAnswer.from_outputs(arrays, 0).text
    return answers, public_code.weights_of(network), seconds


if __name__ == "__main__":
    main()

"""The training of the public SAN code on the batches of a run of ours; see `public_quality.py`.

After every epoch the validation loss is computed as in our runs, with the trained weights and with
their moving averages if the recipe has some; `epoch-N.pt` holds both. `latest.pt` also holds the
optimizer and the states of the random numbers, so that an interrupted training is resumed.
"""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks import public_code
from tfmrc import ops
from tfmrc.data import make_dataset
from tfmrc.ops.ids import NUM_SPECIAL, PAD
from tfmrc.predictors import SANPredictor, SpanAnswer, SpanOptions

BATCH = 32  # test questions that are read at once
LATEST = "latest.pt"


class PublicModel:
    """The public network with the interface of a `tfmrc.models.SAN` that finds spans."""

    def __init__(self, network: Any):
        self.network = network

    name = "public_san"
    tagger = "that of our run"

    def get_config(self) -> dict[str, Any]:
        """Returns no sizes: the network reads what our preprocessor makes."""
        return {}

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

    def spans(self, outputs: dict[str, tf.Tensor], max_length: int, num_spans: int) -> Any:
        """Returns the best spans, as `tfmrc.models.SAN.spans` does."""
        return ops.best_spans(outputs["begin"], outputs["end"], max_length, num_spans)

    def _find(self, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        import torch

        with torch.no_grad():
            begin, end, _ = self.network(public_code.public_san_inputs(self.network, arrays))
        return begin.numpy(), end.numpy()


@dataclass
class Settings:
    """The training settings of a recipe that the public code is trained with.

    Attributes:
        batch_size: int. Questions per step.
        per_epoch: int. Steps of an epoch.
        learning_rate: float. The first learning rate.
        epochs_per_halving: float. Epochs until it is halved.
        ema: float. Decay of the weights' moving average; 0 for none.
        seed: int. Seed of weights, dropout and the order of the batches.
    """

    batch_size: int
    per_epoch: int
    learning_rate: float
    epochs_per_halving: float = 10
    ema: float = 0.0
    seed: int = 1

    def rate(self, step: int) -> float:
        """Returns the learning rate of a step, counted from 0."""
        halving = round(self.per_epoch * self.epochs_per_halving)
        return self.learning_rate * 0.5 ** (step // halving)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The weights that are validated and scored."""
        return ("trained", "averaged") if self.ema else ("trained",)


@dataclass
class Progress:
    """Steps done, their time, and one row of losses per epoch."""

    steps: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    epochs: list[dict[str, float]] = field(default_factory=list)


def word_rows(words: np.ndarray, seed: int) -> np.ndarray:
    """Returns the table of fixed word vectors, `[words, dimensions]`.

    Args:
        words: float32. The rows after those of the special words, as our model has them. The
            special words get random rows and padding zeros.
        seed: int. Seed of the random rows.
    """
    special = np.random.default_rng(seed).normal(0, 0.1, (NUM_SPECIAL, words.shape[1]))
    special[PAD] = 0
    return np.concatenate([special.astype("float32"), words])


def best_epoch(epochs: Sequence[dict[str, float]], kind: str) -> int:
    """Returns the number of the epoch, from 1, with the lowest validation loss of these weights."""
    return 1 + int(np.argmin([row[kind] for row in epochs]))


def train(
    network: Any, settings: Settings, steps: int, data: dict[str, Any], folder: Path
) -> Progress:
    """Trains the network, or resumes its training, up to a number of steps.

    Args:
        network: The public network.
        settings: `Settings`. The recipe's.
        steps: int. Steps of the whole training, a multiple of those of an epoch.
        data: dict. `examples` and `validation`, lists of records; `preprocessor` and `annotate` for
            `tfmrc.data.make_dataset`.
        folder: Path. The folder of the checkpoints.
    """
    import torch

    weights = {name: w for name, w in network.named_parameters() if w.requires_grad}
    averages = {name: weight.detach().clone() for name, weight in weights.items()}
    optimizer = torch.optim.Adamax(list(weights.values()), settings.learning_rate)
    progress = _resume(folder, weights, averages, optimizer)
    examples, preprocessor, annotate = (
        data[name] for name in ("examples", "preprocessor", "annotate")
    )
    batches = make_dataset(
        examples, preprocessor, settings.batch_size, shuffle=True, seed=settings.seed,
        drop_remainder=True, repeat=True, start_step=progress.steps, randomize_oov_buckets=True,
        annotate=annotate,
    )  # fmt: skip
    validation = list(
        make_dataset(
            data["validation"], preprocessor, settings.batch_size, bucket=True, annotate=annotate
        )
    )
    step = public_code.public_san_step(network, optimizer)
    losses: list[float] = []
    clocks = time.monotonic(), time.process_time()
    for x, y, _ in batches.take(max(0, steps - progress.steps)):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate(progress.steps)
        losses.append(step(_arrays(x | y)))
        if settings.ema:
            with torch.no_grad():
                for name, weight in weights.items():
                    averages[name].lerp_(weight, 1 - settings.ema)
        progress.steps += 1
        if progress.steps % 47 == 0:
            print(f"public: step {progress.steps:,} of {steps:,}, {np.mean(losses[-47:]):.3f}")
        if progress.steps % settings.per_epoch:
            continue
        now = time.monotonic(), time.process_time()
        progress.seconds += now[0] - clocks[0]
        progress.cpu_seconds += now[1] - clocks[1]
        row = {"loss": float(np.mean(losses)), "trained": _validate(network, validation)}
        if settings.ema:
            with _instead(weights, averages):
                row["averaged"] = _validate(network, validation)
        progress.epochs.append(row)
        print(f"public: epoch {len(progress.epochs)}, {row}", flush=True)
        state = {"trained": {n: w.detach() for n, w in weights.items()}, "averaged": averages}
        _save(state, folder / f"epoch-{len(progress.epochs)}.pt")
        state |= {"optimizer": optimizer.state_dict(), "progress": vars(progress)}
        _save(
            state | {"torch": torch.get_rng_state(), "random": random.getstate()}, folder / LATEST
        )
        losses, clocks = [], (time.monotonic(), time.process_time())
    return progress


def load_epoch(network: Any, folder: Path, epoch: int, kind: str) -> None:
    """Gives a network the weights of an epoch."""
    import torch

    weights = {name: w for name, w in network.named_parameters() if w.requires_grad}
    _set(weights, torch.load(folder / f"epoch-{epoch}.pt")[kind])


def answer(network: Any, predictor: Any, examples: Sequence[Any]) -> dict[str, str]:
    """Answers questions with our windows and search.

    Args:
        network: The public network.
        predictor: `tfmrc.predictors.SANPredictor`. That of our run: preprocessor, tagger.
        examples: list of `Example`. The questions.

    Returns:
        The answers' texts by id.
    """
    network.eval()
    reader = SANPredictor(PublicModel(network), predictor.preprocessor)
    read = reader.export_signatures(SpanOptions())["serving_default"]
    names = ("question", "passages", *predictor.preprocessor.annotations)
    answers = {}
    for first in range(0, len(examples), BATCH):
        part = examples[first : first + BATCH]
        passages = [e.passages[:1] for e in part]
        texts = {"question": [e.question for e in part], "passages": passages}
        inputs = predictor.complete(texts)
        outputs = _arrays(read(*(tf.constant(inputs[name]) for name in names)))
        for row, example in enumerate(part):
            answers[example.id] = SpanAnswer.from_outputs(outputs, row).text
    return answers


def _arrays(tensors: dict[str, tf.Tensor]) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in tensors.items()}


def _validate(network: Any, batches: Sequence[Any]) -> float:
    """Returns the loss per question that has its answer within the words."""
    import torch

    network.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for x, y, _ in batches:
            begin, end, _ = network(public_code.public_san_inputs(network, _arrays(x)))
            for scores, name in ((begin, "begin"), (end, "end")):
                right = torch.from_numpy(y[name].numpy()).long()
                total += torch.nn.functional.cross_entropy(
                    scores, right, ignore_index=-1, reduction="sum"
                ).item()
            count += int((y["begin"].numpy() >= 0).sum())
    network.train()
    return total / count


@contextmanager
def _instead(weights: dict[str, Any], values: dict[str, Any]) -> Iterator[None]:
    """Gives weights other values within a block."""
    own = {name: weight.detach().clone() for name, weight in weights.items()}
    _set(weights, values)
    yield
    _set(weights, own)


def _set(weights: dict[str, Any], values: dict[str, Any]) -> None:
    for name, weight in weights.items():
        weight.data.copy_(values[name])


def _save(state: dict[str, Any], path: Path) -> None:
    import torch

    part = path.with_suffix(".part")  # an interruption must not damage the last one
    torch.save(state, part)
    part.replace(path)


def _resume(folder: Path, weights: Any, averages: Any, optimizer: Any) -> Progress:
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / LATEST).is_file():
        return Progress()
    state = torch.load(folder / LATEST)
    _set(weights, state["trained"])
    _set(averages, state["averaged"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["torch"])
    random.setstate(state["random"])
    return Progress(**state["progress"])

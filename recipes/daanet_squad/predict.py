"""Answers and questions of a trained system, in files that a stopped run goes on with."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from recipes.daanet_squad import systems
from recipes.daanet_squad.settings import Settings
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, read_predictions, write_predictions

BATCH_SIZE = 64


@dataclass(frozen=True)
class Writer:
    """One task of a system, as `tfmrc.evaluation.PredictionSource` wants it.

    Args:
        system: of `recipes.daanet_squad.systems`.
        task: "answer" or "ask".
        options: of the search.
    """

    system: Any
    task: str
    options: dict[str, Any]

    def predict(self, examples: Iterable[Example], /) -> Iterator[Prediction]:
        """One prediction an example, in their order."""
        stream = iter(examples)
        while batch := list(islice(stream, BATCH_SIZE)):
            written = self.system.write(self.task, batch, **self.options)
            for example, (text, probability) in zip(batch, written, strict=True):
                yield Prediction(example.id, text, self.task, {"probability": probability})


def predict(
    settings: Settings, name: str, examples: Sequence[Example], run: Path
) -> dict[str, dict[str, str]]:
    """What a run writes to the examples, by task and id; `predictions-TASK.jsonl` keep it.

    What the files hold already is not asked again.

    Args:
        settings: say how words are searched for.
        name: the system.
        examples: what is answered and asked about.
        run: the folder of the trained run.
    """
    options = {"num_beams": settings.num_beams, "max_length": settings.max_length}
    search = f"beam-{settings.num_beams}" + f"-length-{settings.max_length}" * bool(
        settings.max_length
    )
    found, system = {}, None
    for task in systems.tasks_of(name):
        path = run / f"predictions-{task}-{search}.jsonl"
        known = read_predictions(path) if path.is_file() else {}
        if any(example.id not in known for example in examples):
            if system is None:
                system = systems.load(name, run / "predictor")
                print(f"{run.name} writes to {len(examples):,} questions", flush=True)
            write_predictions(Writer(system, task, options), examples, path, style=task)
            known = read_predictions(path)
        found[task] = {example.id: known[example.id].answer for example in examples}
    return found

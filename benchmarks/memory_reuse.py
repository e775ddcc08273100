"""Training steps with TensorFlow's own setting of the memory allocator, and with those of tfmrc.

    taskset -c 0 python -m benchmarks.memory_reuse

Trains the small size of each model on the part of SQuAD that tfmrc ships, in three processes that
take turns: TensorFlow as it is (`TFMRC_KEEP_FREED_MEMORY=0`), a program that uses
`tfmrc.data.make_dataset` (`reuse_freed_memory`), and a command such as `tfmrc train`
(`keep_freed_memory`). New pages are page faults without a disk.
"""

import argparse
import json
import os
import resource
import statistics
import sys
import time
from functools import partial
from typing import Any

from benchmarks.measuring import answer_of, in_turns, print_head, print_row, shown

MODELS = {
    "SAN": ("SAN", "san_demo", "SANPreprocessor"),
    "maxout pointer": ("MaxoutPointerQG", "maxout_pointer_qg_demo", "MaxoutPointerQGPreprocessor"),
    "DAANET": ("DAANet", "daanet_demo", "DAANetPreprocessor"),
    "Masque": ("Masque", "masque_demo", "MasquePreprocessor"),
}
SETTINGS = {
    "TensorFlow alone": {"TFMRC_KEEP_FREED_MEMORY": "0"},
    "program": {},
    "command": {"KEEP": "1"},
}


def train(name: str, steps: int) -> None:
    """Trains a model for some steps and prints time and new pages of a step, and the memory."""
    if os.environ.get("KEEP"):
        from tfmrc.utils.memory import keep_freed_memory

        keep_freed_memory()
    import keras

    import tfmrc.training
    from tfmrc import data, models, preprocessing

    model_name, preset, preprocessor_name = MODELS[name]
    keras.utils.set_random_seed(1)
    examples = list(data.load_small_squad("train"))
    preprocessor = getattr(preprocessing, preprocessor_name).from_examples(examples, min_count=2)
    model = getattr(models, model_name).from_preset(preset, **preprocessor.model_kwargs())
    model.compile(**tfmrc.training.compile_arguments(model, steps=10_000, steps_per_epoch=1000))

    class Steps(keras.callbacks.Callback):
        seconds: list[float] = []
        pages: list[int] = []

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.start = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            self.seconds.append(time.perf_counter() - self.start[0])
            self.pages.append(pages - self.start[1])

    batches = preprocessor.dataset(examples, batch_size=16, shuffle=True, seed=1, repeat=True)
    batches = batches.map(tfmrc.training.only_outputs(model))
    said = Steps()
    model.fit(batches, epochs=1, steps_per_epoch=steps, verbose=0, callbacks=[said])
    half = steps // 2
    result = {
        "seconds": statistics.median(said.seconds[half:]),
        "pages": statistics.median(said.pages[half:]),
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    print(json.dumps(result))


def main() -> None:
    """Measures all models and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        train(options.child, options.steps)
        return
    print_head(
        "model", "setting", "seconds per step (range)", "times the first", "new pages", "GiB"
    )
    for name in options.models:
        command = [sys.executable, __file__, "--child", name, "--steps", options.steps]
        works = {
            setting: partial(answer_of, *command, **variables)
            for setting, variables in SETTINGS.items()
        }
        first = None
        for setting, results in in_turns(works, options.rounds).items():
            columns = {key: [each[key] for each in results] for key in results[0]}
            seconds, pages, gib = (statistics.median(values) for values in columns.values())
            first = first or seconds
            times = f"{seconds / first:.2f}"
            print_row(
                name, setting, shown(columns["seconds"], 2), times, f"{pages:,.0f}", f"{gib:.1f}"
            )


if __name__ == "__main__":
    main()

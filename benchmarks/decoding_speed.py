"""Time of a decoding step, of a whole answer, and the memory of both, beside other engines.

    python -m benchmarks.decoding_speed --batch 1 8 32
    python -m benchmarks.decoding_speed --batch 8 --beams 4 --threads 1
    python -m benchmarks.decoding_speed --batch 8 --peer transformers=PYTHON CTranslate2=PYTHON

tfmrc's Masque of the paper's sizes (8 decoder blocks of width 304) answers from 10 passages of 100
words and a question of 20. The peer is a BART of the same decoder, with a source of 1,020 words,
run by transformers, or by CTranslate2 in float32, in PYTHON, which has
`benchmarks/requirements-peers.txt`. Masque does more per step: a second attention to the source,
copy attention, the words of the source. All weights are random and the lengths are forced.

Each engine and batch size runs in a process of its own; the engines take turns, `--rounds` times.
The time of a step is the slope of a line through the times of `--lengths`; it leaves out reading
and what is computed once per answer. "whole" is reading, the search for the greatest length and the
sources of its words; "memory" is the peak of the process while it does this, minus its size before.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.measuring import (
    answer_of,
    in_turns,
    memory,
    print_head,
    print_row,
    seconds_of,
    shown,
)

ENGINES = ("tfmrc", "tfmrc, XLA", "transformers", "CTranslate2")
PASSAGES, PASSAGE_LENGTH, QUESTION_LENGTH = 10, 100, 20
SOURCE = PASSAGES * PASSAGE_LENGTH + QUESTION_LENGTH
VOCABULARY = 5000
DECODER = {"blocks": 8, "width": 304, "heads": 8, "inner": 256}


def main() -> int:
    """Prints one table of all engines, batch sizes and rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40])
    parser.add_argument("--repeats", type=int, default=3, help="the fastest counts")
    parser.add_argument("--rounds", type=int, default=3, help="the median is printed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cpu-time", action="store_true", help="seconds of CPU, not of the clock")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES[:2]))
    parser.add_argument("--peer", nargs="+", default=[], help="ENGINE=PYTHON of each")
    parser.add_argument("--measure", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        engine = {"transformers": _bart, "CTranslate2": _bart_of_ctranslate2}.get(
            options.measure, _masque
        )
        print(json.dumps(engine(options)))
        return 0
    pythons = {name: sys.executable for name in options.engines}
    pythons |= dict(peer.split("=", 1) for peer in options.peer)
    clock = "CPU seconds" if options.cpu_time else "seconds of the clock"
    print(f"{options.threads} threads, {options.beams} beams, lengths {options.lengths}, {clock}")
    print_head("batch", "engine", "step, ms (range)", "whole, s", "memory, MiB")
    for batch in options.batch:
        works = {
            name: partial(_in_process, python, name, batch, options)
            for name, python in pythons.items()
        }
        for name, rows in in_turns(works, options.rounds).items():
            whole, mib = (statistics.median(row[key] for row in rows) for key in ("whole", "mib"))
            step = shown([1000 * row["step"] for row in rows])
            print_row(batch, name, step, f"{whole:.2f}", f"{mib:,.0f}")
    return 0


def _in_process(python: str, engine: str, batch: int, options: argparse.Namespace) -> Any:
    command = [python, __file__, "--measure", engine, f"--batch={batch}"]
    command += [f"--{name}={getattr(options, name)}" for name in ("beams", "repeats", "threads")]
    command += ["--lengths", *map(str, options.lengths)] + ["--cpu-time"] * options.cpu_time
    threads = str(options.threads)
    limits = {"OMP_NUM_THREADS": threads, "TF_NUM_INTRAOP_THREADS": threads}
    if options.threads == 1:
        limits["TF_NUM_INTEROP_THREADS"] = "1"  # nothing runs, or waits, beside it
    return answer_of(*command, **limits)


def _measured(
    search: Callable[[int], Any], whole: Callable[[], Any], options: argparse.Namespace
) -> dict[str, float]:
    """Returns the seconds per step, those of a whole answer, and its memory in MiB."""
    for length in options.lengths:
        search(length)  # traced and compiled
    before = memory()
    whole()
    mib = memory("VmHWM") - before
    clock = time.process_time if options.cpu_time else time.perf_counter
    seconds = partial(seconds_of, repeats=options.repeats, clock=clock)
    times = [seconds(partial(search, length)) for length in options.lengths]
    slope = statistics.linear_regression(options.lengths, times).slope
    return {"step": slope, "whole": seconds(whole), "mib": mib}


def _masque(options: argparse.Namespace) -> dict[str, float]:
    import keras
    import numpy as np
    import tensorflow as tf

    from tfmrc.models import Masque

    keras.utils.set_random_seed(0)
    (batch,) = options.batch
    model = Masque(
        vocabulary_size=VOCABULARY,
        num_styles=2,
        num_passages=PASSAGES,
        generation_vocabulary_size=VOCABULARY,
        num_decoder_blocks=DECODER["blocks"],
        hidden_dim=DECODER["width"],
        num_heads=DECODER["heads"],
        intermediate_dim=DECODER["inner"],
        dropout=0.0,
    )
    draw = np.random.default_rng(0)
    shapes = {
        "question_ids": (batch, QUESTION_LENGTH),
        "passage_ids": (batch, PASSAGES, PASSAGE_LENGTH),
        "extended_ids": (batch, SOURCE),
    }
    inputs = {
        name: tf.constant(draw.integers(4, VOCABULARY, shape), tf.int32)
        for name, shape in shapes.items()
    }
    inputs["style_ids"] = tf.zeros([batch], tf.int32)

    def search(memory: Any, length: int) -> Any:
        return model.generate(memory, length, num_beams=options.beams, min_length=length)

    compiled = options.measure.endswith("XLA")

    def graph(function: Callable[..., Any], *specs: Any) -> Any:
        """A graph of fixed sizes if compiled, of sizes that are not known if exported."""
        given = {"jit_compile": True} if compiled else {"input_signature": specs}
        return tf.function(function, autograph=False, **given)

    signature = {
        name: tf.TensorSpec([None] * value.shape.rank, tf.int32) for name, value in inputs.items()
    }
    signature["passage_ids"] = tf.TensorSpec([None, PASSAGES, None], tf.int32)
    encode = graph(model.encode, signature)
    memory = encode(inputs)
    outputs = None
    if not compiled:
        outputs = tf.nest.map_structure(
            lambda value: tf.TensorSpec(value.shape, value.dtype),
            encode.get_concrete_function().structured_outputs,
        )
    searches = {
        length: graph(lambda memory, length=length: search(memory, length).ids, outputs)
        for length in options.lengths
    }

    def answer(inputs: Any) -> Any:
        memory = model.encode(inputs)
        hypotheses = search(memory, max(options.lengths))
        return hypotheses.ids, model.attribute(memory, hypotheses.ids[:, 0])

    whole = graph(answer, signature)
    return _measured(
        lambda length: searches[length](memory).numpy(),
        lambda: keras.tree.map_structure(lambda value: value.numpy(), whole(inputs)),
        options,
    )


def _bart(options: argparse.Namespace) -> dict[str, float]:
    import torch

    torch.set_num_threads(options.threads)
    (batch,) = options.batch
    model = _random_bart()
    ids = torch.randint(4, VOCABULARY, (batch, SOURCE))
    memory = model.get_encoder()(ids)

    def generate(length: int, **source: Any) -> Any:
        # Keys and values of the source are computed in the first step: the slope leaves them out.
        return model.generate(
            **source,
            num_beams=options.beams,
            do_sample=False,
            min_new_tokens=length,
            max_new_tokens=length,
        )

    with torch.inference_mode():
        return _measured(
            lambda length: generate(length, encoder_outputs=memory),
            lambda: generate(max(options.lengths), input_ids=ids),
            options,
        )


def _bart_of_ctranslate2(options: argparse.Namespace) -> dict[str, float]:
    # It cannot read a source beforehand: the steps are those behind an encoder of one block, whose
    # time varies less.
    step, whole = (_translation(_random_bart(blocks), options) for blocks in (1, DECODER["blocks"]))
    return _measured(step, lambda: whole(max(options.lengths)), options)


def _translation(model: Any, options: argparse.Namespace) -> Callable[[int], Any]:
    """Returns a function that generates words of a given number with CTranslate2."""
    import ctranslate2
    from ctranslate2.converters.transformers import BartLoader

    config = model.config
    config.normalize_before, config.normalize_embedding = False, True  # the loader reads them
    spec = BartLoader().get_model_spec(model)
    words = [f"w{number}" for number in range(VOCABULARY)]
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    numbers = (config.bos_token_id, config.eos_token_id, 3)
    for (name, word), number in zip(names.items(), numbers, strict=True):
        words[number] = word
        setattr(spec.config, name, word)
    spec.config.decoder_start_token = words[config.decoder_start_token_id]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize(quantization=None)
    with tempfile.TemporaryDirectory() as folder:
        spec.save(folder)
        translator = ctranslate2.Translator(
            folder, compute_type="float32", inter_threads=1, intra_threads=options.threads
        )
    draw = random.Random(0)
    source = [draw.choices(words[4:], k=SOURCE) for _ in range(options.batch[0])]

    def translate(length: int) -> Any:
        found = translator.translate_batch(
            source,
            beam_size=options.beams,
            min_decoding_length=length,
            max_decoding_length=length,
            max_batch_size=len(source),
        )
        if any(len(each.hypotheses[0]) != length for each in found):
            raise RuntimeError("an answer has another length")
        return found

    return translate


def _random_bart(encoder_blocks: int = DECODER["blocks"]) -> Any:
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(0)
    sizes = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (
            ("layers", encoder_blocks if side == "encoder" else DECODER["blocks"]),
            ("attention_heads", DECODER["heads"]),
            ("ffn_dim", DECODER["inner"]),
        )
    }
    config = BartConfig(
        vocab_size=VOCABULARY, d_model=DECODER["width"], max_position_embeddings=SOURCE, **sizes
    )
    return BartForConditionalGeneration(config).eval()


if __name__ == "__main__":
    sys.exit(main())

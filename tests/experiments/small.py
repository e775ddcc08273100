"""Small recipes, their data, and an encoder without weights."""

import json

from tfmrc import data

NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")


CONFIG = """
name: small
title: A small run
sources:
- format: examples
  styles: [short, long]
  train: train.jsonl
  test: test.jsonl
  title: eight names
  paper: {Masque: {long_rouge_l: 50.0}}
vocabulary: {size: 60, num_oov_buckets: 4}
split: {validation_share: 0.3}
preprocessor: {num_passages: 2, passage_length: 12, question_length: 8, answer_length: 8}
model:
  name: Masque
  word_dim: 8
  hidden_dim: 8
  num_heads: 2
  intermediate_dim: 8
  num_shared_blocks: 1
  num_question_blocks: 1
  num_passage_blocks: 1
  num_decoder_blocks: 1
  embeddings_trainable: true
training:
  steps: 6
  batch_size: 4
  eval_every_steps: 3
  checkpoint_every_steps: 2
  optimizer: {warmup_steps: 2, ema: 0.5}
evaluation: {limit: 5, batch_size: 4, options: {max_length: 4}}
"""


def example(number: int) -> data.Example:
    name, other = NAMES[number % 8], NAMES[(number + 3) % 8]
    answerable = number % 4 != 0
    passages = (f"{other} slept all day.", f"{name} ran home." if answerable else "It rained.")
    answers = {"short": (name,), "long": (f"{name} ran home.",)}
    return data.Example(
        f"q{number}",
        "Who ran home?",
        passages,
        answers if answerable else {},
        answerable,
        (False, answerable),
        group=f"g{number}",
    )


WORDS = "who ran home ? . slept all day it rained ann bob ##eo cl dan eve finn gus hal".split()


ENCODER = {
    "model_type": "bert",
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 32,
    "type_vocab_size": 2,
    "hidden_dropout_prob": 0.0,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


def write_encoder(folder, words=WORDS, **changes):
    """Writes an encoder in Hugging Face's form without weights."""
    folder.mkdir()
    sizes = ENCODER | {"vocab_size": 4 + len(words)} | changes
    (folder / "config.json").write_text(json.dumps(sizes))
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]))
    return folder

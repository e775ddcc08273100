import json
from pathlib import Path

import pytest
import tensorflow as tf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from tfmrc.text.subwords.byte_pairs import BytePairs

TEXT = Path(__file__).parents[3] / "LICENSE"
ODD = (
    "it's we'll 'tis don't x² 🙂 Zürich 中文 -- ... 1,000.50 e\u0301 (a) \u00ad naïve AAAAAA"
).split()


@pytest.fixture(scope="module")
def reference() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1200,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT.read_text(encoding="utf-8")], trainer)
    return tokenizer


@pytest.fixture(scope="module")
def pieces(reference: Tokenizer) -> BytePairs:
    model = json.loads(reference.to_str())["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return BytePairs(model["vocab"], merges)


def test_words_with_and_without_a_space(pieces: BytePairs, reference: Tokenizer) -> None:
    words = [*sorted(set(TEXT.read_text(encoding="utf-8").split())), *ODD]
    assert len(words) > 400
    for spaced in (False, True):
        result = pieces.cut(words, tf.fill([len(words)], spaced)).to_list()
        for word, ids in zip(words, result, strict=True):
            assert ids == reference.encode(" " * spaced + word).ids, (spaced, word)


def test_hand_made_merges_in_their_order() -> None:
    vocabulary = {"<unk>": 0, "a": 1, "b": 2, "c": 3, "ab": 4, "bc": 5, "abc": 6}
    first = BytePairs(vocabulary, ["a b", "ab c", "b c"])
    assert first.cut(["abc", "bca", "xb"], [False] * 3).to_list() == [[6], [5, 1], [0, 2]]
    other = BytePairs(vocabulary, ["b c", "a b"])
    assert other.cut(["abc", "aba"], [False] * 2).to_list() == [[1, 5], [4, 1]]


def test_saved_and_loaded_in_a_saved_model(
    pieces: BytePairs, reference: Tokenizer, tmp_path: Path
) -> None:
    pieces.save_assets(tmp_path)
    again = BytePairs.from_assets(tmp_path, **pieces.get_config())
    module = tf.Module()
    module.pieces = again
    module.cut = tf.function(
        lambda words: again.cut(words, tf.ones_like(words, tf.bool)).to_tensor(-1),
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )
    tf.saved_model.save(module, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    result = loaded.cut(tf.constant(["passages", "x"])).numpy().tolist()
    expected = [reference.encode(" passages").ids, reference.encode(" x").ids]
    assert [[i for i in row if i >= 0] for row in result] == expected

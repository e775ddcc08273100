"""Byte pairs with merges by hand, in a graph; `test_whole_texts` has those of the reference."""

import tensorflow as tf

from tfmrc.text.subwords.byte_pairs import BytePairs

VOCABULARY = {"<unk>": 0, "a": 1, "b": 2, "c": 3, "ab": 4, "bc": 5, "abc": 6}


def test_hand_made_merges_in_their_order() -> None:
    first = BytePairs(VOCABULARY, ["a b", "ab c", "b c"])
    assert first.cut(["abc", "bca", "xb"], [False] * 3).to_list() == [[6], [5, 1], [0, 2]]
    other = BytePairs(VOCABULARY, ["b c", "a b"])
    assert other.cut(["abc", "aba"], [False] * 2).to_list() == [[1, 5], [4, 1]]


def test_saved_and_loaded_in_a_saved_model(tmp_path) -> None:
    pieces = BytePairs(VOCABULARY, ["a b", "b c"])
    pieces.save_assets(tmp_path)
    again = BytePairs.from_assets(tmp_path, **pieces.get_config())
    module = tf.Module()
    module.pieces = again
    module.cut = tf.function(
        lambda words: again.cut(words, tf.zeros_like(words, tf.bool)).to_tensor(-1),
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )
    tf.saved_model.save(module, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    assert loaded.cut(tf.constant(["abc", "a"])).numpy().tolist() == [[4, 3], [1, -1]]

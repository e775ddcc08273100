import pytest
import tensorflow as tf

from tests.text.helpers import text_of
from tfmrc.text import Tokenizer
from tfmrc.text.layout import cut_rows, spread, strings
from tfmrc.text.rows import row_of_values


def test_cut_rows():
    flat = cut_rows(Tokenizer().tokenize(["a b c", "", "d e", "f"]), [2, 5, 0, 1])
    assert text_of(flat.surface) == ["a", "b", "f"]
    assert flat.row.numpy().tolist() == [0, 0, 3]
    assert flat.position.numpy().tolist() == [0, 1, 0]
    assert flat.starts.numpy().tolist() == [0, 2, 0]
    assert flat.ends.numpy().tolist() == [1, 3, 1]
    assert flat.lengths.numpy().tolist() == [2, 0, 0, 1]
    assert flat.cut.numpy().tolist() == [True, False, True, False]


def test_spread_strings():
    result = spread(tf.constant(["a", "b"]), [1, 0], [0, 2], (2, 3))
    assert text_of(result) == [["", "", "b"], ["a", "", ""]]


def test_row_of_values():
    ragged = tf.RaggedTensor.from_row_splits(tf.zeros([4]), [0, 0, 1, 1, 4, 4])
    assert row_of_values(ragged).numpy().tolist() == [1, 3, 3, 3]
    assert row_of_values(tf.RaggedTensor.from_row_splits(tf.zeros([0]), [0])).shape == (0,)


def test_a_graph_refuses_another_rank_than_its_signature_states():
    # `tf.saved_model.load` calls the function with any shape.
    names = [tf.TensorSpec([None], tf.string, name="question")]
    names.append(tf.TensorSpec([None, None], tf.string, name="passages"))

    @tf.function(input_signature=names)
    def count(question, passages):
        return tf.shape(strings("question", question)), tf.size(strings("passages", passages, 2))

    function = count.get_concrete_function()
    shape, size = function(tf.constant(["a", "b"]), tf.constant([["c"], ["d"]]))
    assert shape.numpy().tolist() == [2] and int(size) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"of tensor question \[\] is not"):
        function(tf.constant("a"), tf.constant([["c"]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"of tensor passages \[1\] is not"):
        function(tf.constant(["a"]), tf.constant(["c"]))

import pytest
import tensorflow as tf

from tfmrc.text.layout import strings


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

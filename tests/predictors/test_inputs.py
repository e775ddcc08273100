"""Messages of failed assertions: one sentence, in a graph and eagerly."""

import pytest
import tensorflow as tf

from tfmrc.predictors.inputs import status_message
from tfmrc.preprocessing.styles import Styles


@pytest.mark.parametrize("graph", [False, True])
def test_an_unknown_style_is_one_sentence_without_brackets(graph):
    lookup = Styles(("qa", "nlg")).lookup
    lookup = tf.function(lookup, autograph=False) if graph else lookup
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        lookup(tf.constant(["ode"]))
    assert status_message(raised.value) == (
        "Unknown answer style; the styles of this model are qa, nlg. Received: style=ode"
    )

"""The same searches and groups under `jax.jit`, in a process of their own without TensorFlow."""

from tests import fresh_python

PROGRAM = """
import sys
import jax
import numpy as np
from tests.decoding.enumeration import RecurrentWords, exhaustive, words_of
from tfmrc.decoding import beam_search, greedy_search, sample
from tfmrc.ops.checks import check_indices
from tfmrc.ops.chunks import map_groups

model = RecurrentWords(batch_size=2, vocabulary_size=7, seed=4)
for length_penalty in (0.0, 1.3):
    search = jax.jit(
        lambda cache: beam_search(
            model.step, cache, 2, num_beams=130, num_return_sequences=20, max_length=4,
            length_penalty=length_penalty,
        )
    )
    found = search(model.cache(130))
    for example in range(2):
        expected = exhaustive(model, example, 4, 0, length_penalty)[:20]
        assert [words_of(found, example, n) for n in range(20)] == [w for _, w in expected]
        np.testing.assert_allclose(found.score[example], [s for s, _ in expected], rtol=1e-5)
greedy = jax.jit(lambda cache: greedy_search(model.step, cache, 2, max_length=5))(model.cache(1))
beam = jax.jit(lambda cache: beam_search(model.step, cache, 2, num_beams=1, max_length=5))(
    model.cache(1)
)
np.testing.assert_array_equal(greedy.ids, beam.ids)
draw = {"num_samples": 3, "max_length": 5, "top_k": 4, "top_p": 0.9, "temperature": 2.0}
drawn = jax.jit(lambda cache: sample(model.step, cache, 2, **draw))(model.cache(3))
for example in range(2):
    right = [model.log_probability(example, words_of(drawn, example, n)) for n in range(3)]
    np.testing.assert_allclose(drawn.log_probability[example], right, rtol=1e-4)
def checked(ids):
    check_indices("ids", ids, 4, of="words")
    return ids

jax.jit(checked)(np.array([4]))  # not known while a function is traced
try:
    checked(jax.numpy.array([4]))
    raise SystemExit("not checked")
except ValueError as error:
    assert "words from 0 to 3. Received: 4" in str(error)
grouped = jax.jit(lambda x: map_groups(lambda part: 2 * part, 2, x))  # of three groups
np.testing.assert_array_equal(grouped(np.arange(6)), 2 * np.arange(6))
assert "tensorflow" not in sys.modules
print("same under jax", jax.__version__)
"""


def test_searches_under_jax_jit():
    assert "same under jax" in fresh_python.run("-c", PROGRAM, KERAS_BACKEND="jax")

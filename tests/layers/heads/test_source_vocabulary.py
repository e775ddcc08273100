import numpy as np
import pytest

from tests.layers.agreement import arrays, close
from tests.reference import pointer_generator as reference
from tfmrc.layers import SourceVocabulary
from tfmrc.testing import run_layer_test

G, KNOWN = 6, 9  # ids 6, 7, 8 are words with a row; 9 and beyond are unknown-word buckets
SOURCE = np.array([[8, 5, 8, 1, 0, 9], [7, 7, 10, 1, 1, 3]], "int32")
EXTENDED = np.array([[6, 5, 6, 9, 0, 11], [6, 6, 8, 9, 10, 0]], "int32")
ARRAYS = arrays({"hidden": (2, 3, 4), "source_words": (2, 6, 4)})


def test_layer():
    run_layer_test(
        SourceVocabulary,
        {"num_common": G, "num_known": KNOWN},
        {**ARRAYS, "source_ids": SOURCE, "extended_ids": EXTENDED},
        axes={
            "hidden": "B T w",
            "source_words": "B S w",
            "source_ids": "B S",
            "extended_ids": "B S",
        },
        output_axes=["B T S", "B S"],
        padded=("T", "S"),
        expected_output_shape=[(2, 3, 6), (2, 6)],
        expected_num_trainable_weights=0,
    )


@pytest.mark.equation("masque-13")
def test_each_known_word_takes_part_once_and_unknown_ones_never():
    scores, generable = SourceVocabulary(G, KNOWN)(
        ARRAYS["hidden"], ARRAYS["source_words"], SOURCE, EXTENDED
    )
    table = np.random.default_rng(0).normal(size=(12, 4))
    for b in range(2):
        rows = reference.extended_vocabulary(G, SOURCE[b], EXTENDED[b], table, KNOWN)
        for position in range(6):
            takes_part = rows.get(G + position) is not None
            assert bool(generable[b, position]) == takes_part, (b, position)
    np.testing.assert_array_equal(generable, [[1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]])
    close(scores, np.einsum("btw,bsw->bts", ARRAYS["hidden"], ARRAYS["source_words"]))

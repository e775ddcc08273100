"""Word vectors from files, and what becomes of the rows that have none."""

import gzip

import numpy as np
import pytest
from keras import ops

from tfmrc.embeddings import read_vectors, set_vectors
from tfmrc.layers import WordEmbedding
from tfmrc.ops.ids import NUM_SPECIAL

LINES = (
    "Owl 3 3 3\nthe 1 2 3\nowl 4 5 6\nOWL 9 9 9\n. . . 7 8 9\nCat 1 0 1\nCAT 2 2 2\n\u00a0 0 0 0\n"
)


def test_lower_case_first_then_what_differs_in_capitals(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(LINES, encoding="utf-8")
    words = ["owl", "cat", ". . .", "nowhere"]
    found = read_vectors(path, words)
    assert {word: vector.tolist() for word, vector in found.items()} == {
        "owl": [4, 5, 6], "cat": [1, 0, 1], ". . .": [7, 8, 9]
    }  # fmt: skip
    packed = tmp_path / "vectors.txt.gz"
    packed.write_bytes(gzip.compress(("7 3\n" + LINES).encode()))  # with word2vec's first line
    again = read_vectors(packed, words)
    assert list(again) == list(found) and all(np.array_equal(again[w], found[w]) for w in found)


def test_rows_without_a_vector_stay(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(LINES, encoding="utf-8")
    words = ["[PAD]", "[UNK]", "[BOS]", "[EOS]", "cat", "sea", "owl"]
    layer = WordEmbedding(vocabulary_size=len(words) + 2, dim=3)  # two rows for unknown words
    before = ops.convert_to_numpy(layer.words).copy()
    special = ops.convert_to_numpy(layer.special).copy()
    assert set_vectors(layer, words, path) == pytest.approx(2 / 3)
    after = ops.convert_to_numpy(layer.words)
    np.testing.assert_array_equal(after[[0, 2]], [[1, 0, 1], [4, 5, 6]])
    np.testing.assert_array_equal(after[[1, 3, 4]], before[[1, 3, 4]])
    np.testing.assert_array_equal(layer.special, special)
    looked_up = np.array(layer(np.array([NUM_SPECIAL + 2])))
    np.testing.assert_array_equal(looked_up, [[4, 5, 6]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("owl 1 2 3\ncat 1 2\n", "line 2"),
        ("owl 1 2 3\ncat 1 x 3\n", "line 2"),
        ("", "an empty file"),
        ("owl 1 2\n", "dim=3"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    words = ["[PAD]", "[UNK]", "[BOS]", "[EOS]", "owl", "cat"]
    with pytest.raises(ValueError, match=message):
        set_vectors(WordEmbedding(vocabulary_size=6, dim=3), words, path)

"""Word vectors: their forms, what is wrong with files, and what becomes of a table's rows."""

import gzip

import numpy as np
import pytest
from keras import ops

from tfmrc.encoders import WordVectors, load_word_vectors, rows_from_subwords, set_vectors
from tfmrc.encoders.vectors.word_vectors import compared_form
from tfmrc.layers import WordEmbedding
from tfmrc.ops.ids import NUM_SPECIAL

SPECIAL = ["[PAD]", "[UNK]", "[BOS]", "[EOS]"]


def written(folder, content, name="vectors.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_lists(vectors):
    return {word: vectors[word].tolist() for word in vectors.keys}


def test_exact_spelling_then_compared_form():
    vectors = WordVectors(np.eye(4), {"Owl": 0, "owl": 1, "OWL": 0, "Été": 2, "ÉTÉ": 3, "K２": 3})
    assert [vectors.row(word) for word in ("Owl", "owl", "OWL", "oWL")] == [0, 1, 0, 1]
    assert vectors.row("été") == 2  # the first of those that differ in capitals
    assert vectors.row("k2") == 3  # NFKC
    assert vectors.row("cat") is None and "cat" not in vectors
    assert vectors.compared == {"owl": 1, "été": 2, "k2": 3}


def test_coverage_counts_words_and_occurrences():
    vectors = WordVectors(np.eye(2), {"a": 0, "b": 1})
    result = vectors.coverage({"A": 5, "c": 2, "d": 3})
    counts = result.found, result.words, result.occurrences_found, result.occurrences
    assert counts == (1, 3, 5, 10) and result.missing == ("d", "c")
    assert result.share == pytest.approx(1 / 3)


@pytest.mark.parametrize(("start", "line_end"), [("", "\n"), ("\ufeff7 3\n", "\r\n")])
def test_text_forms(tmp_path, start, line_end):
    lines = "the 1 2 3\nowl 4.5 -5 6e-1\n. . . 7 8 9\na 1 1 1\nb 2 2 2\nc\td 3 3 3\nthe 0 0 0 \n"
    path = written(tmp_path, (start + lines).replace("\n", line_end))
    expected = {
        "the": [1, 2, 3], "owl": [4.5, -5, np.float32(0.6)], ". . .": [7, 8, 9],
        "a": [1, 1, 1], "b": [2, 2, 2],
    }  # fmt: skip
    assert as_lists(load_word_vectors(path)) == expected
    packed = written(tmp_path, gzip.compress(path.read_bytes(), mtime=0), "named.otherwise")
    assert as_lists(load_word_vectors(packed)) == expected
    assert list(load_word_vectors(path, limit=2).keys) == ["the", "owl"]
    some = load_word_vectors(path, words=["OWL", "b", "nowhere"])
    assert as_lists(some) == {"owl": expected["owl"], "b": expected["b"]}
    assert some.rows.shape == (2, 3)


def test_the_compact_form_keeps_shared_rows(tmp_path):
    vectors = WordVectors([[1.5, 2], [3, 4]], {"Owl": 1, "owl": 0, "zürich": 1})
    path = vectors.save(tmp_path / "small.2d.npz")
    names = ["small.2d.keys.tsv.gz", "small.2d.npz"]
    assert sorted(file.name for file in tmp_path.iterdir()) == names
    again = load_word_vectors(path)
    assert list(again.keys.items()) == list(vectors.keys.items())
    np.testing.assert_array_equal(again.rows, vectors.rows)
    (tmp_path / "small.2d.keys.tsv.gz").rename(tmp_path / "small.keys.tsv.gz")
    some = load_word_vectors(path, words=["OWL", "nowhere"])
    assert as_lists(some) == {"Owl": [3, 4], "owl": [1.5, 2]}
    assert load_word_vectors(path, limit=1).rows.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("owl 1 2 3\ncat 1 2\n", r"line 2: expected a word and 3 numbers.* Received: 'cat 1 2'"),
        (gzip.compress(b"owl 1 2\n" * 9, mtime=0)[:-12], "vectors.txt is damaged"),
        ("3 3\nowl 1 2 3\ncat 4 5 6\n", r"truncated: its first line states 3 words. Received: 2"),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    path = written(tmp_path, content)
    with pytest.raises(ValueError, match=message):
        load_word_vectors(path)


def test_rows_without_a_vector_stay(tmp_path, capsys):
    path = written(
        tmp_path, "the 1 2 3\nowl 4 5 6\nOWL 9 9 9\nCat 1 0 1\nCAT 2 2 2\n\u00a0 0 0 0\n"
    )
    words = [*SPECIAL, "cat", "sea", "owl"]
    layer = WordEmbedding(vocabulary_size=len(words) + 2, dim=3)  # two rows for unknown words
    before = ops.convert_to_numpy(layer.words).copy()
    special = ops.convert_to_numpy(layer.special).copy()
    assert set_vectors(layer, words, path).share == pytest.approx(2 / 3)
    assert capsys.readouterr().out == "Word vectors (vectors.txt): 2 of 3 words (66.7 percent)\n"
    after = ops.convert_to_numpy(layer.words)
    np.testing.assert_array_equal(after[[0, 2]], [[1, 0, 1], [4, 5, 6]])
    np.testing.assert_array_equal(after[[1, 3, 4]], before[[1, 3, 4]])
    np.testing.assert_array_equal(layer.special, special)
    looked_up = np.array(layer(np.array([NUM_SPECIAL + 2])))
    np.testing.assert_array_equal(looked_up, [[4, 5, 6]])


def test_rows_from_subwords():
    table = np.arange(12.0).reshape(4, 3)
    pieces = {"owls": [0, 3], "?": [], "cat": [2]}
    vectors = rows_from_subwords([*pieces], lambda words: [pieces[w] for w in words], table)
    assert as_lists(vectors) == {"owls": [4.5, 5.5, 6.5], "cat": [6, 7, 8]}
    assert len(rows_from_subwords([], lambda words: pieces, table)) == 0


@pytest.mark.shared_data
def test_real_vectors(shared_data):
    from tfmrc.text import Tokenizer

    vectors = load_word_vectors(shared_data / "vectors" / "en_core_web_md.300d.npz")
    assert (len(vectors), *vectors.rows.shape) == (684_830, 20_000, 300)
    assert vectors.row("!!!!!!!!!!!!!!!!") == 19_664
    sample = load_word_vectors(shared_data / "vectors" / "sample.256d.txt")
    assert sample.rows.shape == (1000, 256)
    # The compared form is that of the tokenizer.
    words = list(vectors.keys)
    tokens = Tokenizer().tokenize(words)
    single = tokens.surface.row_lengths().numpy() == 1
    forms = tokens.compared.values.numpy()[tokens.compared.row_starts().numpy()[single]]
    ours = [word for word, one in zip(words, single, strict=True) if one]
    assert len(ours) > 500_000
    assert [compared_form(word).encode() for word in ours] == forms.tolist()

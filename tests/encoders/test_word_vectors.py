"""Word vectors: their forms, what is wrong with files, and what becomes of a table's rows."""

import gzip
import math
import struct

import numpy as np
import pytest
from keras import ops

from tfmrc.encoders import WordVectors, load_word_vectors, rows_from_subwords, set_vectors
from tfmrc.layers import WordEmbedding
from tfmrc.ops.ids import NUM_SPECIAL

LINES = (
    "Owl 3 3 3\nthe 1 2 3\nowl 4 5 6\nOWL 9 9 9\n. . . 7 8 9\nCat 1 0 1\nCAT 2 2 2\n\u00a0 0 0 0\n"
)
SPECIAL = ["[PAD]", "[UNK]", "[BOS]", "[EOS]"]


def written(folder, content, name="vectors.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def binary(entries, line_breaks=True):
    dim = len(entries[0][1])
    end = b"\n" * line_breaks
    return b"%d %d\n" % (len(entries), dim) + b"".join(
        word.encode() + b" " + struct.pack(f"<{dim}f", *numbers) + end for word, numbers in entries
    )


def as_lists(vectors):
    return {word: vectors[word].tolist() for word in vectors.keys}


def test_exact_spelling_then_compared_form():
    vectors = WordVectors(np.eye(4), {"Owl": 0, "owl": 1, "OWL": 0, "Été": 2, "ÉTÉ": 3, "K２": 3})
    assert [vectors.row(word) for word in ("Owl", "owl", "OWL", "oWL")] == [0, 1, 0, 1]
    assert vectors.row("été") == 2  # the first of those that differ in capitals
    assert vectors.row("k2") == 3  # NFKC
    assert vectors.row("cat") is None and "cat" not in vectors
    assert vectors.compared == {"owl": 1, "été": 2, "k2": 3}
    with pytest.raises(KeyError):
        vectors["cat"]


def test_coverage_counts_words_and_occurrences():
    vectors = WordVectors(np.eye(2), {"a": 0, "b": 1})
    result = vectors.coverage({"A": 5, "c": 2, "d": 3})
    assert (result.found, result.words, result.occurrences_found, result.occurrences) == (
        1,
        3,
        5,
        10,
    )
    assert result.missing == ("d", "c")
    assert result.share == pytest.approx(1 / 3)
    assert str(vectors.coverage(["a", "x"])) == "1 of 2 words (50.0 percent)"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "7 3\n", "\ufeff7 3\n"])
def test_text_forms(tmp_path, start, line_end):
    lines = "the 1 2 3\nowl 4.5 -5 6e-1\n. . . 7 8 9\na 1 1 1\nb 2 2 2\nc 3 3 3\nthe 0 0 0 \n"
    path = written(tmp_path, (start + lines).replace("\n", line_end))
    expected = {
        "the": [1, 2, 3], "owl": [4.5, -5, np.float32(0.6)], ". . .": [7, 8, 9],
        "a": [1, 1, 1], "b": [2, 2, 2], "c": [3, 3, 3],
    }  # fmt: skip
    assert as_lists(load_word_vectors(path)) == expected
    packed = written(tmp_path, gzip.compress(path.read_bytes(), mtime=0), "named.otherwise")
    assert as_lists(load_word_vectors(packed)) == expected
    assert list(load_word_vectors(path, limit=2).keys) == ["the", "owl"]
    some = load_word_vectors(path, words=["OWL", "b", "nowhere"])
    assert as_lists(some) == {"owl": expected["owl"], "b": expected["b"]}
    assert some.rows.shape == (2, 3)


@pytest.mark.parametrize("words", [None, ["owl", "cat", "a\tb"]])
def test_a_word_that_no_tokenizer_gives_is_left_out(tmp_path, words):
    entries = [("owl", [1, 2]), ("a\tb", [3, 4]), ("cat", [5, 6])]
    lines = "".join(f"{word} {x} {y}\n" for word, (x, y) in entries)
    for content in (lines, "3 2\n" + lines, binary(entries)):
        vectors = load_word_vectors(written(tmp_path, content), words=words)
        assert as_lists(vectors) == {"owl": [1, 2], "cat": [5, 6]}


def test_fields_between_tabs_are_refused_whatever_the_words(tmp_path):
    path = written(tmp_path, "owl\t1 2\ncat\t3 4\n")
    for words in (None, ["bird"]):
        with pytest.raises(ValueError, match="line 1: .* 2 numbers separated by single spaces"):
            load_word_vectors(path, words=words)


@pytest.mark.parametrize("line_breaks", [True, False])
@pytest.mark.parametrize("packed", [False, True])
def test_word2vec_binary(tmp_path, line_breaks, packed):
    entries = [("</s>", [0.0, -1.5]), ("Zürich", [1e-3, 2.0]), ("owl", [math.pi, 1e30])]
    content = binary(entries, line_breaks)
    path = written(tmp_path, gzip.compress(content, mtime=0) if packed else content, "vectors.bin")
    expected = {word: np.float32(numbers).tolist() for word, numbers in entries}
    for form in ("auto", "word2vec"):
        assert as_lists(load_word_vectors(path, format=form)) == expected
    assert as_lists(load_word_vectors(path, words=["zürich"])) == {"Zürich": expected["Zürich"]}
    assert list(load_word_vectors(path, limit=1).keys) == ["</s>"]


def test_many_rows(tmp_path):
    rows = np.random.default_rng(1).normal(size=(20_000, 3)).astype("float32")
    words = [f"w{n}" for n in range(len(rows))]
    lines = "".join(f"{w} {' '.join(map(repr, r.tolist()))}\n" for w, r in zip(words, rows))  # noqa: B905
    vectors = load_word_vectors(written(tmp_path, lines))
    np.testing.assert_array_equal(vectors.rows, rows)
    again = load_word_vectors(
        written(tmp_path, binary(list(zip(words, rows.tolist(), strict=True))), "v.bin")
    )
    np.testing.assert_array_equal(again.rows, rows)
    assert again.keys == vectors.keys


def test_the_compact_form_keeps_shared_rows(tmp_path):
    vectors = WordVectors([[1.5, 2], [3, 4]], {"Owl": 1, "owl": 0, "zürich": 1})
    path = vectors.save(tmp_path / "small.2d.npz")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "small.2d.keys.tsv.gz",
        "small.2d.npz",
    ]
    again = load_word_vectors(path)
    assert again.keys == vectors.keys and list(again.keys) == list(vectors.keys)
    np.testing.assert_array_equal(again.rows, vectors.rows)
    (tmp_path / "small.2d.keys.tsv.gz").rename(tmp_path / "small.keys.tsv.gz")
    some = load_word_vectors(path, words=["OWL", "nowhere"])
    assert as_lists(some) == {"Owl": [3, 4], "owl": [1.5, 2]}
    assert load_word_vectors(path, limit=1).rows.tolist() == [[3, 4]]
    with pytest.raises(ValueError, match=r"must end in .npz"):
        vectors.save(tmp_path / "small.txt")


def test_the_vectors_of_a_spacy_pipeline(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.vectors import Vectors

    nlp = spacy.blank("en")
    rows = np.array([[1, 2], [3, 4]], "float32")
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=rows, keys=[nlp.vocab.strings.add("owl")]
    )
    for word in ("Paris", "London"):
        nlp.vocab.vectors.add(nlp.vocab.strings.add(word), row=1)
    nlp.to_disk(tmp_path / "pipeline")
    vectors = load_word_vectors(f"spacy:{tmp_path / 'pipeline'}")
    assert as_lists(vectors) == {"owl": [1, 2], "Paris": [3, 4], "London": [3, 4]}
    assert vectors.rows.shape == (2, 2)
    with pytest.raises(FileNotFoundError, match="python -m spacy download en_core_web_none"):
        load_word_vectors("spacy:en_core_web_none")
    spacy.blank("en").to_disk(tmp_path / "bare")
    with pytest.raises(ValueError, match="no table of word vectors"):
        load_word_vectors(f"spacy:{tmp_path / 'bare'}")


GOOD = "owl 1 2 3\ncat 4 5 6\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("owl 1 2 3\ncat 1 2\n", r"line 2: expected a word and 3 numbers. Received: 'cat 1 2'"),
        ("owl 1 2 3\ncat 1 x 3\n", r"line 2: expected 3 numbers.*'1 x 3'"),
        ("owl 1 2 3\ncat 1  3\n", r"line 2: expected 3 numbers"),
        ("owl 1 2 3\ncat 1 nan 3\n", r"line 2: numbers must be finite in float32. Received: nan"),
        ("owl 1 2 3\ncat 1 -inf 3\n", r"line 2: .* finite in float32. Received: -inf"),
        ("owl 1 2 3\ncat 1 1e39 3\n", r"line 2: .* finite in float32. Received: 1e\+39"),
        ("owl 1 2 3\ncafé 1 2 3\n".encode("latin-1"), r"line 2: not UTF-8 \(byte 3 is 0xe9\)"),
        ("", "has no vectors. Received: an empty file"),
        ("\n\n", "has no vectors. Received: an empty file"),
        ("3 3\n" + GOOD, r"after line 3: the first line states 3 words. Received: 2 words"),
        ("owl 1 2 3\ncat 4 5 6 7\n", "line 2: expected a word and 3 numbers. .*'cat 4 5 6 7'"),
        ("2 2\n" + GOOD, "line 2: expected a word and 2 numbers. Received: 'owl 1 2 3'"),
        ("2 3\n" + GOOD.replace(" ", "\t"), "line 2: .* by single spaces, not tabs"),
        (GOOD.replace(" ", "\t"), "line 1: .* by single spaces, not tabs"),
        ("90 3 4 5 2 2166136261 < >\n0 1 2 3\n", "is a floret table of hashed subwords"),
        ("owl\n", "line 1: expected a word and 1 numbers"),
        (b"\x00\x01\x02\xff\n", "line 1: not UTF-8"),
        (gzip.compress(GOOD.encode() * 9, mtime=0)[:-12], r"after line \d+: .* is damaged"),
        (b"\x1f\x8bnonsense nonsense", r"after line 0: the compressed file is damaged"),
        (b"PK\x03\x04rest", "is a zip archive: unpack it"),
        ((793712314).to_bytes(4, "little") + b"rest", "is a fastText model.*pass its .vec file"),
        (binary([("a", [1, 2]), ("b", [3, 4])])[:-3], "word 2: the file is trunc.* 1 of 2"),
        (binary([("a", [1, 2]), ("b", [3, 4])])[:-12], "word 2: the file is truncated or not in"),
        (binary([("a", [1, 2]), ("b", [3, 4])]).replace(b"2 2", b"1 2", 1),
         "after word 1: the first line states 1 words of 2 numbers. Received: more bytes"),
        (binary([("a", [1, 2]), ("b", [3, math.nan])]), "word 2: numbers must be finite.*nan"),
        (binary([("a", [1, 2])]).replace(b"a ", b"\xe9 "), "word 1: not UTF-8, or the file is dam"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, content, message):
    path = written(tmp_path, content)
    with pytest.raises(ValueError, match=message) as error:
        load_word_vectors(path)
    assert str(path) in str(error.value)


def test_a_name_that_promises_gzip(tmp_path):
    path = written(tmp_path, GOOD, "vectors.txt.gz")
    with pytest.raises(ValueError, match=r"vectors.txt.gz, line 1: .*not compressed by gzip"):
        load_word_vectors(path)


def test_arguments_that_are_wrong(tmp_path):
    path = written(tmp_path, GOOD)
    with pytest.raises(ValueError, match=r"one of auto, text, .* Received: format='glove'"):
        load_word_vectors(path, format="glove")
    with pytest.raises(ValueError, match=r"at least 1. Received: limit=0"):
        load_word_vectors(path, limit=0)
    with pytest.raises(ValueError, match=r"line 1: the binary format begins with"):
        load_word_vectors(path, format="word2vec")
    with pytest.raises(FileNotFoundError, match="no file of word vectors.*none.txt"):
        load_word_vectors(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (None, "needs a file of keys in the same folder: v.keys.tsv.gz"),
        (
            gzip.compress(b"owl\t0\ncat\t2\n", mtime=0),
            "line 2: expected `word TAB row`.*rows from 0 to 1",
        ),
        (gzip.compress(b"owl\t0\ncat 1\n", mtime=0), "line 2: expected `word TAB row`"),
        (
            gzip.compress(b"owl\t0\ncaf\xe9\t1\n", mtime=0),
            "line 2: expected `word TAB row` in UTF-8",
        ),
        (gzip.compress(b"owl\t0\ncat\t1\n", mtime=0)[:-9], "after line .*damaged or truncated"),
        (b"owl\t0\n", "after line 0: the compressed file is damaged"),
    ],
)
def test_broken_keys(tmp_path, keys, message):
    np.savez(tmp_path / "v.npz", rows=np.eye(2))
    if keys is not None:
        written(tmp_path, keys, "v.keys.tsv.gz")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        load_word_vectors(tmp_path / "v.npz")


@pytest.mark.parametrize("content", [b"PK\x03\x04junk", b"\x80\x04K*.", b""])
def test_broken_rows_run_no_code(tmp_path, content):
    written(tmp_path, content, "v.npz")
    written(tmp_path, gzip.compress(b"owl\t0\n", mtime=0), "v.keys.tsv.gz")
    with pytest.raises(ValueError, match=r"v.npz: expected an .npz file with an array `rows`"):
        load_word_vectors(tmp_path / "v.npz")


@pytest.mark.parametrize(
    ("rows", "keys", "message"),
    [
        ([1.0], {}, r"matrix of numbers.*shape=\(1,\)"),
        ([["a"]], {}, r"matrix of numbers"),
        ([[1.0], [math.inf]], {}, r"finite in float32. Received: rows\[1\]"),
        ([[1e39]], {}, r"finite in float32"),
        ([[1.0]], {"a": 1}, r"one of the 1 rows. Received: 'a' with row 1"),
        ([[1.0]], {"": 0}, r"not be empty"),
        ([[1.0]], {"a\tb": 0}, r"contain a tab"),
    ],
)
def test_vectors_that_are_wrong(rows, keys, message):
    with pytest.raises(ValueError, match=message):
        WordVectors(rows, keys)


def test_rows_without_a_vector_stay(tmp_path, capsys):
    path = written(tmp_path, LINES)
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
    with pytest.raises(ValueError, match=r"same width. Received: 3 numbers in vectors.txt, dim=2"):
        set_vectors(WordEmbedding(vocabulary_size=7, dim=2), words, path)


def test_rows_from_subwords():
    import tensorflow as tf

    table = np.arange(12.0).reshape(4, 3)
    pieces = tf.ragged.constant([[0, 3], [], [2]])
    vectors = rows_from_subwords(["owls", "?", "cat"], lambda words: pieces, table)
    assert as_lists(vectors) == {"owls": [4.5, 5.5, 6.5], "cat": [6, 7, 8]}
    with pytest.raises(ValueError, match="3 rows for 1 words"):
        rows_from_subwords(["owl"], lambda words: pieces, table)
    with pytest.raises(ValueError, match=r"rows of the table \[4, 3\]. Received: 'b' with \[4\]"):
        rows_from_subwords(["a", "b"], lambda words: [[0], [4]], table)
    assert len(rows_from_subwords([], lambda words: pieces, table)) == 0


@pytest.mark.shared_data
def test_real_vectors(shared_data):
    vectors = load_word_vectors(shared_data / "vectors" / "en_core_web_md.300d.npz")
    assert (len(vectors), *vectors.rows.shape) == (684_830, 20_000, 300)
    assert vectors.row("!!!!!!!!!!!!!!!!") == 19_664
    sample = load_word_vectors(shared_data / "vectors" / "sample.256d.txt")
    assert sample.rows.shape == (1000, 256)


@pytest.mark.shared_data
def test_compared_form_is_that_of_the_tokenizer(shared_data):
    from tfmrc.text import Tokenizer

    vectors = load_word_vectors(shared_data / "vectors" / "en_core_web_md.300d.npz")
    words = list(vectors.keys)
    tokens = Tokenizer().tokenize(words)
    single = tokens.surface.row_lengths().numpy() == 1
    forms = tokens.compared.values.numpy()[tokens.compared.row_starts().numpy().clip(0)[single]]
    ours = [word for word, one in zip(words, single, strict=True) if one]
    from tfmrc.encoders.word_vectors import compared_form

    differ = [w for w, f in zip(ours, forms, strict=True) if compared_form(w) != f.decode()]
    assert len(ours) > 500_000 and not differ

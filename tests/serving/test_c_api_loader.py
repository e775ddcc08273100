"""The loader itself, on a small SavedModel with tensorflow-text operations and a table."""

import pytest
import tensorflow as tf
import tensorflow_text as tf_text

from tests.serving.predictors import run_loader


class Words(tf.Module):
    """Splits strings into words and looks them up."""

    def __init__(self, vocabulary_file):
        super().__init__()
        self.asset = tf.saved_model.Asset(vocabulary_file)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                self.asset.asset_path,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            default_value=-1,
        )
        self.tokenizer = tf_text.UnicodeScriptTokenizer()
        self.scale = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")], autograph=False)
    def __call__(self, text):
        words, starts, _ = self.tokenizer.tokenize_with_offsets(text)
        words, starts = words.to_tensor(), starts.to_tensor(-1)
        tf.debugging.assert_greater(tf.size(words), 0, message="There is no word at all.")
        return {
            "words": words,
            "ids": self.table.lookup(words),
            "starts": tf.cast(starts, tf.int32),
            "known": self.table.lookup(words) >= 0,
            "scaled": self.scale * tf.cast(starts, tf.float32),
        }


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    vocabulary = folder / "words.txt"
    vocabulary.write_text("how\ntall\nbergün\n")
    module = Words(str(vocabulary))
    path = folder / "1"
    tf.saved_model.save(module, str(path), signatures=module.__call__)
    vocabulary.unlink()
    return path


def answers(folder, requests):
    return run_loader("c_api_loader.py", folder, requests)


def test_strings_go_in_and_all_types_come_out(toy):
    long = "a" * 5000
    found, odd, empty = answers(
        toy,
        [
            {"text": ["how tall?", f"Bergün bergün {long}"]},
            {"text": ["caf\udcff x"]},
            {"text": ["", " "]},
        ],
    )
    assert found["outputs"] == {
        "words": [["how", "tall", "?"], ["Bergün", "bergün", long]],
        "ids": [[0, 1, -1], [-1, 2, -1]],
        "starts": [[0, 4, 8], [0, 8, 16]],
        "known": [[True, True, False], [False, True, False]],
        "scaled": [[0.0, 8.0, 16.0], [0.0, 16.0, 32.0]],
    }
    assert odd["outputs"]["words"][0][-1] == "x"
    assert empty["code"] == 3
    assert "There is no word at all." in empty["error"]


def test_wrong_inputs_are_named(toy):
    (found,) = answers(toy, [{"question": ["x"]}])
    assert found == {"code": 3, "error": "The inputs are ['text']. Received: ['question']"}

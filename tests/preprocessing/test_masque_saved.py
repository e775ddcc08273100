"""The preprocessor in a SavedModel: the same numbers, in a process without tfmrc."""

import os
import subprocess
import sys

import pytest
import tensorflow as tf

from tests.text.helpers import preprocessor, text_of

QUESTIONS = ["Who met Ada, the Queen?", b"\xff don't", ""]
PASSAGES = [["The queen Ada and K2", "ada MET", "cut"], [" ", "", ""], ["", "", ""]]
STYLES = ["nlg", "qa", "qa"]
ANSWERS = ["K2 and the Queen", "don't", ""]

LOAD = """
import sys
import tensorflow as tf
import tensorflow_text
model = tf.saved_model.load(sys.argv[1])
found = model.run(tf.constant(["K2?"]), tf.constant([["x k2 queen"]]), tf.constant(["qa"]),
                  tf.constant(["Queen k2"]))
print(found["extended_ids"].numpy().tolist(), found["target_ids"].numpy().tolist(),
      found["answer"].numpy().tolist(), "tfmrc" in sys.modules)
"""


class Exported(tf.Module):
    def __init__(self, preprocessor):
        super().__init__()
        self.preprocessor = preprocessor

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string),
            tf.TensorSpec([None, None], tf.string),
            tf.TensorSpec([None], tf.string),
            tf.TensorSpec([None], tf.string),
        ]
    )
    def run(self, question, passages, style, answer):
        source = self.preprocessor.source(question, passages, style)
        target = self.preprocessor.target(answer, source)
        answer, words = self.preprocessor.detokenize(target["target_ids"], source)
        return source | target | {"answer": answer, "answer_words": words}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    built = Exported(preprocessor(num_oov_buckets=2))
    path = str(tmp_path_factory.mktemp("export"))
    tf.saved_model.save(built, path)
    return built, path


def test_the_same_numbers(exported):
    built, path = exported
    inputs = [tf.constant(values, tf.string) for values in (QUESTIONS, PASSAGES, STYLES, ANSWERS)]
    expected, result = built.run(*inputs), tf.saved_model.load(path).run(*inputs)
    assert set(result) == set(expected)
    for name, tensor in expected.items():
        assert result[name].numpy().tolist() == tensor.numpy().tolist(), name
    assert text_of(result["answer"]) == ["K2 and the Queen", "don't", ""]


def test_the_vocabulary_is_an_asset(exported):
    assert os.listdir(os.path.join(exported[1], "assets")) == ["vocabulary.txt"]


def test_unknown_style_is_a_clear_status(exported):
    loaded = tf.saved_model.load(exported[1])
    one = [tf.constant(values, tf.string) for values in (["who"], [["a"]], ["ode"], [""])]
    with pytest.raises(tf.errors.InvalidArgumentError, match="styles of this model are qa, nlg"):
        loaded.run(*one)


def test_in_a_process_without_tfmrc(exported):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, exported[1]],
        capture_output=True, text=True, cwd=exported[1], env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # K2 is position 0, queen 5: [question K2 ? | BOS x k2 queen | padding].
    expected = "[[7, 8, 0, 10, 7, 12, 0, 0, 0, 0]] [[12, 7, 3]] [b'queen K2'] False"
    assert done.stdout.strip().splitlines()[-1] == expected

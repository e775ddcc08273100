"""The preprocessor in a SavedModel: the same numbers, in a process without tfmrc."""

import os
from pathlib import Path

import pytest
import tensorflow as tf

from tests.serving.predictors import run_loader
from tests.text.helpers import preprocessor, text_of

QUESTIONS = ["Who met Ada, the Queen?", b"\xff don't", ""]
PASSAGES = [["The queen Ada and K2", "ada MET", "cut"], [" ", "", ""], ["", "", ""]]
STYLES = ["nlg", "qa", "qa"]
ANSWERS = ["K2 and the Queen", "don't", ""]


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
        ],
        autograph=False,
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
    tf.saved_model.save(built, path, signatures=built.run.get_concrete_function())
    return built, path


@pytest.fixture(scope="module")
def loaded(exported):
    return tf.saved_model.load(exported[1])


def test_the_same_numbers(exported, loaded):
    built, _ = exported
    inputs = [tf.constant(values, tf.string) for values in (QUESTIONS, PASSAGES, STYLES, ANSWERS)]
    expected, result = built.run(*inputs), loaded.run(*inputs)
    assert set(result) == set(expected)
    for name, tensor in expected.items():
        assert result[name].numpy().tolist() == tensor.numpy().tolist(), name
    assert text_of(result["answer"]) == ["K2 and the Queen", "don't", ""]


def test_the_vocabulary_is_an_asset(exported):
    assert os.listdir(os.path.join(exported[1], "assets")) == ["vocabulary.txt"]


def test_unknown_style_is_a_clear_status(loaded):
    one = [tf.constant(values, tf.string) for values in (["who"], [["a"]], ["ode"], [""])]
    with pytest.raises(tf.errors.InvalidArgumentError, match="styles of this model are qa, nlg"):
        loaded.run(*one)


def test_in_a_process_without_tfmrc(exported):
    request = {
        "question": ["K2?"],
        "passages": [["x k2 queen"]],
        "style": ["qa"],
        "answer": ["Queen k2"],
    }
    (reply,) = run_loader("c_api_loader.py", Path(exported[1]), [request])
    found = reply["outputs"]
    # K2 is position 0, queen 5: [question K2 ? | BOS x k2 queen | padding].
    assert found["extended_ids"] == [[7, 8, 0, 10, 7, 12, 0, 0, 0, 0]]
    assert (found["target_ids"], found["answer"]) == ([[12, 7, 3]], ["queen K2"])

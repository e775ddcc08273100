"""Ids and labels that no table has: one sentence, in graphs and eagerly."""

import keras
import numpy as np
import pytest

from tests.models import duals, examples, questions
from tests.models.test_san import SMALL, batch
from tfmrc.encoders import from_vocabulary
from tfmrc.layers import BidirectionalLSTM, DualAttention, WordEmbedding
from tfmrc.losses import SpanPositionNLL
from tfmrc.models import SAN, ExtractiveReader, Model
from tfmrc.models.indices import explaining

PASSAGES, QUESTION = np.ones((1, 2, 3, 4), "float32"), np.ones((1, 5, 4), "float32")
REAL, ASKED = np.ones((1, 2, 3), bool), np.ones((1, 5), bool)


@pytest.fixture(scope="module")
def model():
    """A SAN whose graph is traced once."""
    return SAN(**SMALL)


@pytest.mark.parametrize("word", [12, -1])
def test_ids_of_an_eager_call(word, model):
    x = batch()
    x["passage_ids"] = np.array(x["passage_ids"])
    x["passage_ids"][0, 0] = word
    with pytest.raises(ValueError, match=f"rows of the word embedding from 0 to 11. Rec.*: {word}"):
        model(x)
    with pytest.raises(ValueError, match=f"`x` must hold rows .* from 0 to 9. Received: {word}"):
        WordEmbedding(10, 3)(np.array([[0, word]]))


@pytest.mark.parametrize("label", [3, -2])
def test_labels_of_an_eager_loss(label):
    loss = SpanPositionNLL()
    assert float(loss(np.array([2, -1]), np.zeros((2, 3), "float32"))) == 0
    with pytest.raises(ValueError, match=f"a passage, or -1, from -1 to 2. Received: {label}"):
        loss(np.array([0, label]), np.zeros((2, 3), "float32"))


class Positions(Model):
    """Scores of five positions."""

    def __init__(self, *, name="positions"):
        inputs = keras.Input((5,), name="scores")
        super().__init__(inputs=inputs, outputs=keras.ops.log_softmax(inputs), name=name)


def test_labels_of_a_graph():
    model = Positions()
    model.compile(loss=SpanPositionNLL())
    message = "label is beyond what the loss `position_log_likelihood` selects from: 0 to 4. .*: 50"
    with pytest.raises(ValueError, match=message):
        model.evaluate(np.zeros((2, 5)), np.array([1, 50]), verbose=0)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (12, "no row in `word_embedding`: a table has the rows 0 to 11"),
        (-1, "of `word_embedding` is negative"),
        (-5, "of `word_embedding` is negative"),
    ],
)
def test_ids_of_a_graph(word, said, model):
    x = batch()
    x["passage_ids"] = np.array(x["passage_ids"])
    x["passage_ids"][0, 0] = word
    with pytest.raises(ValueError, match=f"{said}.* Received: {word}$"):
        model.predict(x, verbose=0)


@pytest.mark.parametrize("method", ["predict", "fit", "evaluate"])
def test_inputs_with_different_numbers_of_rows(method, model):
    x = batch()
    x["passage_ids"] = np.array(x["passage_ids"])[:1]
    with pytest.raises(ValueError, match=r"a row for each example.*passage_ids of shape \(1, "):
        getattr(model, method)(x, verbose=0)


NO_POSITION = np.zeros((2, 0), "int32")


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("question_ids", lambda: examples.small().encode),
        ("passage_characters", lambda: duals.small().asking.encode),
        ("extended_ids", lambda: questions.small().encode),
        ("passage_ids", lambda: SAN(**SMALL).find),
        ("encoder_ids", lambda: ExtractiveReader(encoder=from_vocabulary(["owl"])).scores),
    ],
)
def test_inputs_of_decoding_without_a_position(name, read):
    with pytest.raises(ValueError, match=rf"^The inputs need .*Received: {name} of shape \(2, 0\)"):
        read()({name: NO_POSITION})


def test_errors_of_a_step():
    def fails(text):
        raise RuntimeError(text)

    raw = "indices[0,0] = 502 is not in [0, 8)\n\t [[{{node san_1/word_embedding_1/GatherV2_1}}]]"
    with pytest.raises(ValueError, match=r"no row in `word_embedding`: .* 0 to 7.*Received: 502"):
        explaining(fails)(raw)
    with pytest.raises(RuntimeError, match="^another$"):
        explaining(fails)("another")
    assert explaining(len)("abc") == 3


@pytest.mark.parametrize("shape", [(2, 4), (2, 3, 1), (2,)])
def test_a_mask_of_another_shape(shape):
    with pytest.raises(ValueError, match=r"`padding_mask` must .*\(2, 3\). Received: shape="):
        BidirectionalLSTM(3)(np.ones((2, 3, 4), "float32"), padding_mask=np.ones(shape, bool))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((PASSAGES[0], QUESTION, REAL[0], ASKED), r"passages `\[B, K, L, d\]`.*shape=\(2, 3, 4\)"),
        ((PASSAGES, QUESTION[..., :3], REAL, ASKED), r"same width d.*question.shape=\(1, 5, 3\)"),
        ((PASSAGES, QUESTION[0], REAL, ASKED[0]), r"question.shape=\(5, 4\)"),
        ((PASSAGES, QUESTION, REAL[..., :2], ASKED), r"`passage_mask` must .*=\(1, 2, 2\)"),
        ((PASSAGES, QUESTION, REAL, ASKED[..., None]), r"`question_mask` must .*=\(1, 5, 1\)"),
    ],
)
def test_inputs_of_dual_attention_of_another_shape(inputs, message):
    with pytest.raises(ValueError, match=message):
        DualAttention()(*inputs)

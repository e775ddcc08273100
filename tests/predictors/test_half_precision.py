"""Predictors of all models in half precision: the answers and numbers of float32."""

import keras
import numpy as np
import pytest

import tfmrc
from tests.running import eagerly
from tfmrc import Predictor, encoders, models, preprocessing
from tfmrc.data import Example

PASSAGES = ("The owl flew over the hill .", "Ode named the mill after the owl .")
EXAMPLES = [
    Example("1", "Who flew over the hill ?", PASSAGES, {"qa": ("the owl",)}),
    Example("2", "Who named the mill ?", PASSAGES, {"qa": ("Ode",)}),
]
WORDS = sorted({word.lower() for text in PASSAGES for word in text.split()} | {"who", "?"})
POLICIES = ("mixed_bfloat16", "mixed_float16")
SIZES = {"word_dim": 8, "hidden_dim": 8}
MASQUE = {
    **SIZES, "num_heads": 2, "intermediate_dim": 8, "num_shared_blocks": 1,
    "num_question_blocks": 1, "num_passage_blocks": 1, "num_decoder_blocks": 1,
}  # fmt: skip
DAANET = {
    **SIZES, "character_dim": 4, "num_lstm_layers": 1, "num_heads": 2, "inner_dim": 8,
}  # fmt: skip


def masque(dtype):
    preprocessor = preprocessing.MasquePreprocessor.from_examples(
        EXAMPLES, num_passages=2, passage_length=12, question_length=8, answer_length=5
    )
    return models.Masque(**preprocessor.model_kwargs(), **MASQUE, dtype=dtype), preprocessor


def daanet(dtype):
    preprocessor = preprocessing.DAANetPreprocessor.from_examples(
        EXAMPLES, word_length=6, passage_length=12, question_length=8, answer_length=5
    )
    return models.DAANet(**preprocessor.model_kwargs(), **DAANET, dtype=dtype), preprocessor


def maxout_pointer_qg(dtype):
    preprocessor = preprocessing.MaxoutPointerQGPreprocessor.from_examples(
        EXAMPLES, passage_length=12, question_length=8
    )
    options = {**preprocessor.model_kwargs(), **SIZES, "num_layers": 1, "tag_dim": 2}
    return models.MaxoutPointerQG(**options, dtype=dtype), preprocessor


def san(dtype):
    preprocessor = preprocessing.SANPreprocessor.from_examples(EXAMPLES, passage_length=12)
    options = {"word_dim": 8, "units": 4, "align_dim": 4, "num_layers": 1, "num_steps": 2}
    return models.SAN(**preprocessor.model_kwargs(), **options, dtype=dtype), preprocessor


def extractive_reader(dtype):
    encoder = encoders.from_vocabulary(WORDS, length=24, dtype=dtype)
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(
        encoder=encoder, window_length=20, overlap=4, question_length=8
    )
    return models.ExtractiveReader(encoder=encoder, dtype=dtype), preprocessor


MODELS = [masque, daanet, maxout_pointer_qg, san, extractive_reader]


def probabilities(predictor, tasks, **options):
    """Those of answers to a question about passages, and about none, and of a question."""
    found = []
    for task in tasks:
        if task.name == "ask":
            found.append(predictor.ask(passage=PASSAGES[0], answer="owl", **options))
            continue
        for passages in ([*PASSAGES], [""]):
            found.append(predictor.answer(question="Who flew ?", passages=passages, **options))
    return np.array([result.probability for result in found])


def numbers(predictor):
    return probabilities(predictor, predictor.tasks, max_length=3)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_predictors_answer_in_half_precision(make):
    keras.utils.set_random_seed(3)
    model, preprocessor = make("float32")
    with eagerly():
        expected = numbers(Predictor(model, preprocessor))
        assert ((expected >= 0) & (expected <= 1)).all() and (expected > 0).any()
        half, preprocessor = make("mixed_float16")  # bfloat16, on which less can fail, in exports
        half.set_weights(model.get_weights())
        found = numbers(Predictor(half, preprocessor))
    np.testing.assert_allclose(found, expected, rtol=0.05, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_exports_answer_in_half_precision(make, policy, tmp_path):
    keras.utils.set_random_seed(3)
    predictor = Predictor(*make(policy))
    predictor.export(tmp_path / "1", max_length=3)
    exported = probabilities(tfmrc.load(tmp_path / "1"), predictor.tasks)
    np.testing.assert_allclose(exported, numbers(predictor), rtol=0.05, atol=1e-3)

"""Small predictors of all four models with random weights, and questions for them."""

import random

import keras

from tests.fuzz.texts import WORDS
from tests.toy_paper import ToyModel, ToyPredictor, ToyPreprocessor
from tfmrc import Predictor, models, preprocessing, text

SIZES = {"passage_length": 40, "question_length": 12}
VOCABULARY = [word.lower() for word in WORDS]


def toy() -> ToyPredictor:
    """Finds the name in a sentence."""
    words = "was it ann bob who ran slept home .".split()
    preprocessor = ToyPreprocessor(text.Vocabulary(words, num_oov_buckets=3))
    return ToyPredictor(ToyModel(vocabulary_size=len(preprocessor.vocabulary)), preprocessor)


def san() -> Predictor:
    """Finds spans."""
    keras.utils.set_random_seed(1)
    preprocessor = preprocessing.SANPreprocessor(_vocabulary(), **SIZES)
    model = models.SAN(
        **preprocessor.model_kwargs(), word_dim=6, units=4, align_dim=4, num_layers=1, num_steps=2
    )
    return Predictor(model, preprocessor)


def masque() -> Predictor:
    """Writes answers from up to three passages."""
    keras.utils.set_random_seed(1)
    preprocessor = preprocessing.MasquePreprocessor(
        _vocabulary(), styles=("qa", "nlg"), num_passages=3, answer_length=6, **SIZES
    )
    blocks = ("shared", "question", "passage", "decoder")
    model = models.Masque(
        **preprocessor.model_kwargs(),
        word_dim=8, hidden_dim=8, num_heads=2, intermediate_dim=8, initializer_stddev=0.3,
        **{f"num_{block}_blocks": 1 for block in blocks},
    )  # fmt: skip
    return Predictor(model, preprocessor)


def maxout_pointer_qg() -> Predictor:
    """Asks questions about an answer."""
    keras.utils.set_random_seed(1)
    preprocessor = preprocessing.MaxoutPointerQGPreprocessor(_vocabulary(), **SIZES)
    model = models.MaxoutPointerQG(
        **preprocessor.model_kwargs(), word_dim=6, hidden_dim=8, num_layers=1
    )
    return Predictor(model, preprocessor)


def daanet() -> Predictor:
    """Answers and asks."""
    keras.utils.set_random_seed(1)
    preprocessor = preprocessing.DAANetPreprocessor(_vocabulary(), answer_length=6, **SIZES)
    model = models.DAANet(
        **preprocessor.model_kwargs(),
        word_dim=6, character_dim=4, hidden_dim=8, num_lstm_layers=1, inner_dim=8,
    )  # fmt: skip
    return Predictor(model, preprocessor)


PREDICTORS = {
    "SAN": san, "Masque": masque, "MaxoutPointerQG": maxout_pointer_qg, "DAANet": daanet,
}  # fmt: skip


def questions(count: int, seed: int) -> list[dict[str, str]]:
    """Returns questions of 1 to 8 words on passages of 1 to 60 words."""
    rng = random.Random(seed)
    return [
        {
            "question": " ".join(rng.choices(WORDS, k=rng.randint(1, 8))),
            "passages": " ".join(rng.choices(WORDS, k=rng.randint(1, 60))),
        }
        for _ in range(count)
    ]


def _vocabulary() -> text.Vocabulary:
    return text.Vocabulary(VOCABULARY, num_oov_buckets=4)

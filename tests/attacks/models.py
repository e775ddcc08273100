"""Small predictors with random weights, and questions for them."""

import random

import keras

from tests.attacks.texts import WORDS
from tests.toy_paper import ToyModel, ToyPredictor, ToyPreprocessor
from tfmrc import Predictor, models, preprocessing, text

VOCABULARY = [word.lower() for word in WORDS]


def toy() -> ToyPredictor:
    """Finds the name in a sentence."""
    words = "was it ann bob who ran slept home .".split()
    preprocessor = ToyPreprocessor(text.Vocabulary(words, num_oov_buckets=3))
    return ToyPredictor(ToyModel(vocabulary_size=len(preprocessor.vocabulary)), preprocessor)


def san() -> Predictor:
    """Finds spans."""
    keras.utils.set_random_seed(1)
    preprocessor = preprocessing.SANPreprocessor(
        text.Vocabulary(VOCABULARY, num_oov_buckets=4), passage_length=40, question_length=12
    )
    model = models.SAN(
        **preprocessor.model_kwargs(), word_dim=6, units=4, align_dim=4, num_layers=1, num_steps=2
    )
    return Predictor(model, preprocessor)


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

"""The public SAN code is trained with a recipe's settings, resumed exactly, scored as ours is."""

from types import SimpleNamespace

import numpy as np

from benchmarks import public_san
from tfmrc import data, preprocessing, text


def test_the_learning_rate_is_halved_as_in_the_recipe():
    settings = public_san.Settings(32, per_epoch=10, learning_rate=0.002, epochs_per_halving=4)
    rates = [settings.rate(step) for step in (0, 39, 40, 79, 80)]
    np.testing.assert_allclose(rates, [0.002, 0.002, 0.001, 0.001, 0.0005])
    assert settings.kinds == ("trained",)


def test_answers_are_read_in_our_windows(monkeypatch):
    """A network that finds the word of id 5 (`owl`), also in a passage's second window."""

    def find(self, arrays):
        ids = arrays["passage_ids"]
        scores = np.log(np.where(ids == 5, 0.9, 0.01)).astype("float32")
        return np.where(ids == 0, np.float32(-1e9), scores), scores

    monkeypatch.setattr(public_san.PublicModel, "_find", find)
    preprocessor = preprocessing.SANPreprocessor(
        text.Vocabulary(["the", "Owl".lower(), "flew"]), passage_length=4, question_length=4,
        answer_length=1, lemmas=True,
    )  # fmt: skip
    lemmas = {"question_lemmas": ["who"] * 2, "passage_lemmas": [["the owl"], ["a a a a the owl"]]}
    predictor = SimpleNamespace(
        preprocessor=preprocessor, complete=lambda inputs: {**inputs, **lemmas}
    )
    examples = [
        data.Example("1", "Who", ("The Owl",), {}),
        data.Example("2", "Who", ("A a a a the OWL",), {}),
    ]
    network = SimpleNamespace(eval=lambda: None)
    assert public_san.answer(network, predictor, examples) == {"1": "Owl", "2": "OWL"}

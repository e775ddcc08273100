"""Predictors and exports of models that read features of words: strings in, equal answers."""

import keras
import numpy as np
import pytest

import tfmrc
from tests.layers.weights import randomise
from tests.running import eagerly
from tests.serving.predictors import assert_same_arrays
from tfmrc import models, preprocessing
from tfmrc.text import Vocabulary

WORDS = "who met the king queen and it was".split()
PASSAGES = ["Ada Lee MET the kings in 1850.", "It was Bob"]
QUESTION = "Who met the King?"
REQUEST = {
    "masque": {
        "question": [QUESTION, "", "É ١"],
        "passages": [PASSAGES, ["", ""], ["the É", " "]],
        "style": ["qa"] * 3,
    },
    "san": {"question": [QUESTION, "", "É ١"], "passages": [PASSAGES[:1], [""], ["the É"]]},
    "daanet": {"question": [QUESTION, "", "É ١"], "passages": [PASSAGES[:1], [""], ["the É"]]},
}


def build(name):
    """A small predictor."""
    vocabulary = Vocabulary(WORDS, num_oov_buckets=2)
    if name == "masque":
        preprocessor = preprocessing.MasquePreprocessor(
            vocabulary, num_passages=2, generation_vocabulary_size=8, word_features=True
        )
        model = models.Masque(
            **preprocessor.model_kwargs(), word_dim=6, hidden_dim=8, num_heads=2,
            intermediate_dim=8, num_shared_blocks=1, num_question_blocks=1, num_passage_blocks=1,
            num_decoder_blocks=1,
        )  # fmt: skip
    elif name == "san":
        preprocessor = preprocessing.SANPreprocessor(vocabulary, word_features=True)
        model = models.SAN(
            **preprocessor.model_kwargs(), word_dim=6, units=4, align_dim=4, num_steps=2
        )
    else:
        preprocessor = preprocessing.DAANetPreprocessor(
            vocabulary, word_length=4, generation_vocabulary_size=8, word_features=True
        )
        model = models.DAANet(
            **preprocessor.model_kwargs(), word_dim=6, character_dim=4, hidden_dim=8,
            num_lstm_layers=1, num_heads=2, inner_dim=8, keep_passage=True,
        )  # fmt: skip
    randomise(model, seed=5, scale=0.3)
    return tfmrc.Predictor(model, preprocessor)


@pytest.mark.parametrize("name", ["masque", "san", pytest.param("daanet", marks=pytest.mark.slow)])
def test_folder_keras_file_and_export_give_the_same(name, tmp_path):
    predictor = build(name)
    options = {} if name == "san" else {"max_length": 3}
    question = {"question": QUESTION, "passages": PASSAGES}
    with eagerly():
        answer = predictor.answer(**question, **options)
        predictor.save(tmp_path / "folder")
        again = tfmrc.load(tmp_path / "folder")
        assert again.preprocessor.word_features
        assert again.answer(**question, **options).text == answer.text
        lower = {"question": QUESTION.lower(), "passages": [text.lower() for text in PASSAGES]}
        other = predictor.answer(**lower, **options)
        assert abs(other.log_probability - answer.log_probability) > 1e-4  # the case matters
        outputs = predictor.run("serving_default", REQUEST[name], **options)
    predictor.model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    for ours, theirs in zip(loaded.weights, predictor.model.weights, strict=True):
        assert np.array_equal(*map(keras.ops.convert_to_numpy, (ours, theirs))), theirs.path
    if name == "san":
        return  # its features are further columns of the exact match, which exports of SAN have
    predictor.export(tmp_path / "export" / "1", **options)
    served = tfmrc.load(tmp_path / "export" / "1")
    assert_same_arrays(served.run("serving_default", REQUEST[name]), outputs)

"""A vocabulary of all words of pretrained vectors: saved, loaded and exported with a predictor."""

import keras
import numpy as np
import pytest

from tests.running import eagerly
from tests.serving.predictors import LOADERS, assert_same_outputs, run_loader
from tfmrc import models, preprocessing, text
from tfmrc.encoders import WordVectors, set_vectors
from tfmrc.predictors import SANPredictor

REQUEST = {
    "question": ["How high is Everest?", "Who named Lhotse?"],
    "passages": [
        ["Everest is 8,849 metres high, Lhotse is not."],
        ["Ada named Lhotse, Eve did not."],
    ],
}
OPTIONS = {"num_return_sequences": 2, "max_length": 4}


@pytest.fixture(scope="module")
def predictor():
    keras.utils.set_random_seed(1)
    random = np.random.default_rng(1)
    keys = {"Everest": 0, "Lhotse": 0, "Ada": 1, "Eve": 2, "the": 3}
    vectors = WordVectors(random.normal(size=(4, 8)), keys)
    vocabulary = text.Vocabulary("the how high is".split(), num_oov_buckets=2).with_vectors(vectors)
    preprocessor = preprocessing.SANPreprocessor(vocabulary, passage_length=20)
    model = models.SAN(**preprocessor.model_kwargs(), word_dim=8, units=4, align_dim=4, num_steps=2)
    set_vectors(model.word_embedding, vocabulary, vectors, verbose=False)
    for weight in model.trainable_weights:  # clear probabilities
        weight.assign(random.normal(scale=0.7, size=weight.shape))
    return SANPredictor(model, preprocessor)


@pytest.fixture(scope="module")
def arrays(predictor):
    with eagerly():
        return predictor.run("serving_default", REQUEST, **OPTIONS)


def test_words_without_training_have_their_vectors(predictor):
    source = predictor.preprocessor.source(["Everest Lhotse Ada"], ["Eve"])
    vectors = np.array(predictor.model.word_embedding(source["question_ids"].numpy()))[0]
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert np.abs(vectors[2] - vectors[0]).max() > 0.1
    # One vector, but two words: Everest of the passage is not in the second question.
    source = predictor.preprocessor.source(["Lhotse"], ["Everest Lhotse"])
    assert source["passage_ids"].numpy()[0].tolist() == [source["question_ids"].numpy()[0, 0]] * 2
    assert source["exact_match"].numpy()[0, :, 0].tolist() == [0, 1]


def test_saved_and_loaded(predictor, arrays, tmp_path):
    predictor.save(tmp_path / "saved")
    again = SANPredictor.load(tmp_path / "saved")
    vocabulary = predictor.preprocessor.vocabulary
    assert again.preprocessor.vocabulary.shared_words == vocabulary.shared_words
    with eagerly():
        found = again.run("serving_default", REQUEST, **OPTIONS)
    assert set(found) == set(arrays)
    for name, value in arrays.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("loader", LOADERS)
def test_a_process_without_tfmrc_finds_the_same(predictor, tmp_path, loader):
    exported = predictor.export(tmp_path / "spans" / "1", **OPTIONS)
    assert (exported / "assets" / "vocabulary.ids.tsv").is_file()
    (reply,) = run_loader(loader, exported, [REQUEST])
    with eagerly():
        found = predictor.run("serving_default", REQUEST, **OPTIONS)
    assert_same_outputs(reply["outputs"], found, rtol=1e-3)

"""Predictors of all papers, with what is pretrained: from strings to strings, saved, exported.

With a pretrained encoder, the papers' contextual embeddings (ELMo, CoVe), and features of words.
"""

import keras
import numpy as np
import pytest

from tests.layers.weights import randomise
from tests.models import encoded
from tests.models.papers import masque_with_elmo, san_with_cove
from tests.running import eagerly
from tests.serving.predictors import assert_same_outputs, run_loader
from tfmrc import Predictor, encoders, models, preprocessing, text

pytestmark = pytest.mark.usefixtures("exports_once")

WORDS = "what the . ? how high is hill metres who named it and river in mill".split()
PIECES = [*WORDS, "##s", "mt", "m", "b", "##r", "##a", "##n", "##o", "##ch", "1", ",", "old", "##t"]
LONG = " ".join(f"Hill{n}, 川 and {n}." for n in range(9))
PASSAGES = ["Mt. Brannoch is 1,310.5 metres high.", LONG, "Old Tamsin named the Éala.", "hill"]
QUESTIONS = {"question": ["How high is it?", "Who?", "", "hill"]}
OF_PASSAGES = {"passages": [[PASSAGES[0], ""], [LONG, ""], ["", PASSAGES[2]], ["", ""]]}
ABOUT = {"answer": ["1,310.5 metres", "Hill7", "Éala", "hill"], "passage": PASSAGES}
TEXTS = {"num_beams": 3, "num_return_sequences": 2, "max_length": 5}
CASES = {  # signature, request, options of the search
    "SAN": ("serving_default", QUESTIONS | OF_PASSAGES, {"num_return_sequences": 3}),
    "Masque": (
        "serving_default",
        {"question": encoded.QUESTIONS, "passages": encoded.PASSAGES, "style": encoded.STYLES},
        {"num_beams": 2, "num_return_sequences": 2, "max_length": 4},
    ),
    "DAANet": ("answer", QUESTIONS | OF_PASSAGES, TEXTS),
    "MaxoutPointerQG": ("at", ABOUT | {"answer_start": [-1] * 4}, TEXTS),
}
STYLED = QUESTIONS | OF_PASSAGES | {"style": ["qa"] * 4}
CASES |= {
    "Masque with ELMo": ("serving_default", STYLED, {"max_length": 4, "num_beams": 2}),
    "SAN with CoVe": CASES["SAN"],
    "Masque with features": ("serving_default", STYLED, {"max_length": 3}),
    "DAANet with features": ("answer", QUESTIONS | OF_PASSAGES, {"max_length": 3}),
}
KINDS = {
    "SAN": (
        {"passage_length": 20, "stride": 10, "answer_length": 5},
        {"word_dim": 8, "units": 4, "align_dim": 4, "num_steps": 3, "encoder_use": "answer"},
    ),
    "DAANet": (
        {"passage_length": 24, "word_length": 6, "generation_vocabulary_size": 14},
        {"word_dim": 8, "character_dim": 6, "hidden_dim": 12, "num_lstm_layers": 1, "num_heads": 2,
         "inner_dim": 12, "embeddings_trainable": True},
    ),
    "MaxoutPointerQG": (
        {"passage_length": 24, "question_length": 8, "generation_vocabulary_size": 14},
        {"word_dim": 12, "hidden_dim": 16, "num_layers": 1, "initializer_stddev": 1.0,
         "embeddings_trainable": True},
    ),
}  # fmt: skip
SMALL = {
    "Masque": {"word_dim": 6, "hidden_dim": 8, "num_heads": 2, "intermediate_dim": 8,
               "num_shared_blocks": 1, "num_question_blocks": 1, "num_passage_blocks": 1,
               "num_decoder_blocks": 1},
    "DAANet": {"word_dim": 6, "character_dim": 4, "hidden_dim": 8, "num_lstm_layers": 1,
               "num_heads": 2, "inner_dim": 8, "keep_passage": True},
}  # fmt: skip
KEPT = {"num_layers": 2, "trainable_layers": 1, "layers": "mix", "pooling": "mean"}


def make(name, clear=True, reading="joint", **options):
    """A small predictor; with `clear`, of random weights that give clear probabilities."""
    if name == "Masque":
        model, preprocessor, _ = encoded.make(reading=reading, **options)
        return Predictor(model, preprocessor)
    keras.utils.set_random_seed(3)
    encoder = encoders.from_vocabulary(PIECES, length=20, overlap=4, **options)
    sizes, arguments = KINDS[name]
    preprocessor = getattr(preprocessing, f"{name}Preprocessor")(
        text.Vocabulary(WORDS, num_oov_buckets=3), **sizes, encoder=encoder, reading=reading
    )
    model = getattr(models, name)(
        **{**preprocessor.model_kwargs(), "dropout": 0.0, **arguments}, encoder=encoder
    )
    random = np.random.default_rng(5)
    for weight in model.trainable_weights if clear else ():
        weight.assign(random.normal(scale=0.5, size=weight.shape))
    return Predictor(model, preprocessor)


def without_encoder(name):
    paper, _, what = name.partition(" with ")
    if what in ("ELMo", "CoVe"):
        return Predictor(*{"ELMo": masque_with_elmo, "CoVe": san_with_cove}[what]())
    preprocessor = getattr(preprocessing, f"{paper}Preprocessor")(
        text.Vocabulary(WORDS, num_oov_buckets=2), generation_vocabulary_size=8,
        word_features=True, **({"num_passages": 2} if paper == "Masque" else {}),
    )  # fmt: skip
    model = getattr(models, paper)(**preprocessor.model_kwargs(), **SMALL[paper])
    randomise(model, seed=5, scale=0.3)
    return Predictor(model, preprocessor)


def run(name, predictor, rows=slice(None)):
    signature, request, options = CASES[name]
    with eagerly():
        return predictor.run(signature, {n: v[rows] for n, v in request.items()}, **options)


@pytest.fixture(scope="module", params=CASES)
def case(request):
    name = request.param
    predictor = without_encoder(name) if " with " in name else make(name, **KEPT)
    return request.param, predictor, run(request.param, predictor)


def test_padding_and_batches_change_nothing(case):
    name, predictor, together = case
    for row in (1, 3):
        alone = run(name, predictor, slice(row, row + 1))
        for output, values in alone.items():
            of_row = together[output][row : row + 1]
            if values.ndim > 1:  # as many words as the longest
                of_row = of_row[:, : values.shape[1]]
            assert_same_outputs({output: values}, {output: of_row}, rtol=1e-3)


def test_saved_and_loaded(case, tmp_path):
    name, predictor, expected = case
    predictor.save(tmp_path / "saved")
    is_encoded = " with " not in name
    assert (tmp_path / "saved" / "assets" / "encoder" / "vocab.txt").is_file() == is_encoded
    again = Predictor.load(tmp_path / "saved")
    assert again.model.get_config() == predictor.model.get_config()
    assert again.preprocessor.get_config() == predictor.preprocessor.get_config()
    assert len(again.model.trainable_variables) == len(predictor.model.trainable_variables)
    assert_same_outputs(run(name, again), expected, rtol=1e-3)


@pytest.fixture(scope="module")
def exported(case, tmp_path_factory):
    name, predictor, _ = case
    return predictor.export(tmp_path_factory.mktemp("exports") / name / "1", **CASES[name][2])


@pytest.mark.parametrize("case", ["Masque with features", "DAANet with features"], indirect=True)
def test_the_case_of_words_is_a_feature(case):
    _, predictor, _ = case
    with eagerly():
        first, second = (
            predictor.answer(question=asked, passages=PASSAGES[:1], max_length=3)
            for asked in ("How high is Brannoch?", "how high is brannoch?")
        )
    assert abs(first.log_probability - second.log_probability) > 1e-4


@pytest.mark.slow
def test_a_process_without_tfmrc_finds_the_same(case, exported):
    name, _, expected = case
    (found,) = run_loader(exported, [CASES[name][1]], signature=CASES[name][0])
    assert_same_outputs(found["outputs"], expected, rtol=1e-3)

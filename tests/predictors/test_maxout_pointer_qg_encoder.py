"""Question generation with a pretrained encoder: from strings to questions, saved and exported."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.running import eagerly
from tests.serving.predictors import assert_same_arrays, assert_same_outputs, run_loader
from tfmrc import Predictor, encoders, models, preprocessing, text, training

pytestmark = pytest.mark.usefixtures("exports_once")

WORDS = "what the . ? how high is hill metres who named it and river in".split()
PIECES = [*WORDS, "##s", "mt", "m", "b", "##r", "##a", "##n", "##o", "##ch", "1", ",", "old", "##t"]
LONG = " ".join(f"Hill{n}, 川 and {n}." for n in range(9))
REQUEST = {
    "passage": [
        "It rained. Mt. Brannoch is 1,310.5 metres high.",
        LONG,
        "Old Tamsin named the Éala.",
        "hill",
    ],
    "answer": ["1,310.5 metres", "Hill7", "Éala", "hill"],
}
OPTIONS = {"num_beams": 3, "num_return_sequences": 2, "max_length": 6}


def make(
    use="embedding", context="paragraph", reading="joint", clear=True, num_layers=1, **options
):
    keras.utils.set_random_seed(3)
    encoder = encoders.from_vocabulary(
        PIECES, length=20, overlap=4, num_layers=num_layers, **options
    )
    preprocessor = preprocessing.MaxoutPointerQGPreprocessor(
        text.Vocabulary(WORDS, num_oov_buckets=3),
        context=context,
        passage_length=24,
        question_length=8,
        generation_vocabulary_size=14,
        encoder=encoder,
        reading=reading,
    )
    model = models.MaxoutPointerQG(
        **preprocessor.model_kwargs(),
        encoder=encoder,
        encoder_use=use,
        word_dim=12,
        hidden_dim=16,
        num_layers=1,
        initializer_stddev=1.0,
        embeddings_trainable=True,
    )
    random = np.random.default_rng(5)
    for weight in model.trainable_weights if clear else ():  # clear probabilities
        weight.assign(random.normal(scale=0.5, size=weight.shape))
    return Predictor(model, preprocessor)


def run(predictor, request=REQUEST):
    with eagerly():
        return predictor.run("serving_default", request, **OPTIONS)


DESIGNS = [
    ("embedding", "paragraph", "joint"),
    pytest.param("contextual", "sentence", "separate", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("use, context, reading", DESIGNS)
def test_padding_and_batches_change_no_question(use, context, reading):
    predictor = make(use, context, reading)
    together = run(predictor)
    for row in range(4):
        alone = run(predictor, {name: values[row : row + 1] for name, values in REQUEST.items()})
        assert_same_arrays(alone, {name: v[row : row + 1] for name, v in together.items()})


def test_another_answer_gives_another_question_probability():
    predictor = make()
    passage = REQUEST["passage"][0]
    with eagerly():
        first, second = (
            predictor.ask(passage=passage, answer=answer, max_length=4)
            for answer in ("Brannoch", "1,310.5")
        )
    assert abs(first.log_probability - second.log_probability) > 1e-3


@pytest.mark.parametrize("use, context, reading", DESIGNS)
def test_saved_and_loaded(use, context, reading, tmp_path):
    kept = {"num_layers": 2, "trainable_layers": 1, "layers": "mix", "pooling": "mean"}
    predictor = make(use, context, reading, **kept)
    predictor.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "assets" / "encoder" / "vocab.txt").is_file()
    again = Predictor.load(tmp_path / "saved")
    assert again.model.get_config() == predictor.model.get_config()
    assert again.preprocessor.get_config() == predictor.preprocessor.get_config()
    assert len(again.model.trainable_variables) == len(predictor.model.trainable_variables)
    assert_same_arrays(run(again), run(predictor))


# === The export: slow, since those of SAN and Masque have the same encoder ===


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    predictor = make()
    folder = tmp_path_factory.mktemp("models") / "qg" / "1"
    return predictor.export(folder, **OPTIONS), run(predictor)


def test_passages_without_answer_candidates_have_no_questions():
    predictor = make()  # in a graph: layers do not agree on zero rows outside
    for passages in (["nothing is here"], ["", ""]):
        found = predictor.generate_from_passage(passages, max_length=2)
        assert list(found) == [[]] * len(passages)


@pytest.mark.slow
@pytest.mark.parametrize("loader", ["tf_loader.py", "c_api_loader.py"])
def test_a_process_without_tfmrc_asks_the_same(exported, loader):
    folder, expected = exported
    wrong = {"passage": ["A hill."], "answer": ["Zoe"]}
    alone = [{name: v[row : row + 1] for name, v in REQUEST.items()} for row in range(4)]
    *found, refused = run_loader(loader, folder, [REQUEST, *alone, wrong])
    assert_same_outputs(found[0]["outputs"], expected, rtol=1e-3)
    for row, reply in enumerate(found[1:]):
        of_row = {name: values[row : row + 1] for name, values in expected.items()}
        assert_same_outputs(reply["outputs"], of_row, rtol=1e-3)
    assert refused["code"] == 3 and "occur in its passage" in refused["error"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("loader", ["tf_loader.py", "c_api_loader.py"])
def test_the_same_under_tensorflow_2_20(exported, older_python, loader):
    folder, expected = exported
    (reply,) = run_loader(loader, folder, [REQUEST], older_python)
    assert_same_outputs(reply["outputs"], expected, rtol=1e-3)


@pytest.mark.slow
def test_the_model_card_names_the_encoder(exported):
    card = json.loads((exported[0] / "assets.extra" / "model_card.json").read_text())
    expected = {"family": "bert", "name": "new bert", "trained_layers": 2}
    assert card["model"]["encoder"] == expected


@pytest.mark.slow
def test_it_learns_two_questions_about_one_passage_by_heart():
    predictor = make(clear=False, hidden_dim=32, dropout=0.0)
    vectors = encoders.from_vocabulary(PIECES, hidden_dim=12).word_vectors(WORDS)
    vocabulary = predictor.preprocessor.vocabulary
    found = encoders.set_vectors(predictor.model.word_embedding, vocabulary, vectors, False)
    assert found.share == 1.0
    passage = "The hill is 12 metres high. Tamsin named it."
    asked = {"12": "how high is the hill?", "Tamsin": "who named it?"}
    records = {
        "question": tf.constant(list(asked.values())),
        "answer": tf.constant(list(asked)),
        "passages": tf.constant([[passage]] * 2),
    }
    x, y, weights = predictor.preprocessor.batch(records)
    names = {"decoder"}
    model = predictor.model
    settings = training.maxout_pointer_qg(
        model=model, steps=120, learning_rate=1e-2, encoder_learning_rate=1e-3
    )
    model.compile(**settings)
    batch = (x, *({n: part[n] for n in names} for part in (y, weights)))
    model.fit(tf.data.Dataset.from_tensors(batch).repeat(120), verbose=0)
    with eagerly():
        for answer, question in asked.items():
            assert predictor.ask(passage=passage, answer=answer).text == question

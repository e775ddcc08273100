"""The dual model with a pretrained encoder: from strings to strings, saved and exported."""

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
PASSAGES = [
    "It rained. Mt. Brannoch is 1,310.5 metres high.",
    LONG,
    "Old Tamsin named the Éala.",
    "",
]
REQUESTS = {
    "answer": {"question": ["How high is it?", "Who?", "", "hill"], "passage": PASSAGES},
    "ask": {"answer": ["1,310.5 metres", "Hill7", "Tamsin", ""], "passage": PASSAGES},
}
OPTIONS = {"num_beams": 3, "num_return_sequences": 2, "max_length": 6}


def make(
    use="embedding", reading="joint", context_attention=True, clear=True, num_layers=1, **options
):
    keras.utils.set_random_seed(3)
    encoder = encoders.from_vocabulary(
        PIECES, length=20, overlap=4, num_layers=num_layers, **options
    )
    preprocessor = preprocessing.DAANetPreprocessor(
        text.Vocabulary(WORDS, num_oov_buckets=3),
        word_length=6,
        passage_length=24,
        generation_vocabulary_size=14,
        encoder=encoder,
        reading=reading,
    )
    model = models.DAANet(
        **preprocessor.model_kwargs(),
        encoder=encoder,
        encoder_use=use,
        context_attention=context_attention,
        word_dim=8,
        character_dim=6,
        hidden_dim=12,
        num_lstm_layers=1,
        num_heads=2,
        inner_dim=12,
        dropout=0.0,
        embeddings_trainable=True,
    )
    random = np.random.default_rng(5)
    for weight in model.trainable_weights if clear else ():  # clear probabilities
        weight.assign(random.normal(scale=0.5, size=weight.shape))
    return Predictor(model, preprocessor)


def run(predictor, task, request=None):
    with eagerly():
        return predictor.run(task, request or REQUESTS[task], **OPTIONS)


DESIGNS = [
    pytest.param("embedding", "joint", False, marks=pytest.mark.slow),
    ("contextual", "separate", True),
]


@pytest.mark.parametrize("use, reading, fold", DESIGNS)
def test_padding_and_batches_change_nothing(use, reading, fold):
    predictor = make(use, reading, fold)
    for task, request in REQUESTS.items():
        together = run(predictor, task)
        for row in (0, 1, 3):
            alone = run(predictor, task, {name: v[row : row + 1] for name, v in request.items()})
            assert_same_arrays(alone, {name: v[row : row + 1] for name, v in together.items()})


@pytest.mark.parametrize("use, reading, fold", DESIGNS)
def test_saved_and_loaded(use, reading, fold, tmp_path):
    kept = {"num_layers": 2, "trainable_layers": 1, "layers": "mix", "pooling": "mean"}
    predictor = make(use, reading, fold, **kept)
    predictor.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "assets" / "encoder" / "vocab.txt").is_file()
    again = Predictor.load(tmp_path / "saved")
    assert again.model.get_config() == predictor.model.get_config()
    assert again.preprocessor.get_config() == predictor.preprocessor.get_config()
    assert len(again.model.trainable_variables) == len(predictor.model.trainable_variables)
    for task in REQUESTS:
        assert_same_arrays(run(again, task), run(predictor, task))


# === The export: slow, since those of SAN and Masque have the same encoder ===


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    predictor = make()
    folder = tmp_path_factory.mktemp("models") / "dual" / "1"
    expected = {task: run(predictor, task) for task in REQUESTS}
    return predictor.export(folder, **OPTIONS), expected


@pytest.mark.slow
@pytest.mark.parametrize("loader", ["tf_loader.py", "c_api_loader.py"])
def test_a_process_without_tfmrc_answers_the_same(exported, loader):
    folder, expected = exported
    request = REQUESTS["answer"]
    alone = [{name: v[row : row + 1] for name, v in request.items()} for row in range(4)]
    found = run_loader(loader, folder, [request, *alone])
    assert_same_outputs(found[0]["outputs"], expected["answer"], rtol=1e-3)
    for row, reply in enumerate(found[1:]):
        of_row = {name: values[row : row + 1] for name, values in expected["answer"].items()}
        assert_same_outputs(reply["outputs"], of_row, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("loader", ["tf_loader.py", "c_api_loader.py"])
def test_the_same_under_tensorflow_2_20(exported, older_python, loader):
    folder, expected = exported
    (reply,) = run_loader(loader, folder, [REQUESTS["answer"]], older_python)
    assert_same_outputs(reply["outputs"], expected["answer"], rtol=1e-3)


@pytest.mark.slow
def test_both_signatures_and_the_card_of_the_export(exported):
    folder, expected = exported
    signatures = tf.saved_model.load(str(folder)).signatures
    for task, request in REQUESTS.items():
        columns = {name: tf.constant(column) for name, column in request.items()}
        found = {name: value.numpy() for name, value in signatures[task](**columns).items()}
        assert_same_arrays(found, expected[task])
    card = json.loads((folder / "assets.extra" / "model_card.json").read_text())
    assert card["model"]["encoder"]["name"] == "new bert"


@pytest.mark.slow
@pytest.mark.parametrize("reading, fold, steps", [("joint", False, 150), ("separate", True, 300)])
def test_it_learns_to_answer_and_to_ask_by_heart(reading, fold, steps):
    predictor = make("embedding", reading, fold, False, num_layers=2, hidden_dim=32, dropout=0.0)
    passage = "The hill is 12 metres high. Tamsin named it."
    pairs = {"how high is the hill?": "12 metres", "who named it?": "Tamsin"}
    records = {
        "question": tf.constant(list(pairs)),
        "answer": tf.constant(list(pairs.values())),
        "passages": tf.constant([[passage]] * 2),
    }
    batch = predictor.preprocessor.batch(records)
    model = predictor.model
    settings = training.daanet(
        model=model,
        steps=steps,
        learning_rate=1e-2,
        encoder_learning_rate=1e-3,
        # The logits of a word depend on what is written through the attention alone: words at which
        # it ends on the same place of the passage would have equal probabilities.
        coverage_weight=0.3,
    )
    model.compile(**settings)
    model.fit(tf.data.Dataset.from_tensors(batch).repeat(steps), verbose=0)
    with eagerly():
        for question, answer in pairs.items():
            assert predictor.answer(question=question, passages=[passage]).text == answer
            assert predictor.ask(passage=passage, answer=answer).text == question

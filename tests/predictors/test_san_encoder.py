"""SAN with a pretrained encoder: from strings to spans, saved, exported, in windows of windows."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.predictors.test_san import run
from tests.running import eagerly
from tests.serving.predictors import LOADERS, assert_same_outputs, run_loader
from tfmrc import Predictor, encoders, models, preprocessing, text, training
from tfmrc.losses import SpanPositionNLL

WORDS = "the . ? how high is hill who named it mill a".split()
PIECES = [*WORDS, "##s", "##l", "mi", "##n", "m", "t", "1", ",", "'"]
LONG = " ".join(f"Word{n}, 川 and {n}." for n in range(12))
REQUEST = {
    "question": ["How high is Mt. Brannoch?", "Who named the mill?", "", "?", "Who"],
    "passages": [
        ["Mt. Brannoch is 1,310.5 metres high; the mill isn't."],
        [LONG, ""],
        ["A hill."],
        [""],
        ["hill"],
    ],
}
OPTIONS = {"num_return_sequences": 3, "max_length": 4}


def make(
    use="answer", reading="joint", answer="stochastic", seed=1, clear=True, num_layers=1, **options
):
    keras.utils.set_random_seed(seed)
    encoder = encoders.from_vocabulary(
        PIECES, length=18, overlap=4, num_layers=num_layers, **options
    )
    preprocessor = preprocessing.SANPreprocessor(
        text.Vocabulary(WORDS, num_oov_buckets=4),
        passage_length=20,
        stride=10,
        answer_length=5,
        encoder=encoder,
        reading=reading,
    )
    model = models.SAN(
        **preprocessor.model_kwargs(),
        encoder=encoder,
        encoder_use=use,
        answer=answer,
        word_dim=8,
        units=4,
        align_dim=4,
        num_steps=3,
        dropout=0.0,
    )
    random = np.random.default_rng(seed)
    for weight in model.trainable_weights if clear else ():  # clear probabilities
        weight.assign(random.normal(scale=0.5, size=weight.shape))
    return Predictor(model, preprocessor)


DESIGNS = [
    ("answer", "joint", "linear"),
    ("embedding", "separate", "stochastic"),
    ("contextual", "joint", "one_step"),
]


@pytest.mark.parametrize("use, reading, answer", DESIGNS)
def test_padding_and_batches_change_no_answer(use, reading, answer):
    predictor = make(use, reading, answer)
    together = run(predictor, REQUEST["question"], REQUEST["passages"], **OPTIONS)
    for row, (question, passage) in enumerate(zip(*REQUEST.values(), strict=True)):
        alone = run(predictor, [question], [passage], **OPTIONS)
        for name, values in together.items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(values[row], alone[name][0], rtol=1e-3, atol=1e-6)
            else:
                assert values[row : row + 1].tolist() == alone[name].tolist(), name
    assert together["answer"][3] in (b"", "") and together["probability"][3] == 0


@pytest.mark.parametrize("use, reading, answer", DESIGNS)
def test_saved_and_loaded(use, reading, answer, tmp_path):
    kept = {"num_layers": 2, "trainable_layers": 1, "layers": "mix", "pooling": "mean"}
    predictor = make(use, reading, answer, **kept)
    predictor.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "assets" / "encoder" / "vocab.txt").is_file()
    again = Predictor.load(tmp_path / "saved")
    assert again.model.get_config() == predictor.model.get_config()
    assert again.preprocessor.get_config() == predictor.preprocessor.get_config()
    assert len(again.model.trainable_variables) == len(predictor.model.trainable_variables)
    arguments = REQUEST["question"], REQUEST["passages"]
    expected = run(predictor, *arguments, **OPTIONS)
    found = run(again, *arguments, **OPTIONS)
    np.testing.assert_allclose(found["probabilities"], expected["probabilities"], rtol=1e-5)
    assert found["answers"].tolist() == expected["answers"].tolist()


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    predictor = make()
    folder = tmp_path_factory.mktemp("models") / "spans" / "1"
    expected = run(predictor, REQUEST["question"], REQUEST["passages"], **OPTIONS)
    return predictor.export(folder, **OPTIONS), expected


def test_the_model_card_names_the_encoder(exported):
    extra = exported[0] / "assets.extra"
    card = json.loads((extra / "model_card.json").read_text())
    expected = {"family": "bert", "name": "new bert", "trained_layers": 1}
    assert card["model"]["encoder"] == expected
    assert "## Pretrained encoder" in (extra / "model_card.md").read_text()


@pytest.mark.parametrize("loader", LOADERS)
def test_a_process_without_tfmrc_finds_the_same(exported, loader):
    folder, expected = exported
    uneven = {"question": ["Who?"], "passages": [["A hill."], ["A mill."]]}
    found, refused = run_loader(loader, folder, [REQUEST, uneven])
    assert_same_outputs(found["outputs"], expected, rtol=1e-3)
    assert refused["code"] == 3 and "questions and passages" in refused["error"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("loader", ["tf_loader.py", "c_api_loader.py"])
def test_the_same_under_tensorflow_2_20(exported, older_python, loader):
    folder, expected = exported
    (reply,) = run_loader(loader, folder, [REQUEST], older_python)
    assert_same_outputs(reply["outputs"], expected, rtol=1e-3)


def test_it_learns_by_heart():
    sizes = {"num_layers": 2, "hidden_dim": 32, "dropout": 0.0}
    predictor = make("answer", "joint", "linear", clear=False, **sizes)
    questions = tf.constant(["who named it?", "how high is it?"])
    passage = "The hill is 12 high. The mill named it."
    records = {
        "question": questions,
        "passages": tf.constant([[passage], [passage]]),
        "span": tf.constant([[0, 21, 29], [0, 12, 14]]),
    }
    x, y, weights = predictor.preprocessor.batch(records)
    model = predictor.model
    model.compile(
        optimizer=training.AdamW(3e-3, weight_decay=None, clip_norm=None, use_ema=False),
        loss={"begin": SpanPositionNLL(), "end": SpanPositionNLL()},
    )
    data = tf.data.Dataset.from_tensors((x, y, weights)).repeat(120)
    model.fit(data, verbose=0)
    with eagerly():
        answers = [
            predictor.answer(question=q.decode(), passages=[passage]).text
            for q in questions.numpy()
        ]
    assert answers == ["The mill", "12"]

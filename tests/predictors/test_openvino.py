"""OpenVINO as the engine of readers: the same answers as TensorFlow, and nothing sent."""

import csv
import sys
from argparse import Namespace
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfmrc
from tests.encoders.hugging_face.cases import CONFIGS
from tests.memory import resident_mib
from tfmrc import cli, encoders, models, preprocessing, text
from tfmrc.cli import export
from tfmrc.encoders.hugging_face.folder import load_layer
from tfmrc.ops import long_attention
from tfmrc.predictors import (
    Calibration,
    ExportedPredictor,
    ExtractiveReaderPredictor,
    ensemble_predictor,
    openvino,
)
from tfmrc.serving import Client, Server

WORDS = "who flew over the hill ? an owl , a kite and crow . every night day".split()
QUESTIONS = ["Who flew?", "Who flew over the hill every night?", "Who?"]
PASSAGES = [
    ["An owl flew over the hill.", "", "A kite, a crow and an owl flew every day. " * 9],
    ["A crow flew.", "", ""],
    ["", "The hill.", ""],
]
HANDBOOK = Path(tfmrc.__file__).parent / "data" / "handbook_files" / "questions.csv"
INT8_ALONE = Namespace(run="ready", option=[], int8=True, input=None, openvino=False)
HALF = Namespace(compute_dtype="bfloat16")
OPTIONS = {"Extractive": {"num_return_sequences": 3}, "Evidence": {"threshold": 0.4}}


def reader(kind="Extractive", seed=1):
    encoder = encoders.from_vocabulary(WORDS, length=64, overlap=8, hidden_dim=32)
    model = getattr(models, f"{kind}Reader")(encoder=encoder)
    rng = np.random.default_rng(seed)
    for weight in model.trainable_variables:
        weight.assign(weight + rng.normal(0, 0.3, weight.shape))
    sizes = {"window_length": 40, "overlap": 8, "question_length": 12}
    make = getattr(preprocessing, f"{kind}ReaderPreprocessor")
    return tfmrc.Predictor(model, make(encoder=encoder, **sizes))


def outputs(predictor, **options):
    inputs = {"question": QUESTIONS, "passages": PASSAGES}
    return predictor.run("serving_default", inputs, **options)


def check_equal(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        if values.dtype == np.float32:
            np.testing.assert_allclose(found[name], values, atol=1e-4)
        else:
            assert found[name].tolist() == values.tolist(), name


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_reader_answers_as_on_tensorflow(kind):
    predictor = reader(kind)
    expected = outputs(predictor, **OPTIONS[kind])
    predictor.runtime = "openvino"
    check_equal(outputs(predictor, **OPTIONS[kind]), expected)
    assert isinstance(predictor.network, openvino.Network)
    assert "openvino_telemetry" not in sys.modules


def test_a_reader_on_openvino_exports_tensorflow(tmp_path):
    predictor = reader()
    expected = outputs(predictor)
    predictor.runtime = "openvino"
    assert outputs(predictor)["answer"].tolist() == expected["answer"].tolist()
    exported = tfmrc.load(predictor.export(tmp_path / "owls" / "1"))
    check_equal(outputs(exported), expected)


def test_no_shape_keeps_a_constant_in_float32():
    nodes = openvino.converted(reader().model).get_ops()
    shapes = [node for node in nodes if node.get_type_name() == "ShapeOf"]
    assert shapes
    assert all(node.get_input_partial_shape(0).is_dynamic for node in shapes)


def test_scores_do_not_depend_on_padding():
    predictor = ensemble_predictor([reader(), reader(seed=2)])
    predictor.runtime = "openvino"
    rng = np.random.default_rng(0)
    for length in (1, 7, 31, 40):
        ids = rng.integers(5, 20, (3, length)).astype("int32")
        batch = {"encoder_ids": ids, "segment_ids": np.zeros_like(ids)}
        padded = {name: np.pad(values, [[0, 2], [0, 5]]) for name, values in batch.items()}
        scores = predictor.network.scores(padded).numpy()[:3, :length]
        np.testing.assert_allclose(scores, predictor.model.scores(batch), atol=1e-4)


class _Request:
    """Says whether the thread that computes keeps the smallest floats."""

    def infer(self, inputs):
        kept = np.float32(1e-45) * np.float32(1) > 0
        return [np.full([*inputs["encoder_ids"].shape, 2], kept, "float32")]


def test_the_smallest_floats_are_not_taken_for_zero(monkeypatch):
    """TensorFlow's threads do; in them OpenVINO is wrong on some CPUs."""
    predictor = reader()
    predictor.runtime = "openvino"
    network = predictor.network
    monkeypatch.setattr(network, "_request", _Request())
    ids = tf.ones([1, 16], tf.int32)
    scores = tf.function(lambda x: network.scores(dict.fromkeys(openvino.INPUTS, x)))(ids)
    assert scores.numpy().all()


@pytest.mark.parametrize("kind", OPTIONS)
def test_an_export_answers_as_on_tensorflow(kind, tmp_path):
    predictor = reader(kind)
    predictor.calibration = Calibration(slope=0.5, intercept=0.25, threshold=0.6)
    path = predictor.export(tmp_path / "owls" / "1", openvino=True, **OPTIONS[kind])
    expected = outputs(ExportedPredictor(path, runtime="tensorflow"))
    exported = tfmrc.load(tmp_path / "owls", runtime="openvino")
    check_equal(outputs(exported), expected)
    asked = {"question": QUESTIONS[0], "passages": PASSAGES[0]}
    with (
        Server(tmp_path, port=0, runtime="openvino") as server,
        Client("owls", server.url) as client,
    ):
        assert client.answer(**asked).text == exported.answer(**asked).text


@pytest.fixture
def useful(monkeypatch):
    """A machine where `auto` takes OpenVINO for any reader."""
    monkeypatch.setattr(openvino, "is_useful", lambda: True)
    monkeypatch.setattr(openvino, "LEAST_WEIGHTS", 0)


def test_auto_takes_it_for_readers_that_are_not_trained(useful, tmp_path):
    predictor = reader()
    assert predictor.network is predictor.model
    loaded = tfmrc.load(predictor.save(tmp_path / "saved"))
    assert isinstance(loaded.network, openvino.Network)
    assert tfmrc.pipeline("question-answering", loaded)(
        question=QUESTIONS[0], context=PASSAGES[0][0]
    )["answer"]
    loaded.model.compile("sgd")
    assert loaded.network is loaded.model
    assert openvino.chooses_openvino("auto", predictor.model)
    words = preprocessing.SANPreprocessor(text.Vocabulary(WORDS))
    san = models.SAN(**words.model_kwargs(), word_dim=4, units=2, align_dim=2)
    assert not openvino.chooses_openvino("auto", san)


def scores_of(answerer, asked):
    return np.array([answer["score"] for answer in answerer(**asked)])


@pytest.mark.parametrize("part", ["encoder", "answer_module"])
def test_new_weights_are_read(part):
    predictor, other = reader(), reader(seed=2)
    predictor.runtime = "openvino"
    answerer = tfmrc.pipeline("question-answering", predictor)
    asked = {"question": QUESTIONS[1], "context": PASSAGES[0][2], "top_k": 5}
    before = scores_of(answerer, asked)
    outputs(predictor)
    chosen, given = getattr(predictor.model, part), getattr(other.model, part)
    chosen.set_weights(given.get_weights())
    scores, found = scores_of(answerer, asked), outputs(predictor)
    assert np.abs(scores - before).max() > 1e-5
    predictor.runtime = "tensorflow"
    check_equal(found, outputs(predictor))
    np.testing.assert_allclose(scores, scores_of(answerer, asked), atol=1e-4)


def test_auto_takes_tensorflow_where_openvino_is_of_no_use(monkeypatch):
    monkeypatch.setattr(openvino, "find_spec", lambda name: None)
    monkeypatch.setattr(openvino, "LEAST_WEIGHTS", 0)
    assert not openvino.chooses_openvino("auto", reader().model)


def test_export_reads_300_questions_for_int8(tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(
        ExtractiveReaderPredictor, "export", lambda self, path, **more: given.update(more) or path
    )
    folder, table = str(reader().save(tmp_path / "saved")), tmp_path / "questions.csv"
    table.write_text("question,passage\n" + "Who flew?,A crow flew.\n" * 700)
    asked = ["export", folder, "--to", str(tmp_path / "owls" / "1"), "--openvino", "--int8"]
    assert cli.main([*asked, "--input", str(table)]) == 0
    assert given["openvino"] is True
    assert [example.question for example in given["int8"]] == ["Who flew?"] * 300


def test_commands_convert_a_network_for_many_questions(useful, tmp_path, monkeypatch):
    made, convert = [], openvino.converted
    monkeypatch.setattr(openvino, "converted", lambda model: made.append(model) or convert(model))
    folder, table = str(reader().save(tmp_path / "saved")), tmp_path / "questions.csv"
    table.write_text(f"question,passage\n{QUESTIONS[0]},{PASSAGES[1][0]}\n")
    asked = ["--question", QUESTIONS[0], "--passage", PASSAGES[1][0]]
    cli.main(["answer", folder, *asked])
    cli.main(["predict", folder, "--input", str(table), "--runtime", "tensorflow"])
    assert not made
    cli.main(["answer", folder, *asked, "--runtime", "openvino"])
    cli.main(["predict", folder, "--input", str(table)])
    assert len(made) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: setattr(reader(), "runtime", "onnx"), "runtime='onnx'"),
        (lambda folder: openvino.check_runtime("openvino", keras.Sequential()), "Sequential"),
        (lambda folder: openvino.check_runtime("openvino", HALF), "dtype='bfloat16'"),
        (lambda folder: openvino.uses_parts(folder, "openvino"), "tfmrc export --openvino"),
        (lambda folder: export.run(INT8_ALONE), "--int8 needs --openvino"),
    ],
)
def test_errors(make, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        make(tmp_path)


def test_int8_names_what_it_needs(monkeypatch, tmp_path):
    monkeypatch.delenv(openvino.NNCF_PYTHON, raising=False)
    monkeypatch.setattr(openvino, "find_spec", lambda name: None)
    asked = [{"question": QUESTIONS[0], "passages": PASSAGES[0]}]
    with pytest.raises(ImportError, match="tfmrc.int8."):
        reader().export(tmp_path / "owls" / "1", openvino=True, int8=asked)
    assert not (tmp_path / "owls" / "1").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "in_parts"), [*((kind, False) for kind in CONFIGS), ("modernbert", True)]
)
def test_every_kind_of_encoder_has_the_same_scores(kind, in_parts, monkeypatch):
    if in_parts:  # as for texts of thousands of subwords
        monkeypatch.setattr(long_attention, "MOST_WEIGHTS", 200)
    keras.utils.set_random_seed(1)
    config = {**CONFIGS[kind], "max_position_embeddings": 66}
    model = models.ExtractiveReader(encoder=load_layer(Path("config"), config, 1))
    network = openvino.Network(openvino.converted(model))
    rng = np.random.default_rng(0)
    for rows, length in ((1, 1), (2, 13), (3, 64)):
        ids = rng.integers(2, 30, (rows, length)).astype("int32")
        ids[-1, 9:] = 1  # padding
        batch = {"encoder_ids": ids, "segment_ids": np.zeros_like(ids)}
        real = (ids != 1)[..., None]
        expected = np.array(model.scores(batch))
        np.testing.assert_allclose(network.scores(batch) * real, expected * real, atol=1e-4)


@pytest.mark.slow
def test_the_ready_reader_answers_as_on_tensorflow():
    with HANDBOOK.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)][:200:2]
    asked = [{"question": row["question"], "passages": [row["passage"]]} for row in rows]
    reader = tfmrc.load("ready", runtime="tensorflow")
    expected = [*reader.predict(asked)]
    reader.runtime = "openvino"
    for found, other in zip(reader.predict(asked), expected, strict=True):
        assert (found.text, found.start, found.end) == (other.text, other.start, other.end)
        np.testing.assert_allclose(found.probability, other.probability, atol=1e-4)


@pytest.mark.slow
def test_changing_lengths_take_no_memory():
    predictor = reader()
    predictor.runtime = "openvino"
    rng = np.random.default_rng(0)

    def compute(count):
        for rows, length in rng.integers(1, (20, 40), (count, 2)):
            ids = rng.integers(5, 20, (rows, length)).astype("int32")
            predictor.network.scores({"encoder_ids": ids, "segment_ids": np.zeros_like(ids)})
        return resident_mib()

    before = compute(2000)
    assert compute(8000) - before < 16


@pytest.mark.slow
@pytest.mark.nncf
def test_int8_is_smaller_and_has_nearly_the_same_scores(tmp_path):
    predictor = reader()
    asked = [{"question": QUESTIONS[n % 3], "passages": PASSAGES[n % 2]} for n in range(30)]
    predictor.export(tmp_path / "owls" / "1", openvino=True)
    predictor.export(tmp_path / "owls" / "2", openvino=True, int8=asked)
    files = [tmp_path / "owls" / number / openvino.FOLDER / openvino.NETWORK for number in "12"]
    sizes = [file.with_suffix(".bin").stat().st_size for file in files]
    assert sizes[1] < 0.6 * sizes[0]
    ids = np.random.default_rng(0).integers(5, 20, (20, 30)).astype("int32")
    batch = {"encoder_ids": ids, "segment_ids": np.zeros_like(ids)}
    scores = [openvino.Network(file).scores(batch).numpy().ravel() for file in files]
    assert np.corrcoef(*scores)[0, 1] > 0.97

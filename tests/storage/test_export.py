"""The exported SavedModel answers as the Keras model does, without Python, Keras or tfmrc."""

import json

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tests.serving.predictors import EXPORT_OPTIONS, REQUEST, STYLES, make_predictor
from tfmrc.storage.export import operations, python_operations
from tfmrc.storage.warmup import read_warmup_requests

pytestmark = pytest.mark.usefixtures("exports_once")


def test_no_operation_of_the_export_calls_python(exported):
    saved = saved_model_pb2.SavedModel.FromString((exported / "saved_model.pb").read_bytes())
    (graph,) = saved.meta_graphs
    found = operations(graph.graph_def)
    assert len(found) > 50, "functions of the graph were not walked"
    assert not {name for name in found if "Py" in name or "Numpy" in name}
    assert python_operations(graph.graph_def) == []
    listed = {op.name for op in graph.meta_info_def.stripped_op_list.op}
    assert not {name for name in listed if "Py" in name}


def test_a_graph_that_calls_python_is_found():
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)], autograph=False)
    def inner(x):
        return tf.py_function(lambda x: x, [x], tf.string)

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)], autograph=False)
    def outer(x):
        return inner(x)

    assert python_operations(outer.get_concrete_function().graph.as_graph_def()) == ["EagerPyFunc"]


@pytest.mark.slow  # XLA: 14 s and 220 MiB
def test_compiled_gives_the_same_answers(predictor, answer_arrays):
    compiled = predictor.run("serving_default", REQUEST, **EXPORT_OPTIONS, jit_compile=True)
    np.testing.assert_array_equal(answer_arrays["answer"], compiled["answer"])
    np.testing.assert_array_equal(answer_arrays["word_starts"], compiled["word_starts"])
    np.testing.assert_array_equal(answer_arrays["sources"], compiled["sources"])
    np.testing.assert_allclose(answer_arrays["scores"], compiled["scores"], rtol=1e-4, atol=1e-5)


def test_the_signature_has_the_documented_names_and_types(exported):
    signature = tf.saved_model.load(str(exported)).signatures["serving_default"]
    inputs = signature.structured_input_signature[1]
    assert {name: (spec.dtype, spec.shape.as_list()) for name, spec in inputs.items()} == {
        "question": (tf.string, [None]),
        "passages": (tf.string, [None, None]),
        "style": (tf.string, [None]),
    }
    outputs = signature.structured_outputs
    assert {name: (spec.dtype.name, spec.shape.as_list()) for name, spec in outputs.items()} == {
        "answer": ("string", [None]),
        "num_words": ("int32", [None]),
        "words": ("string", [None, None]),
        "sources": ("string", [None, None]),
        "source_texts": ("string", [None, None]),
        "word_passages": ("int32", [None, None]),
        "word_starts": ("int32", [None, None]),
        "word_ends": ("int32", [None, None]),
        "mixture": ("float32", [None, None, 3]),
        "passage": ("int32", [None]),
        "probability": ("float32", [None]),
        "answers": ("string", [None, 2]),
        "scores": ("float32", [None, 2]),
        "probabilities": ("float32", [None, 2]),
        "log_probabilities": ("float32", [None, 2]),
        "finished": ("bool", [None, 2]),
        "relevance": ("float32", [None, 3]),
        "answerable_probability": ("float32", [None]),
        "truncated": ("bool", [None]),
        "is_confident": ("bool", [None]),
    }


def test_a_version_is_replaced_only_on_request(tmp_path, monkeypatch):
    predictor = make_predictor(decoder=False)
    with pytest.raises(ValueError, match="version number.*Received: path="):
        predictor.export(tmp_path / "hills" / "newest")
    path = predictor.export(tmp_path / "hills" / "1")
    with pytest.raises(
        FileExistsError,
        match="`--overwrite` on the .* overwrite=True in Python. Received: overwrite=False",
    ):
        predictor.export(path)
    before = (path / "fingerprint.pb").stat().st_mtime_ns
    calls = []
    monkeypatch.setattr(predictor, "export_signatures", calls.append)
    link = tmp_path / "hills" / "2"
    link.symlink_to(path)
    (tmp_path / "hills" / "3").write_text("notes")
    (tmp_path / "hills" / "4").mkdir()
    (tmp_path / "hills" / "4" / "thesis.txt").write_text("mine")
    for name, words in (("2", "is a link or"), ("3", "or a file"), ("4", "holds thesis.txt")):
        with pytest.raises(FileExistsError, match=words):
            predictor.export(tmp_path / "hills" / name, overwrite=True)
    (path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds notes.txt, which was not written"):
        predictor.export(path, overwrite=True)
    assert calls == []
    monkeypatch.undo()
    (path / "notes.txt").unlink()
    assert predictor.export(path, overwrite=True) == path
    assert (path / "fingerprint.pb").stat().st_mtime_ns > before
    assert sorted(p.name for p in path.parent.glob("[0-9]")) == ["1", "2", "3", "4"]
    assert (tmp_path / "hills" / "4" / "thesis.txt").read_text() == "mine"


def test_the_model_card_says_what_was_exported(exported):
    card = json.loads((exported / "assets.extra" / "model_card.json").read_text())
    assert (card["name"], card["version"]) == ("hills", 7)
    metrics = json.loads((exported / "assets.extra" / "metrics.json").read_text())
    assert metrics == {"rouge_l": 0.5, "by_style": {"qa": 0.25}}
    assert "metrics" not in card
    assert [task["name"] for task in card["tasks"]] == ["qa", "nlg"]
    assert card["decoding"]["num_beams"] == 3
    assert card["versions"]["tensorflow"] == tf.__version__
    assert card["inputs"]["passages"] == {
        "dtype": "string",
        "shape": [None, None],
        "meaning": "the passages; an empty string for a missing one",
    }
    assert all(entry["meaning"] for entry in card["outputs"].values())
    markdown = (exported / "assets.extra" / "model_card.md").read_text()
    assert "# hills, version 7" in markdown and "import tensorflow_text" in markdown


def test_the_warm_up_requests_are_requests_of_the_signature(exported):
    (request,) = read_warmup_requests(exported)
    assert request.model_spec.name == "hills"
    assert request.model_spec.signature_name == "serving_default"
    tensors = {name: tf.constant(tf.make_ndarray(proto)) for name, proto in request.inputs.items()}
    assert [style.decode() for style in tensors["style"].numpy()] == list(STYLES)
    outputs = tf.saved_model.load(str(exported)).signatures["serving_default"](**tensors)
    assert outputs["answer"].shape == (2,)

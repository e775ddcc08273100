"""The predictor of an export in other processes."""

import pytest

from tests.serving.small_models import write_echo
from tfmrc.predictors import ExportedPredictor


@pytest.fixture
def predictor(tmp_path):
    return ExportedPredictor(write_echo(tmp_path, 1))


def test_a_forked_process_is_told_to_load_again(predictor, monkeypatch):
    assert predictor.run("serving_default", {"text": ["owl"]})["text"].tolist() == [b"owl!"]
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="forked after it was used. Load the predictor"):
        predictor.run("serving_default", {"text": ["owl"]})
    with pytest.raises(RuntimeError, match="started by `spawn`"):  # its first answer would hang
        ExportedPredictor(predictor.saved_model.path)

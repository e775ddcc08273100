"""A small reader that learned four answers, and its export; both are made once."""

import numpy as np
import pytest

from tests.serving.readers import EXPORT_OPTIONS, REQUEST, make_reader, train
from tfmrc import Reader


@pytest.fixture(scope="session")
def reader() -> Reader:
    return train(make_reader())


@pytest.fixture(scope="session")
def exported(reader, tmp_path_factory):
    """`<folder>/hills/7`, beam search, two hypotheses."""
    path = tmp_path_factory.mktemp("savedmodels") / "hills" / "7"
    return reader.export(path, metrics={"rouge_l": 0.5, "by_style": {"qa": 0.25}}, **EXPORT_OPTIONS)


@pytest.fixture(scope="session")
def answer_arrays(reader):
    """What the Keras model itself answers to `readers.REQUEST`."""
    outputs = reader.read(
        REQUEST["question"], REQUEST["passages"], REQUEST["style"], **EXPORT_OPTIONS
    )
    assert len(set(outputs["answer"].tolist())) == 4
    assert set(outputs["sources"].ravel().tolist()) >= {b"vocabulary", b"question", b"passage"}
    assert np.all(outputs["score"] > -4)
    return outputs

"""Exported readers of every kind of Hugging Face, in processes without tfmrc; all slow.

    TFMRC_TORCH_PYTHON=PYTHON python -m pytest -m slow -k exports_of_hugging_face tests/predictors

They need PyTorch and transformers, which make the readers, and TensorFlow 2.20
(`tests/serving/test_older_tensorflow.py`).
"""

import sys

import pytest

from tests.encoders.hugging_face import cases
from tests.serving.predictors import assert_same_outputs, run_loader
from tfmrc.predictors.hugging_face.folder import load_hugging_face

KINDS = (
    "Bert", "DistilBert", "Electra", "Roberta", "XLMRoberta", "Camembert", "MPNet", "Albert",
    "DebertaV2", "ModernBert", "MmBert", "MobileBert",
)  # fmt: skip
PASSAGES = [
    "The owl's mill was built in 1,802 on the hill of Müllberg, 1,111 m high. 水车在山上。",
    "Anna named it “Ｅｕｌｅ” — nobody knows why.\n\tIt was sold twice.",
]
REQUEST = {
    "question": ["How high is the hill?", "Who named it  “Eule”?", ""],
    "passages": [PASSAGES, [PASSAGES[1], ""], ["", ""]],
}

pytestmark = [pytest.mark.slow, pytest.mark.torch, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """An export and its predictor's outputs by kind."""
    folder = tmp_path_factory.mktemp("readers")
    texts = [*PASSAGES, *REQUEST["question"][:2]] * 20
    cases.make_readers(folder, texts)
    result = {}
    for kind in KINDS:
        predictor = load_hugging_face(
            folder / kind, window_length=32, overlap=8, question_length=12, answer_length=6
        )
        outputs = predictor.run("serving_default", REQUEST, num_return_sequences=3)
        exported = predictor.export(folder / f"{kind}-export" / "1", num_return_sequences=3)
        result[kind] = exported, outputs
    return result


@pytest.mark.parametrize("python", ["this", "TensorFlow 2.20"])
@pytest.mark.parametrize("kind", KINDS)
def test_another_process_reads_the_same(exports, older_python, kind, python):
    exported, expected = exports[kind]
    assert expected["answer"][0] and not expected["answer"][2]
    chosen = sys.executable if python == "this" else older_python
    (reply,) = run_loader(exported, [REQUEST], chosen)
    assert_same_outputs(reply["outputs"], expected, rtol=1e-4)

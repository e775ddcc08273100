"""Models that write, on a pretrained encoder, from a configuration to their scores."""

import json
from pathlib import Path
from typing import Any

import keras_hub
import numpy as np
import pytest

from tests.experiments.test_generation_run import ASKING, DUAL, QUESTIONS, run
from tests.recipes.small_squad import NAMES, squad
from tfmrc import Predictor

PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] who met an owl near the mill ? . - lee".split()
SIZES = {
    "vocabulary_size": len(PIECES),
    "num_layers": 1,
    "num_heads": 2,
    "hidden_dim": 4,
    "intermediate_dim": 4,
    "max_sequence_length": 24,
}


@pytest.fixture(scope="module")
def preset(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small encoder in KerasHub's form."""
    folder = tmp_path_factory.mktemp("encoder")
    keras_hub.models.BertBackbone(**SIZES).save_to_preset(str(folder))
    keras_hub.models.BertTokenizer(PIECES, lowercase=True).save_to_preset(str(folder))
    return str(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.json").write_text(json.dumps(squad(NAMES)))
    (tmp_path / "dev.json").write_text(json.dumps(squad(("Gus", "Hal"))))
    return tmp_path


def settings(base: dict[str, Any], preset: str, **changes: Any) -> dict[str, Any]:
    """One run of a model with an encoder, whose words begin with the encoder's embeddings."""
    encoder = {"preset": preset, "trainable_layers": "none"}
    vocabulary = {**base["vocabulary"], "rows_from_encoder": True}
    return {**base, "encoder": encoder, "vocabulary": vocabulary, "grid": {}, **changes}


def check(folder: Path, task: str) -> None:
    """The encoder is that of the preset, and the words' rows were filled from it."""
    facts = json.loads((folder / "run" / "training.json").read_text())
    assert facts["words_with_a_vector"] == 1.0
    predictor = Predictor.load(folder / "run" / "predictor")
    model, preprocessor = predictor.model, predictor.preprocessor
    owl = preprocessor.vocabulary.words.index("owl")
    table = np.array(model.encoder.backbone.token_embedding.embeddings)
    row = np.array(model.word_embedding.words)[owl - 4]
    np.testing.assert_array_equal(row, table[PIECES.index("owl")])
    assert task in {each.name for each in predictor.tasks}


@pytest.mark.slow
def test_questions(folder: Path, preset: str) -> None:
    report = run(folder, settings(QUESTIONS, preset, model={**ASKING, "word_dim": 4}))
    assert report["systems"]["maxout_pointer_qg_squad"]["scores"]["rouge_l"]["size"] == 4
    check(folder, "ask")


@pytest.mark.slow  # the steps are those of the test above
def test_answers_and_questions(folder: Path, preset: str) -> None:
    preprocessor = {**DUAL["preprocessor"], "reading": "joint"}
    report = run(folder, settings(DUAL, preset, preprocessor=preprocessor))
    assert {"qa_f1", "qg_rouge_l"} <= report["systems"]["daanet_squad"]["scores"].keys()
    check(folder, "answer")

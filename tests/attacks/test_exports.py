"""A part of the odd texts of `make attacks`, on what SAN's and Masque's exports compute."""

import pytest

from tests.attacks import exports, models

pytestmark = pytest.mark.usefixtures("without_graphs")


def test_odd_texts_get_right_answers():
    predictor = models.san()
    signature = predictor.export_signatures(predictor.options())["serving_default"]
    run = exports.runner(lambda **inputs: signature(**inputs))
    counts, wrong = exports.attack_signature(run, "SAN", 50, seed=7)
    assert wrong == []
    assert counts["answers"] == 50 and counts["offsets"] > 40


def test_a_wrong_outcome_is_seen():
    predictor = models.san()
    signature = predictor.export_signatures(predictor.options())["serving_default"]

    def shifted(**inputs):
        outputs = signature(**inputs)
        rows = len(outputs["start"])
        return {
            **outputs,
            "ends": outputs["ends"] + 1,
            "probability": outputs["probability"] + rows,
        }

    _, wrong = exports.attack_signature(exports.runner(shifted), "SAN", 25, seed=7)
    for words in ("is not at", "probability is no probability", "in a batch and"):
        assert any(words in problem for problem in wrong), words

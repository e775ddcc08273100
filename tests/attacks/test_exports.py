"""A part of the odd texts of `make attacks`, on what SAN's and Masque's exports compute."""

from collections import Counter

import numpy as np
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


def test_another_answer_is_right_if_it_is_as_probable():
    batch = {"start": np.array([4, 7]), "probability": np.array([0.9, 1 / 36], "float32")}
    for probability, ties in ((1 / 36, 1), (1 / 36.01, 0)):
        alone = {"start": np.array([2]), "probability": np.array([probability], "float32")}
        counts: Counter[str] = Counter()
        wrong = list(exports._alone(batch, alone, 1, counts))
        assert counts["ties"] == ties and len(wrong) == 1 - ties


def test_texts_that_part_at_words_of_equal_probability_are_both_right():
    # A search that ends after one word, and one that ends after two, for a batch and for one text.
    def search(texts, probabilities, truncated=False):
        def run(inputs):
            alone = len(inputs["passage"]) == 1
            return {
                "truncated": np.array([truncated] if alone else [False, False]),
                "answers": np.array([[texts[alone]]] if alone else [["other"], [texts[alone]]]),
                "probabilities": np.array(
                    [[probabilities[alone]]] if alone else [[0.5], [probabilities[alone]]],
                    "float32",
                ),
            }

        return run

    inputs = {"passage": [b"first", b"second"], "question": [b"", b""]}
    same = search(("owl", "owl"), (0.25, 0.25))
    tie = search(("owl flew", "owl sat"), (0.125, 0.125))
    wrong = search(("owl flew", "owl sat"), (0.125, 0.1249))
    afterwards = search(("owl flew", "owl sat"), (0.0625, 0.0625))
    assert exports.part_at_a_tie(inputs, 1, [same, tie])
    assert not exports.part_at_a_tie(inputs, 1, [same, wrong, afterwards])
    assert not exports.part_at_a_tie(inputs, 1, [same, same])
    assert not exports.part_at_a_tie(inputs, 1, [])
    cut = search(("owl flew", "owl sat"), (0.125, 0.125), truncated=True)
    assert not exports.part_at_a_tie(inputs, 1, [cut])


def test_searches_of_every_length():
    first, *_, last = cut = exports.searches(models.daanet(), "answer")
    inputs = {"passages": [[b"the owl flew over the mill"]], "question": [b"who flew ?"]}
    assert len(cut) == 13  # the longest question has twelve words and an end
    assert len(first(inputs)["answer"][0].split()) <= 1
    assert len(last(inputs)["answer"][0].split()) > 1
    assert exports.searches(models.san(), "serving_default") == []

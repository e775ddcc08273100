"""Question generation as a user holds it and as it is exported."""

import csv
import json

import numpy as np
import pytest
import tensorflow as tf

import tfmrc
from tests.predictors.small import maxout_pointer_qg
from tests.running import eagerly
from tests.serving.predictors import assert_batched_as_alone, assert_same_outputs, run_loader
from tfmrc import cli
from tfmrc.data import Example, Span

pytestmark = pytest.mark.usefixtures("exports_once")

OPTIONS = {"num_beams": 4, "num_return_sequences": 3, "max_length": 7, "no_repeat_ngram_size": 2}
REQUEST = {
    "passage": ["It rained. Mt. Brannoch is 1,310.5 metres high.", "Old Tamsin named the Éala."],
    "answer": ["1,310.5 metres", "Éala"],
}


@pytest.fixture(scope="module")
def predictor():
    return maxout_pointer_qg()


@pytest.fixture(scope="module")
def exported(predictor, tmp_path_factory):
    return predictor.export(tmp_path_factory.mktemp("models") / "qg" / "1", **OPTIONS)


@pytest.fixture(scope="module")
def arrays(predictor):
    with eagerly():
        return predictor.run("serving_default", REQUEST, **OPTIONS)


def ask(predictor, passage, answer, **options):
    """The best question and its alternatives."""
    best = predictor.ask(passage=passage, answer=answer, **options)
    return [best, *best.alternatives]


@pytest.mark.usefixtures("without_graphs")
def test_questions_come_best_first_with_their_probabilities(predictor, arrays):
    assert arrays["questions"].shape == arrays["probabilities"].shape == (2, 3)
    assert (np.diff(arrays["probabilities"]) <= 0).all()
    np.testing.assert_allclose(np.exp(arrays["log_probabilities"]), arrays["probabilities"])
    np.testing.assert_array_equal(arrays["answer_start"], [27, 21])
    asked = ask(predictor, REQUEST["passage"][0], REQUEST["answer"][0], **OPTIONS)
    assert [q.text for q in asked] == [q.decode() for q in arrays["questions"][0]]
    assert [q.answer_start for q in asked] == [27] * 3
    np.testing.assert_allclose(
        [q.log_probability for q in asked], arrays["log_probabilities"][0], rtol=1e-4
    )
    passages, answers = REQUEST["passage"], REQUEST["answer"]
    examples = [
        Example("1", "", ("No.", passages[0]), {"span": (answers[0],)}, spans=(Span(1, 27, 41),)),
        Example("2", "", (passages[1],), {"qa": (answers[1],)}),
    ]
    first, second = predictor.predict(examples, batch_size=2, **OPTIONS)
    assert [first.text, *(q.text for q in first.alternatives)] == [q.text for q in asked]
    assert (first.answer, first.answer_start) == (answers[0], 27)
    assert (second.text, second.answer_start) == (arrays["question"][1].decode(), 21)


@pytest.mark.slow
def test_a_process_without_tfmrc_asks_the_same(exported, arrays):
    wrong = {"passage": ["A hill."], "answer": ["Zoe"]}
    blank = {"passage": [""], "answer": [""]}
    long = {"passage": ["hill " * 20_000 + "Zoe"], "answer": ["Zoe"]}
    found = run_loader(exported, [REQUEST, wrong, blank, long])
    assert_same_outputs(found[0]["outputs"], arrays)
    for refused in found[1:3]:
        assert refused["code"] == 3 and "occur in its passage" in refused["error"]
    assert found[3]["outputs"]["truncated"] == [True]


@pytest.mark.usefixtures("without_graphs")
def test_signatures_with_a_place_and_with_a_passage_alone(exported, predictor):
    signatures = tf.saved_model.load(str(exported)).signatures
    assert set(signatures) == {"serving_default", "at", "generate_from_passage"}
    passage = "The hill is high. The hill is high in 1912."
    at = signatures["at"](
        passage=tf.constant([passage]), answer=tf.constant(["hill"]), answer_start=tf.constant([22])
    )
    assert at["answer_start"].numpy().tolist() == [22]
    for start in (21, -7):  # only -1 is the first occurrence
        with pytest.raises(tf.errors.InvalidArgumentError, match="occur in its passage"):
            signatures["at"](
                passage=tf.constant([passage]), answer=tf.constant(["hill"]),
                answer_start=tf.constant([start]),
            )  # fmt: skip
    passages = [*REQUEST["passage"], ""]
    proposed = signatures["generate_from_passage"](passage=tf.constant(passages))
    answers = [[a.decode() for a in row if a] for row in proposed["answers"].numpy()]
    assert answers == [
        ["It rained", "Mt. Brannoch", "1,310.5", "high"], ["Old Tamsin", "Éala"], [],
    ]  # fmt: skip
    single = predictor.ask(passage=passages[1], answer="Éala", **OPTIONS)
    assert proposed["questions"][1, 1].numpy().decode() == single.text
    assert float(proposed["probabilities"][1, 1]) == pytest.approx(single.probability, rel=1e-4)
    assert proposed["answer_starts"].numpy().tolist() == [
        [0, 11, 27, 42], [0, 21, -1, -1], [-1, -1, -1, -1],
    ]  # fmt: skip
    assert proposed["finished"].shape == (3, 4) and not proposed["finished"][2].numpy().any()
    best = list(predictor.generate_from_passage(passages, batch_size=2, max_answers=2, **OPTIONS))
    assert [[a.answer for a in found] for found in best] == [answers[0][1:3], *answers[1:]]
    first, _ = best[0]
    assert first.text == proposed["questions"][0, 1].numpy().decode()
    assert first.log_probability == pytest.approx(float(proposed["log_probabilities"][0, 1]), 1e-4)
    assert proposed["log_probabilities"].numpy()[2].tolist() == [-1e9] * 4
    empty = signatures["generate_from_passage"](passage=tf.constant([""]))
    assert empty["answers"].shape == (1, 0)


@pytest.mark.usefixtures("without_graphs")
def test_an_export_asks_by_one_call(exported, predictor):
    passage, answer = REQUEST["passage"][0], REQUEST["answer"][0]
    export = tfmrc.load(exported)
    found, right = ask(export, passage, answer), ask(predictor, passage, answer, **OPTIONS)
    assert [(q.text, q.answer_start) for q in found] == [(q.text, 27) for q in right]
    placed = export.ask(passage=passage, answer=answer, answer_start=27)
    assert (placed.text, placed.answer_start) == (right[0].text, 27)
    proposed, nothing = export.generate_from_passage([passage, ""])
    assert [q.answer for q in proposed] == ["It rained", "Mt. Brannoch", "1,310.5", "high"]
    assert nothing == []
    assert list(export.generate_from_passage(passage)) == [proposed]  # one text is one passage
    with pytest.raises(ValueError, match="occur in its passage"):
        export.ask(passage=passage, answer="Zoe")


def test_requests_of_a_server_s_batch_are_answered_as_alone(exported):
    asks = [{name: [column[row]] for name, column in REQUEST.items()} for row in (0, 1)]
    assert_batched_as_alone(exported, asks)
    passages = [*REQUEST["passage"], "nothing to ask about", "Ann met Bob in 1999 in Rome."]
    alone = [{"passage": [passage]} for passage in passages]
    assert_batched_as_alone(exported, alone, "generate_from_passage")


def test_an_answer_of_unknown_position_is_in_the_passage_that_contains_it(predictor):
    passages = ("It rained.", "Old Tamsin named the Éala.", "The Éala is in the hill.")
    example = Example("1", "who?", passages, {"span": ("Éala",)})
    [found] = predictor.predict([example], num_beams=1, max_length=3)
    assert found.answer_start == passages[1].index("Éala")
    relevant = Example("1", "who?", passages, {"span": ("Éala",)}, relevance=(False, False, True))
    [found] = predictor.predict([relevant], num_beams=1, max_length=3)
    assert found.answer_start == passages[2].index("Éala")


def test_questions_without_an_answer_in_a_passage_get_an_error_and_no_score(
    predictor, tmp_path, capsys
):
    predictor.save(tmp_path / "saved")
    rows = [
        {"question": "who named it?", "passages": ["It rained.", REQUEST["passage"][1]]},
        {"question": "who?", "passages": ["It rained."], "answer": []},
        {"question": "what?", "passages": ["It rained."], "answer": "snow"},
    ]
    rows[0]["answer"] = "old tamsin"  # spelled in another way
    file, output = tmp_path / "rows.json", tmp_path / "asked.jsonl"
    file.write_text(json.dumps(rows))
    with eagerly():
        command = ["--input", str(file), "--option", "num_beams=1", "max_length=3"]
        asked = ["predict", str(tmp_path / "saved"), *command, "--output", str(output)]
        assert cli.main(asked) == 1
        assert "3 questions read, 1 used; 2 broken" in capsys.readouterr().err
        first, *others = map(json.loads, output.read_text().splitlines())
        assert first["id"] == "rows.json:1" and "error" not in first
        assert all("the model asks about an answer" in line["error"] for line in others)
        assert cli.main(["evaluate", str(tmp_path / "saved"), *command]) == 0
        said = capsys.readouterr()
        assert "1 questions" in said.out and "2 skipped: the model asks about" in said.err


@pytest.mark.parametrize("answers", [False, True])
def test_the_passages_of_a_table_are_asked_about(answers, predictor, tmp_path):
    predictor.save(tmp_path / "saved")
    passage = REQUEST["passage"][1]
    rows = [{"section": "1", "paragraph": passage, **({"answer": "old tamsin"} if answers else {})}]
    rows = [{**rows[0], "section": "0", "paragraph": None}, *rows, {"section": "2"}]
    file, output = tmp_path / "rows.json", tmp_path / "asked.csv"
    file.write_text(json.dumps(rows))
    command = ["predict", str(tmp_path / "saved"), "--input", str(file), "--output", str(output)]
    with eagerly():
        assert cli.main([*command, "--option", "num_beams=1", "max_length=3"]) == 1
    with output.open(encoding="utf-8-sig", newline="") as lines:
        first, *found, last = csv.DictReader(lines)
    assert (first["section"], last["section"]) == ("0", "2")
    assert all("must be text" in row["error"] for row in (first, last))
    assert found and all(row["section"] == "1" and row["passage"] == passage for row in found)
    for row in found:
        assert passage[int(row["start"]) :].startswith(row["answer"])
    assert not answers or [row["given_answer"] for row in found] == ["old tamsin"]

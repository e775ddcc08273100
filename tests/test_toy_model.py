"""A paper of a user's own goes through every command, found by its registered names alone."""

import json

import pytest

import tfmrc
from tests import fresh_python
from tests.running import eagerly
from tests.toy_paper import NAMES, RECIPE, example
from tfmrc import cli, data

NEW_PROCESS = """
import importlib, sys
import keras
import tfmrc

registered = keras.saving.get_custom_objects()
for name in [name for name in registered if name.startswith("toy>")]:
    del registered[name]  # of a process that was forked after another test had imported it
sys.modules.pop("tests.toy_paper", None)
for folder in sys.argv[1:]:
    try:
        tfmrc.load(folder)
    except ValueError as error:
        print(error)
importlib.import_module("tests.toy_paper")
print(tfmrc.load(sys.argv[1]).answer(question="Was it Finn who ran?", passages="Finn ran ."))
"""


ONE = example(101)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data, a trained and evaluated run, and its export."""
    folder = tmp_path_factory.mktemp("toy")
    data.write_examples(folder / "train.jsonl", [example(n) for n in range(64)])
    data.write_examples(folder / "test.jsonl", [example(n) for n in range(100, 108)])
    (folder / "toy.yaml").write_text(RECIPE)
    recipe, run, export = (str(folder / name) for name in ("toy.yaml", "run", "exports/toy/1"))
    places = ["--data", str(folder), "--run", run]
    with eagerly():
        assert cli.main(["prepare", recipe, *places]) == 0
        assert cli.main(["train", recipe, *places]) == 0
        assert cli.main(["evaluate", run]) == 0
    assert cli.main(["export", run, "--to", export]) == 0
    assert cli.main(["verify", run, export]) == 0
    return folder


def test_the_evaluation_finds_the_name_in_the_question(folder):
    report = json.loads((folder / "run/evaluation/1-test-span/metrics.json").read_text())
    found = {
        name: rows["scores"]["exact_match"]["value"] for name, rows in report["systems"].items()
    }
    assert (found["toy"], found["first sentence"]) == (1.0, 0.0)


def test_predictions_are_those_names(folder, capsys):
    asked = ["predict", str(folder / "run"), "--input", str(folder / "test.jsonl")]
    assert cli.main([*asked, "--format", "squad"]) == 0
    predicted = json.loads(capsys.readouterr().out)
    assert predicted == {f"q{n}": NAMES[n % 8] for n in range(100, 108)}


@pytest.mark.parametrize("name", ["run", "run/predictor", "exports/toy/1"])
def test_the_best_answer_of_all_passages_is_taken(folder, name):
    predictor = tfmrc.load(folder / name)
    texts = ("Ann slept . Eve ran home .", *ONE.passages)
    alone = [predictor.answer(question=ONE.question, passages=text) for text in texts]
    best = max(answer.probability for answer in alone)
    for passages in (texts, texts[::-1]):
        answer = predictor.answer(question=ONE.question, passages=passages)
        assert (answer.text, answer.probability) == ("Finn", pytest.approx(best))
    for question, passages in ((ONE.question, ()), ("", ("", "")), ("", ())):
        answer = predictor.answer(question=question, passages=passages)
        assert (answer.text, answer.probability) == ("", 0.0)


def test_a_new_process_is_told_to_import_the_paper(folder):
    run = folder / "run"
    *refused, answer = fresh_python.forked("-c", NEW_PROCESS, run, run / "predictor").splitlines()
    assert len(refused) == 2 and answer in ONE.passages[0]
    for line in refused:
        assert "`import tests.toy_paper` first, or on the command line" in line
        assert f"give the run's folder ({run})" in line


def test_a_saved_predictor_has_its_classes_and_sizes(folder):
    loaded = tfmrc.Predictor.load(folder / "run" / "predictor")
    assert type(loaded).__name__ == "ToyPredictor"
    assert (loaded.model.get_config()["width"], loaded.preprocessor.length) == (6, 12)

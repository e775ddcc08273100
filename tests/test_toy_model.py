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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    data.write_examples(folder / "train.jsonl", [example(n) for n in range(64)])
    data.write_examples(folder / "test.jsonl", [example(n) for n in range(100, 108)])
    (folder / "toy.yaml").write_text(RECIPE)
    return folder


def test_a_users_paper_trains_evaluates_predicts_exports_and_loads(folder, capsys):
    recipe, run = str(folder / "toy.yaml"), str(folder / "run")
    places = ["--data", str(folder), "--run", run]
    with eagerly():
        assert cli.main(["prepare", recipe, *places]) == 0
        assert cli.main(["train", recipe, *places]) == 0
        assert cli.main(["evaluate", run]) == 0
    report = json.loads((folder / "run/evaluation/1-test-span/metrics.json").read_text())
    scores = report["systems"]["toy"]["scores"]
    assert scores["exact_match"]["value"] == 1.0  # the name in the question is found again
    assert report["systems"]["first sentence"]["scores"]["exact_match"]["value"] == 0.0
    capsys.readouterr()
    asked = ["predict", run, "--input", str(folder / "test.jsonl"), "--format", "squad"]
    assert cli.main(asked) == 0
    predicted = json.loads(capsys.readouterr().out)
    assert predicted == {f"q{n}": NAMES[n % 8] for n in range(100, 108)}
    export = folder / "exports" / "toy" / "1"
    assert cli.main(["export", run, "--to", str(export)]) == 0
    assert cli.main(["verify", run, str(export)]) == 0
    one = example(101)
    for path in (folder / "run", folder / "run" / "predictor", export):
        predictor = tfmrc.load(path)
        answer = predictor.answer(question=one.question, passages=one.passages)
        assert answer.text == "Finn"
        # In a run as in its export the best answer of all passages is taken.
        texts = ("Ann slept . Eve ran home .", *one.passages)
        alone = [predictor.answer(question=one.question, passages=text) for text in texts]
        best = max(alone, key=lambda answer: answer.probability)
        for passages in (texts, texts[::-1]):
            answer = predictor.answer(question=one.question, passages=passages)
            assert (answer.text, answer.probability) == ("Finn", pytest.approx(best.probability))
        for question, passages in ((one.question, ()), ("", ("", "")), ("", ())):
            answer = predictor.answer(question=question, passages=passages)
            assert (answer.text, answer.probability) == ("", 0.0)
    said = fresh_python.forked("-c", NEW_PROCESS, run, folder / "run" / "predictor").splitlines()
    assert len(said) == 3 and said[2] in one.passages[0]
    for line in said[:2]:
        assert "`import tests.toy_paper` first, or on the command line" in line
        assert f"give the run's folder ({run})" in line
    loaded = tfmrc.Predictor.load(folder / "run" / "predictor")
    assert type(loaded).__name__ == "ToyPredictor" and loaded.model.get_config()["width"] == 6
    assert loaded.preprocessor.length == 12

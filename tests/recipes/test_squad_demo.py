"""The demo on the shipped part of SQuAD, from end to end with a small encoder of random weights."""

import io
import json
from contextlib import redirect_stdout

import pytest

from tests.running import eagerly
from tfmrc import cli
from tfmrc.data import load_small_squad
from tfmrc.experiments import find_recipe, read_settings

PASSAGE = "At dusk an owl flew over the mill, and at dawn it came back to the old barn."
SMALL = [
    "sources.0.train_share=0.1",
    "split={validation_share: 0.3, validation_limit: 4}",
    "vocabulary={size: 50, min_count: 10, num_oov_buckets: 4}",
    "preprocessor={passage_length: 30, question_length: 10, answer_length: 4, stride: 15}",
    "training={steps: 2, batch_size: 2, eval_every_steps: 2}",
    "evaluation={limit: 4, batch_size: 4, targets: {f1: 1.0}}",
]


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    """A folder in KerasHub's form: one layer of width 4, letters as subwords."""
    import keras_hub

    folder = tmp_path_factory.mktemp("backbone")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,?"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    sizes = {"num_layers": 1, "num_heads": 1, "hidden_dim": 4, "intermediate_dim": 4}
    keras_hub.models.BertBackbone(
        vocabulary_size=len(pieces), max_sequence_length=64, **sizes
    ).save_to_preset(str(folder))
    keras_hub.models.BertTokenizer(pieces, lowercase=True).save_to_preset(str(folder))
    return folder


# === From end to end ===


RUN, EXPORT = "runs/squad_demo", "savedmodels/squad_demo/1"


@pytest.fixture(scope="module")
def demo(tmp_path_factory, backbone):
    """The folder in which the commands of the recipe have run, with small models."""
    folder = tmp_path_factory.mktemp("demo")
    encoder = f"encoder={{preset: {backbone}, length: 64, overlap: 16, trainable_layers: 1}}"
    with eagerly(), pytest.MonkeyPatch.context() as patch:
        patch.delenv("TFMRC_DATA", raising=False)  # the data is shipped
        patch.chdir(folder)
        assert cli.main(["train", "squad_demo", "--set", *SMALL, encoder]) == 0
        with redirect_stdout(io.StringIO()) as printed:
            assert cli.main(["evaluate", RUN]) == 1  # two steps teach nothing; the demo says so
    assert "MISSED" in printed.getvalue()
    assert cli.main(["export", str(folder / RUN), "--to", str(folder / EXPORT)]) == 0
    return folder


@pytest.fixture
def in_demo(demo, monkeypatch):
    monkeypatch.chdir(demo)


def test_the_run_and_its_export_answer_alike(in_demo, capfd):
    told = []
    for folder in (RUN, EXPORT):
        command = ["answer", folder, "--question", "Who flew?", "--passage", PASSAGE, "--json"]
        assert cli.main(command) == 0
        told.append(json.loads(capfd.readouterr().out))
    assert told[0]["text"] == PASSAGE[told[0]["start"] : told[0]["end"]] != ""
    assert told[0]["text"] == told[1]["text"]
    assert told[0]["probability"] == pytest.approx(told[1]["probability"], rel=1e-4)


# === Parts ===


def test_nothing_of_the_questions_and_hardly_anything_of_the_paragraphs_is_cut():
    limits = read_settings(find_recipe("squad_demo")).preprocessor
    for split in ("train", "test"):
        for example in load_small_squad(split):
            assert len(example.question.split()) <= limits["question_length"]
            start = example.passages[0][: example.spans[0].start]
            assert len(start.split()) < limits["passage_length"]


@pytest.mark.slow
def test_the_demo_reaches_its_target(tmp_path):
    run = str(tmp_path / "run")
    assert cli.main(["train", "squad_demo", "--run", run]) == 0
    assert cli.main(["evaluate", run]) == 0

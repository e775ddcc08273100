"""An extractive reader from its YAML file: trained with a teacher, its seeds as one ensemble."""

from pathlib import Path

import pytest

import tfmrc
from tests.experiments.small import example, write_encoder
from tests.running import eagerly
from tfmrc import Predictor, cli, data, encoders, experiments, models, preprocessing
from tfmrc.experiments.examples.files import input_files

WORDS = "who ran home ? . slept all day it rained ann bob cleo dan eve finn gus hal".split()
CONFIG = """
name: small_reader
sources:
- {format: examples, styles: [short], train: train.jsonl, test: test.jsonl, spans: exact}
encoder: {preset: ENCODER, random: true, length: 24, overlap: 4, keep_layers: [1]}
split: {validation_share: 0.3}
preprocessor: {window_length: 24, overlap: 4, question_length: 8}
model: {name: ExtractiveReader}
training: {steps: 2, batch_size: 4, eval_every_steps: 2, temperature: 2.0}
evaluation: {limit: 4, batch_size: 4, ensemble: true, meteor: false}
grid: {seeds: [1, 2]}
"""


def predictor_of(encoder):
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(
        encoder=encoder, window_length=20, overlap=4, question_length=8
    )
    return Predictor(models.ExtractiveReader(encoder=encoder), preprocessor)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("reader")
    data.write_examples(made / "train.jsonl", [example(n) for n in range(24)])
    data.write_examples(made / "test.jsonl", [example(n) for n in range(100, 104)])
    encoder = write_encoder(made / "encoder", WORDS, num_hidden_layers=2)
    (made / "config.yaml").write_text(CONFIG.replace("ENCODER", str(encoder)), encoding="utf-8")
    teacher = encoders.from_preset(encoder, random=True, length=24, overlap=4)
    predictor_of(teacher).save(made / "teacher")
    predictor_of(encoders.from_vocabulary(WORDS[1:], length=24, overlap=4)).save(made / "other")
    return made


@pytest.mark.slow  # the parts: test_distillation, test_extractive_reader, test_grid_run
def test_trained_with_a_teacher_and_evaluated_as_an_ensemble(folder, capsys):
    command = ["train", str(folder / "config.yaml"), "--data", str(folder)]
    run = folder / "run"
    with eagerly():
        teacher = folder / "teacher"
        its = [f"training.teacher={teacher}", f"encoder.preset={teacher}", "encoder.random=false"]
        assert cli.main([*command, "--run", str(run), "--set", *its]) == 0
        assert cli.main(["evaluate", str(run)]) == 0
    members = [tfmrc.load(run / f"seed-{seed}") for seed in (1, 2)]
    assert [type(member.model) for member in members] == [models.ExtractiveReader] * 2
    assert members[0].model.encoder.num_layers == 1
    assert members[0].preprocessor.window_length == 24
    (table,) = (run / "evaluation").glob("*/metrics.json")
    assert "small_reader_ensemble" in table.read_text(encoding="utf-8")


def test_a_run_remembers_its_teacher_and_its_encoder(folder):
    """They are compared when it is resumed."""
    experiment = experiments.read_settings(
        folder / "config.yaml", f"training.teacher={folder / 'teacher'}", "encoder.random=false"
    )
    read = {path.parent for path in input_files(experiment, folder)}
    assert read == {folder, folder / "teacher", folder / "encoder"}


def test_teachers_that_cannot_teach(folder, capsys):
    command = ["train", str(folder / "config.yaml"), "--data", str(folder), "--seeds", "1"]

    def refusal(teacher):
        run = ["--run", str(folder / f"run-{Path(teacher).name}")]
        with eagerly():
            assert cli.main([*command, *run, "--set", f"training.teacher={teacher}"]) == 1
        return capsys.readouterr().err

    assert "`training.teacher` must be the folder" in refusal("nowhere")
    assert "same words, with the same ids" in refusal(folder / "other")
    assert "There is no saved predictor" in refusal(folder)

from pathlib import Path

import pytest
import tensorflow as tf

from tfmrc import cli


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = 1 if isinstance(end.code, str) else int(end.code or 0)
        if isinstance(end.code, str):
            return status, "", end.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_help_teaches_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = output_of(capsys, "--help")
    assert status == 0
    for command in ("prepare", "train", "evaluate", "predict", "export", "answer", "ask"):
        assert f"tfmrc {command}" in text


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = output_of(capsys)
    assert status == 2
    assert "tfmrc train" in text


def test_train_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = output_of(capsys, "train", "--help")
    assert status == 0
    for setting in ("--training.steps", "--model", "--vocabulary.size", "--data", "--fresh"):
        assert setting in text
    assert "optimizer steps" in text


def test_missing_recipe_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, said = output_of(capsys, "train", "nowhere/config.yaml")
    assert status == 2
    assert "nowhere/config.yaml" in said


def test_folder_that_is_no_run_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _, said = output_of(capsys, "evaluate", str(tmp_path))
    assert status == 1
    assert "is not a run" in said and str(tmp_path) in said


def test_folder_that_is_no_export_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, said = output_of(
        capsys, "answer", str(tmp_path), "--question=q", "--passage=p", "--style=s"
    )
    assert status == 1
    assert f"There is no SavedModel in {tmp_path}" in said


def test_what_an_export_takes_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    texts = [tf.TensorSpec([None], tf.string, name=name) for name in ("question", "passage")]
    export = tf.Module()
    export.read = tf.function(lambda question, passage: {"answer": passage}, texts)
    tf.saved_model.save(export, str(tmp_path), {"serving_default": export.read})
    asked = ["answer", str(tmp_path), "--question=q", "--passage=p", "--style=s"]
    status, _, said = output_of(capsys, *asked)
    assert status == 1
    assert "takes passage, question. Received: passage, question, style" in said

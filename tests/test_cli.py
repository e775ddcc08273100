"""The command line: help, flags, and errors that name the nearest name."""

import os
import re
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import tensorflow as tf

import tfmrc
from tests import fresh_python
from tfmrc import cli, training
from tfmrc.predictors import GeneratedText, Word
from tfmrc.predictors.span_answer import SpanAnswer


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_help_groups_all_commands_on_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = output_of(capsys, "--help")
    assert status == 0
    assert re.findall(r"^  (\w+) [A-Z]* ", text, re.MULTILINE) == [
        "init", "prepare", "train", "evaluate", "predict", "reproduction",
        "answer", "ask", "export", "serve", "verify", "profile",
    ]  # fmt: skip
    assert sorted(cli._COMMANDS) == sorted(re.findall(r"^  (\w+) [A-Z]* ", text, re.MULTILINE))
    assert re.findall(r"^\w+$", text, re.MULTILINE) == ["Train", "Evaluate", "Use"]
    lines = text.splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 84
    assert "{" not in text


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = output_of(capsys)
    assert status == 2
    assert "train RECIPE" in text


def test_train_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = output_of(capsys, "train", "--help")
    assert status == 0
    for setting in ("training.steps", "model", "vocabulary.size", "--data", "--fresh", "--set"):
        assert setting in text
    assert "examples per step. (default: 32)" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "x.yaml", "--fresch"), "did you mean --fresh?"),
        (("prepare", "x.yaml", "--dat=a"), "did you mean --data?"),
        (("train", "x.yaml", "--training.steps", "5"), "`--set training.steps=5`"),
        (("evaluate", "r", "--training.steps=5"), "`--set training.steps=5`"),
        (("predict", "r"), "--input"),
        (("predict", "r", "--input=a", "--format=full_"), "'full_'"),
        (("trian", "x.yaml"), "'trian'"),
        (("serve", "x", "--grcp-port", "1"), "did you mean --grpc-port?"),
        (("predict", "r", "--inptu", "a"), "--inptu; did you mean --input? Also, the following"),
        (("init", "x", "--modle=san", "--data", "a"), "did you mean --model? Also, the following"),
        (("answer", "--jsonn", "--question=a --b"), "did you mean --json? Also, the following"),
        (("answer", "x", "--question", "--x y"), "error: the following arguments are required"),
        (("--verson", "train"), "did you mean --version?"),
    ],
)
def test_wrong_flags_are_named(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    status, _, error = output_of(capsys, *arguments)
    assert status == 2
    assert said in error


SETTINGS = "{name: x, sources: [{format: squad, train: a.json}], model: {name: SAN}}"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("training.stepz=5", "did you mean `training.steps`?"),
        ("model.name=Mask", "did you mean Masque?"),
        ("model.unitz=5", "model has no argument `unitz`; did you mean `units`?"),
        ("preprocessor.pasage_length=5", "did you mean `passage_length`?"),
        ("training.optimizer.learning_rat=5", "did you mean `learning_rate`?"),
        ("training.optimizer.steps=5", "`steps` follows from the training's settings"),
        ("training.optimizer_of=Mask", "did you mean Masque?"),
        ("evaluation.options.num_stepz=5", "did you mean `num_steps`?"),
        ("evaluation.also.x.num_stepz=5", "evaluation.also.x has no argument"),
        ("sources.0.options.on_eror=skip", "did you mean `on_error`?"),
        ("imports=[nowhere_module]", "nowhere_module"),
        ("encoder={length: 9}", "names a `preset`"),
        ("model.num_heads=2", "model has no argument `num_heads`"),
    ],
)
@pytest.mark.parametrize("command", ["prepare", "train"])
def test_names_are_checked_before_any_data_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, setting: str, said: str
) -> None:
    recipe, run = tmp_path / "x.yaml", tmp_path / "run"
    recipe.write_text(SETTINGS)
    status, _, error = output_of(
        capsys, command, str(recipe), "--run", str(run), "--data", str(tmp_path), "--set", setting
    )
    assert status == 1
    assert said in error and f"tfmrc {command}: " in error
    assert not run.exists()


def test_a_missing_file_leaves_no_folder_behind(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recipe, run = tmp_path / "x.yaml", tmp_path / "run"
    recipe.write_text(SETTINGS)
    status, _, error = output_of(
        capsys, "train", str(recipe), "--run", str(run), "--data", str(tmp_path)
    )
    assert status == 1 and str(tmp_path / "a.json") in error
    (tmp_path / "a.json").write_text('{"version": "1.1", "data": [{"title"')
    status, _, error = output_of(
        capsys, "train", str(recipe), "--run", str(run), "--data", str(tmp_path)
    )
    assert status == 1 and "a.json" in error
    assert not run.exists()


def test_missing_recipe_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, error = output_of(capsys, "train", "nowhere/config.yaml")
    assert status == 1
    assert "nowhere/config.yaml" in error
    status, _, error = output_of(capsys, "train", "san_squat")
    assert status == 1
    assert "did you mean san_squad?" in error


def test_folder_that_is_no_run_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(SETTINGS)
    status, _, error = output_of(capsys, "evaluate", str(tmp_path))
    assert status == 1
    assert "is not a run" in error and str(tmp_path) in error
    assert "a reader of Hugging Face is scored on a file: --input FILE." in error


def test_folder_that_is_no_export_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, error = output_of(
        capsys, "answer", str(tmp_path), "--question=q", "--passage=p", "--style=s"
    )
    assert status == 1
    assert error == f"tfmrc answer: There is no saved predictor, run or export in {tmp_path}.\n"


def test_a_name_of_the_hub_without_its_scheme_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for call in (tfmrc.load, partial(tfmrc.pipeline, "question-answering")):
        with pytest.raises(
            FileNotFoundError, match="Did you mean hf://owner/a_model-v2.1, a model"
        ):
            call("owner/a_model-v2.1")
        for folder in ("runs/none", "none", "/owner/none", "a/b/c"):
            with pytest.raises(FileNotFoundError, match=r"^((?!Did you mean).)*$"):
                call(folder)


def test_the_models_below_a_folder_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an export the newest version; the folder of a run, not that of its predictor."""
    monkeypatch.chdir(tmp_path)
    exports = [f"owls/{version}/saved_model.pb" for version in (2, 9, 10)]
    exports += ["owls/.11.part/saved_model.pb", "crows/saved_model.pb"]
    runs = ["grid/a-1/predictor", "one/predictor", "saved"]
    for name in (*(f"models/{e}" for e in exports), *(f"runs/{r}/model.weights.h5" for r in runs)):
        Path(name).parent.mkdir(parents=True)
        Path(name).touch()

    def named(command: str, folder: str) -> str:
        given = {"answer": ["--question=q", "--passage=p"], "ask": ["--passage=p"], "evaluate": []}
        status, _, error = output_of(capsys, command, folder, *given[command])
        assert status == 1
        return error

    below = "Models in models: models/crows, models/owls/10.\n"
    assert named("answer", "models").endswith(f"or export in models. {below}")
    assert named("ask", "models/owl").endswith(f"or export in models/owl. {below}")
    of_runs = "Models in runs: runs/grid/a-1, runs/one, runs/saved."
    assert of_runs in named("answer", "runs") and of_runs in named("evaluate", "runs")
    for number in range(6):
        (tmp_path / f"many/{number}").mkdir(parents=True)
        (tmp_path / f"many/{number}/model.weights.h5").touch()
    assert named("answer", "many").endswith("many/3, many/4 and others.\n")
    assert named("answer", "nothing").endswith("or export in nothing.\n")


def test_one_answer_is_computed_without_optimizing_the_graph(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what the program had set is set again, after an error too."""
    off, seen = "disable_meta_optimizer", []

    def load(folder: str) -> None:
        seen.append(tf.config.optimizer.get_experimental_options().get(off))
        raise ValueError("no model here")

    monkeypatch.setattr("tfmrc.experiments.predictor.load_any", load)
    options = tf.config.optimizer.get_experimental_options()
    try:
        for before in (True, False):
            tf.config.optimizer.set_experimental_options({off: before})
            status, _, said = output_of(
                capsys, "answer", "folder", "--question", "Who?", "--passage", "Anna."
            )
            assert status != 0 and "no model here" in said
            assert tf.config.optimizer.get_experimental_options()[off] == before
        monkeypatch.delattr(tf.config.optimizer, "set_experimental_options")
        status, _, said = output_of(  # a client asks without TensorFlow
            capsys, "answer", "http://127.0.0.1:9/v1/models/x", "--question=Who?", "--passage=Anna."
        )
        assert status != 0 and "127.0.0.1:9" in said
    finally:
        monkeypatch.undo()
        tf.config.optimizer.set_experimental_options(options)
    assert seen == [True, True]


def test_bytes_of_the_command_line_that_are_not_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    class Recorder:
        def answer(self, **inputs: object) -> None:
            asked.update(inputs)
            raise ValueError("recorded")

    monkeypatch.setattr("tfmrc.experiments.predictor.load_any", lambda _: (Recorder(), {}))
    words = ["answer", "folder", "--question=W\udcfcr?", "--passage=bad \udcff\udcfe fox"]
    assert cli.main(words) == 1
    assert asked["question"] == "W\N{REPLACEMENT CHARACTER}r?"
    assert asked["passages"] == ["bad \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} fox"]


def test_unknown_inputs_of_an_export_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    texts = [tf.TensorSpec([None], tf.string, name=name) for name in ("question", "passage")]
    export = tf.Module()
    export.read = tf.function(lambda question, passage: {"answer": passage}, texts)
    tf.saved_model.save(export, str(tmp_path), {"serving_default": export.read})
    status, _, error = output_of(
        capsys, "answer", str(tmp_path), "--question=q", "--passage=p", "--style=s"
    )
    assert status == 1
    assert "takes passage, question. `style` is unknown" in error


@pytest.mark.parametrize(
    "words", [("answer", "--question=q", "--passage=p"), ("ask", "--passage=p", "--answer=a")]
)
def test_a_key_of_the_environment_that_cannot_be_sent_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TFMRC_API_KEY", "clé")
    status, _, error = output_of(capsys, *words, "http://127.0.0.1:1/v1/models/hills")
    assert status == 1
    assert error.startswith(f"tfmrc {words[0]}: TFMRC_API_KEY must be printable ASCII characters")


def test_answer_names_the_runs_of_a_grid_and_a_run_that_is_not_trained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tfmrc import experiments
    from tfmrc.experiments import run_folder

    recipe = tmp_path / "x.yaml"
    for grid, said in (
        ("", "train"),
        ("grid: {variants: {one: {}, two: {model.units: 4}}}", "name one of them"),
    ):
        recipe.write_text(f"{SETTINGS[:-1]}{', ' if grid else ''}{grid}}}")
        folder = tmp_path / f"run-{len(grid)}"
        with run_folder.open_run(experiments.load(recipe), folder):
            pass
        status, _, error = output_of(capsys, "answer", str(folder), "--question=q", "--passage=p")
        assert status == 1
        assert said in error and str(folder) in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serve", "nowhere", "--port=0"), "There is no folder"),
        (("serve", ".", "--limit", "row=3"), "did you mean rows?"),
        (("serve", ".", "--batching-config", "nowhere"), "No such file"),
        (("answer", "htp://x/a", "--question=a", "--passage=b"), "did you mean http://?"),
    ],
)
def test_wrong_arguments_of_serve_are_explained(capsys, arguments, said) -> None:
    status, _, error = output_of(capsys, *arguments)
    assert status == 1
    assert said in error


def test_serve_without_its_packages_names_their_install_line(capsys, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "tfmrc.serving.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)  # importing it fails
    status, _, error = output_of(capsys, "serve", ".", "--port=0")
    assert status == 1
    assert "uvicorn" in error and "pip install tfmrc[serve]" in error


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "train x.yaml --fresh --set a=1",
            "tfmrc train: Interrupted after step 1,234; the checkpoint is in runs/x. "
            "To resume: tfmrc train x.yaml --set a=1",
        ),
        ("verify a", "tfmrc verify: interrupted. To run it again: tfmrc verify a"),
    ],
)
def test_an_interrupted_command_ends_with_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str, line: str
) -> None:
    def interrupted(options: object) -> None:
        raise training.TrainingInterrupted(1234, "runs/x")

    command = words.split()[0]
    monkeypatch.setitem(cli._COMMANDS, command, interrupted)
    status, out, error = output_of(capsys, *words.split())
    assert (status, out, error.strip()) == (130, "", line)


TERMINATED = """
import os, signal, sys
from tfmrc import cli

def terminated(options):
    os.kill(os.getpid(), signal.SIGTERM)
    sys.exit("it goes on")

def verify(options):
    print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)

sys.stderr = sys.stdout
signal.signal(signal.SIGTERM, signal.SIG_DFL)
cli._COMMANDS.update(train=terminated, verify=verify)
print(cli.main(["train", "x.yaml", "--fresh"]))
cli.main(["verify", "a"])
signal.signal(signal.SIGTERM, lambda *_: print("a handler of the program"))
try:
    cli.main(["train", "x.yaml"])
except SystemExit as end:
    print(end)
"""


def test_a_training_that_gets_sigterm_says_how_to_resume() -> None:
    line = "Interrupted; what was saved before is kept. To resume: tfmrc train x.yaml"
    assert fresh_python.forked("-c", TERMINATED).splitlines() == [
        f"tfmrc train: {line}", "143", "True", "a handler of the program", "it goes on",
    ]  # fmt: skip


@pytest.mark.parametrize("words", ["--help", "reproduction", "train x --help"])
def test_a_closed_output_ends_a_command_quietly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert cli.main(words.split()) == 141
        monkeypatch.undo()
    assert capsys.readouterr().err == ""


def test_the_folder_of_an_answers_page_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = GeneratedText(text="An owl", words=(Word("owl", "passage", 0, 3, 6, (0.0, 0.0, 1.0)),))
    predictor = SimpleNamespace(answer=lambda **query: answer)
    monkeypatch.setattr(cli, "_loaded", lambda model: (predictor, {}))
    page = tmp_path / "pages/of/page.html"
    asked = ["answer", str(tmp_path), "--question", "Who flew?", "--passage", "An owl flew."]
    assert cli.main([*asked, "--html", str(page)]) == 0
    assert "An owl" in capsys.readouterr().out and page.is_file()


def test_an_answer_is_printed_before_its_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [GeneratedText(text="An owl"), SpanAnswer(text="An owl", start=0, end=6)]
    predictor = SimpleNamespace(answer=lambda **query: answers.pop(0))
    monkeypatch.setattr(cli, "_loaded", lambda model: (predictor, {}))
    asked = ["answer", str(tmp_path), "--question", "Who flew?", "--passage", "An owl flew."]
    for said in ("Is a directory", "which only Masque returns"):
        assert cli.main([*asked, "--html", str(tmp_path)]) == 1
        output = capsys.readouterr()
        assert "An owl" in output.out and said in output.err


@pytest.mark.parametrize("words", ["--help", "reproduction"])
def test_an_output_that_cannot_be_written_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert cli.main(words.split()) == 1
        monkeypatch.undo()
    assert "No space left on device" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(["reproduction"]) == 0


def test_a_format_that_a_file_has_not_is_refused_before_the_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tfmrc.experiments.steps import predict

    monkeypatch.setattr(predict, "load_saved", lambda *_: pytest.fail("loaded"))
    flags = f"--input {__file__} --output {tmp_path}/a.jsonl --format answers"
    assert cli.main(["predict", str(tmp_path), *flags.split()]) == 1
    assert "A file holds the full form. Received: --format answers" in capsys.readouterr().err

"""The command line: help, flags, and errors that name the nearest name."""

import io
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import fresh_python
from tfmrc import cli, training
from tfmrc.cli import program
from tfmrc.cli.parsing import recipe_of
from tfmrc.predictors import GeneratedText, Task, Word
from tfmrc.predictors.spans.span_answer import SpanAnswer

SETTINGS = "{name: x, sources: [{format: squad, train: a.json}], model: {name: SAN}}"
OPEN = "tfmrc.experiments.loaded.open_model"


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_home_folder_is_found_in_files_and_no_texts(monkeypatch):
    monkeypatch.setenv("HOME", "/home/owl")
    words = ["answer", "~/runs/x", "--html=~/x.html", "--question", "~/?", "--passage", "~/."]
    options = program.parser().parse_args(words)
    assert (options.model, options.html) == ("/home/owl/runs/x", "/home/owl/x.html")
    assert (options.question, options.passage) == ("~/?", ["~/."])


def test_help_groups_all_commands_on_one_screen(capsys):
    status, text, _ = output_of(capsys, "--help")
    assert status == 0
    commands = re.findall(r"^  (\w+) [A-Z ]*  [A-Z][a-z]+ ", text, re.MULTILINE)
    files = Path(program.__file__).parent.glob("*.py")
    shared = {"__init__", "__main__", "parsing", "program", "asking"}
    assert sorted(commands) == sorted({file.stem for file in files} - shared)
    assert re.findall(r"^\w+$", text, re.MULTILINE) == ["Train", "Evaluate", "Use"]
    lines = text.splitlines()
    assert len(lines) <= 31 and max(map(len, lines)) <= 84
    assert output_of(capsys)[:2] == (2, text)


def test_train_help_names_every_setting(capsys):
    status, text, _ = output_of(capsys, "train", "--help")
    assert status == 0
    for setting in ("training.steps", "model", "vocabulary.size", "--data", "--fresh", "--set"):
        assert setting in text
    assert "examples per step. (default: 32)" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train x.yaml --fresch", "did you mean --fresh?"),
        ("train x.yaml --training.steps 5", "`--set training.steps=5`"),
        ("predict r", "--input"),
        ("answer x --question", "error: argument --question: expected one argument"),
        (f"answer --question=q --passage {__file__}", f"use --passage-file {__file__}"),
        ("ask x --passage-file no/where.txt", "no/where.txt cannot be read"),
    ],
)
def test_wrong_flags_are_named(capsys, arguments, message):
    status, _, error = output_of(capsys, *arguments.split())
    assert status == 2
    assert message in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train san_squat", "did you mean san_squad?"),
        ("train x.yaml", "a.json"),  # which does not exist
        ("train x.yaml --set training.stepz=5", "did you mean `training.steps`?"),
        ("prepare x.yaml --set model.unitz=5", "did you mean `units`?"),
        ("evaluate .", ". is not a run: "),
        ("predict . --input x.yaml --columns question", "Columns are given as question=COLUMN."),
        ("answer . --question=q --passage=p", "There is no saved predictor, run or export in ."),
        ("answer htp://x/a --question=a --passage=b", "The address of a model is"),
        ("answer http://x/a --question=a --passage=b --option a=1", "of a served model are"),
        ("serve . --limit word=3", "did you mean words?"),
    ],
)
def test_wrong_arguments_are_explained_and_leave_no_run_behind(
    capsys, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(SETTINGS)
    words = arguments.split()
    words += ["--data", "."] if words[0] in ("train", "prepare") else []
    status, _, error = output_of(capsys, *words)
    assert status == 1
    assert message in error and error.startswith(f"tfmrc {words[0]}: ")
    assert not Path("runs/x").exists()


def test_serve_without_its_packages_names_their_install_line(capsys, monkeypatch):
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
def test_an_interrupted_command_ends_with_one_line(capsys, monkeypatch, words, line):
    def interrupted(options: object) -> None:
        raise training.TrainingInterrupted(1234, "runs/x")

    monkeypatch.setattr(getattr(program, words.split()[0]), "run", interrupted)
    status, out, error = output_of(capsys, *words.split())
    assert (status, out, error.strip()) == (130, "", line)


TERMINATED = """
import os, signal, sys
from tfmrc.cli import program

def terminated(options):
    os.kill(os.getpid(), signal.SIGTERM)
    sys.exit("it goes on")

def verify(options):
    print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)

sys.stderr = sys.stdout
signal.signal(signal.SIGTERM, signal.SIG_DFL)
program.train.run, program.verify.run = terminated, verify
print(program.main(["train", "x.yaml", "--fresh"]))
program.main(["verify", "a"])
signal.signal(signal.SIGTERM, lambda *_: print("a handler of the program"))
try:
    program.main(["train", "x.yaml"])
except SystemExit as end:
    print(end)
"""


def test_a_training_that_gets_sigterm_says_how_to_resume():
    line = "Interrupted; what was saved before is kept. To resume: tfmrc train x.yaml"
    lines = [f"tfmrc train: {line}", "143", "True", "a handler of the program", "it goes on"]
    assert fresh_python.forked("-c", TERMINATED).splitlines() == lines


def test_output_that_is_closed_or_cannot_be_written(capsys, monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    for descriptor, status, message in ((writer, 141, ""), (full, 1, "No space left on device")):
        with os.fdopen(descriptor, "w") as output:
            monkeypatch.setattr(sys, "stdout", output)
            assert cli.main(["--help"]) == status
            monkeypatch.undo()
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("encoding", "terminal", "printed"),
    [
        ("utf-8", False, "a\x1b[31m\x9b2J\tdéjà\n\\ud800 猫 😀\n"),
        ("utf-8", True, "a\\u001b[31m\\u009b2J\tdéjà\n\\ud800 猫 😀\n"),
        ("latin-1", True, "a\\u001b[31m\\u009b2J\tdéjà\n\\ud800 \\u732b \\ud83d\\ude00\n"),
    ],
)
def test_an_answer_is_printed_as_the_output_can_show_it(encoding, terminal, printed, monkeypatch):
    text = "a\x1b[31m\x9b2J\tdéjà\n\ud800 猫 😀"
    predictor = SimpleNamespace(answer=lambda **query: SpanAnswer(text), options=dict)
    monkeypatch.setattr(OPEN, lambda *_, **__: SimpleNamespace(predictor=predictor, options={}))
    output = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr(output, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdout", output)
    asked = ["answer", ".", "--question", "Who?", "--passage", "An owl."]
    assert cli.main(asked) == 0 and cli.main([*asked, "--json"]) == 0
    shown = output.buffer.getvalue().decode(encoding)
    assert shown.startswith(printed) and json.loads(shown[len(printed) :])["text"] == text


def test_passages_are_read_from_text_files(tmp_path):
    for name in ("owl", "cat"):
        (tmp_path / name).write_text(f"{name}\n", encoding="utf-8-sig")
    flags = [f"--passage-file={tmp_path / name}" for name in ("owl", "cat")]
    options = program.parser().parse_args(["answer", "--question", "?", *flags])
    assert options.passage == ["owl\n", "cat\n"]


@pytest.mark.parametrize(
    ("target", "message"),
    [("answer", "r answers questions and does not ask any"), ("question", "name one by --answer")],
)
def test_a_model_that_cannot_ask_without_an_answer(monkeypatch, capsys, target, message):
    predictor = SimpleNamespace(tasks=[Task("ask", target)], options=dict)
    monkeypatch.setattr(OPEN, lambda *_, **__: SimpleNamespace(predictor=predictor, options={}))
    status, _, error = output_of(capsys, "ask", "r", "--passage", "An owl flew.")
    assert status == 1 and message in error


def test_an_answer_is_printed_before_its_page_is_written(tmp_path, monkeypatch, capsys):
    written = GeneratedText(
        text="An owl", words=(Word("owl", "passage", 0, 3, 6, (0.0, 0.0, 1.0)),)
    )
    answers = [written, written, SpanAnswer(text="An owl", start=0, end=6)]
    predictor = SimpleNamespace(answer=lambda **query: answers.pop(0), options=dict)
    monkeypatch.setattr(OPEN, lambda *_, **__: SimpleNamespace(predictor=predictor, options={}))
    asked = ["answer", str(tmp_path), "--question", "Who flew?", "--passage", "An owl flew."]
    page = tmp_path / "pages/of/page.html"
    for file, message in ((page, ""), (tmp_path, "Is a directory"), (page, "each word (Masque)")):
        assert cli.main([*asked, "--html", str(file)]) == (1 if message else 0)
        output = capsys.readouterr()
        assert "An owl" in output.out and message in output.err
    assert page.is_file()


def test_a_run_remembers_the_modules_of_the_command_line():
    words = ["train", "masque_demo", "--import", "json", "--set", "imports=[math]"]
    options = program.parser().parse_args(words)
    assert recipe_of(options).imports == ("math", "json")

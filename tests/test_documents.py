"""The Python and the commands of the documents run as they stand.

A page is one program: its blocks run in order, with one set of names, in a folder with what a
reader would have: tables, official files, trained models. Every training ends after one step.
"""

import csv
import doctest
import json
import pydoc
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.encoders import elmo_files, torch_files
from tests.encoders.test_cove import tensors, weights
from tests.recipes.small_squad import NAMES, squad
from tests.serving.predictors import make_predictor
from tfmrc import Predictor, cli, data, encoders, experiments, models, preprocessing, text

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path for path in ROOT.glob("**/*.md") if ".venv" not in path.parts)
PROGRAMS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4})?((?:\w+=\S+ )?(?:tfmrc|make|python|pip) .*)", re.MULTILINE)
INLINE = re.compile(r"`((?:\w+=\S+ )?tfmrc [a-z]+ [^`]+)`")
SERVED = re.compile(r"http://(?:127\.0\.0\.1|localhost):8501")
NOT_INSTALLED = ("mlflow", "haystack")  # tests/integrations has their environments


def page_id(path):
    return str(path.relative_to(ROOT))


# === Every command and every name exists ===


def check(command):
    """Fails where a command is not one of the parser's, the Makefile's or the repository's."""
    words = shlex.split(command, comments=True)
    while "=" in words[0]:  # variables of the environment
        del words[0]
    program, *arguments = words
    if program == "tfmrc" and arguments[1:] != ["--help"]:
        cli.parser().parse_args(arguments)
    elif program == "make":
        targets = [word for word in arguments if "=" not in word]
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(f"\n{target}:" in makefile for target in targets)
    elif program == "python" and arguments[:2] != ["-m", "pytest"]:
        module = arguments[0] == "-m"
        name = arguments[1].replace(".", "/") + ".py" if module else arguments[0]
        source = (ROOT / name).read_text(encoding="utf-8")
        assert all(f'"{word}"' in source for word in arguments if word.startswith("--"))
    elif program == "pip":
        setup = (ROOT / "setup.py").read_text(encoding="utf-8")
        assert all(f'"{extra}"' in setup for extra in re.findall(r"tfmrc\[(\w+)\]", command))


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_every_command_parses(path):
    page = path.read_text(encoding="utf-8")
    for command in COMMAND.findall(page) + INLINE.findall(page):
        check(command)


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_every_name_exists(path):
    for name in re.findall(r"`(tfmrc(?:\.\w+)+)", path.read_text(encoding="utf-8")):
        assert pydoc.locate(name), name


# === Every page runs ===


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What the pages' reader has."""
    folder = tmp_path_factory.mktemp("world")
    birds = [f"{kind} {bird}" for kind in ("small", "old", "wild") for bird in NAMES]
    rows = [
        {
            "question": f"What did the {bird} see?",
            "answer": place,
            "passage": f"{bird} saw {place}.",
        }
        for bird in birds
        for place in ("a mill", "the lake", "a barn", "the hill")
    ]
    for name in ("questions.csv", "more.csv", "answered.csv", "unanswered.csv"):
        with (folder / name).open("w", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)
    lines = [json.dumps(row) for row in rows]
    (folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for name in (
        "train",
        "dev",
        "FOLDER/train",
        "FOLDER/dev",
        "FOLDER/squad/train",
        "FOLDER/squad/dev",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(squad(NAMES)))
    (folder / "held_out.json").write_text(json.dumps(squad(NAMES)))
    answers = [
        {"id": e.id, "answer": e.passages[0][:9]} for e in data.read_squad(folder / "dev.json")
    ]
    for name in ("predictions", "baseline", "system"):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, answers)))
    (folder / "glove.840B.300d.txt").write_text("owl 1 2\nmill 3 4\n")
    elmo_files.write(folder)
    torch_files.write(folder / "wmtlstm-b142a7f2.pth", tensors(weights()))
    words = ["who", "what", "owl", "mill", "an", "a"]
    encoder = encoders.from_vocabulary(words, num_layers=6)
    reader = Predictor(
        models.ExtractiveReader(encoder=encoder),
        preprocessing.ExtractiveReaderPreprocessor(encoder=encoder),
    )
    for name in ("READER", "minilm-uncased-squad2"):
        reader.save_hugging_face(folder / name)
    reader.save(folder / "runs" / "reader_squad")
    preprocessor = preprocessing.SANPreprocessor(text.Vocabulary(words))
    sizes = preprocessor.model_kwargs() | {"word_dim": 4, "units": 4, "align_dim": 4}
    san = Predictor(models.SAN(**sizes), preprocessor)
    san.save(folder / "runs" / "san_squad" / "stochastic-1")
    san.export(folder / "savedmodels" / "squad_demo" / "1")
    make_predictor().export(folder / "build" / "hills" / "2")
    return folder


class Page:
    """Runs the blocks of a page."""

    def __init__(self, stack):
        self.stack = stack
        self.address = "http://127.0.0.1:8501"
        predictor = make_predictor()
        examples = list(data.load_small_squad("test"))[:40]
        self.names = {
            "predictor": predictor,
            "model": predictor.model,
            "preprocessor": predictor.preprocessor,
            "examples": examples,
        }

    def python(self, block):
        if not any(f"import {name}" in block or f"from {name}" in block for name in NOT_INSTALLED):
            exec(block, self.names)

    def pycon(self, block):
        examples = doctest.DocTestParser().get_doctest(block, self.names, "page", None, 0)
        assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples)[0] == 0

    def yaml(self, block):
        name = re.match(r"# (\w+\.yaml)\n", block)
        if name:
            Path(name[1]).write_text(block)
            experiments.load(name[1])
        else:
            yaml.safe_load(block)

    def shell(self, block):
        for line in block.replace("\\\n", " ").splitlines():
            program, *words = shlex.split(line, comments=True) or [""]
            if program == "tfmrc" and words[0] == "serve":
                from tfmrc.serving import Server

                self.address = self.stack.enter_context(Server(words[1], port=0)).url
            elif program == "tfmrc":
                assert cli.main(words) == 0, line
            elif program in ("cp", "curl"):
                subprocess.run(line, shell=True, check=True)

    def text(self, block):
        pass

    json = text


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=page_id)
def test_every_page_runs(path, world, tmp_path, monkeypatch):
    import keras

    fit = keras.Model.fit
    once = {"epochs": 1, "steps_per_epoch": 1, "validation_steps": 1}
    monkeypatch.setattr(keras.Model, "fit", lambda *a, **k: fit(*a, **{**k, **once}))
    hub = SimpleNamespace(snapshot_download=lambda *_, **__: "READER")
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        page = Page(stack)
        for language, block in BLOCK.findall(path.read_text(encoding="utf-8")):
            print(f"--- {language}\n{block}")
            getattr(page, language)(SERVED.sub(page.address, block))

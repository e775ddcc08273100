"""The Python and the commands of the documents run as they stand.

A page is one program: its blocks run in order, with one set of names, in a folder with what its
reader would have: tables, official files, trained models. Every training ends after one step of
four examples.
"""

import csv
import doctest
import functools
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

import keras
import numpy as np
import pytest
import yaml

from tests.encoders import torch_files
from tests.encoders.elmo import files as elmo_files
from tests.predictors import small
from tests.recipes.small_squad import NAMES, squad
from tests.serving.predictors import make_predictor
from tfmrc import Predictor, cli, data, encoders, experiments, models, preprocessing, text
from tfmrc.documents import vectors
from tfmrc.encoders import presets
from tfmrc.predictors import calibration
from tfmrc.predictors.ready import shipped as ready

ROOT = Path(__file__).resolve().parents[1]
MADE = {"_build", "api"}  # by `make docs`
DOCS = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not MADE & {*path.parts}]
TUTORIALS = [path for path in DOCS if path.parent.name == "tutorials"]  # tests/test_tutorials.py
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(p for p in DOCS if p not in TUTORIALS)]
PAGES = [*GUIDES, *TUTORIALS, ROOT / "SECURITY.md", ROOT / "benchmarks" / "README.md"]
PAGES += sorted((ROOT / "recipes").glob("**/*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(?:\w+=\S+ )?((?:tfmrc [a-z]+|python) [^`]+)`")
SERVED = re.compile(r"http://(?:127\.0\.0\.1|localhost):8501")
# tests/integrations, tests/training and tests/documents run them.
ELSEWHERE = re.compile(
    "import mlflow|from haystack|data_parallel|pyspark|--engine ray|ready-qg --documents|--int8"
)


def page_id(path):
    return str(path.relative_to(ROOT))


# === Every command and every name exists ===


def check(command):
    program, *arguments = shlex.split(command, comments=True)
    if program == "tfmrc" and arguments[1:] != ["--help"]:
        cli.parser().parse_args(arguments)
    elif program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(f"\n{word}:" in makefile for word in arguments if "=" not in word)
    elif program == "python":
        is_module = arguments[0] == "-m"
        file = f"{arguments[1].replace('.', '/')}.py" if is_module else arguments[0]
        source = (ROOT / file).read_text(encoding="utf-8")
        assert all(f'"{word}"' in source for word in arguments if word.startswith("--"))


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_every_command_and_every_name_exists(path):
    page = path.read_text(encoding="utf-8")
    blocks = [block for language, block in BLOCK.findall(page) if language == "shell"]
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    lines += re.findall(r"^ {4}((?:tfmrc|make|python) .*)", page, re.MULTILINE)
    for command in lines + INLINE.findall(page):
        check(command or "#")
    for name in re.findall(r"`(tfmrc(?:\.\w+)+)", page):
        assert pydoc.locate(name), name


# === Every page runs ===


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    names = [f"{name}{number}" for name in NAMES for number in range(10)]
    rows = [
        {
            "question": f"What did {name} see?",
            "passage": f"{name} saw a mill.",
            "answer": "a mill",
            "full": f"{name} saw a mill.",
        }
        for name in names
    ]
    for name in ("questions.csv", "more.csv", "answered.csv", "unanswered.csv", "asked.csv"):
        with (folder / name).open("w", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    handbook = Path(data.__file__).parent / "handbook_files" / "pages"
    for name in ("handbook", "tfmrc/data/handbook_files/pages"):
        shutil.copytree(handbook, folder / name)
    (folder / "FOLDER" / "squad").mkdir(parents=True)
    for place in ("", "FOLDER", "FOLDER/squad"):
        for name in ("train.json", "dev.json", "held_out.json"):
            (folder / place / name).write_text(json.dumps(squad(names)))
    examples = list(data.read_squad(folder / "dev.json"))
    answers = [json.dumps({"id": e.id, "answer": e.passages[0][:6]}) for e in examples]
    for name in ("predictions.jsonl", "baseline.jsonl", "system.jsonl"):
        (folder / name).write_text("\n".join(answers))
    (folder / "glove.840B.300d.txt").write_text("owl 1 2\nmill 3 4\n")
    elmo_files.write(folder)
    weights = torch_files.tensors(torch_files.cove_weights(dim=300))
    torch_files.write(folder / "wmtlstm-b142a7f2.pth", weights)
    words = ["who", "what", "owl", "mill", "an", "a"]
    encoder = encoders.from_vocabulary(words, num_layers=6, hidden_dim=384)  # as MiniLM
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(encoder=encoder)
    reader = Predictor(models.ExtractiveReader(encoder=encoder), preprocessor)
    reader.save_hugging_face(folder / "READER")
    reader.save(folder / "runs" / "reader_squad")
    shutil.copyfile(folder / "questions.csv", folder / "runs" / "reader_squad" / "held_out.csv")
    reader.export(folder / "savedmodels" / "squad_demo" / "1")
    masque = make_predictor()
    masque.save(folder / "runs" / "hills")
    masque.export(folder / "savedmodels" / "hills" / "1")
    make_predictor(styles=("concise", "sentence")).export(folder / "savedmodels" / "masque" / "1")
    small.maxout_pointer_qg().save(folder / "ready-qg")
    make_predictor(styles=("short", "sentence", "free")).save(folder / "ready-masque")
    small.extractive_reader(kind="EvidenceReader").save(folder / "ready-evidence")
    marks = preprocessing.EvidenceReaderPreprocessor(encoder=encoder)
    marker = Predictor(models.EvidenceReader(encoder=encoder), marks)
    marker.save_hugging_face(folder / "HIGHLIGHTER")
    preprocessor = preprocessing.SANPreprocessor(text.Vocabulary(words))
    sizes = {**preprocessor.model_kwargs(), "word_dim": 4, "units": 4, "align_dim": 4}
    Predictor(models.SAN(**sizes), preprocessor).save(folder / "runs/san_squad/stochastic-1")
    return folder


class Page:
    """Runs blocks by their language."""

    def __init__(self, stack):
        masque = make_predictor()
        self.names = {"model": masque.model, "preprocessor": masque.preprocessor}
        self.names["examples"] = list(data.load_small_squad("test"))[:4]
        self.server = None
        self.stack = stack

    def python(self, block):
        if not ELSEWHERE.search(block):
            exec(re.sub(r"batch_size=\d+", "batch_size=4", block), self.names)

    def pycon(self, block):
        test = doctest.DocTestParser().get_doctest(block, self.names, "page", None, 0)
        assert not doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed

    def yaml(self, block):
        name = re.match(r"# (\w+\.yaml)\n", block)
        if name:
            Path(name[1]).write_text(block)
            experiments.read_settings(name[1])
        else:
            yaml.safe_load(block)

    def shell(self, block):
        for line in block.replace("\\\n", " ").splitlines():
            program, *words = shlex.split(line, comments=True) or [""]
            if program == "curl":
                subprocess.run(line, shell=True, check=True)
            elif program == "tfmrc" and words[0] == "serve":
                from tfmrc.serving import Server

                options = cli.parser().parse_args(words)
                is_ready = options.folder in ready.NAMES
                models = ready.ready_exports(options.folder) if is_ready else options.folder
                server = Server(models, port=0, documents=options.documents)
                self.server = self.stack.enter_context(server)
            elif program == "tfmrc" and not ELSEWHERE.search(line):
                assert cli.main(words) == 0, line

    def text(self, block):
        pass

    json = nginx = toml = text


@pytest.mark.slow
@pytest.mark.parametrize("path", GUIDES, ids=page_id)
def test_every_page_runs(path, world, tmp_path, monkeypatch, without_graphs):
    fit = keras.Model.fit
    once = {"epochs": 1, "steps_per_epoch": 1, "validation_steps": 1}
    one_step = functools.wraps(fit)(lambda *args, **named: fit(*args, **{**named, **once}))
    monkeypatch.setattr(keras.Model, "fit", one_step)
    monkeypatch.setitem(presets._SHIPPED, "minilm", (world / "READER", {"name": "minilm"}))
    monkeypatch.setattr(vectors, "_encoder", functools.cache(vectors._encoder.__wrapped__))
    places = {"ready": "runs/reader_squad"}
    monkeypatch.setattr(ready, "ready_folder", lambda name: tmp_path / places.get(name, name))
    # The small readers answer nothing right, which cannot be calibrated.
    half_right = lambda texts, *_: np.arange(len(texts)) // 2 % 2 == 0  # noqa: E731
    monkeypatch.setattr(calibration, "right_answers", half_right)
    hub = SimpleNamespace(snapshot_download=lambda *args, **named: "READER")
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    content = path.read_text(encoding="utf-8")
    assert not re.search(r"\n\n {4}\S", BLOCK.sub("", content)), "a block names no language"
    with ExitStack() as stack:
        page = Page(stack)
        for language, block in BLOCK.findall(content):
            print(f"=== {language}\n{block}")
            if page.server:
                block = SERVED.sub(page.server.url, block)
            getattr(page, language)(block)

"""Tables of the package `datasets` itself, in an environment of their own."""

import importlib.metadata
import subprocess
import sys

import pytest

from tests import fresh_python

PROGRAM = """
import datasets

from tfmrc import data

text, number = datasets.Value("string"), datasets.Value("int32")
answers = datasets.Sequence({"text": text, "answer_start": number})
names = {name: text for name in ("id", "title", "question", "context")}
rows = [
    {"id": "1", "title": "Owls", "context": "An owl flew.", "question": "Who?",
     "answers": {"text": ["An owl", "owl"], "answer_start": [0, 3]}},
    {"id": "2", "title": "Owls", "context": "An owl flew.", "question": "Why?",
     "answers": {"text": [], "answer_start": []}},
]
table = datasets.Dataset.from_list(rows, features=datasets.Features({**names, "answers": answers}))
examples = list(data.read_table(table))
assert [e.id for e in examples] == ["1", "2"]
assert examples[0].answers == {"span": ("An owl", "owl")}
assert [(s.start, s.end) for s in examples[0].spans] == [(0, 6), (3, 6)]
assert examples[1].answerable is False and examples[1].group == "Owls"
assert list(data.read_table(table.to_iterable_dataset())) == examples
assert list(data.read_table(table.select([1]))) == examples[1:]
try:
    data.read_table(datasets.DatasetDict({"train": table}))
except TypeError as error:
    assert "train" in str(error)
else:
    raise AssertionError("a dict of splits was read")
print(datasets.__version__)
"""


@pytest.mark.slow
def test_tables_of_the_package_itself(tmp_path):
    python = tmp_path / "environment" / "bin" / "python"
    known = [f"{name}=={importlib.metadata.version(name)}" for name in ("numpy", "ijson")]
    for command in (
        [sys.executable, "-m", "venv", str(python.parents[1])],
        [str(python), "-m", "pip", "install", "--quiet", "datasets", *known],
    ):
        subprocess.run(command, check=True, capture_output=True)
    done = subprocess.run(
        [str(python), "-c", PROGRAM],
        env=fresh_python.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()

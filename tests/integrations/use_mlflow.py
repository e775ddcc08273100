"""A program for the environment of `test_packages.py`: a reader in MLflow's form."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import mlflow
import pandas as pd

import tfmrc
from tfmrc import encoders, models, preprocessing, text
from tfmrc.integrations import mlflow as ours

place = Path(sys.argv[1])
encoder = encoders.from_vocabulary("who what flew slept an a owl cat ? .".split())
predictor = tfmrc.Predictor(
    models.ExtractiveReader(encoder=encoder),
    preprocessing.ExtractiveReaderPreprocessor(encoder=encoder),
)
frame = pd.DataFrame(
    {"question": ["Who flew?", "What slept?"], "context": ["An owl flew.", "A cat slept."]},
    index=[7, 3],
)
expected = tfmrc.pipeline("question-answering", predictor)(
    question=frame["question"].tolist(), context=frame["context"].tolist()
)

ours.save_model(predictor, place / "saved")
assert not [path for path in (place / "saved").rglob("*") if path.suffix in (".pkl", ".pickle")]
loaded = mlflow.pyfunc.load_model(str(place / "saved"))
for params in ({}, {"batch_size": 1}):
    found = loaded.predict(frame, params=params)
    assert found.index.tolist() == [7, 3]
    for row, answer in zip(found.to_dict("records"), expected, strict=True):
        assert abs(row.pop("score") - answer["score"]) < 1e-6
        assert row == {name: answer[name] for name in ("answer", "start", "end")}
named = [column.name for column in loaded.metadata.get_input_schema()]
assert named == ["question", "context"]


# The requirements are those of what is stored, unless they are given.
def requirements(folder):
    return (folder / "requirements.txt").read_text().split()


assert f"tfmrc[encoders,mlflow]=={tfmrc.__version__}" in requirements(place / "saved")
ours.save_model(predictor, place / "given", pip_requirements=["tfmrc==1.0"])
assert [name for name in requirements(place / "given") if "tfmrc" in name] == ["tfmrc==1.0"]
predictor.export(place / "export" / "1")
ours.save_model(place / "export", place / "of_export")
assert f"tfmrc[mlflow]=={tfmrc.__version__}" in requirements(place / "of_export")
exported = mlflow.pyfunc.load_model(str(place / "of_export")).predict(frame)
answerer = tfmrc.pipeline("question-answering", place / "export")
wanted = answerer(question=frame["question"].tolist(), context=frame["context"].tolist())
assert exported["answer"].tolist() == [answer["answer"] for answer in wanted]

# From a folder, into a run of the tracking; its store of files needs no database.
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
predictor.save(place / "folder")
mlflow.set_tracking_uri((place / "tracking").as_uri())
with mlflow.start_run():
    info = ours.log_model(place / "folder", "reader")
again = mlflow.pyfunc.load_model(info.model_uri).predict(frame)
assert again["answer"].tolist() == [answer["answer"] for answer in expected]

# Classes of a user's own module are imported in a new process, from the code that is stored.
code = place / "code"
code.mkdir()
shutil.copy(Path(__file__).parent / "own_reader.py", code / "own_reader.py")
sys.path.append(str(code))
import own_reader  # noqa: E402

vocabulary = text.Vocabulary(["who", "what", "owl", "cat"])
preprocessor = preprocessing.SANPreprocessor(vocabulary)
model = models.SAN(**preprocessor.model_kwargs(), word_dim=4, units=4, align_dim=4)
own = own_reader.OwnReader(model, preprocessor)
(place / "run").mkdir()
(place / "run" / "config.yaml").write_text("imports: [own_reader]")
own.save(place / "run" / "predictor")
program = """
import sys, json, mlflow, pandas
frame = pandas.DataFrame({"question": ["Who flew?"], "context": ["An owl flew."]})
print(json.dumps(mlflow.pyfunc.load_model(sys.argv[1]).predict(frame)["answer"].tolist()))
"""


def answers_of_a_new_process(folder):
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], cwd="/", capture_output=True, text=True
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


files = {"code_paths": [str(code / "own_reader.py")]}
wanted = [own.answer(question="Who flew?", passages=["An owl flew."]).text]
for name, saved, options in (
    ("of_run", place / "run", files),
    ("of_object", own, files),
    ("named", own, {**files, "imports": ["own_reader"], "model_config": {"other": 1}}),
):
    ours.save_model(saved, place / name, **options)
    assert answers_of_a_new_process(place / name) == wanted, name
assert mlflow.pyfunc.load_model(str(place / "named")).model_config["other"] == 1
ours.save_model(own, place / "without_code")
assert "No module named 'own_reader'" in answers_of_a_new_process(place / "without_code")
# The program of the page.
os.chdir(sys.argv[1])
predictor.save("runs/san_squad_quick")
page = Path(__file__).parents[2] / "docs" / "integrations.md"
[program] = re.findall(r"```python\n(import mlflow.*?)```", page.read_text("utf-8"), re.DOTALL)
exec(program)
print("done", mlflow.__version__)

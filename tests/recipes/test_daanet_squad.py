"""The recipe of the dual model: a tiny run from end to end, its report, and going on."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from recipes.daanet_squad import main, paper, report, settings, systems
from tfmrc.evaluation import find_runs, read_predictions, read_rows, states
from tfmrc.models.daanet import VARIANTS

RECIPES = main.HERE.parent
TINY = {
    "name": "daanet_squad",
    "train": "train.json",
    "test": "dev.json",
    "test_limit": None,
    "validation_share": 0.3,
    "validation_limit": 4,
    "systems": ["no_lstm", "s2s_ask"],
    "vocabulary_size": 40,
    "num_oov_buckets": 2,
    "generation_vocabulary_size": 20,
    "passage_length": 16,
    "question_length": 6,
    "answer_length": 3,
    "word_length": 4,
    "model": {"word_dim": 4, "character_dim": 4, "hidden_dim": 4, "num_lstm_layers": 1,
              "num_heads": 2, "inner_dim": 4, "embeddings_trainable": True},
    "baseline": {"word_dim": 4, "hidden_dim": 4, "num_layers": 1},
    "batch_size": 4,
    "steps": 4,
    "eval_every_steps": 2,
    "meteor": False,
}  # fmt: skip


def squad(path: Path, articles: int) -> None:
    """A SQuAD file: each article one paragraph, two questions, one without an answer."""
    found = []
    for number in range(articles):
        name, other = f"Bo{number}", f"Ada{number}"
        context = f"The king met {name} in 19{number:02}. The queen met {other}."
        questions = [
            {
                "id": f"{path.stem}-{number}-{answer}",
                "question": f"Who met {answer}?",
                "answers": [
                    {"text": text, "answer_start": context.index(text)}
                    for text in (answer, f"met {answer}")
                ],
            }
            for answer in (name, other)
        ]
        questions.append({"id": f"{number}-x", "question": "Why?", "answers": []})
        questions[-1]["is_impossible"] = True
        paragraphs = [{"context": context, "qas": questions}]
        found.append({"title": f"{path.stem} {number}", "paragraphs": paragraphs})
    path.write_text(json.dumps({"version": "2.0", "data": found}), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the settings beside the files."""
    folder = tmp_path_factory.mktemp("data")
    squad(folder / "train.json", 12)
    squad(folder / "dev.json", 4)
    (folder / "config.yaml").write_text(json.dumps(TINY), encoding="utf-8")
    return folder


def flags(place: Path, run: Path, *more: str) -> list[str]:
    return ["--config", str(place / "config.yaml"), "--data", str(place), "--runs", str(run), *more]


@pytest.mark.parametrize("name", ["config.yaml", "paper_size.yaml"])
def test_the_shipped_settings_load(name: str) -> None:
    made = settings.load(main.HERE / name)
    assert made.systems == ("daanet", "mono_answer", "mono_ask", "s2s_answer", "s2s_ask")
    assert set(made.model) <= set(VARIANTS["daanet"]) | {
        "word_dim", "character_dim", "hidden_dim", "num_lstm_layers", "num_heads", "inner_dim",
        "dropout", "embeddings_trainable",
    }  # fmt: skip
    with pytest.raises(ValueError, match="cannot be read"):
        settings.load(main.HERE / name, ["--no_such_thing=1"])
    with pytest.raises(ValueError, match="eval_every_steps=7"):
        settings.load(main.HERE / name, ["--eval_every_steps=7"])


def test_every_system_has_a_row_with_the_papers_figures() -> None:
    rows = paper.paper_figures("SQuAD")
    assert {report._row(name) for name in systems.SYSTEMS} == set(rows) == set(paper.TITLES)
    assert rows["daanet"]["qa_rouge_l"] == 43.85 and rows["s2s"]["qg_meteor"] == 11.41
    assert rows["no_copy"]["qg_bleu_4"] == 2.22 and paper.paper_figures("own") == {}
    assert systems.tasks_of("unshared_output") == ("answer", "ask")
    assert systems.tasks_of("mono_ask") == systems.tasks_of("s2s_ask") == ("ask",)


def test_what_the_systems_read_and_write(place: Path) -> None:
    made = settings.load(place / "config.yaml")
    parts = settings.examples(made, place)
    assert len(parts["test"]) == 8 and len(parts["dev"]) == 4
    assert all(example.answers for part in parts.values() for example in part)
    assert not {e.group for e in parts["train"]} & {e.group for e in parts["dev"]}
    example = parts["test"][0]
    answer, context = example.answers["span"][0], example.passages[0]
    [asked] = systems.SequenceToSequence.records(_Task("ask"), [example])
    assert (asked.question, asked.passages) == (example.question, (f"{answer} . {context}",))
    [answered] = systems.SequenceToSequence.records(_Task("answer"), [example])
    assert answered.question == answer
    assert answered.passages == (f"{example.question} . {context}",)


class _Task:
    def __init__(self, task: str) -> None:
        self.tasks = (task,)


def test_from_a_file_to_the_report_and_again(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "runs"
    assert main.main(flags(place, run)) == 0
    facts = json.loads((run / "no_lstm-1" / "training.json").read_text())
    assert facts["steps"] == 4 and facts["ended_by"] == "all steps done"
    for task, name in (("answer", "no_lstm-1"), ("ask", "no_lstm-1"), ("ask", "s2s_ask-1")):
        found = read_predictions(run / name / f"predictions-{task}-beam-1.jsonl")
        assert len(found) == 8 and not any(key.endswith("x") for key in found)
        assert all(0 < p.scores["probability"] <= 1 for p in found.values())
    table = (run / "report.md").read_text()
    assert "| daanet_squad_no_lstm |" in table and "| 30.84 |" in table and "similar" in table
    page = (run / "samples.md").read_text()
    assert (
        page.count("\n## ") == 8 and "| answer, no LSTM |" in page and "| question, s2s |" in page
    )
    for picture in ("no_lstm-1/learning_curves.png", "answer_curves.png", "ask_curves.svg"):
        assert (run / picture).stat().st_size > 1000
    scores = json.loads((run / "metrics.json").read_text())["systems"]
    assert {"qa_bleu_4", "qg_rouge_l", "qa_f1"} <= scores["daanet_squad_no_lstm"]["scores"].keys()
    assert not any(name.startswith("qa_") for name in scores["daanet_squad_s2s"]["scores"])
    first = scores["most similar sentence"]["scores"]["qa_rouge_l"]
    assert first["value"] > 0 and "deviation" not in first

    # As if another seed and another system were trained.
    shutil.copytree(run / "s2s_ask-1", run / "s2s_ask-2")
    shutil.copytree(run / "no_lstm-1", run / "daanet-1")
    before = (run / "no_lstm-1" / "training.json").stat().st_mtime_ns
    capsys.readouterr()
    assert main.main(flags(place, run, "--test_limit=5")) == 0  # nothing is done again
    assert (run / "no_lstm-1" / "training.json").stat().st_mtime_ns == before
    said = capsys.readouterr().out
    assert "weights" not in said and "writes to" not in said and "5 answerable" in said
    [row] = [x for x in (run / "report.md").read_text().splitlines() if "_s2s" in x[:20]]
    assert "± 0.00" in row and "s2s_ask 1, 2" in (run / "report.md").read_text()
    _, error = main.main(flags(place, run, "--steps=2")), capsys.readouterr().err
    assert "steps=2, there: 4" in error

    declared = [row for row in read_rows(RECIPES / "reproduction.yaml") if row.paper == "DAANET"]
    # METEOR was not asked for here.
    rows = [replace(row, scores=("bleu_4",) * bool(row.scores)) for row in declared]
    found = {state.row.id: state for state in states(rows, find_runs([run]), RECIPES)}
    assert found["daanet-t1"].state == "not run"
    assert found["daanet-t2"].state == found["daanet-t3"].state == "run on less data"
    labels = {result.part.label for result in found["daanet-t2"].results}
    assert labels == {"DAANET, SQuAD", "s2s, SQuAD"}
    assert found["daanet-t4"].state == "run"

"""`tfmrc init` writes a recipe for a user's own file, which trains as it is."""

import json
import re
from pathlib import Path

import pytest

from tests.running import eagerly
from tfmrc import cli, experiments
from tfmrc.data import RecordError
from tfmrc.experiments.classes import check_experiment
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.plan import Plan

BIRDS = ("owl", "crow", "kite", "wren", "gull", "swan", "rook", "tern")
PLACES = ("mill", "barn", "lake", "tower")


def rows():
    """A question per bird and place, whose answer is in the passage but for its position."""
    return [
        {
            "question": f"What did the {bird} see?",
            "passage": f"The {bird} flew far. Then it saw the {place} and slept.",
            "answer": f"the {place}",
            "document": f"{bird}s",
        }
        for bird in BIRDS
        for place in PLACES
    ]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["question,passage,answer,document"]
    lines += [",".join(row.values()) for row in rows()]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


SMALL = {
    "san": "model.units=4 model.word_dim=8 model.align_dim=4 model.num_steps=2",
    "masque": "model.word_dim=8 model.hidden_dim=8 model.num_heads=2 model.intermediate_dim=8",
    "maxout_pointer_qg": "model.word_dim=8 model.hidden_dim=8 model.num_layers=1",
    "daanet": "model.word_dim=8 model.hidden_dim=8 model.inner_dim=8 model.num_heads=2",
}


PAPERS = tuple(SMALL)
PASSAGE = 'passage "..." --answer "..."'


@pytest.mark.parametrize("model", PAPERS)
@pytest.mark.parametrize("encoder", ["minilm", "none"])
def test_every_model_is_built_and_checked_from_the_recipe(encoder, model, table, capsys):
    command = ["init", "mine", "--model", model, "--data", str(table), "--encoder", encoder]
    assert cli.main([*command, "--columns", "group=document"]) == 0
    said = capsys.readouterr().out
    assert "32 questions, 32 with an answer, 8 documents" in said
    assert "tfmrc train mine.yaml" in said
    asks, answers = f"tfmrc ask runs/mine --{PASSAGE}", "tfmrc answer runs/mine --question"
    assert (asks in said) == (model in ("maxout_pointer_qg", "daanet"))
    start = "Starts from " + {"minilm": "the encoder minilm", "none": "nothing"}[encoder]
    assert start in said
    assert (answers in said) == (model != "maxout_pointer_qg")
    experiment = experiments.read_settings("mine.yaml")
    check_experiment(experiment)
    [source] = experiment.sources
    assert source.format == "table" and Path(source.train) == table
    assert source.options == {"columns": {"group": "document"}}
    assert source.spans == (None if model == "masque" else "exact")
    assert experiment.encoder.get("preset") == (None if encoder == "none" else "minilm")
    assert experiment.preprocessor["question_length"] == 10
    assert (experiment.training.patience, experiment.training.batch_size) == (5, 8)
    rate = {"learning_rate": 0.001, "ema": 0.998} if model == "masque" else {}  # small and short
    assert experiment.training.optimizer == rate


@pytest.mark.parametrize("start", ["ready", "none"])
def test_a_reader_starts_from_the_ready_one_or_has_its_sizes_in_subwords(start, table, capsys):
    assert (
        cli.main(["init", "mine", "--model", "reader", "--data", str(table), "--from", start]) == 0
    )
    said = capsys.readouterr().out
    assert "tfmrc answer runs/mine" in said and "tfmrc ask" not in said
    experiment = experiments.read_settings("mine.yaml")
    check_experiment(experiment)
    assert experiment.model == {"name": "ExtractiveReader"}
    sizes = {"question_length": 15, "answer_length": 15, "unanswerable": False}
    started = start == "ready"
    assert experiment.start_from == ("ready" if started else None)
    assert experiment.preprocessor == ({} if started else sizes)
    assert experiment.encoder.get("preset") == (None if started else "minilm")
    [source] = experiment.sources
    assert (source.answerable_only, source.spans) == (True, "exact")


@pytest.mark.parametrize("located", [True, False])
def test_a_reader_learns_that_questions_have_no_answer(located, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [{"text": ["owl"], "answer_start": [3]}, {"text": [], "answer_start": []}]
    if not located:
        texts[0] = ["owl"]
    rows = [
        {"question": f"Who {n}?", "context": "An owl flew.", "answers": texts[n % 2]}
        for n in range(20)
    ]
    Path("mine.json").write_text(json.dumps(rows))
    said = experiments.init("mine", model="reader", data="mine.json", encoder="minilm")
    assert "10 that the passages do not answer" in said
    experiment = experiments.read_settings("mine.yaml")
    assert experiment.preprocessor["unanswerable"]
    assert not experiment.sources[0].answerable_only
    [parts] = splits(Plan(experiment, Path("run")))
    assert len([*parts.train, *parts.validation, *parts.test]) == 20


def test_a_recipe_trains_evaluates_and_predicts_the_users_file(table, capsys):
    text = table.read_text(encoding="utf-8").replace("question,", "Frage,", 1)
    table.write_text(text, encoding="utf-8")  # the run remembers the user's column
    command = ["init", "mine", "--model", "san", "--data", str(table), "--encoder", "none"]
    assert cli.main([*command, "--columns", "group=document", "question=Frage"]) == 0
    small = [*SMALL["san"].split(), "training.batch_size=8", "training.max_minutes=0.0001"]
    with eagerly():
        assert cli.main(["train", "mine.yaml", "--set", *small]) == 0
        said = capsys.readouterr().out
        assert re.search(r"read: mine.csv +32\n.* tested on +\d+ ", said, re.DOTALL)
        assert re.search(r"Trained 1 of \d+ steps, ended by: time limit, in \d+\.\d minutes", said)
        assert cli.main(["evaluate", "runs/mine"]) == 0
        capsys.readouterr()
        assert cli.main(["evaluate", "runs/mine", "--input", str(table)]) == 0
        assert "Exact match" in capsys.readouterr().out
        lines = [f"{row['question']},{row['passage']}" for row in rows()]
        table.write_text("\n".join(["Frage,passage", *lines]))  # without answers
        assert cli.main(["predict", "runs/mine", "--input", str(table), "--format", "squad"]) == 0
    answers = json.loads(capsys.readouterr().out)
    passages = {f"mine.csv:{line}": row["passage"] for line, row in enumerate(rows(), 2)}
    assert answers.keys() == passages.keys()
    assert all(answers[name] in passage for name, passage in passages.items())


def test_official_forms_and_positions_are_recognised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qa = {"id": "1", "question": "Who?", "answers": [{"text": "An owl", "answer_start": 0}]}
    article = {"title": "Owls", "paragraphs": [{"context": "An owl flew.", "qas": [qa]}]}
    Path("squad.json").write_text(json.dumps({"version": "1.1", "data": [article]}))
    said = experiments.init("birds", model="daanet", data="squad.json")
    assert "1 questions, 1 with an answer, 1 with its position, 1 documents" in said
    [source] = experiments.read_settings("birds.yaml").sources
    assert (source.format, source.spans) == ("squad", None)


def test_styles_and_columns_of_a_file_that_looks_like_msmarco(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        {"query": f"Who {n}?", "answers": "no", "text": ["An owl.", "A cat."], "kurz": f"owl {n}"}
        for n in range(4)
    ]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    command = ["init", "t", "--model", "masque", "--data", "t.jsonl", "--from", "none", "--columns"]
    assert cli.main([*command, "answers.short=kurz", "answers.long=answers"]) == 0
    [source] = experiments.read_settings("t.yaml").sources
    assert source.format == "table" and source.styles == ("short", "long")
    assert source.options == {"columns": {"answers": {"short": "kurz", "long": "answers"}}}


def test_a_masque_reads_at_least_the_passages_of_the_ready_one(table, capsys):
    assert cli.main(["init", "mine", "--model", "masque", "--data", str(table)]) == 0
    experiment = experiments.read_settings("mine.yaml")
    assert (experiment.start_from, experiment.preprocessor) == ("ready-masque", {"num_passages": 3})
    assert experiment.training.optimizer["learning_rate"] == 0.0003  # a third of the usual one


@pytest.mark.parametrize(
    ("documents", "by"),
    [(["Normans"] * 55 + ["owl"] * 5, "example"), ([f"d{n % 12}" for n in range(200)], "group")],
)
def test_parts_are_drawn_by_document_where_there_are_enough(documents, by, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"Who {n}?,An owl flew {n}.,owl,{name}" for n, name in enumerate(documents)]
    Path("few.csv").write_text("\n".join(["question,passage,answer,title", *lines]))
    experiments.init("few", model="san", data="few.csv")
    experiment = experiments.read_settings("few.yaml")
    [parts] = splits(Plan(experiment, Path("run")))
    sizes = [len([*part]) / len(documents) for part in (parts.train, parts.validation, parts.test)]
    assert sum(sizes) == pytest.approx(1) and experiment.split.by == by
    assert sizes[0] >= 0.65 and sizes[1] == pytest.approx(0.12, abs=0.05)
    assert sizes[2] == pytest.approx(0.2, abs=0.08)
    named = [{e.group for e in part} for part in (parts.train, parts.validation, parts.test)]
    assert by == "example" or not (named[0] & named[1] or named[2] & (named[0] | named[1]))


def test_several_files_are_trained_on_and_another_one_is_tested(table, tmp_path):
    """Each file has a form of its own."""
    lines = [json.dumps({**row, "question": f"When? {row['question']}"}) for row in rows()]
    (tmp_path / "more.jsonl").write_text("\n".join(lines))
    qa = {"id": "1", "question": "Who?", "answers": [{"text": "An owl", "answer_start": 0}]}
    article = {"title": "Owls", "paragraphs": [{"context": "An owl flew.", "qas": [qa]}]}
    (tmp_path / "test.json").write_text(json.dumps({"version": "1.1", "data": [article]}))
    command = ["init", "mine", "--model", "san", "--data", str(table), "more.jsonl"]
    assert cli.main([*command, "--test", "test.json", "--on-error", "skip"]) == 0
    experiment = experiments.read_settings("mine.yaml")
    files = [(source.format, source.train, source.test) for source in experiment.sources]
    table, more, test = (str(tmp_path / name) for name in ("mine.csv", "more.jsonl", "test.json"))
    assert files == [("table", table, None), ("table", more, None), ("squad", None, test)]
    assert {source.options["on_error"] for source in experiment.sources} == {"skip"}
    parts = splits(Plan(experiment, Path("run")))
    assert sum(len([*part.train, *part.held_out]) for part in parts) == 64
    assert [len([*part.tested]) for part in parts] == [0, 0, 1]


@pytest.mark.parametrize("name", ["no", "runs #2"])
def test_any_name_is_a_text(name, table):
    experiments.init(name, model="san", data=table)
    assert experiments.read_settings(f"{name}.yaml").name == name


def test_what_does_not_fit_is_refused_and_nothing_is_written(table, tmp_path):
    def refused(error, match, **given):
        with pytest.raises(error, match=match):
            experiments.init("mine", **({"model": "san", "data": table} | given))
        assert not Path("mine.yaml").exists()

    refused(ValueError, "did you mean masque", model="masqe")
    refused(RecordError, "columns: the table has no column 'y'", columns={"group": "y"})
    blind = tmp_path / "blind.csv"
    blind.write_text("question,passage\nWho?,An owl.\n")
    refused(ValueError, "no row has one. Expected a column `answer`", data=blind)
    refused(ValueError, "no answers of the style span, so nothing could be", test=blind)
    refused(ValueError, "is a training file too", test=table)
    free = tmp_path / "free.csv"
    free.write_text("question,passage,answer\nWho?,An owl.,Nobody\nWho?,It flew.,A bird\n")
    refused(ValueError, "none of the 2 does. `--model masque` writes", data=free)
    assert "2 questions, 2 with an answer\n" in experiments.init("free", model="masque", data=free)
    Path("mine.yaml").write_text("a user's own file")
    with pytest.raises(ValueError, match="exists already"):
        experiments.init("mine", model="san", data=table)
    assert Path("mine.yaml").read_text() == "a user's own file"


def test_broken_and_blank_records_are_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [f"Who {n}?,An owl flew {n}.,owl" for n in range(9)]
    lines += ["Why?,It slept.,", ",Nothing.,No"]
    Path("t.csv").write_text("\n".join(["question,passage,answer", *lines]))
    with pytest.raises(RecordError, match="line 12: question"):
        experiments.init("t", model="san", data="t.csv")
    said = experiments.init("t", model="san", data="t.csv", on_error="skip")
    assert "9 questions, 9 with an answer\n" in said
    assert capsys.readouterr().err.startswith(
        "t.csv: 11 questions read, 9 used; 1 skipped: blank answer (see --blank-answers); "
        "1 broken\n  t.csv: line 12: question"
    )
    chosen = {"on_error": "skip", "blank_answers": "none"}
    said = experiments.init("u", model="san", data="t.csv", **chosen)
    assert "1 that the passages do not answer" in said
    assert experiments.read_settings("u.yaml").sources[0].options == chosen

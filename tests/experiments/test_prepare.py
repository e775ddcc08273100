"""Preparing: what is counted, warned of, and kept when nothing has changed."""

import json
from dataclasses import replace

import pytest

from tfmrc.data import Example, ExampleStream, read_file, write_examples
from tfmrc.data.formats.registry import register_format
from tfmrc.experiments import from_mapping, prepare
from tfmrc.experiments.examples.rows import row_digest, trained_rows
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.plan import Plan, plan_of
from tfmrc.experiments.scoring import evaluation_sets
from tfmrc.experiments.settings import changed


def experiment(train="train.jsonl", test="test.jsonl", share=0.3, **options):
    source = {"format": "examples", "styles": ["short"], "train": train, "test": test, **options}
    return from_mapping(
        {
            "name": "x",
            "sources": [source],
            "model": {"name": "Masque"},
            "split": {"validation_share": share},
        }
    )


def examples(count: int, grouped: bool = True, first: int = 0) -> list[Example]:
    return [
        Example(
            f"q{n}",
            f"Who {n}?",
            ("Ann ran.",) if grouped else ("Ann ran.", "Bob sat."),
            {"short": ("Ann",)} if n % 4 else {},
            group=f"g{n}" if grouped else None,
        )
        for n in range(first, first + count)
    ]


def test_counts_words_and_files(tmp_path, capsys):
    write_examples(tmp_path / "train.jsonl", examples(400))
    write_examples(tmp_path / "test.jsonl", examples(8, first=1000))
    run = tmp_path / "run"
    found = prepare(experiment(), tmp_path, run)
    assert found == json.loads((run / "data.json").read_text())
    [facts] = found["sources"]
    assert facts["train"]["examples"] + facts["validation"]["examples"] == 400
    assert facts["train"]["training_targets"] == facts["train"]["examples"]
    assert facts["test"] == {
        "examples": 8, "answerable": 6, "unanswerable": 0, "labelled": 6, "training_targets": 8,
        "without_group": 0, "groups": 8,
    }  # fmt: skip
    noted = json.loads((run / "inputs.json").read_text())
    assert noted["folder"] == str(tmp_path.resolve()) and list(noted["files"]) == ["train.jsonl"]
    assert "ann" in (run / "vocabulary.txt").read_text()
    said = capsys.readouterr().out
    assert said.count("Warning") == 1
    answered = facts["train"]["answerable"]
    assert f"Warning: Only {answered} training questions with an answer" in said
    stamp = (run / "data.json").stat().st_mtime_ns
    assert prepare(experiment(), tmp_path, run) == found
    assert (run / "data.json").stat().st_mtime_ns == stamp


def test_other_data_are_prepared_again_before_the_first_step_and_refused_after_it(tmp_path, capsys):
    write_examples(tmp_path / "train.jsonl", examples(40))
    write_examples(tmp_path / "test.jsonl", examples(8, first=1000))
    run = tmp_path / "run"
    prepare(experiment(), tmp_path, run)
    write_examples(tmp_path / "train.jsonl", examples(60))
    [facts] = prepare(experiment(), tmp_path, run)["sources"]
    assert facts["train"]["examples"] + facts["validation"]["examples"] == 60
    assert "has changed; it is prepared again" in capsys.readouterr().out
    (run / "best.weights.h5").write_text("of a step")
    write_examples(tmp_path / "train.jsonl", examples(50))
    with pytest.raises(ValueError, match="was started with other data"):
        prepare(experiment(), tmp_path, run)
    assert json.loads((run / "data.json").read_text())["sources"] == [facts]


def test_what_exact_spans_leave_out_is_counted_and_said(tmp_path, capsys):
    elsewhere = Example("e1", "Who?", ("Ann ran.",), {"short": ("Bob",)}, group="e")
    write_examples(tmp_path / "train.jsonl", [*examples(400), elsewhere])
    write_examples(tmp_path / "test.jsonl", [*examples(8, first=1000), elsewhere])
    asks = changed(experiment(spans="exact"), {"model.name": "MaxoutPointerQG"})
    found = prepare(asks, tmp_path, tmp_path / "run")
    [facts] = found["sources"]
    assert facts["train"]["examples"] + facts["validation"]["examples"] == 300
    unknown, elsewhere = "blank answer", "answer not verbatim in a passage"
    trained, tested = facts["files"].values()
    [(why, rows)] = [(why, rows) for why, rows in trained["not_used"].items() if why != unknown]
    assert trained["not_used"][unknown] == {"count": 100, "ids": ["q0", "q4", "q8"]}
    assert why.startswith(elsewhere) and rows == {"count": 1, "ids": ["e1"]}
    assert trained["read"] == 401 and facts["test"]["examples"] == 6
    said = capsys.readouterr().out
    assert "not used                      100  blank answer: q0, q4" in said
    assert f"1  {elsewhere}" in said.partition("test.jsonl")[2]
    assert [*tested["not_used"]] == [unknown, why]


def prepared(folder, train, test, **settings):
    """The counts of the parts of two files."""
    write_examples(folder / "train.jsonl", train)
    write_examples(folder / "test.jsonl", test)
    chosen = changed(experiment(), settings)
    return prepare(chosen, folder, folder / "run")["sources"][0]


def renamed(example: Example, name: str) -> Example:
    return replace(example, id=name, group=name)


def test_test_questions_that_are_also_training_questions_get_a_warning_with_the_number(
    tmp_path, capsys
):
    train = examples(400)
    same = [renamed(example, f"t{n}") for n, example in enumerate(train)]
    other = replace(same[0], id="other", passages=("Ann sang.",))
    facts = prepared(tmp_path, train, [*same, other])
    assert facts["test"]["in_training"] == facts["train"]["examples"] < 400
    said = " ".join(capsys.readouterr().out.split())
    number = facts["train"]["examples"]
    assert f"Warning: {number} of 401 test questions of test.jsonl are also training quest" in said


def test_passages_that_the_model_does_not_read_are_counted_and_said(tmp_path, capsys):
    def several(*relevance: bool) -> Example:
        name, passages = ",".join(map(str, relevance)), ("a", "b", "c", "d")
        answers = {"short": ("a",)}
        return Example(name, "Who?", passages, answers, relevance=relevance or None, group=name)

    test = [several(True, False, False, False), several(False, False, True, False), several()]
    facts = prepared(tmp_path, examples(400), test, **{"preprocessor.num_passages": 2})
    assert facts["test"]["beyond_max_passages"] == {
        "max_passages": 2,
        "examples": 3,
        "passages": 6,
        "without_a_relevant_one": 1,
    }
    assert "beyond_max_passages" not in facts["train"]
    said = " ".join(capsys.readouterr().out.split())
    assert "examples, test: 3 of 3 examples have more than 2 passages" in said


@pytest.mark.parametrize(
    ("count", "options"), [(3, {"share": 0.0}), (1, {}), (4, {"train_share": 0.0001})]
)
def test_too_few_examples_are_an_error(tmp_path, count, options):
    write_examples(tmp_path / "train.jsonl", examples(count, first=1))
    write_examples(tmp_path / "test.jsonl", examples(8, first=1000))
    message = r"at least one training and one validation example.*Received: \d training and 0"
    with pytest.raises(ValueError, match=message):
        prepare(experiment(**options), tmp_path, tmp_path / "run")


def test_held_out_rows_are_a_table_and_rows_of_the_training_are_known(tmp_path):
    rows = [
        *examples(40),
        Example("none", "Why?", ("So.",), answerable=False, group="none"),
        Example("two", "Who?", ("[sic] an owl", "b"), {"short": ("[sic]", "an owl")}, group="none"),
    ]
    write_examples(tmp_path / "train.jsonl", rows)
    run = tmp_path / "run"
    prepare(experiment(test=None, share=0.6), tmp_path, run)
    held_out = list(read_file(run / "held_out.csv", style="short"))
    by_id = {row.id: replace(row, answerable=row.answerable is None) for row in rows}
    assert held_out == [by_id[example.id] for example in held_out]
    assert {"none", "two"} < {example.id for example in held_out}
    trained = trained_rows(run)
    assert {row_digest(example) in trained for example in held_out} == {False}
    answered = [example for example in rows if example.answers or example.answerable is False]
    assert sum(row_digest(example) in trained for example in answered) + len(held_out) == len(
        answered
    )


def test_rows_that_a_run_has_seen_are_not_tested_on_when_their_file_was_corrected(tmp_path, capsys):
    rows = [f"Who {n}?,Ann{n} ran.,Ann{n}" for n in range(60)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["question,passage,answer", *rows]))
    settings = {"split.test_share": 0.3, "split.by": "example"}
    chosen = changed(experiment("t.csv", None, format="table"), settings)
    run = tmp_path / "run"
    prepare(chosen, tmp_path, run)
    [test] = evaluation_sets(plan_of(chosen, run, tmp_path))
    assert len(test.examples) > 10 and not capsys.readouterr().err
    rows[0] = rows[0].replace("ran", "sat")
    table.write_text("\n".join(["question,passage,answer", "New?,Bo ran.,Bo", *rows]))
    [later] = evaluation_sets(plan_of(chosen, run, tmp_path))
    tested = {example.question for example in test.examples}
    assert {example.question for example in later.examples} <= tested | {"New?", "Who 0?"}
    assert "were trained or validated on, and are left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        ({}, 1),
        ({"split.test_share": 0.2, "split.by": "example"}, 1),
        ({"training.stream": True}, 4),
    ],
)
def test_a_file_is_read_once_unless_it_is_streamed(tmp_path, settings, passes):
    opened = []

    @register_format("counted", is_file=False)
    def read_counted(path, style="short"):
        def read(account):
            opened.append(path)
            yield from examples(400)

        return ExampleStream(read)

    chosen = changed(experiment(), {"sources.0.format": "counted", **settings})
    prepare(changed(chosen, {"sources.0.test": None}), tmp_path, tmp_path / "run")
    assert len(opened) == passes


def test_each_source_has_its_own_nearest_spans(tmp_path):
    free = [replace(example, answers={"short": ("Ann walks",)}) for example in examples(40)]
    write_examples(tmp_path / "a.jsonl", free)
    write_examples(tmp_path / "b.jsonl", [replace(e, passages=("Did Ann?",)) for e in free])
    one, two = (
        {"format": "examples", "styles": ["short"], "train": name, "spans": "best"}
        for name in ("a.jsonl", "b.jsonl")
    )
    found = prepare(changed(experiment(), {"sources": [one, two]}), tmp_path, tmp_path / "run")
    assert [source["spans"]["with_a_span"] for source in found["sources"]] == [40, 40]
    plan = Plan(changed(experiment(), {"sources": [one, two]}), tmp_path / "run", data=tmp_path)
    starts = [{example.spans[0].start for example in part.train} for part in splits(plan)]
    assert starts == [{0}, {4}]

"""The command line from files to tables and JSON."""

import json
from pathlib import Path

import pytest

from tfmrc.evaluation.commands.command_line import main


@pytest.fixture
def files(tmp_path: Path) -> Path:
    references = [
        {
            "id": "a",
            "question": "Who built it?",
            "answers": ["Ode built the mill"],
            "query_type": "PERSON",
            "passages": ["Ode built the mill."],
            "relevance": [True, False],
        },
        {
            "id": "b",
            "question": "When?",
            "answers": ["in spring"],
            "query_type": "NUMERIC",
            "relevance": [False, True],
        },
        {"id": "c", "question": "Why?", "answers": [], "relevance": [False, False]},
    ]
    predictions = [
        {
            "id": "a",
            "answer": "Ode built the mill",
            "scores": {"answerable_probability": 0.9, "relevance": [0.8, 0.1]},
            "provenance": [
                {
                    "word": "Ode",
                    "source": "passage",
                    "mixture": [0, 0, 1],
                    "passage": 0,
                    "start": 0,
                    "end": 3,
                }
            ],
        },
        {
            "id": "b",
            "answer": "spring",
            "scores": {"answerable_probability": 0.7, "relevance": [0.8, 0.1]},
            "alternatives": ["in spring"],
        },
        {
            "id": "c",
            "answer": "rain",
            "scores": {"answerable_probability": 0.2, "relevance": [0.5, 0.5]},
        },
    ]
    for name, rows in (("dev", references), ("run", predictions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    return tmp_path


def _run(files: Path, *words: str, code: int = 0) -> dict:
    out = files / "out.json"
    arguments = [words[0], "--predictions", str(files / "run.jsonl"), *words[1:]]
    if words[0] not in ("repetition", "convert", "attribution"):
        arguments += ["--references", str(files / "dev.jsonl")]
    if words[0] not in ("convert", "attribution"):
        arguments += ["--json", str(out)]
    assert main(arguments) == code
    return json.loads(out.read_text()) if out.exists() else {}


def test_answers(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = _run(files, "answers", "--by", "query-type", "--samples", "20")
    # a: exact. b: "spring" of "in spring": P = 1, R = 1/2: 2.44 * 0.5 / (0.5 + 1.44) = 1.22 / 1.94.
    assert result["scores"]["rouge_l"]["value"] == pytest.approx((1 + 1.22 / 1.94) / 2)
    assert result["scores"]["rouge_l"]["interval"]["samples"] == 20
    assert result["by"]["rouge_l"]["PERSON"] == {"value": 1.0, "size": 1}
    assert result["counts"]["unanswerable"] == 1
    assert result["by"]["bleu_1"]["NUMERIC"]["size"] == 1
    assert "ROUGE-L" in capsys.readouterr().out


def test_ranking(files: Path) -> None:
    assert _run(files, "ranking")["scores"]["mrr"]["value"] == pytest.approx(0.75)
    assert _run(files, "ranking", "--cutoff", "1")["scores"]["mrr"]["value"] == 0.5


def test_answerability_with_its_figure(files: Path) -> None:
    result = _run(files, "answerability", "--plot", str(files / "pr"))
    assert result["scores"]["best_answerable_f1"]["value"] == 1.0
    assert (files / "pr.svg").exists() and (files / "pr.png").exists()


def test_answerability_at_the_threshold_of_dev(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = {
        "dev_run": [{"id": "x", "answer": "y", "scores": {"answerable_probability": 0.8}}],
        "dev_dev": [{"id": "x", "answers": ["y"]}],
    }
    for name, rows in dev.items():
        (files / f"{name}.jsonl").write_text("".join(json.dumps(row) for row in rows))
    paths = ["--dev-references", str(files / "dev_dev.jsonl")]
    paths += ["--dev-predictions", str(files / "dev_run.jsonl")]
    row = _run(files, "answerability", *paths)["scores"]["answerable_f1"]
    # From 0.8 on only a (0.9) is answered, not b (0.7): P = 1, R = 1/2.
    assert row["value"] == pytest.approx(2 / 3)
    assert row["note"].startswith("threshold 0.8, the best on ")
    _run(files, "answerability", "--threshold", "0.5", *paths, code=2)
    assert "not with --threshold" in capsys.readouterr().err
    _run(files, "answerability", *paths[:2], code=2)
    assert "go with --dev-predictions" in capsys.readouterr().err


def test_squad(files: Path) -> None:
    result = _run(files, "squad", "--version", "2.0", "--by", "question-word")
    assert result["scores"]["exact_match"]["value"] == pytest.approx(1 / 3)
    assert result["by"]["exact_match"]["who"]["value"] == 1.0


def test_squad_takes_the_probability_of_no_answer_from_the_predictions(files: Path) -> None:
    scores = _run(files, "squad", "--version", "2.0")["scores"]
    # "rain" for the question without an answer is the only one below the threshold.
    assert scores["best_exact_match"]["value"] == pytest.approx(2 / 3)
    assert scores["best_f1"]["value"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    (files / "none.json").write_text('{"a": 0.1, "b": 0.3, "c": 0.8}')
    given = ("--no-answer", str(files / "none.json"))
    assert _run(files, "squad", "--version", "2.0", *given)["scores"] == scores
    lines = (files / "run.jsonl").read_text().splitlines(keepends=True)
    (files / "run.jsonl").write_text("".join(lines[:2]))  # a missing one is "no answer"
    missing = _run(files, "squad", "--version", "2.0", "--missing", "empty")["scores"]
    assert missing["best_f1"]["value"] == missing["f1"]["value"] == scores["best_f1"]["value"]
    (files / "run.jsonl").write_text('{"id": "x", "answer": ""}\n' + "".join(lines))
    assert "best_f1" not in _run(files, "squad", "--version", "2.0")["scores"]
    (files / "run.jsonl").write_text('{"a": "Ode built the mill", "b": "", "c": ""}')
    assert "best_f1" not in _run(files, "squad", "--version", "2.0")["scores"]


@pytest.mark.parametrize("command", ["squad", "oracle"])
def test_references_of_version_2_name_the_option(
    command: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run(files, command, code=2)
    assert "--version 2.0" in capsys.readouterr().err


def test_adversarial(files: Path) -> None:
    text = (files / "dev.jsonl").read_text().splitlines()[0]
    (files / "dev.jsonl").write_text(text)
    assert _run(files, "adversarial")["scores"]["f1"]["value"] == 1.0


def test_oracle(files: Path) -> None:
    scores = _run(files, "oracle", "-k", "1", "2", "--version", "2.0")["scores"]
    assert scores["exact_match@1"]["value"] == pytest.approx(1 / 3)
    assert scores["exact_match@2"]["value"] == pytest.approx(2 / 3)


def test_breakdown_and_oracle_as_bars(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by = ["--by", "question-word", "--plot", str(files / "words")]
    _run(files, "squad", "--version", "2.0", *by)
    drawing = (files / "words.svg").read_text()
    assert all(f"<!-- {text} -->" in drawing for text in ("who", "when", "why", "F1"))
    assert "<!-- F1, answerable -->" not in drawing
    _run(files, "squad", "--version", "2.0", "--plot", str(files / "x"), code=2)
    assert "it needs --by" in capsys.readouterr().err
    _run(files, "oracle", "-k", "1", "2", "--version", "2.0", "--plot", str(files / "best"))
    drawing = (files / "best.svg").read_text()
    assert all(f"<!-- {text} -->" in drawing for text in ("K = 1", "K = 2", "Exact match"))


def test_repetition(files: Path) -> None:
    assert _run(files, "repetition")["scores"]["duplication_rate"]["value"] == 0.0


def test_lengths_with_their_figure(files: Path) -> None:
    rows = _run(files, "lengths", "--plot", str(files / "lengths"))["lengths"]
    assert rows[0] | {"mean": 0} == rows[0] | {"mean": 0, "group": "PERSON", "size": 1}
    assert rows[0]["mean"] == 4.0
    assert (files / "lengths.png").exists()


def test_lengths_of_the_same_questions(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (files / "run.jsonl").read_text().splitlines()
    (files / "run.jsonl").write_text("\n".join([lines[0], lines[2]]))
    arguments = [
        "--predictions",
        str(files / "run.jsonl"),
        "--references",
        str(files / "dev.jsonl"),
    ]
    assert main(["lengths", *arguments]) == 2
    assert "have no prediction: 'b'" in capsys.readouterr().err
    rows = _run(files, "lengths", "--missing", "leave_out")["lengths"]
    assert {(row["style"], row["group"]) for row in rows} == {
        ("predictions", "PERSON"), ("references", "PERSON"), ("predictions", "all")
    }  # fmt: skip


def test_compare_with_a_system_that_abstains(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (files / "run.jsonl").read_text().replace('"spring"', '"No Answer Present."')
    (files / "other.jsonl").write_text(text)
    result = _run(files, "compare", "--second", str(files / "other.jsonl"), "--samples", "50")
    assert "rouge_l" not in result["scores"] and "answerable_f1" in result["scores"]
    assert "not compared: 2 and 1 questions" in " ".join(capsys.readouterr().out.split())


def test_compare_with_a_system_that_answers_nothing(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in (files / "run.jsonl").read_text().splitlines()]
    silent = [json.dumps({**row, "answer": "No Answer Present."}) + "\n" for row in rows]
    (files / "other.jsonl").write_text("".join(silent))
    _run(files, "compare", "--second", str(files / "other.jsonl"), "--samples", "50")
    shown = capsys.readouterr().out
    [row] = [line for line in shown.splitlines() if "ROUGE-L" in line]
    # 1 for a; for b P = 1, R = 1/2 and with beta 1.2 F = 2.44 / 3.88.
    assert [cell.strip() for cell in row.split("│")[2:4]] == ["81.44", "–"]


def test_compare_says_what_is_not_compared(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = files / "run.jsonl"
    (files / "other.jsonl").write_text(run.read_text())
    rows = [json.loads(line) for line in run.read_text().splitlines()]
    silent = [json.dumps({**row, "answer": "No Answer Present."}) + "\n" for row in rows]
    second = ["--second", str(files / "other.jsonl"), "--samples", "20"]
    monkeypatch.setattr("shutil.which", lambda name: None)
    _run(files, "compare", *second, "--meteor")
    assert "METEOR" in (shown := capsys.readouterr().out) and "not compared: METEOR" in shown
    run.write_text("".join(silent))
    _run(files, "compare", *second)
    [row] = [line for line in capsys.readouterr().out.splitlines() if "ROUGE-L" in line]
    assert [cell.strip() for cell in row.split("│")[2:4]] == ["–", "81.44"]


def test_compare_and_ranking_refuse_references_without_relevance(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in (files / "dev.jsonl").read_text().splitlines()]
    (files / "dev.jsonl").write_text(
        "".join(json.dumps({"id": row["id"], "answers": row["answers"]}) + "\n" for row in rows)
    )
    _run(files, "ranking", code=2)
    second = ["--second", str(files / "run.jsonl"), "--rules", "ranking"]
    _run(files, "compare", *second, code=2)
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2 and all("no relevance. Received: 3 references" in e for e in errors)


def test_questions_without_a_well_formed_answer_can_be_answered(tmp_path: Path) -> None:
    """MS MARCO has well-formed answers to some questions only."""
    rows = [(1, ["x"], []), (2, ["x"], ["It is x."]), (3, ["No Answer Present."], "[]")]
    lines = [
        json.dumps({"query_id": number, "query": "q", "answers": a, "wellFormedAnswers": b})
        for number, a, b in rows
    ]
    (tmp_path / "dev.jsonl").write_text("\n".join(lines))
    answers = [("1", "x", 0.9), ("2", "It is x.", 0.9), ("3", "No Answer Present.", 0.1)]
    lines = [
        json.dumps({"id": i, "answer": a, "style": "nlg", "scores": {"answerable_probability": p}})
        for i, a, p in answers
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines))
    result = _run(tmp_path, "answers", "--style", "nlg")
    assert result["scores"]["rouge_l"]["size"] == 1
    assert result["scores"]["answerable_precision"]["value"] == 1.0
    assert result["scores"]["answerable_f1"]["size"] == 2
    possible = _run(tmp_path, "answerability", "--style", "nlg", "--threshold", "0.5")["scores"]
    assert possible["answerable_precision"]["value"] == possible["answerable_f1"]["value"] == 1.0


def test_compare(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (files / "run.jsonl").read_text().replace('"spring"', '"in spring"')
    (files / "other.jsonl").write_text(text)
    result = _run(files, "compare", "--second", str(files / "other.jsonl"), "--samples", "50")
    assert result["scores"]["rouge_l"]["second"]["value"] == 1.0
    assert result["scores"]["rouge_l"]["test"]["difference"] > 0
    assert "second - first" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rules", "row", "difference"),
    [("squad-2.0", "exact_match", 1 / 3), ("ranking", "mrr", 0.25), ("squad-1.1", "f1", 1 / 6)],
)
def test_compare_by_other_rules(files: Path, rules: str, row: str, difference: float) -> None:
    """b: "spring" against "in spring" is F1 2/3, and its second passage is the relevant one."""
    if rules != "squad-2.0":  # v1.1 and this ranking have answerable questions alone
        lines = (files / "dev.jsonl").read_text().splitlines()[:2]
        (files / "dev.jsonl").write_text("\n".join(lines))
    text = (files / "run.jsonl").read_text().replace('"spring"', '"in spring"')
    head, _, tail = text.partition('"in spring"')
    (files / "other.jsonl").write_text(
        head + '"in spring"' + tail.replace("[0.8, 0.1]", "[0.1, 0.8]", 1)
    )
    second = ["--second", str(files / "other.jsonl"), "--samples", "20"]
    found = _run(files, "compare", "--rules", rules, *second)["scores"][row]
    assert found["test"]["difference"] == pytest.approx(difference)


def test_convert(files: Path) -> None:
    out = files / "squad.json"
    _run(files, "convert", "--form", "squad", "--output", str(out))
    assert json.loads(out.read_text())["b"] == "spring"


def test_attribution_as_page_and_picture(files: Path) -> None:
    page = files / "page.html"
    source = str(files / "dev.jsonl")
    _run(files, "attribution", "--id", "a", "--output", str(page), "--source", source)
    assert "<mark" in page.read_text()
    _run(files, "attribution", "--id", "a", "--output", str(files / "words.png"))
    assert (files / "words.svg").exists()


def test_attribution_of_an_id_that_the_source_lacks(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files / "other.jsonl"
    source.write_text('{"id": "z", "passages": ["An owl."]}\n')
    arguments = ["--predictions", str(files / "run.jsonl"), "--id", "a", "--source", str(source)]
    assert main(["attribution", *arguments, "--output", str(files / "page.html")]) == 2
    assert "other.jsonl: no such id. Received: --id a" in capsys.readouterr().err
    assert not (files / "page.html").exists()


def test_curves(files: Path) -> None:
    (files / "log.csv").write_text("epoch,loss\n0,2\n1,1\n")
    assert main(["curves", "--log", str(files / "log.csv"), "--output", str(files / "c")]) == 0
    assert (files / "c.png").exists()


def test_only_json_on_standard_output(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--predictions", str(files / "run.jsonl"), "--references", str(files / "dev.jsonl")]
    assert main(["answers", *names, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["bleu_1"]["size"] == 2


def test_errors_are_one_line_and_a_code(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "run.jsonl").write_text('{"id": "a", "answer": "x"}\n{oops\n')
    _run(files, "answers", code=2)
    assert "run.jsonl, line 2: not JSON" in capsys.readouterr().err
    assert main(["answers", "--predictions", "nowhere", "--references", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    (files / "run.jsonl").write_text('{"id": "a", "answer": "x"}\n')
    _run(files, "ranking", code=2)
    assert "no score 'relevance' (--field)" in capsys.readouterr().err


def test_convert_in_the_order_of_references_of_a_style(tmp_path: Path) -> None:
    answers = {"qa": ["x"], "nlg": ["It is x."]}
    known = [{"id": key, "question": "?", "passages": ["x"], "answers": answers} for key in "ba"]
    made = [{"id": key, "style": "qa", "answer": key} for key in "ab"]
    for name, rows in (("dev", known), ("run", made)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["convert", "--form", "lines", "--style", "qa", "--output", str(tmp_path / "out")]
    arguments += ["--predictions", str(tmp_path / "run"), "--references", str(tmp_path / "dev")]
    assert main(arguments) == 0
    assert (tmp_path / "out").read_text() == "b\na\n"


@pytest.mark.parametrize("command", ["squad", "oracle", "compare"])
def test_no_answer_present_is_no_answer(files: Path, command: str) -> None:
    """As `convert --form squad` writes it."""
    run = [{"id": key, "answer": "No Answer Present."} for key in "abc"]
    (files / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in run))
    options = ["--version", "2.0"]
    if command == "compare":
        options = ["--rules", "squad-2.0", "--second", str(files / "run.jsonl")]
    scores = _run(files, command, *options)["scores"]
    score = scores["exact_match@1" if command == "oracle" else "exact_match"]
    assert score.get("first", score)["value"] == pytest.approx(1 / 3)


def test_lengths_are_those_of_answers(files: Path) -> None:
    known = [{"id": key, "answers": ["No Answer Present."]} for key in "abc"]
    known[0]["answers"] = ["the mill"]
    run = [{"id": key, "answer": "No Answer Present."} for key in "abc"]
    run[1]["answer"] = "Ode"
    for name, rows in (("dev", known), ("run", run)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (files / f"{name}.jsonl").write_text(text)
    rows = _run(files, "lengths")["lengths"]
    assert {(row["style"], row["mean"], row["size"]) for row in rows} == {
        ("predictions", 1.0, 1),
        ("references", 2.0, 1),
    }


def test_squad_leaves_out_answers_of_other_styles(files: Path) -> None:
    """They are no questions without an answer."""
    known = [{"id": key, "answers": {"qa": ["rain"]}} for key in "abc"]
    known[0]["answers"] = {"nlg": ["It was Ode."]}
    known[1]["answers"] = {"qa": [], "nlg": []}
    run = [{"id": key, "style": "qa", "answer": "rain"} for key in "abc"]
    for name, rows in (("dev", known), ("run", run)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (files / f"{name}.jsonl").write_text(text)
    scores = _run(files, "squad", "--version", "2.0", "--style", "qa")["scores"]
    assert {name: score["size"] for name, score in scores.items()} == {
        "exact_match": 2,
        "f1": 2,
        "has_answer_exact_match": 1,
        "has_answer_f1": 1,
        "no_answer_accuracy": 1,
    }


@pytest.mark.parametrize("command", ["ranking", "compare", "attribution"])
def test_passages_that_the_model_does_not_read(files: Path, command: str) -> None:
    """It gives relevances for the first passages alone, as `tfmrc evaluate` expects."""
    rows = [json.loads(line) for line in (files / "dev.jsonl").read_text().splitlines()]
    for row in rows:
        row["relevance"].append(True)
        row["passages"] = ["Ode built the mill.", "Rain fell.", "It was spring."]
    (files / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {
        "ranking": [],
        "compare": ["--rules", "ranking", "--second", str(files / "run.jsonl")],
        "attribution": ["--id", "a", "--source", str(files / "dev.jsonl")],
    }[command]
    if command == "attribution":
        _run(files, command, *options, "--output", str(files / "page.html"))
        page = (files / "page.html").read_text()
        assert "Rain fell." in page and "It was spring." not in page
        return
    score = _run(files, command, *options)["scores"]["mrr"]
    assert score.get("first", score)["value"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        ('\ufeff{"a": 0.1, "b": 0.1, "c": 0.9}', 0, ""),
        ("[0.1]", 2, "chances.json: must be an object. Received: [0.1]"),
        ("{oops", 2, "chances.json: not JSON"),
    ],
)
def test_the_file_of_probabilities(
    files: Path, capsys: pytest.CaptureFixture[str], content: str, status: int, message: str
) -> None:
    path = files / "chances.json"
    path.write_text(content, encoding="utf-8")
    _run(files, "squad", "--version", "2.0", "--no-answer", str(path), code=status)
    assert message in capsys.readouterr().err

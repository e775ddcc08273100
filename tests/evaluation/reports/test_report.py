"""Reports: metrics.json has everything beside each number, the table the paper's figures."""

import json
import os
import re
from dataclasses import replace

import pytest

from tfmrc.evaluation import (
    Prediction,
    Reference,
    Report,
    Submission,
    read_metrics,
    score,
    score_answers,
    score_ranking,
    score_squad,
    summary,
)

PAPER = {"Masque": {"rouge_l": 69.77}, "Bing": {"mrr": 35.0}}


def _report() -> Report:
    report = Report(
        "Masque", dataset="own", split="dev", seed=7, details={"Steps": 100}, paper=PAPER
    )
    answers = score_answers({"a": "a mill", "b": "x"}, {"a": ["a mill"], "b": ["y"]}, rules="plain")
    report.add("Masque", answers, samples=50)
    report.add("Masque", score_ranking({"a": [2, 1]}, {"a": [False, True]}))
    report.add("baseline", answers)
    return report


def test_metrics_have_everything_beside_each_number(tmp_path):
    files = _report().write(tmp_path / "out")
    record = json.loads(files[0].read_text())
    score = record["systems"]["Masque"]["scores"]["rouge_l"]
    assert score["value"] == 0.5
    for name, value in {"split": "dev", "seed": 7, "size": 2, "dataset": "own"}.items():
        assert score[name] == value
    assert (
        score["scorer"].startswith("pycocoevalcap") and score["version"] and score["tokenisation"]
    )
    assert 0 <= score["interval"]["low"] <= 0.5 <= score["interval"]["high"] <= 1
    assert "interval" not in record["systems"]["baseline"]["scores"]["rouge_l"]
    assert record["systems"]["Masque"]["parts"][1]["counts"]["without_relevant"] == 0
    assert record["paper"] == PAPER
    assert record["details"] == {"Steps": 100}
    assert files[1].name == "report.md"


def test_a_report_is_replaced_as_a_whole(tmp_path, monkeypatch):
    files = _report().write(tmp_path)
    before = [path.read_text() for path in files]

    def full(descriptor: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        _report().write(tmp_path)
    assert [path.read_text() for path in files] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["metrics.json", "report.md"]


def test_table_puts_the_papers_figures_beside_ours():
    lines = _report().markdown().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    head = rows[0]
    assert head[2:4] == ["ROUGE-L", "paper"]
    table = {row[0]: dict(zip(head, row, strict=True)) for row in rows[2:]}
    assert list(table) == ["Masque", "baseline", "Bing"]
    assert rows[2][2].startswith("50.00 [")
    assert rows[2][3] == "69.77"
    assert rows[3][2:4] == ["50.00", "–"]
    assert table["Masque"]["MRR"] == "50.00 (n = 1)"
    assert table["Bing"]["n"] == "–"
    assert table["Bing"]["MAP"] == "–"
    text = "\n".join(lines)
    assert "Data: own, dev; seed 7." in text
    assert "- ROUGE-L: pycocoevalcap Rouge (beta 1.2)" in text
    assert all(len(row) == len(head) for row in rows)


def test_prefixes_keep_styles_apart():
    report = Report("T", dataset="own", split="dev")
    scores = score_answers({"a": "x"}, {"a": ["x"]}, rules="plain")
    report.add("ours", scores, prefix="qa")
    report.add("ours", scores, prefix="nlg")
    assert "| qa ROUGE-L |" in report.markdown()
    with pytest.raises(ValueError, match="score='qa_rouge_l'"):
        report.add("ours", scores, prefix="qa")


def test_differences_are_those_of_the_scores_that_both_have(tmp_path):
    known = {str(n): ["yes"] for n in range(40)}
    report = Report("Demo", dataset="own", split="dev")
    right = score_squad(dict.fromkeys(known, "yes"), known)
    report.add("model", right)
    report.add("model", replace(right, table="Again"), prefix="other")
    report.add("coin", score_squad({n: "yes" if int(n) % 2 else "no" for n in known}, known))
    few = {n: known[n] for n in ("1", "2")}
    report.add("few", score_squad(dict.fromkeys(few, "no"), few))
    report.compare("model", "coin", samples=200)
    report.compare("model", "few")  # not the same examples
    record = json.loads(report.write(tmp_path)[0].read_text())["differences"]
    assert [(row["system"], row["other"], row["score"]) for row in record] == [
        ("model", "coin", "exact_match"),
        ("model", "coin", "f1"),
    ]
    assert record[0]["difference"] == 0.5 and 0.3 < record[0]["low"] < 0.5 < record[0]["high"]
    assert record[0]["samples"] == 200 and record[0]["p_value"] < 0.05
    text = report.markdown()
    assert "| model – coin | +50.00 [+" in text
    assert "model – few" not in text


def test_the_summary_shows_one_policy_where_some_questions_have_no_answer():
    """Exact match and F1 count refusals: "a" is right, "b" wrongly refused, "d" not refused."""
    references = {
        "a": Reference("a", ("a mill",), answerable=True),
        "b": Reference("b", ("owl",), answerable=True),
        "c": Reference("c", (), answerable=False),
        "d": Reference("d", (), answerable=False),
    }
    predictions = {key: Prediction(key, "a mill") for key in "ad"} | {
        key: Prediction(key, "owl", scores={"is_confident": False}) for key in "bc"
    }
    report = Report("reader", dataset="own", split="test")
    for scores in score(Submission(predictions, references, "squad"), ["squad", "squad_2"]):
        report.add("reader", scores)
    _, header, scores = summary(report)
    assert re.split("  +", header.strip()) == [
        "F1", "Exact match", "Rightly refused", "Wrongly refused"
    ]  # fmt: skip
    assert re.findall(r"(\S+) \[", scores) == ["50.0"] * 4
    table = report.markdown()
    assert "| reader | 4 | 50.00 | 50.00 | 50.00 (n = 2) | 50.00 (n = 2) |" in table
    assert "## Questions with an answer, refusals not counted" in table


def test_other_files_are_no_reports(tmp_path):
    path = tmp_path / "metrics.json"
    for text, message in (('{"training": {}}', "no 'systems' in it"), ("{oops", "is damaged")):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_metrics(path)

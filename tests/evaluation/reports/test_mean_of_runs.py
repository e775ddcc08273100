"""Mean and deviation over runs: by hand, in a report, and what cannot be averaged."""

from dataclasses import replace

import numpy as np
import pytest

from tfmrc.evaluation import Report, Scores, mean_of_runs, score_answers, score_squad

KNOWN = {"a": ["a mill"], "b": ["a weir"], "c": ["a lock"]}


def run(*right: str) -> Scores:
    """Exact match of the ids in `right`."""
    return score_squad({key: KNOWN[key][0] if key in right else "x" for key in KNOWN}, KNOWN)


def test_mean_and_deviation_by_hand_and_in_a_report(tmp_path):
    made = mean_of_runs([run("a"), run("a", "b"), run("a", "b", "c")])
    score = made["exact_match"]
    assert score.value == pytest.approx(2 / 3) and score.deviation == pytest.approx(1 / 3)
    assert score.values == pytest.approx((1 / 3, 2 / 3, 1))
    assert score.size == 3 and "3 runs" in score.note
    assert score.per_example is None and score.statistics.score() == pytest.approx(2 / 3)
    report = Report("R", dataset="own", split="dev")
    report.add("ours", made)
    report.add("once", run("b"))
    [ours] = [line for line in report.markdown().splitlines() if line.startswith("| ours ")]
    assert "| 66.67 ± 33.33 |" in ours
    record = report.to_json()["systems"]
    assert record["ours"]["scores"]["exact_match"]["deviation"] == pytest.approx(1 / 3)
    assert len(record["ours"]["scores"]["exact_match"]["values"]) == 3
    assert not {"deviation", "values"} & record["once"]["scores"]["exact_match"].keys()
    assert "(mean and deviation of 3 runs)" in report.markdown()


def test_one_run_is_itself_and_a_score_that_one_lacks_is_left_out():
    one = run("a")
    assert mean_of_runs([one]) is one
    less = Scores(one.rules, (one["f1"],))
    assert list(mean_of_runs([one, less])) == ["f1"]
    missing = replace(one["f1"], value=None, note="no Java")
    found = mean_of_runs([one, Scores(one.rules, (missing,))])["f1"]
    assert found.value is None and found.note == "no Java" and found.deviation is None


def test_what_is_no_mean():
    fewer = score_squad({"a": "a mill"}, {"a": ["a mill"]})
    with pytest.raises(ValueError, match="size=3 and 1"):
        mean_of_runs([run("a"), fewer])
    plain = [
        score_answers({"a": "x"}, {"a": ["x"]}, "plain", tokenizer=name)
        for name in ("english", "whitespace")
    ]
    with pytest.raises(ValueError, match="tokenisation="):
        mean_of_runs(plain)


def test_runs_that_abstain_from_other_questions_have_a_mean():
    """Under MS MARCO's rules each abstention leaves a question out."""
    runs = [
        score_answers({key: text for key in KNOWN} | {"a": first}, KNOWN)
        for text, first in (("a mill", "a mill"), ("a mill", "No Answer Present."))
    ]
    assert [run["rouge_l"].size for run in runs] == [3, 2]
    score = mean_of_runs(runs)["rouge_l"]
    assert score.value == pytest.approx(np.mean([float(run["rouge_l"]) for run in runs]))
    assert (score.size, score.note) == (2, "mean and deviation of 2 runs of 2 to 3 examples")
    assert mean_of_runs(runs)["answerable_f1"].note == "mean and deviation of 2 runs"
    for order in (runs, runs[::-1]):
        assert mean_of_runs(order).counts["abstained"] == 1
    fewer = score_answers({"a": "a mill"}, {"a": ["a mill"]})
    with pytest.raises(ValueError, match="size=3 and 1"):
        mean_of_runs([runs[0], fewer])

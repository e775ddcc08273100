"""Figures: both files are written, the same bytes each time, and show what they should."""

from pathlib import Path

import numpy as np

from tfmrc.evaluation import (
    CalibrationReport,
    answer_lengths,
    plot_answer_lengths,
    plot_calibration,
    plot_learning_curves,
    plot_precision_recall,
    plot_runs,
    plot_scores,
    precision_recall_curve,
)


def _check(paths: list[Path], *texts: str) -> None:
    png, svg = paths
    assert png.read_bytes().startswith(b"\x89PNG")
    drawing = svg.read_text()
    assert drawing.rstrip().endswith("</svg>")
    for text in texts:
        assert f"<!-- {text} -->" in drawing, text


def test_learning_curves(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("epoch,loss,val_loss,rouge,phase\n0,2.5,3.0,,a\n1,1.5,2.0,0.4,b\n")
    _check(plot_learning_curves(log, tmp_path / "curves"), "loss", "rouge", "validation")


def test_curves_of_several_systems(tmp_path):
    for number, losses in enumerate((("3.0", "2.0", "1.0"), ("5.0", "4.0"), ("9.0",))):
        lines = [f"{epoch},{loss}" for epoch, loss in enumerate(losses)]
        (tmp_path / f"{number}.csv").write_text("\n".join(["epoch,val_loss", *lines]))
    logs = {"both": [tmp_path / "0.csv", tmp_path / "1.csv"], "alone": [tmp_path / "2.csv"]}
    _check(plot_runs(logs, tmp_path / "runs", title="All"), "both", "alone", "val_loss", "All")


def test_precision_recall(tmp_path):
    curve = precision_recall_curve(
        {"a": 0.9, "b": 0.5, "c": 0.4}, {"a": True, "b": False, "c": True}
    )
    _check(plot_precision_recall(curve, tmp_path / "pr.png"), "F1 0.8000 at 0.4", "recall")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pr.png", "pr.svg"]


def test_answer_lengths(tmp_path):
    rows = answer_lengths(
        [("qa", "PERSON", "Ode"), ("qa", "PERSON", "Old Ode"), ("nlg", "NUMERIC", "It is ten.")]
    )
    _check(plot_answer_lengths(rows, tmp_path / "lengths"), "PERSON", "NUMERIC", "words", "nlg")


def test_scores_have_the_same_bytes_each_time(tmp_path):
    table = {"ours": {"ROUGE-L": 0.6}, "paper": {"ROUGE-L": 0.65}}
    first, again = (plot_scores(table, tmp_path / name, title="Dev") for name in "ab")
    _check(first, "ROUGE-L", "Dev", "paper")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in first]


def test_calibration(tmp_path):
    right = np.array([True, False, True])
    report = CalibrationReport(np.array([0.9, 0.6, 0.4]), np.array([0.8, 0.5, 0.5]), right, right)
    _check(
        plot_calibration(report, tmp_path / "calibration", title="dev"),
        "share of right answers", "share of wrong answers", "raw", "calibrated", "dev",
    )  # fmt: skip

"""metrics.json of runs: mean and deviation over seeds, bars."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfmrc.evaluation import Report, over_seeds, read_metrics, score_squad
from tfmrc.evaluation.commands.command_line import main

# Exact match and F1 of five of SAN's ten seeds (its Table 3), to the paper's two decimals.
FIRST_FIVE = (76.24, 76.30, 75.92, 76.00, 76.12)


def _run(folder: Path, seed: int, wrong: int, dataset: str = "own") -> Path:
    report = Report("x", dataset=dataset, split="dev", seed=seed)
    answers = {n: "no" if n < wrong else "yes" for n in range(10)}
    report.add("ours", score_squad(answers, {n: ["yes"] for n in range(10)}))
    return report.write(folder / str(seed))[0]


def test_mean_and_deviation_by_hand() -> None:
    def run(seed: int, value: float) -> dict[str, Any]:
        scores = {"em": {"value": value, "label": "EM"}, f"own{seed}": {"value": 1, "label": "x"}}
        return {"dataset": "d", "split": "s", "seed": seed, "systems": {"SAN": {"scores": scores}}}

    [row] = over_seeds([run(seed, value) for seed, value in enumerate(FIRST_FIVE)])
    assert (row.system, row.name, row.values) == ("SAN", "em", FIRST_FIVE)
    assert row.mean == pytest.approx(sum(FIRST_FIVE) / 5)
    squares = sum((value - row.mean) ** 2 for value in FIRST_FIVE)
    assert row.deviation == pytest.approx((squares / 4) ** 0.5)


def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(_run(tmp_path, seed, wrong)) for seed, wrong in ((1, 1), (2, 2), (3, 6))]
    assert main(["seeds", "--metrics", *files, "--json", "-"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["scores"]}
    assert rows["exact_match"]["mean"] == pytest.approx(0.7)
    assert rows["exact_match"]["deviation"] == pytest.approx(np.std([0.9, 0.8, 0.4], ddof=1))
    assert main(["seeds", "--metrics", *files]) == 0
    assert "70.00" in capsys.readouterr().out


def test_what_cannot_be_averaged_is_refused(tmp_path: Path) -> None:
    one = read_metrics(_run(tmp_path, 1, 1))
    with pytest.raises(ValueError, match="at least two runs"):
        over_seeds([one])
    with pytest.raises(ValueError, match=r"its own seed. Received: seeds \[1, 1\]"):
        over_seeds([one, one])
    with pytest.raises(ValueError, match="different data"):
        over_seeds([one, read_metrics(_run(tmp_path, 2, 1, dataset="other"))])


def test_scores_of_other_scorers_have_no_mean(tmp_path: Path) -> None:
    one, two = (read_metrics(_run(tmp_path, seed, 1)) for seed in (1, 2))
    two["systems"]["ours"]["scores"]["f1"]["tokenisation"] = "white space"
    with pytest.raises(ValueError, match=r"ours, f1, tokenisation=\['lower-cased.*white space'\]"):
        over_seeds([one, two])


def test_scores_of_other_examples_have_no_mean(tmp_path: Path) -> None:
    one, two = (read_metrics(_run(tmp_path, seed, 1)) for seed in (1, 2))
    two["systems"]["ours"]["scores"]["f1"]["size"] = 9
    with pytest.raises(ValueError, match=r"same examples. Received: ours, f1, size=\['10', '9'\]"):
        over_seeds([one, two])
    two["systems"]["ours"]["parts"][0]["counts"]["abstained"] = 1  # which the rules leave out
    assert over_seeds([one, two])


def test_a_system_with_two_scores_has_no_bar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(_run(tmp_path, seed, wrong)) for seed, wrong in ((1, 1), (2, 1), (3, 6))]
    options = ["--scores", "f1", "--output", str(tmp_path / "bars")]
    assert main(["bars", "--metrics", *files[:2], *options]) == 0
    assert main(["bars", "--metrics", *files, *options]) == 2
    assert f"{files[2]}, ours, f1=0.4 after 0.9" in capsys.readouterr().err


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    path.write_text('{"training": {}}')
    with pytest.raises(ValueError, match="no 'systems' in it"):
        read_metrics(path)
    path.write_text("{oops")
    with pytest.raises(ValueError, match="metrics.json: not JSON"):
        read_metrics(path)


def test_bars_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(_run(tmp_path, 1, 1))
    command = ["bars", "--metrics", path, "--output", str(tmp_path / "bars"), "--scores"]
    assert main([*command, "exact_match", "f1"]) == 0
    drawing = (tmp_path / "bars.svg").read_text()
    assert "<!-- Exact match -->" in drawing and "<!-- F1 -->" in drawing
    assert main([*command, "mrr"]) == 2
    assert "--scores mrr" in capsys.readouterr().err

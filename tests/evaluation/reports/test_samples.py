"""Samples of several styles side by side."""

import json
from pathlib import Path

import pytest

from tfmrc.evaluation import Reference, sample_table
from tfmrc.evaluation.commands.command_line import main

KNOWN = {
    "qa": {"q|1": Reference("q|1", ("Ode",), "Who | came?")},
    "nlg": {"q|1": Reference("q|1", ("Ode came.", "It was Ode."), "Who | came?")},
}


def test_a_row_a_style_with_its_own_references() -> None:
    answers = {"qa": {"q|1": "*Ada*"}, "nlg": {"q|1": ""}}
    assert sample_table(answers, KNOWN, ["q|1"], title="T") == (
        "# T\n\n## q\\|1: Who \\| came?\n\n| | answer | references |\n| --- | --- | --- |\n"
        "| qa | \\*Ada\\* | Ode |\n| nlg | (none) | Ode came. / It was Ode. |\n"
    )


def test_with_the_passage_and_another_heading() -> None:
    known = {"asks": {"q": Reference("q", ("Who came?",))}}
    page = sample_table(
        {"asks": {"q": "who?"}}, known, ["q"], column="text", passages={"q": "Ode\ncame."}
    )
    assert "\n## q\n\nOde came.\n\n| | text | references |\n" in page


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="nlg has no prediction .*id='q|1'"):
        sample_table({"qa": {"q|1": "x"}, "nlg": {}}, KNOWN, ["q|1"])
    with pytest.raises(ValueError, match="qa has no reference"):
        sample_table({"qa": {"q2": "x"}}, KNOWN, ["q2"])


def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    references = tmp_path / "dev.jsonl"
    rows = [
        {
            "id": str(n),
            "question": f"Who {n}?",
            "answers": {"qa": [f"a{n}"], "nlg": [f"It is a{n}."]},
        }
        for n in range(20)
    ]
    references.write_text("\n".join(map(json.dumps, rows)))
    for style in ("qa", "nlg"):
        lines = [{"id": str(n), "style": style, "answer": f"{style} {n}"} for n in range(18)]
        (tmp_path / f"{style}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    page = tmp_path / "out" / "samples.md"
    command = ["samples", "--references", str(references), "--output", str(page), "--predictions"]
    command += [f"qa={tmp_path / 'qa.jsonl'}", str(tmp_path / "nlg.jsonl")]
    assert main([*command, "--ids", "3", "1"]) == 0
    text = page.read_text()
    assert text.index("## 3: Who 3?") < text.index("## 1: Who 1?")
    assert "| qa | qa 3 | a3 |" in text and "| nlg | nlg 1 | It is a1. |" in text
    assert main([*command, "--count", "4", "--seed", "7"]) == 0
    drawn = page.read_text()
    assert drawn.count("## ") == 4 and "## 18" not in drawn and "## 19" not in drawn
    assert main([*command, "--count", "4", "--seed", "7"]) == 0
    assert page.read_text() == drawn
    assert main([*command, "--ids", "19"]) == 2
    assert "no prediction for this id" in capsys.readouterr().err

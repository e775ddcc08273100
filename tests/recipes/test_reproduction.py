"""The list of tables and figures: states from the runs that lie there, nothing invented."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tfmrc.cli import main
from tfmrc.experiments.recipes import find_recipe
from tfmrc.experiments.reproduction import Part, Row, find_runs, read_rows, states
from tfmrc.experiments.reproduction.table import (
    commands,
    listing,
    markdown,
    needs,
    to_json,
)

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "recipes" / "reproduction.yaml"

FULL = Part("full", "a_full", recipe="a/config.yaml", paper={"nlg_rouge_l": 69.77})
ABLATION = Part("ablation", "a_less", recipe="a/config.yaml", flags="model.ranker=false")
STAND_IN = Part("own data", "b", recipe="b/config.yaml", stand_in=True)
ROW = Row(
    "m-t3", "M", "Table 3", "ablations", (FULL, ABLATION, STAND_IN), ("MARCO",), 0, ("rouge_l",)
)


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / "recipes" / name).mkdir(parents=True)
        (tmp_path / "recipes" / name / "config.yaml").write_text("name: x")
    return tmp_path / "recipes"


def _metrics(
    folder: Path, system: str, dataset: str, scores: dict[str, Any], when: str = "2026-01-02"
) -> None:
    folder.mkdir(parents=True)
    content = {
        "dataset": dataset,
        "split": "dev, 40 questions",
        "seed": 3,
        "written": f"{when}T10:11:12+00:00",
        "details": {"Weights": "1,234", "Training": "20 steps", "Machine": "m"},
        "systems": {
            system: {
                "parts": [{"prefix": "nlg"}, {"prefix": ""}],
                "scores": {k: {"value": v, "size": 40} for k, v in scores.items()},
            }
        },
    }
    (folder / "metrics.json").write_text(json.dumps(content))


def _state(tmp_path: Path, recipes: Path, row: Row = ROW) -> Any:
    (tmp_path / "runs").mkdir(exist_ok=True)
    return states([row], find_runs([tmp_path / "runs"]), recipes)[0]


def test_states_one_after_another(tmp_path: Path, recipes: Path) -> None:
    assert states([ROW], [], tmp_path / "nowhere")[0].state == "no recipe"
    assert _state(tmp_path, recipes).state == "not run"
    runs = tmp_path / "runs"
    _metrics(runs / "b", "b", "own", {"rouge_l": 0.25})
    found = _state(tmp_path, recipes)
    assert found.state == "run on other data"
    [result] = found.results
    assert result.figures == {"rouge_l": 25.0} and result.part is STAND_IN
    assert (result.size, result.seed, result.trained) == (40, 3, "weights 1,234, training 20 steps")
    _metrics(runs / "full", "a_full", "MARCO v2", {"nlg_rouge_l": 0.5}, when="2026-03-04")
    found = _state(tmp_path, recipes)
    assert found.state == "run in part"
    assert [result.part.label for result in found.results] == ["full", "own data"]
    _metrics(runs / "less", "a_less", "MARCO v2", {"nlg_rouge_l": 0.4})
    assert _state(tmp_path, recipes).state == "run"


def test_less_data_is_said(tmp_path: Path, recipes: Path) -> None:
    row = Row("m-t3", "M", "Table 3", "x", (FULL, STAND_IN), ("MARCO",), 41, ("rouge_l",))
    runs = tmp_path / "runs"
    _metrics(runs / "b", "b", "own", {"rouge_l": 0.25})
    _metrics(runs / "full", "a_full", "MARCO v2", {"nlg_rouge_l": 0.5})
    assert _state(tmp_path, recipes, row).state == "run on less data"
    almost = replace(row, size=40)
    assert _state(tmp_path, recipes, almost).state == "run"


def test_a_stand_in_is_one_on_other_data_only(tmp_path: Path, recipes: Path) -> None:
    row = replace(ROW, parts=(FULL, replace(FULL, label="the same", stand_in=True)))
    _metrics(tmp_path / "runs" / "x", "a_full", "MARCO", {"rouge_l": 0.5})
    _metrics(tmp_path / "runs" / "y", "a_full", "own", {"rouge_l": 0.4})
    found = _state(tmp_path, recipes, row).results
    assert {(result.part.label, result.dataset) for result in found} == {
        ("full", "MARCO"),
        ("the same", "own"),
    }


def test_what_does_not_count(tmp_path: Path, recipes: Path) -> None:
    runs = tmp_path / "runs"
    _metrics(runs / "1", "a_full", "other data", {"nlg_rouge_l": 0.5})  # not the paper's data
    _metrics(runs / "2", "a_full", "not MARCO", {"nlg_rouge_l": 0.5})
    _metrics(runs / "3", "a_full", "MARCO", {"map": 0.5})  # not the row's score
    _metrics(runs / "4", "someone", "MARCO", {"rouge_l": 0.5})  # not the row's system
    (runs / "5").mkdir()
    (runs / "5" / "metrics.json").write_text('{"training": {}}')  # of a reader, no report
    (runs / "6").mkdir()
    (runs / "6" / "metrics.json").write_text('{"syst')  # being written
    assert len(find_runs([runs])) == 4
    assert _state(tmp_path, recipes).state == "not run"


def test_a_picture_must_be_there_and_any_data_may_do(tmp_path: Path, recipes: Path) -> None:
    row = Row("m-f1", "M", "Figure 1", "weights", (FULL,), pictures=("weights.svg",))
    _metrics(tmp_path / "runs" / "x", "a_full", "own", {})
    assert _state(tmp_path, recipes, row).state == "not run"
    (tmp_path / "runs" / "x" / "weights.svg").write_text("<svg/>")
    assert _state(tmp_path, recipes, row).state == "run"


def test_commands_and_missing_recipes_are_said(tmp_path: Path, recipes: Path) -> None:
    lacking = Row(
        "m-t4", "M", "Table 4", "x", (FULL, Part("ensemble")), ("MARCO",), 0, ("rouge_l",)
    )
    found = _state(tmp_path, recipes)
    made = [command.replace(str(recipes), "recipes") for command in commands(found, recipes)]
    assert made == [
        "tfmrc train recipes/a/config.yaml",
        "tfmrc evaluate runs/a_full",
        "tfmrc train recipes/a/config.yaml --set name=a_less model.ranker=false",
        "tfmrc evaluate runs/a_less",
        "tfmrc train recipes/b/config.yaml",
        "tfmrc evaluate runs/b",
    ]
    assert commands(found, tmp_path / "nowhere") == []
    assert "no recipe yet: ensemble" in listing([_state(tmp_path, recipes, lacking)])


def test_figures_stand_beside_the_papers(tmp_path: Path, recipes: Path) -> None:
    _metrics(tmp_path / "runs" / "full", "a_full", "MARCO v2", {"nlg_rouge_l": 0.5})
    found = _state(tmp_path, recipes)
    text = listing([found])
    assert "full: MARCO v2, dev, 40 questions; weights 1,234, training 20 steps; seed 3" in text
    assert "2026-01-02 10:11" in text and "nlg_rouge_l 50.00 (69.77)" in text
    assert text.startswith("m-t3  M, Table 3  run in part ")
    assert text.endswith("1 rows: 1 run in part")
    page = markdown([found], recipes)
    assert "| M, Table 3 | ablations | run in part | full: MARCO v2," in page


def test_deviations_stand_behind_means(tmp_path: Path, recipes: Path) -> None:
    _metrics(tmp_path / "runs" / "full", "a_full", "MARCO v2", {"nlg_rouge_l": 0.5})
    path = tmp_path / "runs" / "full" / "metrics.json"
    path.write_text(path.read_text().replace('"size": 40', '"size": 40, "deviation": 0.0125'))
    found = _state(tmp_path, recipes)
    assert "nlg_rouge_l 50.00 ± 1.25 (69.77)" in listing([found])
    assert to_json(found)["results"][0]["deviations"] == {"nlg_rouge_l": 1.25}


def test_counts_are_no_percentages(tmp_path: Path, recipes: Path) -> None:
    part = Part("sizes", "sizes", recipe="a/config.yaml", paper={"train": 808731.0})
    row = Row("m-t1", "M", "Table 1", "sizes", (part,), scores=("train",))
    _metrics(tmp_path / "runs" / "x", "sizes", "any", {"train": 8050})
    path = tmp_path / "runs" / "x" / "metrics.json"
    path.write_text(path.read_text().replace('"size": 40', '"size": 40, "unit": "count"'))
    assert "train 8,050 (808,731)" in listing([_state(tmp_path, recipes, row)])


def test_every_row_of_the_papers_is_declared_once() -> None:
    rows = read_rows(ROWS)
    labels = {(row.paper, row.label) for row in rows}
    tables = {"Masque": 7, "SAN": 7, "QG": 4, "DAANET": 4}
    figures = {"Masque": (1, 4, 5), "SAN": (3, 4, 5), "QG": (4, 5), "DAANET": ()}
    wanted = {(paper, f"Table {n}") for paper, last in tables.items() for n in range(1, last + 1)}
    wanted |= {(paper, f"Figure {n}") for paper, some in figures.items() for n in some}
    assert labels == wanted and len(rows) == len(wanted) == 30


def test_what_is_evaluated_is_trained_before() -> None:
    for row in read_rows(ROWS):
        made = commands(states([row], find_runs([]), ROWS.parent)[0], ROWS.parent)
        kinds = [command.split()[1] for command in made if command.startswith("tfmrc ")]
        kinds = [kind for kind in kinds if kind in ("train", "evaluate")]
        assert not kinds or kinds[0] == "train", (row.id, made)


def test_every_recipe_that_is_named_is_there_and_has_the_name() -> None:
    for row in read_rows(ROWS):
        for part in row.parts:
            assert bool(part.run) == bool(part.recipe), (row.id, part.label)
            path = ROWS.parent / part.recipe
            if part.recipe:  # tests/recipes/test_recipes.py runs the parser on every command
                assert path.is_file(), (row.id, part.label)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {id: x, paper: M, label: T, shows: s, parts: [{lable: x}]}", "lable"),
        ("- {id: x, paper: M, label: T, parts: []}", "shows"),
        ("- {id: x, paper: M, label: T, shows: s, parts: [], data: {a: b}}", "data"),
        ("- {id: x\n", "rows.yaml"),
        ("- &a {id: x, paper: M, label: T, shows: s, parts: []}\n- *a", "id='x'"),
    ],
)
def test_wrong_rows_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "rows.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_rows(path)


def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs").mkdir()
    command = ["reproduction", "--rows", str(ROWS), "--runs", str(tmp_path / "runs")]
    page = tmp_path / "list.md"
    assert main([*command, "--markdown", str(page)]) == 0
    said = capsys.readouterr().out
    assert "Masque, Table 4" in said and "30 rows: " in said
    assert "## Commands" in page.read_text()
    assert main([*command, "--only", "masque-f4"]) == 0
    assert "\n  tfmrc train masque_msmarco\n" in capsys.readouterr().out
    assert main([*command, "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == 30
    assert all(row["state"] in ("no recipe", "not run") and not row["results"] for row in rows)
    assert main([*command, "--only", "masque-t99", "--only", "masque-f4"]) == 1
    assert "No such row" in capsys.readouterr().err
    assert main([*command, "--runs", str(tmp_path / "no")]) == 1, (
        "a second --runs adds to the first"
    )
    assert "No such folder" in capsys.readouterr().err


def test_the_measured_costs_of_a_row_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduction", "--runs", str(tmp_path), "--only", "san-t1"]) == 0
    said = capsys.readouterr().out
    assert "What a training took where it was measured:" in said
    assert "  san_squad/config.yaml: most runs 7 to 10 minutes on one of two cores of" in said
    assert main(["reproduction", "--runs", str(tmp_path), "--only", "masque-t2"]) == 0
    said = capsys.readouterr().out
    assert "  masque_msmarco/config.yaml: not measured" in said
    assert "  masque_demo/config.yaml: 4 minutes 40 seconds for the whole command" in said


def test_what_the_commands_of_a_row_need_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduction", "--runs", str(tmp_path), "--only"]
    assert main([*command, "san-t1"]) == 0
    said = capsys.readouterr().out
    data = "a data folder, `export TFMRC_DATA=FOLDER`, with squad/dev.json, squad/train.json"
    assert said.index(data) < said.index("tfmrc train san_squad")
    assert "a checkout of tfmrc" not in said
    assert main([*command, "masque-t1"]) == 0
    assert "a checkout of tfmrc as working folder" in capsys.readouterr().out
    assert main([*command, "masque-t7"]) == 0
    assert "narrativeqa/qaps.csv, narrativeqa/summaries.csv, " in capsys.readouterr().out


def test_word_vectors_are_among_the_needs(tmp_path: Path) -> None:
    recipe = tmp_path / "x.yaml"
    recipe.write_text(
        "{name: x, sources: [{format: squad, train: a.json}], model: {name: SAN}, vocabulary: "
        "{vectors: glove.txt}, contextual: {cove: cove.h5}}"
    )
    row = Row("x", "X", "Table 1", "all", (Part("x", "x", recipe="x.yaml"),))
    [line] = needs(states([row], [], tmp_path)[0], tmp_path)
    assert line.endswith("with a.json, cove.h5, glove.txt")


def test_trainings_are_named_as_the_command_finds_them_in_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside and inside a checkout the same short commands, which name the files of the rows."""
    rows = read_rows(ROWS)
    inside = [commands(state, ROWS.parent) for state in states(rows, [], ROWS.parent)]
    monkeypatch.chdir(tmp_path)
    assert [commands(state, ROWS.parent) for state in states(rows, [], ROWS.parent)] == inside
    trained = [line for lines in inside for line in lines if line.startswith("tfmrc train ")]
    assert len(trained) > 20 and not any(str(ROOT) in line for line in trained)
    assert all(find_recipe(line.split()[2]).is_relative_to(ROWS.parent) for line in trained)
    for row in rows:
        for part in row.parts:
            if part.recipe.endswith(".yaml") and not part.commands:
                name = part.command_lines(ROWS.parent)[0].split()[2]
                assert find_recipe(name) == ROWS.parent / part.recipe


def test_the_needs_of_every_row_can_be_read() -> None:
    for state in states(read_rows(ROWS), []):
        needs(state, ROWS.parent)


def test_every_cost_is_one_of_its_recipes_page() -> None:
    folder = ROWS.parent
    costs = yaml.safe_load((folder / "costs.yaml").read_text("utf-8"))
    for name, cost in costs.items():
        assert (folder / name).is_file()
        page = (folder / name).parent.joinpath("README.md").read_text("utf-8")
        numbers = re.findall(r"\d[\d.]*", cost)
        assert numbers and set(numbers) <= set(re.findall(r"\d+(?:\.\d+)?", page)), name

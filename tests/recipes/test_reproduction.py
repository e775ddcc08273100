"""The list of tables and figures: states from the runs that lie there, nothing invented."""

import json
from pathlib import Path
from typing import Any

import pytest

from recipes.reproduction.main import (
    RECIPES,
    Part,
    Table,
    commands,
    find_runs,
    main,
    read_tables,
    state_of,
)
from tfmrc.experiments.recipes import find_recipe

FULL = Part("full", "a_full", recipe="a/config.yaml", paper={"nlg_rouge_l": 69.77})
ABLATION = Part("ablation", "a_less", recipe="a/config.yaml", flags="model.ranker=false")
STAND_IN = Part("own data", "b", recipe="b/config.yaml", stand_in=True)
TABLE = Table(
    "m-t3", "M", "Table 3", "ablations", (FULL, ABLATION, STAND_IN), ("MARCO",), 0, ("rouge_l",)
)


@pytest.fixture
def recipes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "recipes" / name).mkdir(parents=True)
        (tmp_path / "recipes" / name / "config.yaml").write_text("name: x")
    return tmp_path / "recipes"


def _metrics(folder, system, dataset, scores, when="2026-01-02"):
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


def _state(tmp_path: Path, recipes: Path, table: Table = TABLE) -> Any:
    return state_of(table, find_runs([tmp_path / "runs"]), recipes)


def test_states_one_after_another(tmp_path, recipes):
    assert state_of(TABLE, [], tmp_path / "nowhere").state == "no recipe"
    assert _state(tmp_path, recipes).state == "not run"
    runs = tmp_path / "runs"
    _metrics(runs / "b", "b", "own", {"rouge_l": 0.25})
    found = _state(tmp_path, recipes)
    assert found.state == "run on other data"
    [result] = found.results
    assert result.figures == {"rouge_l": 25.0} and result.part is STAND_IN
    _metrics(runs / "full", "a_full", "MARCO v2", {"nlg_rouge_l": 0.5}, when="2026-03-04")
    found = _state(tmp_path, recipes)
    assert found.state == "run in part"
    assert [result.part.label for result in found.results] == ["full", "own data"]
    _metrics(runs / "less", "a_less", "MARCO v2", {"nlg_rouge_l": 0.4})
    assert _state(tmp_path, recipes).state == "run"


def test_every_table_of_the_papers_is_declared_once():
    tables = read_tables()
    labels = {(table.paper, table.label) for table in tables}
    numbers = {"Masque": 7, "SAN": 7, "QG": 4, "DAANET": 4}
    figures = {"Masque": (1, 4, 5), "SAN": (3, 4, 5), "QG": (4, 5), "DAANET": ()}
    wanted = {(paper, f"Table {n}") for paper, last in numbers.items() for n in range(1, last + 1)}
    wanted |= {(paper, f"Figure {n}") for paper, some in figures.items() for n in some}
    assert labels == wanted and len(tables) == len(wanted) == 30


def test_every_command_names_a_recipe_that_is_there():
    for table in read_tables():
        lines = commands(table)
        kinds = [line.split()[1] for line in lines if line.startswith("tfmrc ")]
        assert not kinds or kinds[0] == "train", (table.id, lines)
        for line in lines:
            if line.startswith("tfmrc train "):  # the same short command in every folder
                assert str(RECIPES.parent) not in line
                assert find_recipe(line.split()[2]).is_relative_to(RECIPES)
        for part in table.parts:
            assert bool(part.run) == bool(part.recipe), (table.id, part.label)
            assert not part.recipe or (RECIPES / part.recipe).is_file(), (table.id, part.label)


def test_by_command(tmp_path, capsys):
    page = tmp_path / "list.md"
    assert main([str(tmp_path), "--markdown", str(page)]) == 0
    shown = capsys.readouterr().out
    assert "Masque, Table 4" in shown and "30 tables: " in shown
    assert "## Commands" in page.read_text()
    assert main([str(tmp_path), "--only", "masque-f4", "san-t1"]) == 0
    shown = capsys.readouterr().out
    assert "\n  tfmrc train masque_msmarco\n" in shown
    assert "\n  tfmrc evaluate runs/san_squad\n" in shown
    with pytest.raises(SystemExit):
        main(["--only", "masque-t99"])
    assert "no such tables: masque-t99" in capsys.readouterr().err

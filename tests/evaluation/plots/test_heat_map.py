"""Heat maps: the files, the words on both sides, and the values behind the colours."""

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tfmrc.evaluation import plot_heat_map
from tfmrc.evaluation.commands.command_line import main

WORDS = ["the", "$5", "mill_"]


def test_words_stand_on_both_sides(tmp_path: Path) -> None:
    png, svg = plot_heat_map(np.eye(3), WORDS, tmp_path / "map.png", title="From $5 to")
    assert png.read_bytes().startswith(b"\x89PNG")
    drawing = svg.read_text()
    assert all(drawing.count(f"<!-- {word} -->") == 2 for word in WORDS)
    assert "<!-- From $5 to -->" in drawing


def test_a_greater_weight_is_darker(tmp_path: Path) -> None:
    """The mean brightness falls as more weights are large; other columns than rows are drawn."""
    light, _ = plot_heat_map([[1, 0, 0, 0]], ["x"], tmp_path / "a", columns=list("abcd"))
    dark, _ = plot_heat_map([[1, 1, 1, 0]], ["x"], tmp_path / "b", columns=list("abcd"))
    assert imread(dark).mean() < imread(light).mean()


def test_the_same_map_has_the_same_bytes(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in plot_heat_map(np.eye(3), WORDS, tmp_path / "a")]
    assert [p.read_bytes() for p in plot_heat_map(np.eye(3), WORDS, tmp_path / "b")] == first


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[1, 0]], r"shape \(1, 2\) for 3 rows and 3 columns"),
        ([[1, 0, 0], [0, -0.5, 0], [0, 0, 1]], r"weights\[1\]\[1\]=-0.5"),
        ([[1, 0, 0], [0, 0, float("nan")], [0, 0, 1]], r"weights\[1\]\[2\]=nan"),
        ([[1, 0, 0], [0], [0, 0, 1]], "rows of numbers, each of the same length"),
        ([[1, 0, 0], [0, "x", 0], [0, 0, 1]], "rows of numbers, each of the same length"),
    ],
)
def test_wrong_weights_are_named(tmp_path: Path, weights: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot_heat_map(weights, WORDS, tmp_path / "map")


def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    maps = [
        {"id": "a", "rows": ["x"], "weights": [[1]]},
        {"id": "b", "rows": ["x"], "columns": ["y", "z"], "weights": [[0.5, 0.5]]},
    ]
    path = tmp_path / "maps.jsonl"
    path.write_text("\n".join(map(json.dumps, maps)))
    command = ["heatmap", "--input", str(path), "--output", str(tmp_path / "map")]
    assert main([*command, "--id", "b"]) == 0
    drawing = (tmp_path / "map.svg").read_text()
    assert "<!-- y -->" in drawing and "<!-- z -->" in drawing
    assert main([*command, "--id", "c"]) == 2
    assert "no such line" in capsys.readouterr().err
    path.write_text('["x"]')
    assert main(command) == 2
    assert "no such line" in capsys.readouterr().err
    path.write_text('{"id": "a", "rows": ["x"]}')
    assert main(command) == 2
    assert "fields ['id', 'rows']" in capsys.readouterr().err

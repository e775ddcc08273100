"""Heat maps: the files, the words on both sides, and the values behind the colours."""

import numpy as np
from matplotlib.image import imread

from tfmrc.evaluation import plot_heat_map

WORDS = ["the", "$5", "mill_"]


def test_words_stand_on_both_sides(tmp_path):
    png, svg = plot_heat_map(np.eye(3), WORDS, tmp_path / "map.png", title="From $5 to")
    assert png.read_bytes().startswith(b"\x89PNG")
    drawing = svg.read_text()
    assert all(drawing.count(f"<!-- {word} -->") == 2 for word in WORDS)
    assert "<!-- From $5 to -->" in drawing


def test_a_greater_weight_is_darker(tmp_path):
    """The mean brightness falls as more weights are large; other columns than rows are drawn."""
    light, _ = plot_heat_map([[1, 0, 0, 0]], ["x"], tmp_path / "a", columns=list("abcd"))
    dark, _ = plot_heat_map([[1, 1, 1, 0]], ["x"], tmp_path / "b", columns=list("abcd"))
    assert imread(dark).mean() < imread(light).mean()

"""Draws the rooms of the package and their imports: docs/images/rooms.png.

    python tools/rooms.py

An arrow leads to each room that another one imports, as grimp finds it in the code; those that
other arrows imply are left out, and so is `utils`, which all rooms import.
"""

from pathlib import Path

import grimp
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "cli": (1.0, 8.0),
    "integrations": (2.6, 8.0),
    "experiments": (1.0, 7.0),
    "serving": (3.4, 6.6),
    "testing": (4.0, 5.4),
    "documents": (2.3, 6.75),
    "predictors": (2.3, 5.6),
    "storage": (3.0, 4.8),
    "evaluation": (-0.3, 4.6),
    "preprocessing": (1.1, 4.6),
    "training": (2.1, 4.5),
    "models": (2.8, 3.6),
    "data": (-0.1, 2.8),
    "encoders": (1.8, 2.7),
    "text": (0.8, 1.8),
    "layers": (2.2, 1.7),
    "losses": (3.1, 1.7),
    "decoding": (4.0, 1.7),
    "ops": (2.2, 0.8),
}


def imports() -> set[tuple[str, str]]:
    """Returns the pairs of rooms of which the first one imports the second."""
    graph = grimp.build_graph("tfmrc", exclude_type_checking_imports=True)
    rooms = {
        tuple(module.split(".")[1] for module in (importer, imported))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if importer.count(".") and imported.count(".")
    }
    return {(a, b) for a, b in rooms if a != b and {a, b} <= set(PLACES)}


def drawn(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Returns the pairs that no path of two or more others implies."""
    reach = set(pairs)
    while True:
        longer = {(a, d) for a, b in reach for c, d in pairs if b == c} - reach
        if not longer:
            break
        reach |= longer
    return {
        (a, b) for a, b in pairs if not any((a, c) in pairs and (c, b) in reach for c in PLACES)
    }


def main() -> None:
    figure, axes = plt.subplots(figsize=(8, 8))
    for room, other in sorted(drawn(imports())):
        arrow = {"arrowstyle": "->", "color": "0.5", "shrinkA": 13, "shrinkB": 13}
        axes.annotate("", xy=PLACES[other], xytext=PLACES[room], arrowprops=arrow)
    for room, place in PLACES.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "0.2"}
        axes.text(*place, room, ha="center", va="center", fontsize=11, bbox=box)
    axes.set_xlim(-0.8, 4.5)
    axes.set_ylim(0.4, 8.4)
    axes.axis("off")
    figure.savefig(ROOT / "docs" / "images" / "rooms.png", dpi=100, bbox_inches="tight")


if __name__ == "__main__":
    main()

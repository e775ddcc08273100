"""Draws the models from their graphs: docs/images/SAN.svg and so on.

    python tools/model_pictures.py

A box is a call of a layer, with the layer's name in the model, which is the paper's. An arrow leads
to each call that reads its output, through the operations between them.
"""

from pathlib import Path

import keras
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from tfmrc import models

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZES = {"vocabulary_size": 20}
MODELS = {
    "SAN": models.SAN.from_preset("san_demo", **SIZES),
    "Masque": models.Masque.from_preset("masque_demo", **SIZES, num_styles=2, num_passages=2),
    "DAANet": models.DAANet.from_preset("daanet_demo", **SIZES),
    "MaxoutPointerQG": models.MaxoutPointerQG.from_preset("maxout_pointer_qg_demo", **SIZES),
}


def arrows(model: keras.Model) -> set[tuple[str, str]]:
    """Returns the pairs of layers of which the second one reads the first one."""
    shown = {id(layer) for layer in model.layers if type(layer).__module__.startswith("tfmrc.")}
    found, seen = set(), set()

    def visit(tensor, reader: str) -> None:
        operation, index, _ = tensor._keras_history
        is_shown = id(operation) in shown or isinstance(operation, keras.layers.InputLayer)
        if is_shown:
            call = f"{operation.name}#{index}"
            found.add((call, reader))
            reader = call
        if (id(operation), index, reader) not in seen:
            seen.add((id(operation), index, reader))
            for source in operation._inbound_nodes[index].input_tensors:
                visit(source, reader)

    for name, tensor in model.output.items():
        visit(tensor, f"({name})")
    return found


def without_masks(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Returns the pairs without those of inputs that other arrows imply: most of them are masks."""
    inputs = {source for source, _ in pairs} - {reader for _, reader in pairs}
    below: dict[str, set[str]] = {}

    def reached(call: str) -> set[str]:
        if call not in below:
            readers = {reader for source, reader in pairs if source == call}
            below[call] = readers.union(*map(reached, readers))
        return below[call]

    implied = {(a, c) for a, b in pairs if a in inputs for c in reached(b)}
    return pairs - implied


def rows(pairs: set[tuple[str, str]]) -> dict[str, int]:
    """Returns the row of each call: as low as what reads it allows."""
    row = {call: 0 for pair in pairs for call in pair}
    for _ in row:
        for source, reader in pairs:
            row[source] = min(row[source], row[reader] - 1)
    return row


def draw(name: str, pairs: set[tuple[str, str]]) -> None:
    """Writes the picture of a model with these pairs of calls."""
    row = rows(pairs)
    places: dict[str, tuple[float, float]] = {}
    for depth in sorted(set(row.values())):
        calls = sorted(call for call, its in row.items() if its == depth)
        above = {c: [places[a][0] for a, b in pairs if b == c and a in places] for c in calls}
        calls.sort(key=lambda call: sum(above[call]) / max(len(above[call]), 1))
        for i, call in enumerate(calls):
            places[call] = (i - (len(calls) - 1) / 2, -depth)
    side, top = max(x for x, _ in places.values()) + 0.5, min(row.values())
    figure, axes = plt.subplots(figsize=(4 * side, 0.75 * (1 - top)))
    for source, reader in sorted(pairs):
        curve = "arc3" if row[reader] == row[source] + 1 else "arc3,rad=0.15"
        arrow = {"arrowstyle": "->", "color": "0.6", "shrinkA": 9, "shrinkB": 9}
        arrow["connectionstyle"] = curve
        axes.annotate("", places[reader], places[source], arrowprops=arrow)
    for call, (x, y) in places.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "tab:blue"}
        label = call.partition("#")[0].replace("_", " ")
        axes.text(x, y, label, ha="center", va="center", size=9, bbox=box)
    axes.set_xlim(-side, side)
    axes.set_ylim(-0.5, 0.5 - top)
    axes.set_axis_off()
    figure.savefig(IMAGES / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    for name, model in MODELS.items():
        draw(name, without_masks(arrows(model)))

"""The self-attention of a passage's words as a picture: Figure 5 of Zhao et al. 2018.

    python -m recipes.maxout_pointer_qg_squad.self_attention ASKER --passage TEXT --answer TEXT

ASKER is the folder of a trained predictor, `predictor` in a variant's folder of the runs. Rows look at
columns, the darker the more; the answer stands in bold.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.evaluation.plots.figures import save_figure
from tfmrc.experiments import command


def plot_self_attention(
    predictor: Any, passage: str, answer: str, path: Path, answer_start: int = -1
) -> list[Path]:
    """Draws it.

    Args:
        predictor: a `tfmrc.predictors.MaxoutPointerQGPredictor` whose model has self-attention.
        passage: the passage; what the predictor reads of it is drawn.
        answer: a part of it.
        path: the picture's name without ending.
        answer_start: the answer's first character; -1 for its first occurrence.

    Returns:
        The files.
    """
    import matplotlib.pyplot as plt

    source = predictor.preprocessor.source([passage], [answer], [answer_start])
    weights = np.array(predictor.model.self_attention_weights(source))[0]
    words = [word.decode() for word in source["words"][0].numpy()]
    figure, panel = plt.subplots(figsize=(0.16 * len(words) + 2, 0.16 * len(words) + 2))
    panel.imshow(weights, cmap="Greys")
    panel.set_xticks(range(len(words)), words, rotation=90, fontsize=6)
    panel.set_yticks(range(len(words)), words, fontsize=6)
    for place, tag in enumerate(source["answer_tags"][0].numpy()):
        if tag:
            panel.get_xticklabels()[place].set_weight("bold")
            panel.get_yticklabels()[place].set_weight("bold")
    return save_figure(figure, path, title="")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; 0, or 1 where it cannot be done (the words say why)."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("predictor", type=Path, help="folder of a trained predictor")
    parser.add_argument("--passage", required=True)
    parser.add_argument("--answer", required=True, help="a part of the passage")
    parser.add_argument("--to", type=Path, default=Path("self_attention"), help="without ending")
    chosen = parser.parse_args(arguments)
    return command.status(lambda: _draw(chosen))


def _draw(chosen: argparse.Namespace) -> None:
    from tfmrc.predictors import MaxoutPointerQGPredictor

    predictor = MaxoutPointerQGPredictor.load(chosen.predictor)
    if not predictor.model.get_config()["self_attention"]:
        raise ValueError(f"This predictor has no self-attention. Received: {chosen.predictor}")
    if chosen.answer not in chosen.passage:
        raise ValueError(f"The answer does not stand in the passage. Received: {chosen.answer!r}")
    for path in plot_self_attention(predictor, chosen.passage, chosen.answer, chosen.to):
        print(path)


if __name__ == "__main__":
    sys.exit(main())

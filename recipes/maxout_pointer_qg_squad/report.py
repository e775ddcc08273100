"""The recipe's table and pictures."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from recipes.maxout_pointer_qg_squad.settings import Settings
from tfmrc import data, evaluation
from tfmrc.evaluation.figures import save_figure
from tfmrc.serving import Asker

# The paper's Table 1 (Split1): BLEU-1 to BLEU-4, METEOR, ROUGE-L.
PAPER = {
    "sentence": {
        "s2s": (30.41, 12.68, 6.33, 3.44, 11.98, 29.93),
        "s2s-a": (34.46, 18.07, 11.20, 7.42, 14.95, 34.69),
        "s2s-a-at": (40.57, 24.30, 16.40, 11.54, 18.35, 40.76),
        "s2s-a-at-cp": (42.15, 26.28, 18.35, 13.37, 18.02, 41.97),
        "s2s-a-at-mp": (43.65, 28.23, 20.33, 15.23, 19.19, 43.60),
        "s2s-a-at-mp-gsa": (43.47, 28.23, 20.40, 15.32, 19.29, 43.91),
    },
    "paragraph": {
        "s2s": (28.49, 10.43, 4.70, 2.38, 10.69, 27.32),
        "s2s-a": (31.26, 14.37, 8.02, 4.80, 12.52, 30.11),
        "s2s-a-at": (40.56, 24.23, 16.33, 11.46, 18.42, 40.40),
        "s2s-a-at-cp": (41.66, 25.52, 17.48, 12.43, 17.76, 41.30),
        "s2s-a-at-mp": (44.22, 28.56, 20.57, 15.43, 19.55, 43.65),
        "s2s-a-at-mp-gsa": (45.07, 29.58, 21.60, 16.38, 20.25, 44.48),
    },
}
NAMES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l")
LABELS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L")


def write(settings: Settings, folder: Path, examples: list[data.Example]) -> str:
    """Writes `report.md` and the picture of duplication rates from what the runs left.

    Args:
        settings: what was run.
        folder: of all runs.
        examples: the test set, whose own questions' duplication rate is reported.

    Returns:
        The report.
    """
    own = evaluation.score_duplication({e.id: e.question for e in examples})
    lines = [
        f"# {settings.name}",
        "",
        f"{settings.split}, test set {settings.test}, {len(examples)} questions, each scored "
        "against its own question; BLEU, METEOR and ROUGE-L of lower-cased words "
        f'(rules "plain"), seed {settings.seed}. In brackets the paper\'s Table 1 (Split1 of the '
        "whole SQuAD, beam 10). Duplication: words said again over all words; of the people's "
        f"questions {_percent(own['duplication_rate'].value)}.",
        "",
        "| context | variant | search | " + " | ".join(LABELS) + " | duplication |",
        "| --- | --- | --- |" + " --- |" * (len(LABELS) + 1),
    ]
    rates: dict[str, dict[str, float]] = {}
    for context in settings.contexts:
        for variant in settings.variants:
            for path in sorted((folder / f"{variant}-{context}").glob("metrics-beam-*.json")):
                beams = int(path.stem.rsplit("-", 1)[1])
                scores = json.loads(path.read_text(encoding="utf-8"))["scores"]
                paper: Any = PAPER[context][variant] if beams > 1 else [None] * len(NAMES)
                cells = [
                    _percent(scores.get(name)) + (f" ({figure})" if figure else "")
                    for name, figure in zip(NAMES, paper, strict=True)
                ]
                search = f"beam {beams}" if beams > 1 else "greedy"
                rate = scores["duplication_rate"]
                row = [context, variant, search, *cells, _percent(rate)]
                lines.append(f"| {' | '.join(row)} |")
                if beams > 1 and rate is not None:
                    rates.setdefault(context, {})[variant] = rate
    text = "\n".join(lines) + "\n"
    (folder / "report.md").write_text(text, encoding="utf-8")
    if rates:
        evaluation.plot_scores(rates, folder / "duplication", label="word duplication rate (%)")
    return text


def plot_self_attention(asker: Asker, example: data.Example, path: Path) -> list[Path]:
    """The self-attention of a passage's words as a picture: the paper's Figure 5."""
    import matplotlib.pyplot as plt

    answer, start = example.answers["span"][0], example.spans[0].start
    source = asker.features.source([example.passages[0]], [answer], [start])
    weights = np.array(asker.model.self_attention_weights(source))[0]
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


def _percent(value: float | None) -> str:
    return "not computed" if value is None else f"{100 * value:.2f}"

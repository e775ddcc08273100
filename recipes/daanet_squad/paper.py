"""The paper's own figures: Table 2 of every dataset, Table 3 of SQuAD."""

_NAMES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "meteor")
_SHORT = ("bleu_1", "bleu_4", "rouge_l", "meteor")  # Table 3 has these alone

TITLES = {
    "daanet": "DAANET",
    "mono": "mono",
    "s2s": "s2s",
    "no_lstm": "no LSTM",
    "no_self_attention": "no self-attention",
    "no_context_attention": "no context-* attention",
    "no_copy": "no copying",
    "unshared_encoders": "unshared question and answer encoders",
    "unshared_context_encoder": "unshared context encoders",
    "unshared_output": "unshared output projection",
}

# Of each system the six figures of answers, then the six of questions.
_TABLE_2 = {
    "SQuAD": {
        "daanet": "37.28 32.66 29.31 26.38 43.85 23.21 33.95 18.99 12.35 8.71 35.58 14.18",
        "mono": "29.62 25.37 22.23 19.56 37.38 19.73 31.28 16.23 9.92 6.64 33.32 12.52",
        "s2s": "15.47 11.44 8.74 6.75 24.21 8.95 28.73 13.05 6.73 3.74 30.92 11.41",
    },
    "MS MARCO": {
        "daanet": "44.98 38.09 34.83 32.82 44.25 22.60 58.45 45.65 35.98 28.79 57.90 29.52",
        "mono": "41.20 34.70 31.62 29.70 42.23 22.28 59.04 46.14 37.47 29.18 58.19 29.78",
        "s2s": "29.41 22.84 19.66 17.67 32.75 15.33 53.20 40.01 30.31 22.86 53.57 25.73",
    },
    "TriviaQA": {
        "daanet": "62.13 59.40 53.41 40.93 61.97 38.80 45.61 33.25 26.60 22.32 45.31 21.35",
        "mono": "48.47 45.13 39.68 29.10 47.89 29.64 43.26 29.91 22.81 18.33 42.69 19.67",
        "s2s": "50.14 45.07 32.88 19.18 51.87 31.38 31.93 17.43 10.45 6.72 32.81 13.43",
    },
    "WikiQA": {
        "daanet": "37.31 31.76 29.74 28.61 37.32 19.50 14.13 7.67 2.89 1.71 18.86 5.71",
        "mono": "36.47 30.89 28.78 27.56 35.50 18.90 13.49 7.28 0.00 0.00 19.61 5.71",
        "s2s": "7.49 2.82 1.21 0.56 10.74 3.47 11.06 6.37 0.00 0.00 18.45 4.27",
    },
}
_TABLE_3 = {
    "no_lstm": "20.80 11.22 30.84 14.84 31.60 6.30 32.75 12.38",
    "no_self_attention": "33.24 22.69 39.90 21.31 33.56 8.14 34.10 13.65",
    "no_context_attention": "4.96 0.38 4.61 1.81 25.74 2.05 26.99 8.47",
    "no_copy": "8.24 0.94 11.23 3.99 26.32 2.22 27.29 8.83",
    "unshared_encoders": "29.82 19.43 37.75 19.47 33.23 8.51 35.26 13.86",
    "unshared_context_encoder": "22.90 13.45 29.33 14.67 33.37 8.17 34.94 13.75",
    "unshared_output": "32.64 21.46 40.37 20.77 33.71 8.15 34.77 13.85",
}


def paper_figures(dataset: str) -> dict[str, dict[str, float]]:
    """The figures of a dataset by row and by our names of the scores; empty for another dataset.

    Example:

    >>> paper_figures("SQuAD")["mono"]["qg_bleu_4"]
    6.64
    """
    rows = {row: _figures(line, _NAMES) for row, line in _TABLE_2.get(dataset, {}).items()}
    if dataset == "SQuAD":
        rows |= {row: _figures(line, _SHORT) for row, line in _TABLE_3.items()}
    return rows


def _figures(line: str, names: tuple[str, ...]) -> dict[str, float]:
    keys = [f"{prefix}_{name}" for prefix in ("qa", "qg") for name in names]
    return dict(zip(keys, map(float, line.split()), strict=True))

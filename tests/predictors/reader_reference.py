"""Spans of an extractive reader in plain Python and float64, without any window logic of tfmrc."""

import math
from collections import defaultdict


def best_answers(windows, count, max_length, align=True):
    """The best spans of one question.

    Args:
        windows: list of dict, one per window: `passage`, and per subword `begin`, `end` (scores),
            `span` (characters, None outside the passage) and `word` (characters of the whole word).
            The first subword is [CLS].

    Returns:
        `[(probability, passage, start, end)]`, and the probability of "no answer".
    """
    real = [w for w in windows if any(w["span"])] or windows
    none = min(real, key=lambda w: w["begin"][0] + w["end"][0])
    total = {}
    for name in ("begin", "end"):
        scores = [s for w in windows for s, c in zip(w[name], w["span"], strict=True) if c]
        total[name] = math.log(sum(map(math.exp, [*scores, none[name][0]])))
    answers = {}
    for window in windows:
        own = defaultdict(float)
        inside = [i for i, characters in enumerate(window["span"]) if characters]
        for i in inside:
            for j in inside:
                if i <= j < i + max_length:
                    units = window["word"] if align else window["span"]
                    key = (window["passage"], units[i][0], units[j][1])
                    score = window["begin"][i] - total["begin"] + window["end"][j] - total["end"]
                    own[key] += math.exp(score)
        for key, probability in own.items():
            answers[key] = max(probability, answers.get(key, 0.0))
    ranked = sorted(((p, *key) for key, p in answers.items()), reverse=True)[:count]
    p_none = math.exp(none["begin"][0] - total["begin"] + none["end"][0] - total["end"])
    return ranked, p_none

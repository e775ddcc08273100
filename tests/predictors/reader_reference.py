"""Spans of an extractive reader in plain Python and float64, without any window logic of tfmrc."""

import math
from collections import defaultdict

MARKS = " .,;:!?'\"()"


def comparable(text):
    text = " ".join(text.lower().split())
    return text.strip(MARKS) or text


def best_answers(windows, passages, count, max_length, align=True):
    """The best spans of one question.

    Args:
        windows: list of dict, one per window: `passage`, and per subword `begin`, `end` (scores),
            `span` (characters, None outside the passage) and `word` (characters of the whole word).
            The first subword is [CLS].
        passages: list of str.

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
    # The best place of a text in each passage counts, and passages add up.
    places = defaultdict(dict)
    for probability, passage, start, end in sorted((p, *key) for key, p in answers.items()):
        places[comparable(passages[passage][start:end])][passage] = (
            probability,
            passage,
            start,
            end,
        )
    ranked = sorted(
        (
            (sum(place[0] for place in own.values()), *max(own.values())[1:])
            for own in places.values()
        ),
        reverse=True,
    )[:count]
    p_none = math.exp(none["begin"][0] - total["begin"] + none["end"][0] - total["end"])
    return ranked, p_none

"""Generated words coloured by their source as an HTML page (Masque's Figure 1)."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfmrc.evaluation.plots.style import COLOURS

SOURCES = ("vocabulary", "question", "passage")
SOURCE_COLOURS = dict(zip(SOURCES, COLOURS, strict=False))

_STYLE = """
body{font:16px/1.6 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
h1{font-size:1.2rem} h2{font-size:1rem;margin:1.4rem 0 .3rem}
.word{display:inline-block;margin:.15rem .1rem;text-align:center;vertical-align:top}
.word>b{display:block;font-weight:500;padding:.1rem .35rem;border-radius:.3rem .3rem 0 0}
.bar{display:flex;height:.35rem;border-radius:0 0 .3rem .3rem;overflow:hidden}
.bar i{display:block;height:100%}
mark{color:inherit;border-radius:.2rem;padding:0 .1rem}
.key span{padding:.1rem .5rem;border-radius:.3rem;margin-right:.6rem}
.passage{border-left:.25rem solid #ccc;padding-left:.7rem;margin:.5rem 0}
.note{color:#666;font-size:.85rem}
"""


def attribution_html(
    provenance: Sequence[Mapping[str, Any]],
    *,
    question: str = "",
    passages: Sequence[str] = (),
    relevance: Sequence[float] | None = None,
    title: str = "Where the answer's words came from",
    note: str = "",
) -> str:
    """Returns a self-contained HTML page, without scripts and without external resources.

    Each word has the colour of its source, stronger for a higher weight, and a bar of the three
    weights below it. Copied words are marked in the question and the passages.

    Args:
        provenance: list of dict, the `provenance` of a prediction or the `words` of an answer. For
            each word `word` (or `text`), `source` (`"vocabulary"`, `"question"` or `"passage"`),
            `mixture` (the weights of these three), and `passage`, `start`, `end` if known.
        question: str. Text of the question, shown if given. Default: "".
        passages: list of str. Texts of the passages, shown if given. Default: ().
        relevance: list of float or None. One number per passage, shown if given. Default: None.
        title: str. Heading of the page. Default: "Where the answer's words came from".
        note: str. A line under the heading (model, checkpoint). Default: "".

    Example:

    >>> from tfmrc.evaluation import attribution_html
    >>> words = [{"word": "Ode", "source": "passage", "mixture": [0, 0, 1]}]
    >>> page = attribution_html(words)
    >>> "Ode" in page and "<script" not in page
    True
    """
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>',
        f"<style>{_STYLE}</style></head><body><h1>{html.escape(title)}</h1>",
    ]
    parts += [f'<p class="note">{html.escape(note)}</p>'] if note else []
    key = "".join(f'<span style="background:{_tint(s, 0.55)}">{s}</span>' for s in SOURCES)
    parts += [f'<p class="key">{key}</p>', "<h2>Answer</h2><p>", *map(_chip, provenance), "</p>"]
    if question:
        inside = [word for word in provenance if word["source"] == "question"]
        parts += ["<h2>Question</h2>", f"<p>{_marked(question, inside)}</p>"]
    for number, passage in enumerate(passages):
        copied = [word for word in provenance if word["source"] == "passage"]
        inside = [word for word in copied if word.get("passage") == number]
        about = "" if relevance is None else f" (relevance {relevance[number]:.3f})"
        parts.append(f"<h2>Passage {number + 1}{about}</h2>")
        parts.append(f'<p class="passage">{_marked(passage, inside)}</p>')
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _tint(source: str, strength: float) -> str:
    value = SOURCE_COLOURS[source].lstrip("#")
    red, green, blue = (int(value[index : index + 2], 16) for index in (0, 2, 4))
    return f"rgba({red},{green},{blue},{max(0.0, min(1.0, strength)):.3f})"


def _chip(word: Mapping[str, Any]) -> str:
    """Returns a word with its weights as a bar, and with them and its position as a tooltip."""
    source, weights, passage = word["source"], word["mixture"], word.get("passage")
    strength = 0.15 + 0.6 * weights[SOURCES.index(source)]
    numbers = ", ".join(f"{s} {w:.3f}" for s, w in zip(SOURCES, weights, strict=True))
    place = source if passage is None else f"{source} {passage + 1}"
    if word.get("start") is not None:
        place += f", characters {word['start']}-{word['end']}"
    bar = "".join(
        f'<i style="width:{100 * weight:.1f}%;background:{SOURCE_COLOURS[source]}"></i>'
        for source, weight in zip(SOURCES, weights, strict=True)
    )
    text = html.escape(word["word"] if "word" in word else word["text"])
    return (
        f'<span class="word" title="{place} ({numbers})">'
        f'<b style="background:{_tint(source, strength)}">{text}</b>'
        f'<span class="bar">{bar}</span></span>'
    )


def _marked(text: str, words: Sequence[Mapping[str, Any]]) -> str:
    """Returns the text with its copied spans marked (once, if several words share a span)."""
    source = words[0]["source"] if words else SOURCES[0]
    inside = np.zeros(len(text) + 1, bool)
    for word in words:
        if word.get("start") is not None:
            inside[word["start"] : min(word["end"], len(text))] = True
    edges = [0, *(np.flatnonzero(inside[1:] != inside[:-1]) + 1).tolist(), len(text)]
    parts = []
    for start, end in zip(edges, edges[1:], strict=False):
        piece = html.escape(text[start:end])
        if piece and inside[start]:
            piece = f'<mark style="background:{_tint(source, 0.45)}">{piece}</mark>'
        parts.append(piece)
    return "".join(parts)

"""Results as HTML, for notebooks."""

import html
from collections.abc import Sequence
from typing import Any

__all__ = ["result_html"]

#: Colours of the sources; with this opacity they are readable on light and dark pages.
COLOURS = {
    "vocabulary": "rgba(214,127,30,0.35)",
    "question": "rgba(137,94,196,0.35)",
    "passage": "rgba(30,150,140,0.35)",
}


def result_html(result: Any, headline: str, rows: Sequence[tuple[str, str]]) -> str:
    """Returns a result as a piece of HTML without scripts and without external resources.

    Args:
        result: `Result`. The result.
        headline: str. The text of the result, as HTML.
        rows: list of pairs. Names and values of further facts, as HTML.

    Example:

    >>> from tfmrc.predictors import Result
    >>> "1 &lt; 2" in Result("1 < 2")._repr_html_()
    True
    """
    facts = list(rows)
    if result.probability is not None:
        facts.append(("probability", number(result.probability)))
    facts += [
        ("or", html.escape(f"{other.text or '(no words)'}{other.in_brackets()}"))
        for other in result.alternatives
    ]
    if result.truncated:
        facts.append(("note", "the input was longer than the model reads and was cut"))
    if not result.finished:
        facts.append(("note", "the text was cut at the greatest length"))
    table = "".join(
        f'<tr><td style="text-align:left;opacity:0.7">{name}</td>'
        f'<td style="text-align:left">{value}</td></tr>'
        for name, value in facts
    )
    body = f"<table>{table}</table>" if table else ""
    return f'<div><p style="font-size:1.2em">{headline}</p>{body}</div>'


def number(value: float) -> str:
    """Returns a number with three digits."""
    return f"{value:.3g}"


def words_html(words: Sequence[Any]) -> str:
    """Returns the words of an answer, each in the colour of its source.

    Hovering a word shows its position and the weights of vocabulary, question and passages.

    Args:
        words: list of `Word`. The words.
    """
    parts = []
    for word in words:
        position = word.source if word.passage is None else f"{word.source} {word.passage + 1}"
        if word.start is not None:
            position += f", characters {word.start}-{word.end}"
        weights = ", ".join(
            f"{name} {weight:.2f}" for name, weight in zip(COLOURS, word.mixture, strict=True)
        )
        title = html.escape(f"{position} ({weights})", quote=True)
        parts.append(
            f'<span title="{title}" style="background:{COLOURS[word.source]};'
            f'padding:0.1em 0.3em;border-radius:0.2em">{html.escape(word.text)}</span>'
        )
    return " ".join(parts)


def key_html() -> str:
    """Returns the names of the sources in their colours."""
    return " ".join(
        f'<span style="background:{colour};padding:0.1em 0.3em;border-radius:0.2em">{name}</span>'
        for name, colour in COLOURS.items()
    )

"""Answers of several systems or styles to the same questions, side by side."""

from collections.abc import Iterable, Mapping

from tfmrc.evaluation.files.references import Reference


def sample_table(
    predictions: Mapping[str, Mapping[str, str]],
    references: Mapping[str, Mapping[str, Reference]],
    ids: Iterable[str],
    *,
    title: str = "Samples",
    column: str = "answer",
    passages: Mapping[str, str] | None = None,
) -> str:
    """Returns Markdown with one table per question and one row per system or style.

    Masque's Tables 6 and 7 show both styles in this way, DAANET's Table 4 both tasks.

    Args:
        predictions: dict. Answers by id, by system or style.
        references: dict. References by id, by the same names.
        ids: iterable of str. The questions, in this order.
        title: str. The heading. Default: "Samples".
        column: str. The heading of the systems' answers. Default: "answer".
        passages: dict or None. Text shown above the table of a question, by id. Default: None.

    Raises:
        ValueError: If a system has no prediction or no reference for an id.

    Example:

    >>> known = {"qa": {"q": Reference("q", ("Ode",), "Who came?")}}
    >>> print(sample_table({"qa": {"q": "Ada"}}, known, ["q"]).splitlines()[-1])
    | qa | Ada | Ode |
    """
    lines = [f"# {title}"]
    for key in ids:
        for name, texts in predictions.items():
            if key not in texts or key not in references.get(name, {}):
                kind = "reference" if key in texts else "prediction"
                raise ValueError(f"{name} has no {kind} for this id. Received: id={key!r}")
        first = references[next(iter(predictions))][key]
        question = f": {_cell(first.question)}" if first.question else ""
        lines += ["", f"## {_cell(key)}{question}", ""]
        lines += [] if passages is None else [_cell(passages[key]), ""]
        lines += [f"| | {column} | references |", "| --- | --- | --- |"]
        for name, texts in predictions.items():
            answers = references[name][key].answers
            cells = [name, texts[key] or "(none)", " / ".join(answers) or "(none)"]
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Returns the text on one line, with Markdown's own characters escaped."""
    plain = " ".join(text.split()).replace("\\", "\\\\")
    for mark in "|*_`<>[]":
        plain = plain.replace(mark, f"\\{mark}")
    return plain

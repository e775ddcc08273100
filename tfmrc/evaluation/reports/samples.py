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
    """Markdown: for each question a table with a row for each system or style.

    Masque's Tables 6 and 7 show both styles so, DAANET's Table 4 both tasks.

    Args:
        predictions: answers by id, by system or style.
        references: references by id, by the same names.
        ids: which questions, in this order.
        title: the heading.
        column: the heading of what the systems wrote.
        passages: by id, what is shown above a table.

    Raises:
        ValueError: a system has no prediction or no reference for an id.

    Example:

    >>> known = {"qa": {"q": Reference("q", ("Ode",), "Who came?")}}
    >>> print(sample_table({"qa": {"q": "Ada"}}, known, ["q"]).splitlines()[-1])
    | qa | Ada | Ode |
    """
    lines = [f"# {title}"]
    for key in ids:
        for name, found in predictions.items():
            if key not in found or key not in references.get(name, {}):
                kind = "reference" if key in found else "prediction"
                raise ValueError(f"{name} has no {kind} for this id. Received: id={key!r}")
        first = references[next(iter(predictions))][key]
        question = f": {_cell(first.question)}" if first.question else ""
        lines += ["", f"## {_cell(key)}{question}", ""]
        lines += [] if passages is None else [_cell(passages[key]), ""]
        lines += [f"| | {column} | references |", "| --- | --- | --- |"]
        for name, found in predictions.items():
            answers = references[name][key].answers
            cells = [name, found[key] or "(none)", " / ".join(answers) or "(none)"]
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """The text on one line, with nothing that Markdown would take for its own."""
    plain = " ".join(text.split()).replace("\\", "\\\\")
    for mark in "|*_`<>[]":
        plain = plain.replace(mark, f"\\{mark}")
    return plain

"""Answers of several systems or styles to the same questions, side by side."""

from collections.abc import Mapping, Sequence

WORST = 20


def sample_table(
    predictions: Mapping[str, Mapping[str, str]],
    references: Mapping[str, Mapping[str, Sequence[str]]],
    questions: Mapping[str, str],
    *,
    title: str = "Samples",
    column: str = "answer",
    passages: Mapping[str, str] | None = None,
) -> str:
    """Returns Markdown with one table per question and one row per system or style.

    Masque's Tables 6 and 7 show both styles in this way, DAANET's Table 4 both tasks.

    Args:
        predictions: dict. Answers by id, by system or style.
        references: dict. Reference texts by id, by the same names.
        questions: dict. The questions by id, in this order.
        title: str. The heading. Default: "Samples".
        column: str. The heading of the systems' answers. Default: "answer".
        passages: dict or None. Text shown above the table of a question, by id. Default: None.

    Example:

    >>> page = sample_table({"qa": {"q": "Ada"}}, {"qa": {"q": ["Ode"]}}, {"q": "Who came?"})
    >>> print(page.splitlines()[-1])
    | qa | Ada | Ode |
    """
    lines = [f"# {title}"]
    for key, question in questions.items():
        heading = f"{_cell(key)}: {_cell(question)}" if question else _cell(key)
        lines += ["", f"## {heading}", ""]
        lines += [] if passages is None else [_cell(passages[key]), ""]
        lines += [f"| | {column} | references |", "| --- | --- | --- |"]
        for name, texts in predictions.items():
            answers = dict.fromkeys(references[name][key])
            cells = [name, texts[key] or "(none)", " / ".join(answers) or "(none)"]
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def worst_answers(
    scores: Mapping[str, float],
    predictions: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
    questions: Mapping[str, str],
    passages: Mapping[str, str],
) -> str:
    """Returns Markdown with the 20 answers of the lowest scores: question, passage, both answers.

    Args:
        scores: dict. Scores by id.
        predictions: dict. Answers by id.
        references: dict. Reference texts by id.
        questions: dict. The questions by id.
        passages: dict. The passages by id.
    """
    ids = sorted(scores, key=lambda key: scores[key])[:WORST]
    asked = {key: questions[key] for key in ids}
    named = {"given": predictions}, {"given": references}
    return sample_table(*named, asked, title="Worst answers", passages=passages)


def _cell(text: str) -> str:
    """Returns the text on one line, with Markdown's own characters escaped."""
    plain = " ".join(text.split()).replace("\\", "\\\\")
    for mark in "|*_`<>[]":
        plain = plain.replace(mark, f"\\{mark}")
    return plain

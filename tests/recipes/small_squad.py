"""Small files in SQuAD's form."""

from collections.abc import Sequence
from typing import Any

NAMES = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")


def squad(names: Sequence[str]) -> dict[str, Any]:
    """An article per name; one answer is a part of a word, one question has no answer."""
    articles = []
    for name in names:
        context = f"{name}-Lee met an owl near the mill."
        answers = [("Who met an owl?", f"{name}-Lee"), ("What did she meet?", "an owl")]
        answers.append(("Whose?", name[:1]))
        qas: list[dict[str, Any]] = [
            {
                "id": f"{name}{number}",
                "question": question,
                "answers": [{"text": text, "answer_start": context.index(text)}],
            }
            for number, (question, text) in enumerate(answers)
        ]
        qas.append({"id": f"{name}x", "question": "Why?", "answers": [], "is_impossible": True})
        articles.append({"title": name, "paragraphs": [{"context": context, "qas": qas}]})
    return {"version": "2.0", "data": articles}

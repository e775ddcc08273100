"""Small files in SQuAD's form."""

from collections.abc import Sequence
from typing import Any

NAMES = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")


def squad(names: Sequence[str], variant: str = "") -> dict[str, Any]:
    """An article per name; one answer is a part of a word, one question has no answer.

    Args:
        names: Titles of the articles.
        variant: End of the ids; with one the context has another sentence, as in Adversarial SQuAD.
    """
    articles = []
    for name in names:
        context = f"{name}-Lee met an owl near the mill."
        answers = [("Who met an owl?", f"{name}-Lee"), ("What did she meet?", "an owl")]
        answers.append(("Whose?", name[:1]))
        qas: list[dict[str, Any]] = [
            {
                "id": f"{name}{number}{variant}",
                "question": question,
                "answers": [{"text": text, "answer_start": context.index(text)}],
            }
            for number, (question, text) in enumerate(answers)
        ]
        qas.append(
            {"id": f"{name}x{variant}", "question": "Why?", "answers": [], "is_impossible": True}
        )
        if variant:
            context += " Zoe met an elk near the tarn."
        articles.append({"title": name, "paragraphs": [{"context": context, "qas": qas}]})
    return {"version": "2.0", "data": articles}

"""Answers without a model: what a trained reader has to beat."""

import re
from collections.abc import Sequence

from tfmrc.evaluation.metrics.tokenizers import get_tokenizer

# A sentence ends at . ! ? (and closing quotes or brackets) before white space and a new beginning;
# not after an initial or a common title.
_END = re.compile(
    r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)(?<!\bProf)"
    r"(?:[.!?]+[\"'”’)\]]*)(?=\s+[\"'“‘(\[]*[^\s\d\W_a-z]|\s+\d|\s*$)"
)


def sentences(text: str) -> list[str]:
    """Cut a text into sentences (line breaks end one too).

    Example:

    >>> sentences("Dr. Ode left at 3.15. Why? Nobody knew")
    ['Dr. Ode left at 3.15.', 'Why?', 'Nobody knew']
    """
    found = []
    for line in text.splitlines():
        start = 0
        for match in _END.finditer(line):
            found.append(line[start : match.end()].strip())
            start = match.end()
        found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def first_sentence(passages: Sequence[str]) -> str:
    """The first sentence of the first passage that has one; empty where there is none.

    Example:

    >>> first_sentence(["", "The mill stands. It turns.", "Rain fell."])
    'The mill stands.'
    """
    return next((found[0] for found in map(sentences, passages) if found), "")


def most_similar_sentence(question: str, passages: Sequence[str]) -> str:
    """The sentence of the passages that has most different words in common with the question.

    Words are lower-cased; those without letter or digit do not count; of several equally similar
    sentences the first is taken. Empty where no passage has a sentence.

    Example:

    >>> passages = ["Rain fell.", "Ode built the mill. It turns."]
    >>> most_similar_sentence("Who built the mill?", passages)
    'Ode built the mill.'
    """
    asked = _words(question)
    candidates = [sentence for passage in passages for sentence in sentences(passage)]
    return max(candidates, key=lambda sentence: len(asked & _words(sentence)), default="")


def _words(text: str) -> set[str]:
    words = get_tokenizer("english")(text.lower())
    return {word for word in words if any(letter.isalnum() for letter in word)}

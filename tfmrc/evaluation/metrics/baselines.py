"""Baseline answers without a model."""

import re
from collections.abc import Sequence

from tfmrc.evaluation.metrics.tokenizers import get_tokenizer

# A sentence ends at . ! ? (and closing quotes or brackets) before white space and a new beginning,
# not after an initial or a common title.
_MARKS = re.compile(r"([.!?]+)[\"'”’)\]]*")
_TITLE = re.compile(r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)(?<!\bProf)[.!?]")
_NEXT = re.compile(r"\s++(?:[\"'“‘(\[]*[^\s\d\W_a-z]|\d|$)|$")


def sentences(text: str) -> list[str]:
    """Cuts a text into sentences; a line break ends one too.

    Example:

    >>> sentences("Dr. Ode left at 3.15. Why? Nobody knew")
    ['Dr. Ode left at 3.15.', 'Why?', 'Nobody knew']
    """
    result = []
    for line in text.splitlines():
        start = 0
        for match in _MARKS.finditer(line):
            is_end = len(match.group(1)) > 1 or _TITLE.match(line, match.start())
            if is_end and _NEXT.match(line, match.end()):
                result.append(line[start : match.end()].strip())
                start = match.end()
        result.append(line[start:].strip())
    return [sentence for sentence in result if sentence]


def first_sentence(passages: Sequence[str]) -> str:
    """Returns the first sentence of the first passage that has one, else an empty string.

    Example:

    >>> first_sentence(["", "The mill stands. It turns.", "Rain fell."])
    'The mill stands.'
    """
    return next((parts[0] for parts in map(sentences, passages) if parts), "")


def most_similar_sentence(question: str, passages: Sequence[str]) -> str:
    """Returns the sentence that shares the most distinct words with the question.

    Words are lower-cased, and those without letter or digit do not count. Of equally similar
    sentences the first one is returned, and an empty string if no passage has a sentence.

    Example:

    >>> passages = ["Rain fell.", "Ode built the mill. It turns."]
    >>> most_similar_sentence("Who built the mill?", passages)
    'Ode built the mill.'
    """
    question_words = _words(question)
    candidates = [sentence for passage in passages for sentence in sentences(passage)]
    return max(candidates, key=lambda sentence: len(question_words & _words(sentence)), default="")


def _words(text: str) -> set[str]:
    words = get_tokenizer("english")(text.lower())
    return {word for word in words if any(letter.isalnum() for letter in word)}

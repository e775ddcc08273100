"""Spans that approximate free-form answers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tfmrc.data.example import Example, Span

BETA = 1.2
"""Weight of recall in ROUGE-L."""


def best_span(
    words: Sequence[str], answer: Sequence[str], max_length: int = 60
) -> tuple[int, int, float]:
    """Finds the span of words with the highest ROUGE-L (beta 1.2) against an answer.

    For each first word, one pass gives the longest common subsequences of all ends.

    Args:
        words: sequence of str. Words of the passage, in the form used for comparison.
        answer: sequence of str. Words of the answer.
        max_length: int. Largest number of words of a span. Default: 60.

    Returns:
        The index of the first word, the index after the last word, and ROUGE-L; `(0, 0, 0.0)` if
        no word is shared. Ties go to the first, then the shortest span.

    Example:

    >>> first, end, score = best_span("so the brown owl flew away".split(), "the owl flew".split())
    >>> first, end, round(score, 4)
    (1, 5, 0.8798)

    Reference: Liu et al. 2018 (SAN), section 5.5.
    """
    wanted = set(answer)
    best = (0, 0, 0.0)
    for first, word in enumerate(words):
        if word not in wanted:
            continue  # a first word that is not shared does not improve the score
        row = [0] * (len(answer) + 1)
        for end in range(first, min(first + max_length, len(words))):
            row = _next_row(row, words[end], answer)
            score = _f(row[-1], end + 1 - first, len(answer))
            if score > best[2]:
                best = first, end + 1, score
    return best


def with_best_spans(
    examples: Iterable[Example], style: str, max_length: int = 60
) -> Iterator[tuple[Example, float]]:
    """Replaces each free-form answer with the passage span of the highest ROUGE-L.

    The mean of the returned ROUGE-L values is the upper bound on the score of extracted spans.

    Args:
        examples: iterable of `Example` with free-form answers, such as MS MARCO.
        style: str. Answer style. The first reference is compared; the span's text replaces it.
        max_length: int. Largest number of words of a span. Default: 60.

    Yields:
        The example with that span in `spans`, and the span's ROUGE-L against the free-form answer.
        Examples whose answer shares no word with any passage are left out.
    """
    from tfmrc.text import Tokenizer

    tokenizer = Tokenizer()
    for example in examples:
        if style not in example.answers:
            continue
        answer = example.answers[style][0]
        tokens = tokenizer.tokenize([answer, *example.passages])
        rows = [row.tolist() for row in (r.numpy() for r in tokens.compared)]
        result = [best_span(row, rows[0], max_length) for row in rows[1:]]
        number = max(range(len(result)), key=lambda n: result[n][2], default=0)
        if not result or not result[number][2]:
            continue
        first, end, score = result[number]
        starts, ends = tokens.starts[number + 1].numpy(), tokens.ends[number + 1].numpy()
        span = Span(number, int(starts[first]), int(ends[end - 1]))
        text = example.span_text(span)
        yield replace(example, spans=(span,), answers={style: (text,)}), score


def _next_row(row: list[int], word: str, wanted: Sequence[str]) -> list[int]:
    built = [0]
    for index, other in enumerate(wanted):
        built.append(row[index] + 1 if word == other else max(built[-1], row[index + 1]))
    return built


def _f(common: int, result: int, wanted: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / result, common / wanted
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)

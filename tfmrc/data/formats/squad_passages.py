"""SQuAD for Masque: questions with passages from several paragraphs of the same article."""

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from os import PathLike

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.registry import register_format
from tfmrc.data.formats.squad import read_squad
from tfmrc.data.stream import Account, ExampleStream, OnError
from tfmrc.data.transforms.windows import windows


@register_format("squad_passages")
def squad_for_masque(
    source: str | PathLike | Iterable[Example],
    num_passages: int = 10,
    seed: int = 0,
    *,
    passage_words: int = 100,
    left_out_share: float = 0.0,
    style: str = "span",
    on_error: OnError = "raise",
) -> ExampleStream:
    """Gives every SQuAD question several passages of its article, with relevance labels.

    Every paragraph is divided into passages of whole sentences of at most ``passage_words`` words,
    independently of the answer. A question gets the passages of its own paragraph and randomly
    drawn passages of the article's other paragraphs, up to ``num_passages``, in random order. The
    draw depends only on the seed and the question's id. A small article gives fewer passages.

    A passage is relevant if it contains a whole reference answer or, if long sentences were split,
    a part of one. Unanswerable questions have no relevant passage. The account notes

    - answers that no passage contains whole (a divided answer has no span),
    - paragraphs of more than ``num_passages`` passages, of which the last ones are left out; a
      question whose answer is left out with them becomes unanswerable,
    - questions whose own paragraph was left out by ``left_out_share``.

    Args:
        source: str or path of a file, or iterable of ``read_squad``'s examples in which the
            examples of an article are consecutive.
        num_passages: int. Largest number of passages. Default: 10.
        seed: int. Seed of the draw and the order. Default: 0.
        passage_words: int. Largest number of words and punctuation marks per passage.
            Default: 100.
        left_out_share: float. Share of the answerable questions that become unanswerable because
            their own paragraph is left out. Default: 0.
        style: str. Answer style, if the source is a file. Default: ``"span"``.
        on_error: str. As in ``read_squad``, if the source is a file. Default: ``"raise"``.

    Returns:
        A stream of examples, in the order of the source.

    Raises:
        ValueError: An example has no group or not exactly one passage, or an article's examples
            are not consecutive.

    Example:

    >>> paragraphs = ("An owl flew.", "A cat slept.", "A dog ran.")
    >>> examples = [
    ...     Example(str(n), "Who?", (p,), {"span": (p[:-1],)}, True, (True,), group="Animals")
    ...     for n, p in enumerate(paragraphs)
    ... ]
    >>> first = next(iter(squad_for_masque(examples, num_passages=2, seed=3)))
    >>> first.passages, first.relevance
    (('A cat slept.', 'An owl flew.'), (False, True))
    """
    examples: Iterable[Example]
    if isinstance(source, str | PathLike):
        examples = read_squad(source, style=style, on_error=on_error)
    else:
        examples = source

    def read(account: Account) -> Iterator[Example]:
        seen = set()
        try:
            for group, article in groupby(examples, key=lambda example: example.group):
                if group in seen:
                    raise ValueError(
                        "The examples of an article must be consecutive. "
                        f"Received: group={group!r} in two separate runs"
                    )
                seen.add(group)
                questions = list(article)
                passages = _passages(questions, passage_words)
                for example in questions:
                    yield _surround(example, passages, num_passages, seed, left_out_share, account)
        finally:
            if isinstance(examples, ExampleStream):
                account.take(examples.account)

    return ExampleStream(read, on_error)


@dataclass(frozen=True)
class _Passage:
    paragraph: str
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.paragraph[self.start : self.end]


def _passages(questions: list[Example], passage_words: int) -> dict[str, list[_Passage]]:
    """Returns the passages of each paragraph of an article."""
    result: dict[str, list[_Passage]] = {}
    for example in questions:
        if len(example.passages) != 1 or example.group is None:
            raise ValueError(
                "An example must have one passage, its paragraph, and a group, its article. "
                f"Received: {example!r}"
            )
        paragraph = example.passages[0]
        if paragraph not in result:
            bounds = windows(paragraph, passage_words) or [(0, len(paragraph))]
            result[paragraph] = [_Passage(paragraph, *each) for each in bounds]
    return result


def _surround(
    example: Example,
    passages: dict[str, list[_Passage]],
    num_passages: int,
    seed: int,
    left_out_share: float,
    account: Account,
) -> Example:
    rng = random.Random(hashlib.sha256(f"{seed}\t{example.id}".encode()).digest())
    own = passages[example.passages[0]]
    others = [p for text, ps in passages.items() if text != own[0].paragraph for p in ps]
    leave_out = rng.random() < left_out_share and example.answerable is True and bool(others)
    if leave_out:
        account.notes["questions without their own paragraph, by left_out_share"] += 1
        own = []
    elif len(own) > num_passages:
        what = f"paragraphs of more than {num_passages} passages, whose end is left out"
        account.notes[what] += 1
        own = own[:num_passages]
    selected = own + rng.sample(others, min(len(others), num_passages - len(own)))
    rng.shuffle(selected)
    spans, relevant = _find(example, selected)
    lost = bool(example.answerable) and not any(relevant)
    if lost and not leave_out:
        account.notes["questions whose answer was left out with the end of its paragraph"] += 1
    elif example.spans and not spans and not leave_out:
        account.notes["questions whose answer no passage contains whole"] += 1
    return replace(
        example,
        passages=tuple(passage.text for passage in selected),
        answers={} if lost else example.answers,
        answerable=False if lost else example.answerable,
        relevance=None if example.answerable is None else tuple(relevant),
        spans=tuple(spans),
    )


def _find(example: Example, selected: list[_Passage]) -> tuple[list[Span], list[bool]]:
    """Returns the answers' spans in the selected passages, and the passages' relevance."""
    spans: list[Span] = []
    whole, part = [False] * len(selected), [False] * len(selected)
    own = example.passages[0]
    for number, passage in enumerate(selected):
        if passage.paragraph != own:
            continue
        if example.answerable and not example.spans:
            part[number] = True  # the position of the answer is unknown
        for span in example.spans:
            if passage.start <= span.start and span.end <= passage.end:
                result = Span(number, span.start - passage.start, span.end - passage.start)
                if result not in spans:
                    spans.append(result)
                whole[number] = True
            elif span.start < passage.end and passage.start < span.end:
                part[number] = True
    return spans, whole if any(whole) else part

"""Questions made from passages without questions, to train a reader on before the real ones."""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from tfmrc.data.example import Example, Span
from tfmrc.data.transforms.sentences import sentences
from tfmrc.data.transforms.tagging import TagCache

# First words of a question by the entity type of its answer (OntoNotes' types, spaCy's English
# pipelines). An answer of another type, or a noun, is asked for with `what`.
FIRST_WORDS = {
    "PERSON": "who",
    "GPE": "where",
    "LOC": "where",
    "DATE": "when",
    "TIME": "when",
    "CARDINAL": "how many",
    "QUANTITY": "how much",
    "MONEY": "how much",
    "PERCENT": "what percentage",
    "ORG": "what organization",
    "NORP": "what group",
}
NOUNS = ("NN", "NOUN", "PROPN")  # prefixes of Penn's tags, and universal tags
MODIFIERS = ("JJ", "ADJ", *NOUNS)

NOUN_SHARE = 0.4  # of the noun phrases outside entities become answers
NEAR = (3, 13)  # words of the sentence that are kept on each side of the answer, drawn evenly
DROPPED = 0.2  # share of these words that is left out
LEAST = 5  # words on both sides together


def cloze_questions(
    examples: Iterable[Example], tags: TagCache, *, style: str = "span", seed: int = 0
) -> Iterator[Example]:
    """Makes questions whose answers are the entities and noun phrases of the passages.

    A question is the sentence of its answer around the answer, with some words left out. In place
    of the answer is a question word by the entity's type. In half of the questions the words after
    the answer come first, in a quarter the question word comes first, in a quarter the words keep
    their order. The questions depend only on the passage and the seed.

    Args:
        examples: iterable of `Example`. Their passages are used, each once; questions and answers
            are not read.
        tags: `TagCache`. Part of speech and entity type of the words; passages without tags are
            tagged first.
        style: str. Style of the answers. Default: `"span"`.
        seed: int. Seed of what is drawn. Default: 0.

    Yields:
        Examples with one passage, a question in lower case, one answer and its span, in the order
        of the passages. The id is that of the first example of the passage, with the numbers of
        the passage and of the question.

    Example:

    >>> import tempfile
    >>> def tag(texts):
    ...     for words in texts:
    ...         yield {"lemmas": [w.lower() for w in words], "pos": ["X"] * len(words),
    ...                "ner": ["PERSON" if w == "Ada" else "-" for w in words]}
    >>> example = Example("1", "", ("In the old mill Ada met a young owl at night .",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tags = TagCache(folder + "/tags.jsonl", "demo 1", tag)
    ...     [made] = cloze_questions([example], tags)
    >>> made.question, made.answers
    ('who in the old met a young owl at night ?', {'span': ('Ada',)})

    Reference: after Lewis, Denoyer and Riedel 2019 (unsupervised question answering by cloze
    translation), without their translation model.
    """
    first: dict[str, tuple[str, str | None]] = {}
    for example in examples:
        for number, passage in enumerate(example.passages):
            if passage.strip():
                first.setdefault(passage, (f"{example.id}-{number}", example.group))
    tags.add(first)
    for passage, words in _with_words(list(first)):
        name, group = first[passage]
        draw = random.Random(f"{seed}\t{passage}")
        for number, (question, start, end) in enumerate(_questions(passage, words, tags, draw)):
            yield Example(
                f"{name}-{number}",
                question,
                (passage,),
                {style: (passage[start:end],)},
                spans=(Span(0, start, end),),
                group=group,
            )


def _with_words(
    passages: Sequence[str], batch_size: int = 256
) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yields each passage with the first character of each word and the one after its last."""
    from tfmrc.text import Tokenizer

    tokenizer = Tokenizer()
    for first in range(0, len(passages), batch_size):
        part = passages[first : first + batch_size]
        tokens = tokenizer.tokenize(part)
        starts, ends = tokens.starts.to_list(), tokens.ends.to_list()
        for passage, row in zip(part, map(zip, starts, ends), strict=True):
            yield passage, list(row)


def _questions(
    passage: str, places: Sequence[tuple[int, int]], tags: TagCache, draw: random.Random
) -> Iterator[tuple[str, int, int]]:
    """Yields questions with the first character of their answers and the one after the last."""
    starts = [start for start, _ in places]
    words = [passage[start:end].lower() for start, end in places]
    pos, entities = tags.of(passage, "pos").split(), tags.of(passage, "ner").split()
    limits = [0, *(bisect_left(starts, end) for _, end in sentences(passage)), len(words)]
    for first, last, name in _answers(pos, entities, draw):
        sentence = bisect_right(limits, first)
        low = max(limits[sentence - 1], first - draw.randint(*NEAR))
        high = min(limits[sentence], last + draw.randint(*NEAR))
        before, after = words[low:first], words[last:high]
        if after and after[-1] in (".", "!", "?"):
            after = after[:-1]
        if len(before) + len(after) < LEAST:
            continue
        before = [word for word in before if draw.random() >= DROPPED]
        after = [word for word in after if draw.random() >= DROPPED]
        asked = FIRST_WORDS.get(name, "what").split()
        order = draw.random()
        if order < 0.5:
            question = [*asked, *after, *before]
        elif order < 0.75:
            question = [*before, *asked, *after]
        else:
            question = [*asked, *before, *after]
        yield " ".join([*question, "?"]), starts[first], places[last - 1][1]


def _answers(
    pos: Sequence[str], entities: Sequence[str], draw: random.Random
) -> Iterator[tuple[int, int, str]]:
    """Yields the first word, the word after the last and the entity type ("-": none) of answers."""
    first = 0
    while first < len(pos):
        end, name = first + 1, entities[first]
        if name != "-":
            while end < len(pos) and entities[end] == name:
                end += 1
            yield first, end, name
        elif pos[first].startswith(MODIFIERS):
            while end < len(pos) and entities[end] == "-" and pos[end].startswith(MODIFIERS):
                end += 1
            if pos[end - 1].startswith(NOUNS) and draw.random() < NOUN_SHARE:
                yield first, end, name
        first = end

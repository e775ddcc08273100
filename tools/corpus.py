"""Makes the corpus that tfmrc ships (tfmrc/data/corpus_files): passages about a fictional world.

    python tools/corpus.py --out tfmrc/data/corpus_files

Each group of examples describes three things of this world (bridges, guilds, festivals, ...) in
two passages per thing. A question asks for one fact about one thing and comes with three or four
of the six passages, in random order. Half of the questions have no answer: the passages of the
thing do not state the fact, but usually a passage of another thing states the same kind of fact.
Answers have two styles: ``concise`` (the words of the value) and ``sentence`` (the statement in
the wording of the passage, with the full name of the thing, so that it is clear without the
question).

Names are unique to a group, so names in ``dev`` and ``test`` never occur in ``train``.
"""

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfmrc.data import Example, Span, write_examples

STYLES = ("concise", "sentence")
SPLITS = {"test": 60, "dev": 40, "train": 1500}
"""Number of groups of each split, in the order in which their names are drawn."""

QUESTIONS = 6
"""Number of questions per group; half of them have no answer."""

WORDS = (25, 35)
"""Smallest and largest number of words of a passage."""

# The kinds of things, their relations, and the wordings of both.
WORLD = json.loads(Path(__file__).with_name("corpus_world.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class _Thing:
    kind: str
    name: str
    facts: dict[str, str]

    @property
    def full_name(self) -> str:
        return f"the {self.kind} of {self.name}"

    def forms(self) -> tuple[str, str]:
        return self.full_name, f"the {self.name} {self.kind}"


@dataclass(frozen=True)
class _Passage:
    thing: _Thing
    text: str
    spans: dict[str, tuple[int, int]]
    sentences: dict[str, str]


class _Names:
    """Generates unique names from syllables."""

    def __init__(self) -> None:
        self._used = set(re.findall(r"[a-z]+", json.dumps(WORLD).lower()))

    def __call__(self, rng: random.Random) -> str:
        parts = WORLD["syllables"]
        while True:
            name = "".join(
                rng.choice(parts["onsets"]) + rng.choice(parts["vowels"])
                for _ in range(rng.choice((1, 1, 2)))
            )
            name += rng.choice(parts["onsets"]) + rng.choice(parts["vowels"])
            name += rng.choice(parts["codas"])
            if name not in self._used:
                self._used.add(name)
                return name.capitalize()


class _Group:
    """Three things, their passages, and the questions about them."""

    def __init__(self, rng: random.Random, names: _Names) -> None:
        self._rng, self._names = rng, names
        self._taken: set[str] = set()
        kinds = list(WORLD["kinds"])
        kind = rng.choice(kinds)
        other = rng.choice((kind, rng.choice(kinds)))
        self.things = [self._thing(k) for k in (kind, kind, other)]
        self.passages = [passage for thing in self.things for passage in self._passages(thing)]

    def _thing(self, kind: str) -> _Thing:
        relations = WORLD["kinds"][kind]
        return _Thing(kind, self._names(self._rng), {r: self._value(r) for r in relations})

    def _value(self, relation: str) -> str:
        """Returns a value that no other fact of the group has."""
        while True:
            value = self._draw(WORLD["relations"][relation]["value"])
            if value not in self._taken:
                self._taken.add(value)
                return value

    def _draw(self, sort: str) -> str:
        rng = self._rng
        if sort == "person":
            return f"{self._names(rng)} {self._names(rng)}"
        if sort == "place":
            return self._names(rng)
        if sort == "year":
            return str(rng.randrange(100, 1000))
        words = " ".join(rng.choice(column) for column in WORLD["values"][sort])
        if sort in ("height", "price", "duration"):
            return f"{rng.randrange(3, 100)} {words}"
        return f"to {words}" if sort == "reason" else words

    def _passages(self, thing: _Thing) -> Iterator[_Passage]:
        """Yields two passages of three facts each; in 30 % of the cases they share one fact."""
        order = self._rng.sample(list(thing.facts), 6)
        if self._rng.random() < 0.3:
            order[3] = order[0]
        for relations in (order[:3], order[3:]):
            self._rng.shuffle(relations)
            while True:
                passage = self._passage(thing, relations)
                if WORDS[0] <= len(passage.text.split()) <= WORDS[1]:
                    break
            yield passage

    def _passage(self, thing: _Thing, relations: list[str]) -> _Passage:
        rng = self._rng
        text, spans, sentences = "", {}, {}
        aside = rng.choice((None, 1, 2, 3))
        for index, relation in enumerate(relations):
            wording = rng.choice(WORLD["relations"][relation]["facts"])
            if not index:
                subject = rng.choice(thing.forms())
            elif wording.startswith("{s}"):
                subject = rng.choice(("it", "it", f"the {thing.kind}", thing.name))
            else:
                subject = rng.choice((f"the {thing.kind}", thing.name))
            value = thing.facts[relation]
            opening = f"{rng.choice(WORLD['openings'])} " if rng.random() < 0.2 else ""
            before, after = (opening + wording.replace("{s}", subject)).split("{v}")
            start = len(text) + len(before)
            spans[relation] = (start, start + len(value))
            text += _sentence(before + value + after) + " "
            sentences[relation] = _sentence(wording.format(s=thing.full_name, v=value))
            if aside == index + 1:
                text += self._aside() + " "
        return _Passage(thing, text.rstrip(), spans, sentences)

    def _aside(self) -> str:
        aside = self._rng.choice(WORLD["asides"])
        return re.sub(r"{(\w+)}", lambda result: self._draw(result[1]), aside)

    def examples(self, group: str) -> Iterator[Example]:
        rng = self._rng
        answerable = [True, False] * (QUESTIONS // 2)
        rng.shuffle(answerable)
        for number, wanted in enumerate(answerable):
            passages = rng.sample(self.passages, rng.choice((4, 4, 4, 4, 3)))
            thing, relation = self._ask(passages, wanted)
            yield self._example(f"{group}-{number}", group, passages, thing, relation)

    def _ask(self, passages: list[_Passage], answerable: bool) -> tuple[_Thing, str]:
        """Returns a thing and a relation that the passages state (or do not state)."""
        rng = self._rng
        stated = sorted({(p.thing.name, relation) for p in passages for relation in p.spans})
        things = {p.thing.name: p.thing for p in passages}
        if answerable:
            name, relation = rng.choice(stated)
            return things[name], relation
        thing = rng.choice(list(things.values()))
        if rng.random() < 0.25:
            thing = self._thing(thing.kind)
        missing = [r for r in thing.facts if (thing.name, r) not in stated]
        elsewhere = [r for r in missing if any(r == relation for _, relation in stated)]
        return thing, rng.choice(elsewhere if elsewhere and rng.random() < 0.8 else missing)

    def _example(
        self, name: str, group: str, passages: list[_Passage], thing: _Thing, relation: str
    ) -> Example:
        rng = self._rng
        wording = rng.choice(WORLD["relations"][relation]["questions"])
        relevance = tuple(p.thing == thing and relation in p.spans for p in passages)
        result = [p for p, relevant in zip(passages, relevance, strict=True) if relevant]
        sentences = tuple(dict.fromkeys(p.sentences[relation] for p in result))
        answers = {"concise": (thing.facts[relation],), "sentence": sentences}
        spans = tuple(
            Span(number, *passage.spans[relation])
            for number, (passage, relevant) in enumerate(zip(passages, relevance, strict=True))
            if relevant
        )
        return Example(
            id=name,
            question=_capital(wording.replace("{s}", rng.choice(thing.forms()))),
            passages=tuple(p.text for p in passages),
            answers=answers if result else {},
            answerable=bool(result),
            relevance=relevance,
            spans=spans,
            query_type=relation,
            group=group,
        )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _sentence(text: str) -> str:
    return _capital(text) + "."


def generate_corpus(seed: int = 1, sizes: dict[str, int] | None = None) -> dict[str, list[Example]]:
    """Generates the corpus. No two groups share a name.

    Args:
        seed: int. Random seed. Default: 1, the seed of the shipped files.
        sizes: dict from split to number of groups, in the order in which names are drawn.
            Default: None, `SPLITS`.

    Returns:
        A dict from split to its examples.
    """
    names = _Names()
    corpus: dict[str, list[Example]] = {}
    for split, groups in (SPLITS if sizes is None else sizes).items():
        rng = random.Random(f"{seed} {split}")
        corpus[split] = [
            example
            for number in range(groups)
            for example in _Group(rng, names).examples(f"{split}-{number}")
        ]
    return corpus


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the corpus to a folder."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the three files")
    parser.add_argument("--seed", type=int, default=1, help="random seed; default: 1")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for split, examples in generate_corpus(options.seed).items():
        written = write_examples(options.out / f"{split}.jsonl.gz", examples)
        print(f"{split}: {written:,} examples")


if __name__ == "__main__":
    main()

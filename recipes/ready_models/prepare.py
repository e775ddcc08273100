"""Prepares the questions that the ready models are trained and chosen on.

`train.jsonl` gets the questions of SQuAD's training file and of `reading/`, with and without an
answer, and made ones without: a question beside the most similar other paragraph that lacks its
answer. `ids/` lists which of them are trained on and which are held out: some groups of every
source, which are articles where a source names them, and paragraphs elsewhere. Paragraphs that
share a sentence are in one group, across sources.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tfmrc.data import Example, read_squad, write_examples
from tfmrc.data.transforms.splits import draw_by_id, group_number
from tfmrc.documents.sqlite import sqlite3
from tfmrc.utils.files import replacing

SOURCES = {  # which of them name articles
    "squad/train.json": True,
    "reading/squad_more_a.json.gz": True,
    "reading/squad_more_b.json.gz": False,
    "reading/squad_more_c.json.gz": True,
    "reading/squad_train_unanswerable.json.gz": True,
    "reading/squad_extracts.json.gz": False,
    "reading/squadshifts_new_wiki.json.gz": True,
    "reading/qed_natural_questions.json.gz": False,
    "reading/tydiqa_english.json.gz": False,
    "reading/quoref_contrast.json.gz": False,
    "reading/fairytaleqa_explicit.json.gz": True,
    "reading/covidqa_windows.json.gz": False,
    "reading/qamr_part.json.gz": False,
}
HELD_OUT, HELD_OUT_LIMIT = 0.06, 250  # share of a source's groups, and most questions of each kind
MADE = 0.16  # share of the answerable questions that are also asked beside another paragraph
SENTENCE = 60  # characters of a sentence by which paragraphs are known to be the same


def read(data: Path) -> list[Example]:
    """Returns the questions of all sources; their ids and groups begin with the source's name."""
    examples = []
    for file, has_articles in SOURCES.items():
        name = Path(file).name.partition(".")[0]
        # Further questions of the same articles.
        articles = "train" if name == "squad_train_unanswerable" else name
        for example in read_squad(data / file):
            place = example.group if has_articles else example.passages[0]
            examples.append(
                replace(example, id=f"{name}/{example.id}", group=f"{articles}/{place}")
            )
    return joined(examples)


def joined(examples: list[Example]) -> list[Example]:
    """Returns the examples with one group for all whose passages share a sentence."""
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            parents[name] = name = parents[parents[name]]
        return name

    for group, passage in {(str(e.group), e.passages[0]) for e in examples}:
        for sentence in re.split(r"(?<=[.!?])\s+", passage):
            plain = re.sub(r"\W+", " ", sentence.lower()).strip()
            if len(plain) >= SENTENCE:
                parents[root(f"= {plain}")] = root(group)
    names: dict[str, str] = {}
    for example in examples:
        names.setdefault(root(str(example.group)), f"{example.id.partition('/')[0]}/{len(names)}")
    return [replace(example, group=names[root(str(example.group))]) for example in examples]


def made(examples: Iterable[Example]) -> Iterator[Example]:
    """Yields questions beside the most similar other paragraph that lacks the answer's text.

    It is one of their group, or of their source if the group has no other.
    """
    by_source = defaultdict(list)
    for example in examples:
        by_source[example.id.partition("/")[0]].append(example)
    for each in by_source.values():
        search = Search({e.passages[0]: str(e.group) for e in each})
        for example in each:
            if example.answers and group_number(example.id, 1) < MADE:
                passage = search.other_passage(example)
                if passage is not None:
                    yield Example(
                        f"{example.id}/made", example.question, (passage,),
                        answerable=False, group=example.group,
                    )  # fmt: skip


class Search:
    """BM25 over paragraphs.

    Args:
        groups: dict. The group of each paragraph.
    """

    def __init__(self, groups: dict[str, str]):
        self.database = sqlite3.connect(":memory:")
        self.database.execute(
            "CREATE VIRTUAL TABLE passages USING fts5(text, part UNINDEXED, tokenize='porter')"
        )
        self.database.executemany("INSERT INTO passages VALUES (?, ?)", groups.items())

    def other_passage(self, example: Example) -> str | None:
        """Returns the most similar paragraph without any of the answers; None if there is none."""
        words = re.findall(r"\w+", example.question)
        query = " OR ".join(f'"{word}"' for word in words)
        answers = [answer.lower() for known in example.answers.values() for answer in known]
        for condition in ("part = ?", "part != ?"):
            rows = self.database.execute(
                "SELECT text FROM passages WHERE passages MATCH ? "
                f"AND {condition} ORDER BY rank LIMIT 8",
                (query, example.group),
            )
            for (text,) in rows if words else ():
                if text != example.passages[0] and not any(a in text.lower() for a in answers):
                    return str(text)
        return None


def prepare(data: Path, folder: Path) -> None:
    """Writes questions and lists of ids.

    Args:
        data: path. The folder of squad and reading.
        folder: path. What is written; the lists come last.
    """
    examples = read(data)
    examples += made(examples)
    is_held_out = {str(e.group): group_number(str(e.group), 7) < HELD_OUT for e in examples}
    parts = defaultdict(list)
    for example in examples:
        if is_held_out[str(example.group)]:
            parts[example.id.partition("/")[0], bool(example.answers)].append((example.id, example))
    held_out = [e for part in parts.values() for e in draw_by_id(part, HELD_OUT_LIMIT)]
    lists = {
        "train": [e.id for e in examples if not is_held_out[str(e.group)]],
        "validation": [e.id for e in held_out],
        "test": [],
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_examples(folder / "train.jsonl", examples)
    with replacing(folder / "ids") as part:
        part.mkdir()
        for name, ids in lists.items():
            (part / f"{name}.txt").write_text("".join(f"{i}\n" for i in ids), encoding="utf-8")
            print(f"{name}: {len(ids):,} questions")

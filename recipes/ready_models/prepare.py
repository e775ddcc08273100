"""Prepares the questions that the ready models are trained and chosen on.

`train.jsonl` gets the questions of SQuAD's training file and of `reading/`, with and without an
answer, and made ones without: a question beside the most similar other paragraph that lacks its
answer. `ids/` lists which of them are trained on and which are held out: some groups of every
source, which are articles where a source names them, and paragraphs elsewhere. Paragraphs that
share a sentence are in one group, across sources. What people asked without an answer is trained
on twice. `wikipedia/` lists the questions that models which ask are trained on.

`evidence.jsonl` has the questions of `train.jsonl`, with the sentences that hold their answers.

`styles.jsonl`, with `styles/`, has questions beside three paragraphs in random order, of which one
has the answer or none: the words that answer (`short`) and their sentence (`sentence`); and
NarrativeQA's, whose answers are free text (`free`). `paragraphs.jsonl`, with `paragraphs/`, has
questions beside their own paragraph alone, with both kinds of answers: a model that writes learns
there to copy.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tfmrc.data import Example, read_narrativeqa, read_squad, with_sentences, write_examples
from tfmrc.data.transforms.nearest import nearest_passages
from tfmrc.data.transforms.sentences import sentences, words
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
MADE = 0.4  # share of the answerable questions that are also asked beside another paragraph
SENTENCE = 60  # characters of a sentence by which paragraphs are known to be the same
WIKIPEDIA = ("train", "squad_more_a", "squad_more_b", "squad_more_c", "squad_extracts",
             "squadshifts_new_wiki")  # fmt: skip
IN_STYLES = {True: 16_000, False: 3_000}  # questions with and without an answer
PASSAGES, PASSAGE_WORDS = 3, 150
NEIGHBOURS = 10  # paragraphs of other articles among which the nearest are searched
LEFT_OUT = 0.1  # share of the questions whose own paragraph is left out
PARAGRAPH_WORDS = 130  # of which a model that writes learns to copy


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
                passage = next(search.other_passages(example), None)
                if passage is not None:
                    yield Example(
                        f"{example.id}/made", example.question, (passage,),
                        answerable=False, group=example.group,
                    )  # fmt: skip


def has_answer(text: str, example: Example) -> bool:
    """Returns True if a text is the question's own paragraph or has the text of an answer."""
    answers = [answer.lower() for known in example.answers.values() for answer in known]
    return text == example.passages[0] or any(answer in text.lower() for answer in answers)


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

    def other_passages(self, example: Example) -> Iterator[str]:
        """Yields the most similar paragraphs without any of the answers, those of its group first.

        At most 8 of its group and 8 of others.
        """
        words = re.findall(r"\w+", example.question)
        query = " OR ".join(f'"{word}"' for word in words)
        for condition in ("part = ?", "part != ?"):
            rows = self.database.execute(
                "SELECT text FROM passages WHERE passages MATCH ? "
                f"AND {condition} ORDER BY rank LIMIT 8",
                (query, example.group),
            )
            for (text,) in rows if words else ():
                if not has_answer(text, example):
                    yield str(text)


def in_styles(examples: Iterable[Example]) -> Iterator[Example]:
    """Yields questions beside other paragraphs, each with an answer in two styles or with none."""
    short = [e for e in examples if len(words(e.passages[0])) <= PASSAGE_WORDS]
    groups = defaultdict(dict)
    for example in short:
        groups[example.group][example.passages[0]] = None
    every = [*dict.fromkeys(e.passages[0] for e in short)]
    asked: list[Example] = []
    for kind, limit in IN_STYLES.items():
        of_kind = [(e.id, e) for e in short if bool(e.answers) == kind]
        asked += draw_by_id(of_kind, limit)
    for example in asked:
        first = int(group_number(example.id, 5) * len(every))
        pool = [*groups[example.group], *every[first : first + NEIGHBOURS]]
        pool = [text for text in pool if not has_answer(text, example)]
        others = [pool[n] for n in nearest_passages(example.question, pool, PASSAGES)]
        out = not example.answers or group_number(example.id, 2) < LEFT_OUT
        own = [] if out and example.answers else [example.passages[0]]
        passages = sorted([*own, *others][:PASSAGES], key=lambda text: group_number(text, 3))
        if not passages:
            continue
        relevance = tuple(not out and text == example.passages[0] for text in passages)
        answers = {} if out else styled(example)
        yield Example(
            example.id, example.question, tuple(passages), answers=answers, answerable=not out,
            relevance=relevance, group=example.group,
        )  # fmt: skip


def styled(example: Example) -> dict[str, tuple[str, ...]]:
    """Returns the answer as its words, and as the sentence of the passage that has them."""
    answers = {"short": tuple(answer for known in example.answers.values() for answer in known)}
    if example.spans:
        start, passage = example.spans[0].start, example.passages[0]
        has_it = [passage[a:b] for a, b in sentences(passage) if a <= start < b]
        answers |= {"sentence": tuple(has_it)} if has_it else {}
    return answers


def in_paragraphs(examples: Iterable[Example]) -> Iterator[Example]:
    """Yields questions beside their paragraph, each with its answer and the sentence of it."""
    for example in examples:
        if example.spans and len(words(example.passages[0])) <= PARAGRAPH_WORDS:
            yield replace(example, answers=styled(example), answerable=True, relevance=(True,))


def stories(data: Path) -> Iterator[Example]:
    """Yields NarrativeQA's training questions beside the nearest passages of their summaries."""
    read = read_narrativeqa(
        data / "narrativeqa" / "qaps.csv", data / "narrativeqa" / "summaries.csv", split="train",
        style="free", num_passages=PASSAGES, passage_words=120, nearest=True,
    )  # fmt: skip
    return (replace(e, id=f"narrativeqa/{n}/{e.id}") for n, e in enumerate(read))


def is_held_out(example: Example) -> bool:
    """Returns True for some groups of every source."""
    return group_number(str(example.group), 7) < HELD_OUT


def write_ids(folder: Path, examples: Iterable[Example]) -> None:
    """Writes the lists of what is trained on and held out, of these at most `HELD_OUT_LIMIT` of
    each source, with and without an answer.

    Args:
        folder: path. What is written.
        examples: iterable of `Example`. The questions.
    """
    trained, parts = [], defaultdict(list)
    for example in examples:
        if is_held_out(example):
            parts[example.id.partition("/")[0], bool(example.answers)].append((example.id, example))
        else:
            trained.append(example.id)
    held_out = [e.id for part in parts.values() for e in draw_by_id(part, HELD_OUT_LIMIT)]
    with replacing(folder) as part:
        part.mkdir()
        for name, ids in {"train": trained, "validation": held_out, "test": []}.items():
            (part / f"{name}.txt").write_text("".join(f"{i}\n" for i in ids), encoding="utf-8")
            print(f"{folder.name}, {name}: {len(ids):,} questions")


def prepare(data: Path, folder: Path) -> None:
    """Writes questions and lists of ids.

    Args:
        data: path. The folder of squad, reading and narrativeqa.
        folder: path. What is written; the list of all comes last.
    """
    examples = read(data)
    in_three_styles = [*in_styles(examples), *stories(data)]
    wikipedia = [e for e in examples if e.answers and e.id.partition("/")[0] in WIKIPEDIA]
    paragraphs = [*in_paragraphs(wikipedia)]
    again = [e for e in examples if not e.answers and not is_held_out(e)]
    examples += [*made(examples), *(replace(e, id=f"{e.id}/again") for e in again)]
    folder.mkdir(parents=True, exist_ok=True)
    write_examples(folder / "train.jsonl", examples)
    write_examples(folder / "evidence.jsonl", with_sentences(examples))
    write_examples(folder / "styles.jsonl", in_three_styles)
    write_examples(folder / "paragraphs.jsonl", paragraphs)
    write_ids(folder / "styles", in_three_styles)
    write_ids(folder / "paragraphs", paragraphs)
    write_ids(folder / "wikipedia", wikipedia)
    write_ids(folder / "ids", examples)

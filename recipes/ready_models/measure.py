"""Measures the ready models on questions that they never saw; writes results.json.

python -m recipes.ready_models.measure --data FOLDER
python -m recipes.ready_models.measure --data FOLDER --models ready-qg  # what is new
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import tfmrc
from recipes.ready_models.prepare import PASSAGES, Search
from tfmrc import data
from tfmrc.data import Example, Span, sentence_spans, with_sentences
from tfmrc.data.transforms.sentences import sentences
from tfmrc.data.transforms.splits import draw_by_id, group_number
from tfmrc.evaluation import (
    most_similar_sentence,
    score_answers,
    score_evidence,
    score_ranking,
    score_repetition,
    score_squad,
)
from tfmrc.predictors.ready.shipped import EVIDENCE, NAMES, READY

ANSWERABLE, EACH, CALIBRATED = 2000, 500, 1000  # questions, drawn by id
DEV, REDDIT, STORIES = "SQuAD, dev articles", "Reddit", "NarrativeQA, summaries"
ASKERS, WRITER = ("ready-daanet", "ready-qg"), "ready-masque"
Table = dict[str, list[Any]]


@dataclass(frozen=True)
class Answered:
    """Questions with the reader's answers.

    Attributes:
        known: dict. Reference answers by id, none for a question without an answer.
        texts: dict. The best candidates by id.
        chances: dict. Their probabilities.
        confident: dict. Whether they reach the shipped threshold.
    """

    known: Mapping[str, Sequence[str]]
    texts: Mapping[str, str]
    chances: Mapping[str, float]
    confident: Mapping[str, bool]

    @classmethod
    def of(cls, predictor: Any, examples: Sequence[Example]) -> "Answered":
        """Asks the questions."""
        known = {e.id: tuple(a for of in e.answers.values() for a in of) for e in examples}
        results = dict(zip(known, predictor.predict(examples), strict=True))
        return cls(
            known,
            {key: result.text for key, result in results.items()},
            {key: float(result.probability) for key, result in results.items()},
            {key: result.is_confident for key, result in results.items()},
        )

    def scores(self, texts: Mapping[str, str]) -> tuple[str, str]:
        """Returns F1 and exact match of answers, in percent; "" is a refusal."""
        scores = score_squad(texts, self.known, version="2.0")
        return percent(float(scores["f1"])), percent(float(scores["exact_match"]))

    @property
    def shipped(self) -> dict[str, str]:
        """The answers with refusals below the shipped threshold."""
        return {key: text if self.confident[key] else "" for key, text in self.texts.items()}

    def refused(self, answerable: bool) -> str:
        """Returns the share that is refused, of the questions with or without an answer."""
        keys = [key for key, answers in self.known.items() if bool(answers) == answerable]
        return percent(float(np.mean([not self.confident[key] for key in keys])))

    def area(self) -> str:
        """Returns the area under the curve of refusing: how often a question with an answer has a
        greater probability than one without."""
        sides: list[list[float]] = [[], []]
        for key, answers in self.known.items():
            sides[bool(answers)].append(self.chances[key])
        none, some = np.array(sides[0]), np.array(sides[1])[:, None]
        return f"{np.mean((some > none) + 0.5 * (some == none)):.3f}"


def percent(share: float) -> str:
    """Returns a share in percent."""
    return f"{100 * share:.1f}"


def drawn(examples: Iterable[Example], limit: int) -> list[Example]:
    """Returns some of the examples, drawn by their ids."""
    return draw_by_id([(example.id, example) for example in examples], limit)


def beside_others(asked: Sequence[Example], every: Sequence[Example]) -> list[Example]:
    """Returns questions beside the most similar other paragraph of their article."""
    search = Search({e.passages[0]: str(e.group) for e in every})
    found = [(example, next(search.other_passages(example), None)) for example in asked]
    return [
        Example(f"{e.id}/other", e.question, (passage,), answerable=False)
        for e, passage in found
        if passage is not None
    ]


def answers_table(predictor: Any, sets: Mapping[str, Sequence[Example]]) -> Table:
    """Returns F1 and exact match where every question has an answer and none is refused."""
    rows = []
    for name, examples in sets.items():
        asked = drawn([e for e in examples if e.answers], ANSWERABLE)
        answered = Answered.of(predictor, asked)
        nearest = {e.id: most_similar_sentence(e.question, e.passages) for e in asked}
        rows.append([name, f"{len(asked):,}", *answered.scores(answered.texts)])
        rows.append(["– the most similar sentence", "", *answered.scores(nearest)])
        print(rows[-2], flush=True)
    return {"columns": ["", "questions", "F1", "exact match"], "rows": rows}


def refusals_table(predictor: Any, sets: Mapping[str, Sequence[Example]]) -> Table:
    """Returns F1 by SQuAD 2.0's rules as shipped, and what is refused."""
    rows = []
    for name, examples in sets.items():
        own = drawn([e for e in examples if e.answers], EACH)
        none = [e for e in examples if e.answerable is False]
        others = {"beside a similar paragraph": beside_others(own, examples)}
        if len(none) >= EACH:
            others = {"asked to have none": drawn(none, EACH)} | others
        for kind, without in others.items():
            one = Answered.of(predictor, [*own, *without])
            always, never = one.scores(one.texts)[0], one.scores(dict.fromkeys(one.texts, ""))[0]
            rows.append(
                [f"{name}, {kind}", one.scores(one.shipped)[0], always, never,
                 one.refused(False), one.refused(True), one.area()]
            )  # fmt: skip
            print(rows[-1], flush=True)
    columns = ["", "F1", "answer always", "never answer", "rightly refused", "wrongly refused",
               "area under the curve"]  # fmt: skip
    return {"columns": columns, "rows": rows}


def calibration_table(predictor: Any, sets: Mapping[str, Sequence[Example]]) -> Table:
    """Returns how far probabilities are from the share of right answers."""
    shown = ("raw_calibration_error", "calibration_error", "brier", "risk_coverage_area")
    rows = []
    for name, examples in sets.items():
        report = predictor.measure_calibration(drawn(examples, CALIBRATED))
        values = [f"{report.scores[key].value:.3f}" for key in shown]
        rest = (report.scores[key].value for key in ("confident_coverage", "confident_precision"))
        rows.append([name, *values, *map(percent, rest)])
    columns = ["", "calibration error, raw", "calibrated", "Brier score", "risk-coverage area",
               "answers above the threshold", "right above it"]  # fmt: skip
    return {"columns": columns, "rows": rows}


def reader_tables(data_sets: Mapping[str, Sequence[Example]]) -> dict[str, Table]:
    """Returns the tables of `ready`."""
    predictor = tfmrc.load(READY)
    paragraphs = {name: data_sets[name] for name in (DEV, REDDIT)}
    return {
        "answers": answers_table(predictor, data_sets),
        "refusals": refusals_table(predictor, paragraphs),
        "calibration": calibration_table(predictor, data_sets),
    }


def answerer_row(name: str, folder: Path, dev: Sequence[Example]) -> list[list[str]]:
    """Returns what a model answers: on dev articles, and Masque on stories."""
    predictor, style = tfmrc.load(name), {}
    sets = {DEV: drawn([e for e in dev if e.answers], CALIBRATED)}
    if name == WRITER:
        sets = {DEV: beside_passages(dev), STORIES: drawn(stories(folder), 600)}
        style = {DEV: "short", STORIES: "free"}
    rows = []
    for title, examples in sets.items():
        known = {e.id: tuple(a for of in e.answers.values() for a in of) for e in examples}
        task = style.get(title, "answer" if name == "ready-daanet" else None)
        answered = dict(zip(known, predictor.predict(examples, task=task), strict=True))
        texts = {key: result.text for key, result in answered.items()}
        squad, words = score_squad(texts, known), score_answers(texts, known, "plain")
        scores = (squad["f1"], squad["exact_match"], words["rouge_l"])
        rows.append([name, title, f"{len(known):,}", *(percent(float(s)) for s in scores)])
        print(rows[-1], flush=True)
    return rows


def asker_row(name: str, dev: Sequence[Example]) -> list[str]:
    """Returns what a model asks about answers of dev articles, and whether `ready` finds them."""
    asked = drawn([e for e in dev if e.answers], CALIBRATED)
    questions = [r.text for r in tfmrc.load(name).predict(asked, task="ask")]
    texts = dict(zip((e.id for e in asked), questions, strict=True))
    known = {e.id: (e.question,) for e in asked}
    scores = score_answers(texts, known, "plain")
    repeated = score_repetition(texts)["duplication_rate"]
    back = []
    for example in (asked[:EACH], [replace(e, question=texts[e.id]) for e in asked[:EACH]]):
        answered = Answered.of(tfmrc.load(READY), example)
        back.append(float(score_squad(answered.texts, answered.known)["f1"]))
    row = [name, *(percent(float(scores[key])) for key in ("rouge_l", "bleu_4"))]
    row += [percent(float(repeated)), percent(back[1]), percent(back[0])]
    print(row, flush=True)
    return row


def beside_passages(dev: Sequence[Example]) -> list[Example]:
    """Returns questions with an answer, each beside three passages of its article."""
    several = data.squad_for_masque(dev, PASSAGES, passage_words=120)
    return drawn([e for e in several if e.answers], CALIBRATED)


def writer_rows(asked: Sequence[Example]) -> list[list[str]]:
    """Returns how Masque ranks the passages, and how its answers look in each style."""
    predictor = tfmrc.load(WRITER)
    rows = []
    for style in predictor.preprocessor.styles:
        results = dict(
            zip((e.id for e in asked), predictor.predict(asked, task=style), strict=True)
        )
        ranks = {key: result.relevance or () for key, result in results.items()}
        order = score_ranking(ranks, {e.id: e.relevance or () for e in asked})
        lengths = [len(result.words) for result in results.values()]
        faults = [not r.finished or repeats(r.text) for r in results.values()]
        confident = [result.is_confident for result in results.values()]
        shares = (float(order["map"]), float(np.mean(faults)), float(np.mean(confident)))
        rows.append([style, f"{np.mean(lengths):.1f}", *map(percent, shares)])
        print(rows[-1], flush=True)
    return rows


def repeats(text: str) -> bool:
    """Returns True if three words in a row occur twice."""
    words = text.split()
    threes = [*zip(words, words[1:], words[2:], strict=False)]
    return len({*threes}) < len(threes)


def in_pairs(asked: Sequence[Example], every: Sequence[Example]) -> list[Example]:
    """Returns questions with their paragraph and the most similar other one of their article, in
    random order."""
    found = {e.id.removesuffix("/other"): e.passages[0] for e in beside_others(asked, every)}
    pairs = []
    for example in asked:
        number = int(group_number(example.id, 9) < 0.5)  # of their own paragraph
        others = [found[example.id]] if example.id in found else []
        spans = [replace(s, passage=number if others else 0) for s in example.spans]
        passages = [*example.passages, *others] if not number else [*others, *example.passages]
        pairs.append(replace(example, passages=tuple(passages), spans=spans, relevance=None))
    return pairs


def chosen_sentences(examples: Sequence[Example]) -> dict[str, dict[str, Sequence[Span]]]:
    """Returns sentences that are chosen without an evidence reader, by the way of choosing."""
    first = {e.id: [Span(0, *sentences(e.passages[0])[0])] for e in examples}
    similar, answered, confident = {}, {}, {}
    results = tfmrc.load(READY).predict(examples)
    for example, result in zip(examples, results, strict=True):
        text = most_similar_sentence(example.question, example.passages)
        number = next(n for n, passage in enumerate(example.passages) if text in passage)
        start = example.passages[number].index(text)
        similar[example.id] = [Span(number, start, start + len(text))]
        span = Span(result.passage, result.start, result.end)
        answered[example.id] = sentence_spans(example.passages, [span])
        confident[example.id] = answered[example.id] if result.is_confident else []
    return {
        "– the sentence of ready's answer, if it is confident": confident,
        "– the sentence of ready's answer, always": answered,
        "– the most similar sentence": similar,
        "– the first sentence": first,
    }


def evidence_rows(dev: Sequence[Example]) -> list[list[str]]:
    """Returns what `ready-evidence` finds in one paragraph, in two, and in one that has nothing to
    find for half of the questions, beside other sentences."""
    own = drawn([e for e in dev if e.answers], CALIBRATED)
    sets = {
        DEV: own,
        "in two paragraphs": in_pairs(own, dev),
        "half beside a similar paragraph": [*own[:EACH], *beside_others(own[EACH:], dev)],
    }
    rows = []
    for title, asked in sets.items():
        results = zip(asked, tfmrc.load(EVIDENCE).predict(asked), strict=True)
        found = {example.id: (one, *one.alternatives) for example, one in results}
        for name, spans in {title: found, **chosen_sentences(asked)}.items():
            scores = score_evidence(spans, with_sentences(asked))
            shown = [percent(float(scores[key])) for key in ("word_f1", "sentence_f1", "span_f1")]
            rows.append([name, f"{len(asked):,}" if name == title else "", *shown])
            print(rows[-1], flush=True)
    return rows


def stories(folder: Path) -> list[Example]:
    """Returns NarrativeQA's validation questions, beside the nearest passages of a summary."""
    read = data.read_narrativeqa(
        folder / "narrativeqa" / "qaps.csv", folder / "narrativeqa" / "summaries.csv",
        split="valid", num_passages=PASSAGES, passage_words=120, nearest=True, style="span",
    )  # fmt: skip
    return [replace(e, id=f"{n}/{e.id}") for n, e in enumerate(read)]


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="squad, reading and narrativeqa")
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES)
    options = parser.parse_args()
    folder = options.data
    dev = list(data.read_squad(folder / "squad" / "dev.json"))
    path = Path(__file__).with_name("results.json")
    tables = json.loads(path.read_text(encoding="utf-8"))
    if READY in options.models:
        reddit = list(data.read_squad(folder / "reading" / "squadshifts_reddit.json.gz"))
        tables |= reader_tables({DEV: dev, REDDIT: reddit, STORIES: stories(folder)})
    if EVIDENCE in options.models:
        columns = ["", "questions", "words, F1", "sentences, F1", "exact spans, F1"]
        tables["evidence"] = {"columns": columns, "rows": evidence_rows(dev)}
    if WRITER in options.models:
        columns = ["style", "words", "MAP of the passages", "repeats three words or does not end",
                   "confident"]  # fmt: skip
        tables["writer"] = {"columns": columns, "rows": writer_rows(beside_passages(dev))}
    for kind, columns in (
        ("answerers", ["", "on", "questions", "F1", "exact match", "ROUGE-L"]),
        ("askers", ["", "ROUGE-L", "BLEU-4", "word duplication", "answered back, F1",
                    "questions of people, F1"]),
    ):  # fmt: skip
        before = tables.get(kind, {"rows": []})["rows"]
        rows = [row for row in before if row[0] not in options.models]
        for name in options.models:
            if kind == "answerers" and name not in (READY, EVIDENCE, "ready-qg"):
                rows += answerer_row(name, folder, dev)
            if kind == "askers" and name in ASKERS:
                rows.append(asker_row(name, dev))
        if rows:
            tables[kind] = {"columns": columns, "rows": sorted(rows)}
    path.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

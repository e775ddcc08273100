"""Agreement of tfmrc's tokeniser with spaCy's blank English tokeniser, and the speed of both.

    pip install spacy
    python -m benchmarks.tokenizer_agreement --data FOLDER

The folder has `squad/dev.json` and other files (see `SOURCES`); missing files are left out. A token
agrees if both tokenisers give the same characters. Only boundaries between two characters that are
no spaces are counted. Rates are per second of the process's computation, in one thread.
"""

import argparse
import csv
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf

from benchmarks.measuring import print_head, print_row
from tfmrc.text import Tokenizer

Span = tuple[int, int]
SOURCES = {
    "SQuAD dev": "squad/dev.json",
    "SQuAD train": "squad/train.json",
    "DREAM dev": "dream/dev.json",
    "NarrativeQA (tokenised text)": "narrativeqa/summaries.csv",
}


def texts(path: Path) -> Iterator[str]:
    """Returns the passages, questions and answers of a file."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            yield from (row["summary"] for row in csv.DictReader(file))
        return
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, list):
        for turns, questions, *_ in content:
            yield from turns
            for question in questions:
                yield question["question"]
                yield question["answer"]
        return
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            yield paragraph["context"]
            yield from (question["question"] for question in paragraph["qas"])


def spacy_spans(document) -> list[Span]:
    """Returns the character spans of all tokens that are not spaces."""
    return [(t.idx, t.idx + len(t)) for t in document if not t.is_space]


def free_boundaries(text: str, spans: list[Span]) -> set[int]:
    """Returns the starts of tokens that directly follow another token."""
    return {start for start, _ in spans if start and not text[start - 1].isspace()}


def differences(text: str, ours: list[Span], theirs: list[Span]) -> Iterator[tuple[str, str]]:
    """Yields the shortest parts of the text that both split, but differently: theirs, ours."""
    shared = sorted({s for s, _ in ours} & {s for s, _ in theirs}) + [len(text)]
    same = set(ours) & set(theirs)
    for start, end in zip(shared, shared[1:], strict=False):
        left = [s for s in theirs if start <= s[0] < end and s not in same]
        right = [s for s in ours if start <= s[0] < end and s not in same]
        if left != right:
            yield tuple(" ".join(text[s:e] for s, e in side) for side in (left, right))


def shape(difference: tuple[str, str]) -> str:
    """Returns the kind of a difference: letters and digits replaced by X, x and 9."""
    both = f"{difference[0]}   →   {difference[1]}"
    both = re.sub(r"[^\W\d_]*[a-z][^\W\d_]*", "x", both)
    return re.sub(r"\d+", "9", re.sub(r"[A-Z]+", "X", both))


def rates(shared: int, ours: int, theirs: int) -> list[str]:
    """Returns precision, recall and F1 of ours against theirs."""
    pairs = ((shared, ours), (shared, theirs), (2 * shared, ours + theirs))
    return [f"{part / max(whole, 1):.4f}" for part, whole in pairs]


def measure(name: str, strings: list[str], nlp, num_differences: int) -> None:
    """Compares both tokenisers on strings and prints the most frequent differences."""
    began = time.process_time()
    theirs = [spacy_spans(document) for document in map(nlp.tokenizer, strings)]
    spacy_seconds = time.process_time() - began
    tokenizer = Tokenizer()
    tokenizer.tokenize(strings[:2])
    inputs = tf.constant(strings)
    began = time.process_time()
    tokens = tokenizer.tokenize(inputs)
    seconds = time.process_time() - began
    starts, ends = tokens.starts.to_list(), tokens.ends.to_list()
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    samples: dict[str, Counter[tuple[str, str]]] = {}
    for text, their_spans, *our_ends in zip(strings, theirs, starts, ends, strict=True):
        our_spans = list(zip(*our_ends, strict=True))
        counts["ours"] += len(our_spans)
        counts["theirs"] += len(their_spans)
        counts["shared"] += len(set(our_spans) & set(their_spans))
        our_boundaries = free_boundaries(text, our_spans)
        their_boundaries = free_boundaries(text, their_spans)
        counts["our boundaries"] += len(our_boundaries)
        counts["their boundaries"] += len(their_boundaries)
        counts["shared boundaries"] += len(our_boundaries & their_boundaries)
        for difference in differences(text, our_spans, their_spans):
            kind = shape(difference)
            kinds[kind] += 1
            samples.setdefault(kind, Counter())[difference] += 1
    print(f"\n{name}, {len(strings):,} strings\n")
    print_head("", "of spaCy", "precision", "recall", "F1")
    tokens = counts["shared"], counts["ours"], counts["theirs"]
    edges = counts["shared boundaries"], counts["our boundaries"], counts["their boundaries"]
    for what, numbers in (("tokens", tokens), ("boundaries", edges)):
        print_row(what, f"{numbers[2]:,}", *rates(*numbers))
    ours, theirs = counts["ours"] / seconds, counts["theirs"] / spacy_seconds
    print(f"tokens a second: {ours:,.0f}; spaCy {theirs:,.0f}")
    for kind, count in kinds.most_common(num_differences):
        examples = [f"{a!r} → {b!r}" for (a, b), _ in samples[kind].most_common(3)]
        print(f"  {count:6d}  {kind}      e.g. {'; '.join(examples)}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--differences", type=int, default=15, help="kinds of differences to print")
    parser.add_argument("--limit", type=int, help="strings per source")
    options = parser.parse_args(arguments)
    try:
        import spacy
    except ImportError as error:
        raise SystemExit("This benchmark compares with spaCy: pip install spacy") from error
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    print(f"spaCy {spacy.__version__} blank 'en', TensorFlow {tf.__version__}, one thread each")
    nlp = spacy.blank("en")
    paths = {name: options.data / file for name, file in SOURCES.items()}
    paths = {name: path for name, path in paths.items() if path.is_file()}
    if not paths:
        raise SystemExit(f"No file of {', '.join(SOURCES.values())} is in {options.data}.")
    for name, path in paths.items():
        measure(name, list(texts(path))[: options.limit], nlp, options.differences)


if __name__ == "__main__":
    main()

"""Agreement of tfmrc's tokeniser with spaCy's blank English tokeniser, and the speed of both.

    pip install spacy
    python -m benchmarks.tokenizer_agreement --data ../shared/data

The folder has `squad/dev.json` and other files (see `SOURCES`); missing files are left out. A token
agrees if both tokenisers give the same characters. Only boundaries between two characters that are
no spaces are counted. Rates are per second of the process's computation, in one thread.
"""

import argparse
import csv
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf

from tfmrc.text import Tokenizer, join_words

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


def rates(shared: int, ours: int, theirs: int) -> dict[str, float]:
    """Returns precision, recall and F1 of our boundaries against theirs."""
    return {
        "precision": round(shared / max(ours, 1), 5),
        "recall": round(shared / max(theirs, 1), 5),
        "f1": round(2 * shared / max(ours + theirs, 1), 5),
    }


def answers_on_boundaries(path: Path, nlp) -> dict:
    """Returns the share of SQuAD answers on token boundaries, for both tokenisers."""
    content = json.loads(path.read_text(encoding="utf-8"))
    paragraphs = [p for article in content["data"] for p in article["paragraphs"]]
    tokens = Tokenizer().tokenize([p["context"] for p in paragraphs])
    total, held = 0, Counter()
    rows = zip(paragraphs, tokens.starts.to_list(), tokens.ends.to_list(), strict=True)
    for paragraph, starts, ends in rows:
        theirs = spacy_spans(nlp.tokenizer(paragraph["context"]))
        sides = {"ours": (set(starts), set(ends))}
        sides["spacy"] = ({s for s, _ in theirs}, {e for _, e in theirs})
        for question in paragraph["qas"]:
            for answer in question["answers"]:
                text = answer["text"]
                start = answer["answer_start"] + len(text) - len(text.lstrip())
                total += 1
                for side, (begins, finishes) in sides.items():
                    held[side] += start in begins and start + len(text.strip()) in finishes
    return {"answers": total} | {side: round(count / total, 5) for side, count in held.items()}


def answers(path: Path) -> list[str]:
    """Returns all answers of a SQuAD or DREAM file, with single spaces between words."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, list):
        results = [question["answer"] for _, questions, *_ in content for question in questions]
    else:
        paragraphs = [p for article in content["data"] for p in article["paragraphs"]]
        results = [a["text"] for p in paragraphs for q in p["qas"] for a in q["answers"]]
    return [" ".join(text.split()) for text in results]


def rebuilt(strings: list[str]) -> dict:
    """Returns the share of strings that `join_words` restores from their tokens."""
    surface = Tokenizer().tokenize(tf.constant(strings)).surface
    joined = join_words(surface.to_tensor("")).numpy()
    same = sum(one.decode() == text for one, text in zip(joined, strings, strict=True))
    return {"answers": len(strings), "same": round(same / len(strings), 5)}


def measure(name: str, strings: list[str], nlp, num_differences: int) -> dict:
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
    result = {
        "source": name,
        "strings": len(strings),
        "spacy_tokens": counts["theirs"],
        "tokens": rates(counts["shared"], counts["ours"], counts["theirs"]),
        "boundaries": rates(
            counts["shared boundaries"], counts["our boundaries"], counts["their boundaries"]
        ),
        "tokens_per_second": round(counts["ours"] / seconds),
        "spacy_tokens_per_second": round(counts["theirs"] / spacy_seconds),
    }
    print(json.dumps(result, ensure_ascii=False))
    for kind, count in kinds.most_common(num_differences):
        examples = [f"{a!r} → {b!r}" for (a, b), _ in samples[kind].most_common(3)]
        print(f"  {count:6d}  {kind}      e.g. {'; '.join(examples)}")
    return result


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("TFMRC_DATA", "../shared/data"))
    )
    parser.add_argument("--differences", type=int, default=15, help="kinds of differences to print")
    parser.add_argument("--limit", type=int, help="strings per source")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    options = parser.parse_args(arguments)
    try:
        import spacy
    except ImportError as error:
        raise SystemExit("This benchmark compares with spaCy: pip install spacy") from error
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    print(f"spaCy {spacy.__version__} blank 'en', TensorFlow {tf.__version__}, one thread each")
    nlp = spacy.blank("en")
    results = []
    for name, file in SOURCES.items():
        path = options.data / file
        if path.is_file():
            strings = list(texts(path))[: options.limit]
            result = measure(name, strings, nlp, options.differences)
            if file.startswith("squad"):
                result["answers_on_boundaries"] = answers_on_boundaries(path, nlp)
                print(f"  answers on token boundaries: {result['answers_on_boundaries']}")
            if path.suffix == ".json":
                result["answers_rebuilt"] = rebuilt(answers(path))
                print(f"  answers restored from their tokens: {result['answers_rebuilt']}")
            results.append(result)
    if not results:
        raise SystemExit(f"No file of {', '.join(SOURCES.values())} is in {options.data}.")
    if options.output:
        versions = {"spacy": spacy.__version__, "tensorflow": tf.__version__}
        options.output.write_text(json.dumps({"versions": versions, "results": results}, indent=2))


if __name__ == "__main__":
    main()

"""SQuAD's paragraphs as one collection: recall, answers beside the right paragraph, seconds.

    python -m benchmarks.documents SQUAD
    python -m benchmarks.documents SQUAD --answered 300 --removed 100

SQUAD is the folder with `train.json` and `dev.json` in SQuAD's form. The collection has the
different paragraphs of both, each as one passage; the questions are those of `dev.json`. Recall is
measured on all of them, answers on a sample: once from the collection, once from the right
paragraph alone. For `--removed` questions the paragraph is taken out of the passages first; the
share of answers that are confident all the same is printed.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tfmrc import documents
from tfmrc.data import Example, read_squad

DEPTHS = (1, 5, 10)


def main() -> None:
    """Prints the figures, one a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("squad", type=Path)
    parser.add_argument("--answered", type=int, default=300, help="questions that are answered")
    parser.add_argument("--removed", type=int, default=100, help="of them without their paragraph")
    parser.add_argument("--passages", type=int, default=10, help="passages that are read")
    parser.add_argument("--model", default="ready")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    questions = list(read_squad(options.squad / "dev.json"))
    with tempfile.TemporaryDirectory() as folder:
        path = make_index(Path(folder), options.squad)
        with documents.load(path, model=options.model) as collection:
            print(recall(collection, questions))
            answered = [example for example in questions if example.answers]
            sample = random.Random(options.seed).sample(answered, options.answered)
            print(answers(collection, sample, options.passages))
            print(without_paragraph(collection, sample[: options.removed], options.passages))
    print(f"{os.cpu_count()} cores, seed {options.seed}")


def make_index(folder: Path, squad: Path) -> Path:
    """Indexes the different paragraphs of both files, and prints the seconds."""
    paragraphs = dict.fromkeys(
        paragraph["context"].strip()
        for name in ("dev.json", "train.json")
        for article in json.loads((squad / name).read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
    )
    pages = folder / "pages"
    pages.mkdir()
    lines = (json.dumps({"text": paragraph}) for paragraph in paragraphs)
    (pages / "squad.jsonl").write_text("\n".join(lines), encoding="utf-8")
    start = time.perf_counter()
    documents.index(pages, folder / "squad.index", passage_length=10_000)
    print(f"{len(paragraphs):,} paragraphs indexed in {time.perf_counter() - start:.1f} s")
    return folder / "squad.index"


def text_of(example: Example) -> str:
    """Returns the paragraph of a question as the index has it."""
    return " ".join(example.passages[0].split())


def recall(collection: documents.DocumentCollection, questions: Sequence[Example]) -> str:
    """Returns the shares of questions whose paragraph is among the first passages."""
    ranks, start = [], time.perf_counter()
    for example in questions:
        texts = [passage.text for passage in collection.search(example.question, max(DEPTHS))]
        ranks.append(texts.index(text_of(example)) if text_of(example) in texts else max(DEPTHS))
    seconds = (time.perf_counter() - start) / len(questions)
    shares = (f"{sum(rank < depth for rank in ranks) / len(ranks):.3f}" for depth in DEPTHS)
    return (
        f"recall at {', '.join(map(str, DEPTHS))}: {', '.join(shares)} "
        f"({len(questions):,} questions, {1000 * seconds:.1f} ms each)"
    )


def answers(collection: documents.DocumentCollection, sample: Sequence[Example], count: int) -> str:
    """Returns exact match and F1 from the collection and from the right paragraph."""
    from tfmrc.evaluation import score_squad

    references = {example.id: next(iter(example.answers.values())) for example in sample}
    found, alone, seconds = {}, {}, []
    for example in sample:
        start = time.perf_counter()
        found[example.id] = collection.answer(question=example.question, num_passages=count).text
        seconds.append(time.perf_counter() - start)
        passages = [text_of(example)]
        answer = collection.predictor.answer(question=example.question, passages=passages)
        alone[example.id] = answer.text
    lines = []
    for name, texts in (("collection", found), ("right paragraph", alone)):
        scores = score_squad(texts, references)
        shown = (f"{metric} {100 * scores[metric].value:.1f}" for metric in ("exact_match", "f1"))
        lines.append(f"{name}: {', '.join(shown)} ({len(sample):,} questions)")
    lines.append(f"seconds per question: {statistics.median(seconds):.2f} (median)")
    return "\n".join(lines)


def without_paragraph(
    collection: documents.DocumentCollection, sample: Sequence[Example], count: int
) -> str:
    """Returns the share of confident answers when the right paragraph is not there."""
    confident = 0
    for example in sample:
        passages = [passage.text for passage in collection.search(example.question, count + 1)]
        others = [text for text in passages if text != text_of(example)][:count]
        answer = collection.predictor.answer(question=example.question, passages=others)
        confident += bool(answer.text) and answer.is_confident
    return f"confident without the right paragraph: {confident / len(sample):.2f}"


if __name__ == "__main__":
    main()

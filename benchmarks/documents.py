"""Documents: what is found, what is answered, and what an index costs.

    python -m benchmarks.documents squad SQUAD --dense --index squad.index --answered 300
    python -m benchmarks.documents files 10000
    python -m benchmarks.documents passages 1000000 --to made.index
    python -m benchmarks.documents passages 1000000 --to made.lance

SQUAD is the folder with `train.json` and `dev.json` in SQuAD's form. The collection has the
different paragraphs of both, each as one passage; the questions are those of `dev.json`. Recall is
measured on all of them, answers on a sample: once from the collection, once from the right
paragraph alone. For `--removed` questions the paragraph is taken out of the passages first; the
share of answers that are confident all the same is printed. With `--dense` the recall of vectors,
and of both joined, is measured, too; answers are then from the joined ones. `--index` keeps the
index, whose vectors take minutes.

`files` and `passages` make texts of words whose frequencies follow Zipf's law.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.measuring import memory
from tfmrc import documents
from tfmrc.data import Example, read_squad

DEPTHS = (1, 5, 10)
WORDS, COMMON = 50_000, 100  # and those that no question has
PER_PASSAGE, PER_FILE = 60, 10_000
QUESTIONS, PER_QUESTION = 100, 6


def main() -> None:
    """Prints the figures, one a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(required=True)
    squad = kinds.add_parser("squad")
    squad.set_defaults(run=measure_squad)
    squad.add_argument("squad", type=Path)
    squad.add_argument("--index", type=Path, help="where the index is kept; default: nowhere")
    squad.add_argument("--dense", action="store_true", help="with vectors")
    squad.add_argument("--answered", type=int, default=300, help="questions that are answered")
    squad.add_argument("--removed", type=int, default=100, help="of them without their paragraph")
    squad.add_argument("--passages", type=int, default=10, help="passages that are read")
    squad.add_argument("--model", default="ready")
    files = kinds.add_parser("files")
    files.set_defaults(run=measure_files)
    files.add_argument("number", type=int)
    passages = kinds.add_parser("passages")
    passages.set_defaults(run=measure_passages)
    passages.add_argument("number", type=int)
    passages.add_argument("--to", type=Path, required=True, help="the index, a file or NAME.lance")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.run(options)
    print(f"{os.cpu_count()} cores, seed {options.seed}")


# === SQuAD's paragraphs ===


def measure_squad(options: argparse.Namespace) -> None:
    """Measures recall, answers, and answers without the right paragraph."""
    questions = list(read_squad(options.squad / "dev.json"))
    with tempfile.TemporaryDirectory() as folder:
        path = options.index or Path(folder, "squad.index")
        make_index(Path(folder), path, options)
        with documents.load(path, model=options.model) as collection:
            for name, search in searches(collection, questions).items():
                print(f"{name}: {recall(search, questions)}", flush=True)
            answered = [example for example in questions if example.answers]
            sample = random.Random(options.seed).sample(answered, options.answered)
            if sample:
                print(answers(collection, sample, options.passages), flush=True)
            if sample[: options.removed]:
                removed = sample[: options.removed]
                print(without_paragraph(collection, removed, options.passages))


def make_index(folder: Path, path: Path, options: argparse.Namespace) -> None:
    """Indexes the different paragraphs of both files, and prints the seconds."""
    if path.exists():
        return
    paragraphs = dict.fromkeys(
        " ".join(paragraph["context"].split())
        for name in ("dev.json", "train.json")
        for article in json.loads((options.squad / name).read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
    )
    pages = folder / "pages"
    pages.mkdir()
    lines = (json.dumps({"text": paragraph}) for paragraph in paragraphs)
    (pages / "squad.jsonl").write_text("\n".join(lines), encoding="utf-8")
    start = time.perf_counter()
    documents.index(pages, path, passage_length=10_000, dense=options.dense)
    print(f"{len(paragraphs):,} paragraphs indexed in {time.perf_counter() - start:.1f} s")


def searches(
    collection: documents.DocumentCollection, questions: Sequence[Example]
) -> dict[str, Callable[[str, int], list[documents.Passage]]]:
    """Returns the kinds of search that an index has."""
    store = collection.store
    if not store.dense:
        return {"lexical": store.search}
    from tfmrc.documents.vectors import encode

    texts = [example.question for example in questions]
    vectors = dict(zip(texts, encode(texts), strict=True))
    near = lambda question, k: store.nearest(vectors[question], k)  # noqa: E731
    return {"lexical": store.search, "dense": near, "joined": collection.search}


def text_of(example: Example) -> str:
    """Returns the paragraph of a question as the index has it."""
    return " ".join(example.passages[0].split())


def recall(
    search: Callable[[str, int], list[documents.Passage]], questions: Sequence[Example]
) -> str:
    """Returns the shares of questions whose paragraph is among the first passages."""
    ranks, start = [], time.perf_counter()
    for example in questions:
        texts = [passage.text for passage in search(example.question, max(DEPTHS))]
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
        found = collection.search(example.question, count + 1)
        others = [passage for passage in found if passage.text != text_of(example)][:count]
        with mock.patch.object(collection, "search", lambda *_, found=others: found):
            answer = collection.answer(question=example.question)
        confident += bool(answer.text) and answer.is_confident
    return f"confident without the right paragraph: {confident / len(sample):.2f}"


# === Made texts ===


def measure_files(options: argparse.Namespace) -> None:
    """Measures files per second, memory, and the time of a call without changes."""
    generator = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "pages")
        pages.mkdir()
        for number in range(options.number):
            texts = made_texts(generator, 5)
            (pages / f"{number}.md").write_text("# A\n\n" + "\n\n## B\n\n".join(texts))
        for name in ("indexed", "unchanged"):
            start = time.perf_counter()
            report = documents.index(pages, Path(folder, "made.index"))
            seconds = time.perf_counter() - start
            rate = report.documents / seconds
            print(f"{report.documents:,} files {name} in {seconds:.1f} s, {rate:,.0f} a second")
    print(f"memory: {memory('VmHWM'):,.0f} MiB")


def measure_passages(options: argparse.Namespace) -> None:
    """Measures the time of indexing, the size of the index, and the time of a question."""
    generator = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, options.number, PER_FILE):
            texts = made_texts(generator, min(PER_FILE, options.number - first))
            lines = (json.dumps({"text": text}) for text in texts)
            Path(folder, f"{first}.jsonl").write_text("\n".join(lines))
        start = time.perf_counter()
        documents.index(folder, options.to)
        print(f"{options.number:,} passages indexed in {time.perf_counter() - start:.1f} s")
    files = [path for path in (options.to, *options.to.rglob("*")) if path.is_file()]
    print(f"size: {sum(path.stat().st_size for path in files) / 1e6:,.0f} MB")
    seconds = []
    with documents.load(options.to) as collection:
        for _ in range(QUESTIONS):
            question = " ".join(made_words(generator, PER_QUESTION, COMMON))
            start = time.perf_counter()
            collection.search(question)
            seconds.append(time.perf_counter() - start)
    print(f"milliseconds per question: {1000 * statistics.median(seconds):.1f} (median)")
    print(f"memory: {memory('VmHWM'):,.0f} MiB")


def made_texts(generator: np.random.Generator, count: int) -> list[str]:
    """Returns passages of made words."""
    words = made_words(generator, count * PER_PASSAGE)
    return [
        " ".join(words[first : first + PER_PASSAGE]) + "."
        for first in range(0, len(words), PER_PASSAGE)
    ]


def made_words(generator: np.random.Generator, count: int, least: int = 0) -> list[str]:
    """Returns words of letters whose number, from `least`, is drawn by Zipf's law."""
    letters = "abcdefghijklmnopqrst"
    numbers = generator.zipf(1.2, 2 * count + 100) - 1
    numbers = numbers[(least <= numbers) & (numbers < WORDS)][:count]
    return ["".join(letters[number // 20**place % 20] for place in range(4)) for number in numbers]


if __name__ == "__main__":
    main()

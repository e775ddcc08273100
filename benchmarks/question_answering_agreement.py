"""Answers of `tfmrc.pipeline` beside those of transformers' own pipeline, on the same model.

    python -m benchmarks.question_answering_agreement READER SQUAD.json --peer PYTHON

READER is a folder in Hugging Face's form; PYTHON has transformers 5.2 or older and PyTorch. The
questions are the first ones of every paragraph, spread over the file. Two runs are compared with
transformers: `legacy=True`, whose answers, offsets and scores should be equal, and the default,
whose differences are counted. The reason of most differences is that transformers adds the best
`2 top_k + 10` pairs of subwords only: so the default's first answer is also compared with the one
that transformers finds with `top_k=300`.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import tfmrc
from benchmarks.measuring import answer_of
from tfmrc.data import read_squad

PEER = """
import json, sys
from transformers import pipeline
answerer = pipeline("question-answering", model=sys.argv[1], tokenizer=sys.argv[1], device=-1)
tasks = json.load(open(sys.argv[2], encoding="utf-8"))
results = [[answerer(question=q, context=c, **options) for q, c in tasks["questions"]]
           for options in tasks["options"]]
print(json.dumps(results))
"""
MANY = 300
OPTIONS = (
    {},
    {"top_k": 3, "handle_impossible_answer": True},
    {"max_seq_len": 128, "doc_stride": 32, "max_answer_len": 30, "align_to_words": False},
)


def questions_of(path: Path, count: int) -> list[tuple[str, str]]:
    """Returns questions with their contexts, evenly spread over the file."""
    pairs = [(example.question, example.passages[0]) for example in read_squad(path)]
    step = max(1, len(pairs) // count)
    return pairs[::step][:count]


def listed(results: list) -> list[list[dict]]:
    """Returns the answers of each question as a list."""
    return [result if isinstance(result, list) else [result] for result in results]


def difference(ours: list[dict], theirs: list[dict]) -> str:
    """Returns the first part in which two results differ."""
    if [a["answer"] for a in ours] != [a["answer"] for a in theirs]:
        tied = sorted(a["answer"].lower() for a in ours) == sorted(
            a["answer"].lower() for a in theirs
        )
        return "order" if tied else "answer"
    if [(a["start"], a["end"]) for a in ours] != [(a["start"], a["end"]) for a in theirs]:
        return "offsets"
    worst = max(
        (abs(a["score"] - b["score"]) for a, b in zip(ours, theirs, strict=True)), default=0
    )
    return "equal" if worst <= 1e-4 else "score"


def main() -> None:
    """Runs both sides and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("squad", type=Path)
    parser.add_argument("--peer", default=sys.executable, help="a Python with transformers")
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--options", type=int, default=len(OPTIONS), help="how many of OPTIONS")
    arguments = parser.parse_args()
    pairs = questions_of(arguments.squad, arguments.questions)
    chosen = [*OPTIONS[: arguments.options], {"top_k": MANY}]
    with tempfile.TemporaryDirectory() as folder:
        tasks = Path(folder, "tasks.json")
        tasks.write_text(json.dumps({"questions": pairs, "options": chosen}), encoding="utf-8")
        command = [arguments.peer, "-c", PEER, arguments.reader, tasks]
        peer = answer_of(*command, HF_HUB_OFFLINE="1")
    *peer, complete = map(listed, peer)
    predictor = tfmrc.load(arguments.reader)
    for legacy in (True, False):
        answerer = tfmrc.pipeline("question-answering", predictor, legacy=legacy)
        for options, theirs in zip(chosen, peer, strict=False):
            examples = [{"question": question, "context": context} for question, context in pairs]
            ours = listed(answerer(examples, **options))
            kinds = [difference(*both) for both in zip(ours, theirs, strict=True)]
            first = Counter(
                "equal" if a[:1] and b[:1] and a[0]["answer"] == b[0]["answer"] else "different"
                for a, b in zip(ours, theirs, strict=True)
            )
            above = sum(a["score"] > 1 for answers in theirs for a in answers)
            print(
                f"legacy={legacy} {options}: {dict(Counter(kinds))}; first answers "
                f"{dict(first)}; scores above 1 of transformers {above}, of tfmrc "
                f"{sum(a['score'] > 1 for answers in ours for a in answers)}",
                flush=True,
            )
            if not legacy and not options:
                firsts = [answers[:1] for answers in complete]
                kinds_of_all = Counter(map(difference, ours, firsts))
                print(f"  beside the first of {MANY} answers of transformers: {dict(kinds_of_all)}")
                _print_differences(ours, firsts, pairs)
            if legacy:
                _print_differences(ours, theirs, pairs)


def _print_differences(ours: list, theirs: list, pairs: list) -> None:
    for mine, other, pair in zip(ours, theirs, pairs, strict=True):
        kind = difference(mine, other)
        if kind != "equal":
            print(f"  {kind}: {pair[0]!r}\n    {mine}\n    {other}")


if __name__ == "__main__":
    main()

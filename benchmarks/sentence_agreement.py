"""Agreement of the sentences found in the graph with those of `tfmrc.data.transforms.sentences`.

    python -m benchmarks.sentence_agreement ../shared/data/squad/dev.json

Question generation splits sentences in the graph, as does an exported model; readers and reports
split them on plain strings. A sentence agrees if both find the same characters. An answer agrees if
the sentences that contain it begin and end at the same characters.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf

from tfmrc.data import read_squad
from tfmrc.data.transforms.sentences import sentences
from tfmrc.text import Tokenizer
from tfmrc.text.sentences import sentence_numbers

Span = tuple[int, int]
PASSAGES = 64  # per batch


def in_graph(passages: list[str]) -> Iterator[list[Span]]:
    """Returns the sentences of each passage that the graph finds, as character offsets."""
    for first in range(0, len(passages), PASSAGES):
        texts = passages[first : first + PASSAGES]
        tokens = Tokenizer().tokenize(texts)
        numbers = tokens.starts.with_values(sentence_numbers(texts, tokens))
        for rows in zip(tokens.starts, tokens.ends, numbers, strict=True):
            starts, ends, of = (row.numpy().tolist() for row in rows)
            spans: dict[int, Span] = {}
            for start, end, number in zip(starts, ends, of, strict=True):
                spans[number] = (spans.get(number, (start, end))[0], end)
            yield list(spans.values())


def holding(spans: list[Span], answer: Span) -> Span:
    """Returns the span from the first to the last sentence that overlaps the answer."""
    held = [span for span in spans if span[0] < answer[1] and answer[0] < span[1]]
    return held[0][0], held[-1][1]


def main() -> None:
    """Counts the passages, sentences and answers of a file in SQuAD's format."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, help="a file in SQuAD's format")
    answers: dict[str, list[Span]] = {}
    for example in read_squad(parser.parse_args().file):
        spans = answers.setdefault(example.passages[0], [])
        spans += [(span.start, span.end) for span in example.spans[:1]]
    graph = plain = same = agreed = 0
    for passage, ours in zip(answers, in_graph(list(answers)), strict=True):
        theirs = sentences(passage)
        graph, plain = graph + len(ours), plain + len(theirs)
        same += len(set(ours) & set(theirs))
        agreed += sum(holding(ours, a) == holding(theirs, a) for a in answers[passage])
    count = sum(map(len, answers.values()))
    print(f"TensorFlow {tf.__version__}, {len(answers):,} passages")
    print(f"sentences: {graph:,} in the graph, {plain:,} on strings, {same:,} the same")
    print(f"first answers: {count:,}, {agreed:,} with the same sentences in both")


if __name__ == "__main__":
    main()

"""Answers of a reader on OpenVINO, in float32 and in int8, compared with those on TensorFlow.

    tfmrc export READER --to reader/1 --openvino --int8 --input SQUAD/train.json
    python -m benchmarks.openvino_agreement READER reader/1 SQUAD/dev.json

The questions have an answer, and are evenly spread over the file. Printed are the share of equal
spans, the greatest difference of a probability, F1, and its difference to TensorFlow's with the
95 percent interval of a paired bootstrap over questions.
"""

import argparse
from pathlib import Path

import tfmrc
from tfmrc.data import read_squad
from tfmrc.evaluation import paired_bootstrap, score_squad


def main() -> None:
    """Prints one line per engine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader")
    parser.add_argument("export", type=Path, help="the same reader in int8")
    parser.add_argument("squad", type=Path)
    parser.add_argument("--questions", type=int, default=1000)
    options = parser.parse_args()
    answerable = [example for example in read_squad(options.squad) if example.answers]
    asked = answerable[:: len(answerable) // options.questions][: options.questions]
    references = {example.id: next(iter(example.answers.values())) for example in asked}
    sides = {
        "TensorFlow": tfmrc.load(options.reader, runtime="tensorflow"),
        "OpenVINO": tfmrc.load(options.reader, runtime="openvino"),
        "OpenVINO, int8": tfmrc.load(options.export, runtime="openvino"),
    }
    answers, scores = {}, {}
    for name, predictor in sides.items():
        answers[name] = [
            predictor.answer(question=example.question, passages=example.passages)
            for example in asked
        ]
        texts = {each.id: one.text for each, one in zip(asked, answers[name], strict=True)}
        scores[name] = score_squad(texts, references)["f1"]
        pairs = [*zip(answers[name], answers["TensorFlow"], strict=True)]
        equal = sum((a.start, a.end) == (b.start, b.end) for a, b in pairs)
        greatest = max(abs(a.probability - b.probability) for a, b in pairs)
        test = paired_bootstrap(scores["TensorFlow"], scores[name])
        print(
            f"{name}: {equal:,} of {len(asked):,} spans equal, probabilities to {greatest:.1e}; "
            f"F1 {100 * scores[name].value:.2f}, difference {test}",
            flush=True,
        )


if __name__ == "__main__":
    main()

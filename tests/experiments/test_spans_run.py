"""SAN on free answers: spans near to them, their bound, and passages weighted by a ranker."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.running import eagerly
from tfmrc import Predictor, cli, data
from tfmrc.evaluation import read_predictions
from tfmrc.predictors import TfIdfRanker

PLACES = ("mill", "tarn", "weir", "lock", "ford", "quay", "moor", "dell", "isle", "cave")
SETTINGS = """
name: san_msmarco
sources:
- {format: msmarco, title: MS MARCO 1.1, styles: [qa], train: train.json, test: dev.json,
   answerable_only: true, spans: best, rules: msmarco, options: {subset: ANS}}
split: {validation_share: 0.3, validation_limit: null}
vocabulary: {size: 60, num_oov_buckets: 4}
preprocessor: {passage_length: 12, question_length: 8, answer_length: 4, stride: 6}
model: {name: SAN, word_dim: 4, units: 2, align_dim: 2, num_layers: 1, num_steps: 2}
training: {epochs: 1, batch_size: 4}
evaluation: {ranker: tfidf, meteor: false, prefixes: {answer: ""}}
grid: {variants: {stochastic: {model.answer: stochastic}}, seeds: [1]}
"""


def query(number: int, place: str) -> dict[str, Any]:
    """A query of v1.1's form: its answer is not word for word in the second passage."""
    texts = ("Nobody lives here.", f"Old Tamsin built the {place} of Dorrow.", f"A {place}.")
    return {
        "query_id": number,
        "query": f"who built the {place} of Dorrow",
        "query_type": "person",
        "passages": [
            {"passage_text": text, "url": "", "is_selected": int(n == 1)}
            for n, text in enumerate(texts)
        ],
        "answers": ["It was old Tamsin ."],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("san_msmarco")
    train = [query(number, name) for number, name in enumerate(PLACES)]
    train.append({**query(99, "mill"), "answers": ["Zoe"]})  # of which no passage has a word
    train.append({**query(98, "mill"), "answers": []})
    for name, rows in (("train", train), ("dev", [query(100, "mill"), query(101, "brook")])):
        (folder / f"{name}.json").write_text("\n".join(map(json.dumps, rows)))
    (folder / "tiny.yaml").write_text(SETTINGS)
    with eagerly():
        yield folder


def run(folder: Path, command: str) -> int:
    places = ["--data", str(folder), "--run", str(folder / "run")]
    return cli.main([command, str(folder / "tiny.yaml"), *places])


def test_spans_stand_for_answers(folder, capsys):
    assert run(folder, "prepare") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "answers that share a word with a passage: 10 of 11" in said
    # "Old Tamsin" against "It was old Tamsin .": both words of 2 and of 5, beta 1.2.
    score = (1 + 1.44) * 1 * 0.4 / (0.4 + 1.44 * 1)
    assert f"nearest spans: {100 * score:.2f}" in said
    file = folder / "run" / "spans-1.jsonl.gz"
    examples = list(data.read_examples(file))
    assert [e.answers["qa"] for e in examples] == [("Old Tamsin",)] * 10
    assert all(e.span_text(e.spans[0]) == "Old Tamsin" for e in examples)
    assert len(examples[0].passages) == 1
    written = file.stat().st_mtime_ns
    assert run(folder, "prepare") == 0
    assert file.stat().st_mtime_ns == written


def test_the_best_span_of_all_passages_by_probability_and_relevance(folder):
    assert run(folder, "train") == 0
    assert cli.main(["evaluate", str(folder / "run")]) == 0
    report = json.loads((folder / "run/evaluation/1-dev-qa/metrics.json").read_text())
    own = folder / "run" / "stochastic-1"
    found = read_predictions(own / "evaluation" / "1-dev-qa" / "predictions-answer.jsonl")
    counts = json.loads((folder / "run" / "data.json").read_text())["sources"][0]
    assert counts["train"]["examples"] + counts["validation"]["examples"] == 10
    chosen = data.read_examples(folder / "run" / "spans-1.jsonl.gz")
    train, _ = data.split_by_group(chosen, 0.3, 1)
    ranker = TfIdfRanker(example.passages[0] for example in train)
    predictor = Predictor.load(own / "predictor")
    for example in data.read_msmarco(folder / "dev.json", subset="ANS", styles=("qa",)):
        relevance = ranker(example.question, example.passages)
        assert relevance[0] == 0 < relevance[2] < relevance[1]
        passages = [[passage] for passage in example.passages]
        inputs = {"question": [example.question] * 3, "passages": passages}
        read = predictor.run("serving_default", inputs)
        score = [p * r for p, r in zip(read["probability"].tolist(), relevance, strict=True)]
        assert found[example.id].answer == read["answer"][score.index(max(score))].decode()
    assert report["dataset"] == "MS MARCO 1.1"
    bound = report["systems"]["the nearest span (upper bound)"]["scores"]["rouge_l"]
    ours = report["systems"]["san_msmarco_stochastic"]["scores"]["rouge_l"]
    assert ours["value"] <= bound["value"] < 1 and bound["size"] == 2
    assert "46.14" in (folder / "run/evaluation/1-dev-qa/report.md").read_text()

"""The demo of Masque: its settings fit the corpus, its program shows every word's source."""

import json

import pytest

from recipes.masque_demo import ask
from tests.running import eagerly
from tfmrc import cli
from tfmrc.data import load_corpus
from tfmrc.experiments import find_recipe, read_settings
from tfmrc.text import Tokenizer

SMALL = [
    "vocabulary={size: 400, min_count: 10, num_oov_buckets: 16}",
    "model={name: Masque, word_dim: 8, hidden_dim: 8, num_heads: 2, intermediate_dim: 8,"
    " num_shared_blocks: 1, num_question_blocks: 1, num_passage_blocks: 1,"
    " num_decoder_blocks: 1, embeddings_trainable: true}",
    "sources.0.train_share=0.02",
    "preprocessor.answer_length=6",
    "split.validation_limit=4",
    "training={steps: 2, batch_size: 4, eval_every_steps: 2, optimizer: {warmup_steps: 1}}",
    "evaluation.limit=12",
    "evaluation.options.max_length=4",
]


# === From end to end ===


@pytest.mark.slow  # the other demo's test is the quick one
def test_the_demo_trains_scores_exports_and_asks_the_export(tmp_path, monkeypatch, capfd):
    """The commands of `make demo-masque`, with a small model."""
    monkeypatch.delenv("TFMRC_DATA", raising=False)  # the corpus is shipped
    run, export = str(tmp_path / "run"), str(tmp_path / "masque" / "1")
    with eagerly():
        assert cli.main(["train", "masque_demo", "--run", run, "--set", *SMALL]) == 0
        assert cli.main(["evaluate", run]) == 1  # two steps teach nothing, and the demo says so
    assert "MISSED" in capfd.readouterr().out
    metrics = json.loads(
        (tmp_path / "run" / "evaluation" / "1-test-concise-sentence" / "metrics.json").read_text()
    )
    scores = metrics["systems"]["masque_demo"]["scores"]
    assert set(read_settings(find_recipe("masque_demo")).evaluation.targets) <= set(scores)
    assert cli.main(["export", run, "--to", export, "--overwrite"]) == 0
    assert cli.main(["export", run, "--to", export]) == 1
    capfd.readouterr()
    import sys

    tfmrc = sys.modules["tfmrc"]
    try:
        ask.main([export, str(QUESTIONS), "concise", "sentence"])
    finally:
        sys.modules["tfmrc"] = tfmrc
    printed = capfd.readouterr().out
    for record in questions():
        assert f"Question: {record['question']}" in printed
        assert all(passage in printed for passage in record["passages"])
    assert printed.count("  concise: ") == printed.count("  sentence: ") == 3
    assert "vocabulary / question / passages" in printed


# === Parts ===

QUESTIONS = find_recipe("masque_demo").parent / "questions.jsonl"


def questions():
    return [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]


def test_the_questions_are_held_out_and_the_last_has_no_answer():
    of_corpus = {(e.question, e.passages): e for e in load_corpus("test")}
    chosen = [of_corpus[record["question"], tuple(record["passages"])] for record in questions()]
    assert [example.answerable for example in chosen] == [True, True, False]
    assert len({example.query_type for example in chosen}) == 3
    assert all(set(record) == {"question", "passages"} for record in questions())


# === The shipped settings ===


@pytest.fixture(scope="module")
def shipped():
    return read_settings(find_recipe("masque_demo"))


def test_nothing_of_the_corpus_is_cut(shipped):
    tokenizer = Tokenizer()
    limits = shipped.preprocessor
    examples = [*load_corpus("dev"), *load_corpus("test")]

    def longest(texts):
        return max(tokenizer.tokenize(texts).surface.row_lengths().numpy())

    assert longest([e.question for e in examples]) <= limits["question_length"]
    assert longest([p for e in examples for p in e.passages]) <= limits["passage_length"]
    answers = [text for e in examples for texts in e.answers.values() for text in texts]
    assert longest(answers) < limits["answer_length"]
    assert max(len(e.passages) for e in examples) == limits["num_passages"]


@pytest.mark.slow
def test_the_demo_reaches_its_targets(tmp_path):
    run = str(tmp_path / "run")
    assert cli.main(["train", "masque_demo", "--run", run]) == 0
    assert cli.main(["evaluate", run]) == 0

"""The demo: small from end to end, and the settings that it is shipped with."""

import json

import numpy as np
import pytest

from recipes.masque_demo import ask, blind, evaluate, export, main, train
from tfmrc import experiments as recipes
from tfmrc.data import load_corpus, read_examples
from tfmrc.text import Tokenizer, Vocabulary

CONFIG = """
name: small_demo
sources:
- format: examples
  title: shipped corpus
  styles: [concise, sentence]
  train: train.jsonl.gz
  test: test.jsonl.gz
  train_share: 0.02
vocabulary: {size: 400, min_count: 10, num_oov_buckets: 16}
preprocessor: {num_passages: 4, passage_length: 60, question_length: 24, answer_length: 6}
model:
  word_dim: 8
  hidden_dim: 8
  num_heads: 2
  intermediate_dim: 8
  num_shared_blocks: 1
  num_question_blocks: 1
  num_passage_blocks: 1
  num_decoder_blocks: 1
  embeddings_trainable: true
training: {steps: 2, batch_size: 4, warmup_steps: 1, eval_every_steps: 2, validation_limit: 4}
evaluation: {limit: 12, batch_size: 12, max_length: 4}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("demo")
    (made / "config.yaml").write_text(CONFIG, encoding="utf-8")
    return made


def demo(folder, *arguments):
    return main.main(
        [
            *("--config", str(folder / "config.yaml")),
            *("--run", str(folder / "run"), "--to", str(folder / "masque" / "1")),
            *arguments,
        ]
    )


# === From end to end ===


def test_the_demo_trains_scores_exports_and_asks_the_export(folder, capfd):
    status = demo(folder)
    printed = capfd.readouterr().out
    assert status == 1 and "MISSED" in printed  # two steps teach nothing, and the demo says so
    assert (folder / "masque" / "1" / "saved_model.pb").is_file()
    metrics = json.loads((folder / "run" / "evaluation" / "metrics.json").read_text("utf-8"))
    scores = metrics["systems"]["small_demo"]["scores"]
    assert set(evaluate.TARGETS) <= set(scores)
    for example in export.held_out_questions():
        assert f"Question: {example.question}" in printed
        assert all(passage in printed for passage in example.passages)
    assert printed.count("  concise: ") == printed.count("  sentence: ") == 3
    assert "vocabulary / question / passages" in printed


def test_the_demo_run_again_does_not_train_again_and_says_the_same(folder, capfd):
    before = (folder / "run" / "evaluation" / "predictions-concise.jsonl").read_text("utf-8")
    assert demo(folder) == 1
    assert "trained already" in capfd.readouterr().out
    again = (folder / "run" / "evaluation" / "predictions-concise.jsonl").read_text("utf-8")
    assert again == before
    assert (folder / "masque" / "1" / "saved_model.pb").is_file()


def test_a_run_of_other_settings_is_not_touched(folder, capfd):
    assert demo(folder, "--training.batch_size=2") == 1
    assert "--fresh" in capfd.readouterr().err


@pytest.mark.slow
def test_a_blind_model_is_trained_and_scored_on_a_blind_corpus(folder, tmp_path, capfd):
    assert demo(folder, "--blind", "passages", "--run", str(tmp_path / "run")) == 0
    assert "Without passages: concise_rouge_l 0." in capfd.readouterr().out
    shown = list(read_examples(tmp_path / "run" / "data" / "test.jsonl.gz"))
    assert {passage for example in shown for passage in example.passages} == {""}


# === Parts ===


@pytest.mark.parametrize("hidden", blind.BLIND)
def test_a_blind_example_keeps_labels_and_answers(hidden):
    example = next(example for example in load_corpus("test") if example.answerable)
    shown = blind.blinded(example, hidden)
    assert shown.answers == example.answers and shown.relevance == example.relevance
    assert (shown.question == example.question) == (hidden == "passages")
    assert (shown.passages == example.passages) == (hidden == "question")


def test_the_blind_corpus_hides_nothing_but_the_question(tmp_path):
    blind.write_blind_corpus(tmp_path, "question")
    shown = list(read_examples(tmp_path / "test.jsonl.gz"))
    assert {example.question for example in shown} == {blind.NO_QUESTION}
    assert [e.passages for e in shown] == [e.passages for e in load_corpus("test")]


def test_what_cannot_be_hidden_is_named(tmp_path):
    with pytest.raises(ValueError, match="Received: hidden='style'"):
        blind.write_blind_corpus(tmp_path, "style")


def test_held_out_questions_differ_and_the_last_has_no_answer():
    chosen = export.held_out_questions(3)
    assert [example.answerable for example in chosen] == [True, True, False]
    assert len({example.query_type for example in chosen}) == 3
    assert {example.id for example in chosen} <= {example.id for example in load_corpus("test")}


def test_written_questions_do_not_hold_their_answers(tmp_path):
    path = export.write_questions(tmp_path / "questions.jsonl", export.held_out_questions())
    for line in path.read_text("utf-8").splitlines():
        assert set(json.loads(line)) == {"question", "passages"}


def test_the_verdict_says_what_was_missed():
    lines = evaluate.verdict({"mrr": 0.95, "answerable_f1": 0.949})
    assert lines[0].endswith("reached") and lines[1].endswith("MISSED")


def test_lines_of_tell_the_source_of_every_word():
    outputs = {
        "answer": b"Ott Brem",
        "num_words": np.int32(2),
        "words": np.array([b"Ott", b"Brem"], object),
        "sources": np.array([b"passage", b"vocabulary"], object),
        "passage_indices": np.array([0, -1]),
        "starts": np.array([3, -1]),
        "ends": np.array([6, -1]),
        "mixture": np.array([[0.25, 0.0, 0.75], [1.0, 0.0, 0.0]]),
        "relevance": np.array([0.875, 0.0]),
        "answerable_probability": np.float32(0.25),
    }
    lines = list(ask.lines_of({"question": "Who?", "passages": ["By Ott."]}, {"concise": outputs}))
    assert [" ".join(line.split()) for line in lines] == [
        "Question: Who?",
        "passage 1, relevance 0.88: By Ott.",
        "an answer is possible: 0.25 (so what follows is no more than a guess)",
        "concise: Ott Brem",
        "Ott passage 1, characters 3-6 vocabulary / question / passages 0.25 / 0.00 / 0.75",
        "Brem vocabulary vocabulary / question / passages 1.00 / 0.00 / 0.00",
        "",
    ]


# === The shipped settings ===


@pytest.fixture(scope="module")
def shipped():
    return recipes.load(train.CONFIG)


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


def test_names_have_no_row_of_their_own(shipped):
    chosen = shipped.vocabulary
    vocabulary = Vocabulary.from_examples(
        load_corpus("train"), size=chosen.size, min_count=chosen.min_count
    )
    known = set(vocabulary.words)
    for example in load_corpus("test"):
        if example.query_type in ("builder", "founder", "keeper", "owner", "leader"):
            for answer in example.answers.get("concise", ()):
                assert not known & set(answer.lower().split())


@pytest.mark.slow
def test_the_demo_reaches_its_targets(tmp_path):
    assert main.main(["--run", str(tmp_path / "run"), "--to", str(tmp_path / "masque" / "1")]) == 0

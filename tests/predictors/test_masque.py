from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.predictors import EXPORT_OPTIONS, REQUEST, STYLES, make_predictor
from tfmrc import Predictor, data, preprocessing

pytestmark = pytest.mark.usefixtures("without_graphs")

EXAMPLES = [
    SimpleNamespace(question=question, passages=[p for p in passages if p])
    for question, passages in zip(REQUEST["question"], REQUEST["passages"], strict=True)
]


def answered(predictor, example, **options):
    return predictor.answer(question=example.question, passages=example.passages, **options)


def test_a_copied_word_stands_where_the_answer_says(predictor):
    copied = 0
    for example, style in zip(EXAMPLES, REQUEST["style"], strict=True):
        answer = answered(predictor, example, style=style, **EXPORT_OPTIONS)
        for word in answer.words:
            np.testing.assert_allclose(sum(word.mixture), 1.0, rtol=1e-3)
            if word.source == "vocabulary":
                assert (word.passage, word.start, word.end) == (None, None, None)
                continue
            passage = example.question if word.passage is None else example.passages[word.passage]
            assert (word.source == "question") == (word.passage is None)
            assert passage[word.start : word.end] == word.source_text
            assert word.source_text.lower() == word.text.lower()
            copied += 1
    assert copied >= 4


def test_the_score_is_the_log_probability_of_the_words(predictor):
    preprocessor, model = predictor.preprocessor, predictor.model
    outputs = predictor.run("serving_default", REQUEST)
    source = preprocessor.source(*(tf.constant(REQUEST[name]) for name in REQUEST))
    target = preprocessor.target(tf.constant(outputs["answer"]), source)
    names = ("question_ids", "passage_ids", "extended_ids", "style_ids")
    log_p = model({**{name: source[name] for name in names}, **target})["decoder"]
    total = tf.reduce_sum(tf.where(target["target_ids"] > 0, log_p, 0.0), axis=1)
    np.testing.assert_allclose(outputs["scores"][:, 0], total, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(outputs["log_probabilities"], outputs["scores"])
    possible = outputs["answerable_probability"]
    np.testing.assert_allclose(outputs["probability"], possible * np.exp(total), rtol=1e-4)


def test_a_batch_gives_what_single_questions_give(predictor):
    together = list(predictor.predict(EXAMPLES, batch_size=3, task="nlg"))
    for example, expected in zip(EXAMPLES, together, strict=True):
        alone = answered(predictor, example, style="nlg")
        assert alone.text == expected.text
        assert [w.start for w in alone.words] == [w.start for w in expected.words]
        np.testing.assert_allclose(alone.score, expected.score, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(alone.relevance, expected.relevance, rtol=1e-4, atol=1e-6)
        assert len(alone.relevance) == len(example.passages)


def test_lengths_are_kept_and_cuts_are_said(predictor):
    example = EXAMPLES[0]
    answer = answered(predictor, example, min_length=5, max_length=5)
    assert len(answer.words) == 5
    assert not answer.finished
    assert not answer.truncated
    longest = predictor.preprocessor.answer_length  # words of a target, which the end follows
    assert predictor.max_length(predictor.options()) == longest + 1
    fourth = [*example.passages, "A fourth."]
    many = predictor.answer(question=example.question, passages=fourth)
    assert many.truncated
    assert len(many.relevance) == 3
    missing = [*example.passages, "", ""]
    assert not predictor.answer(question=example.question, passages=missing).truncated


@pytest.mark.parametrize(
    ("parts", "outputs"),
    [
        ({"decoder": False}, {"relevance", "answerable_probability", "truncated"}),
        ({"decoder": False, "classifier": False}, {"relevance", "truncated"}),
    ],
)
def test_a_model_gives_what_it_has(parts, outputs):
    predictor = make_predictor(**parts)
    passages = ["It is 7 metres high.", "It is."]
    request = {"question": ["How high?"], "passages": [passages], "style": ["qa"]}
    assert set(predictor.run("serving_default", request)) == outputs
    answer = predictor.answer(question="How high?", passages=passages)
    assert answer.text == "" and len(answer.relevance) == 2


def test_a_gold_ranker_reads_the_relevance_of_the_examples(tmp_path):
    predictor = make_predictor(ranker="gold", initializer_stddev=0.5)
    passages = ("the hill is 12 metres high", "of river Oro")
    first, second, both, unknown = predictor.predict(
        [
            data.Example(str(number), "how high ?", passages, relevance=relevance)
            for number, relevance in enumerate([(True, False), (False, True), (True, True), None])
        ],
        batch_size=3,
    )
    assert both.score == pytest.approx(unknown.score, rel=1e-5)
    scores = [first.score, second.score, both.score]
    assert min(abs(np.diff([*scores, scores[0]]))) > 1e-3
    copied = {word.passage for word in second.words if word.source == "passage"}
    assert copied <= {1}
    with pytest.raises(ValueError, match="ranker='gold'"):
        predictor.answer(question="how high?", passages=passages)
    with pytest.raises(ValueError, match="nobody has when a question is asked"):
        predictor.export(tmp_path / "gold" / "1")


REQUESTS = {"question": ["How high?"], "passages": [["It is."]], "style": ["qa"]}
ASKED = {"question": "How high?", "passages": ["It is."]}
WRONG = [
    (ValueError, "choose it there.* style='nlg'",
     lambda p: next(p.predict([ASKED | {"style": "nlg"}], task="qa"))),
    (ValueError, "one of qa, nlg. Received: style='verse'",
     lambda p: p.answer(**ASKED, style="verse")),
    (TypeError, "options num_beams, .*did you mean `num_beams`?",
     lambda p: p.answer(**ASKED, num_beam=2)),
    (ValueError, "num_beams=1, num_beam_groups=1, num_return_sequences=2",
     lambda p: p.answer(**ASKED, num_return_sequences=2)),
    (ValueError, "`pasages` is unknown; did you mean `passages`?",
     lambda p: p.run("serving_default", {"question": [], "pasages": [], "style": []})),
    (ValueError, "no effect on a search: give sampling=True",
     lambda p: p.options(temperature=0.5)),
    (ValueError, "different num_passages: build .*Received: model=3, preprocessor=2",
     lambda p: Predictor(p.model, preprocessing.MasquePreprocessor(
         p.preprocessor.vocabulary, styles=STYLES, num_passages=2, generation_vocabulary_size=12))),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), WRONG, ids=[m for _, m, _ in WRONG])
def test_wrong_calls_are_explained(predictor, error, message, call):
    with pytest.raises(error, match=message):
        call(predictor)

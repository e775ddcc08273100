from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.predictors import ANSWERS, EXPORT_OPTIONS, REQUEST, STYLES, make_reader
from tfmrc import MasquePredictor, data, preprocessing, text
from tfmrc.predictors import DecodingOptions

EXAMPLES = [
    SimpleNamespace(question=question, passages=[p for p in passages if p])
    for question, passages in zip(REQUEST["question"], REQUEST["passages"], strict=True)
]


def test_the_small_reader_learned_its_answers(predictor):
    for example, style, expected in zip(EXAMPLES, REQUEST["style"], ANSWERS, strict=True):
        assert predictor.answer(example.question, example.passages, style).text == expected


def test_a_copied_word_stands_where_the_answer_says(predictor):
    copied = 0
    for example, style in zip(EXAMPLES, REQUEST["style"], strict=True):
        answer = predictor.answer(example.question, example.passages, style, **EXPORT_OPTIONS)
        for word in answer.words:
            np.testing.assert_allclose(sum(word.mixture), 1.0, rtol=1e-3)
            if word.source == "vocabulary":
                assert (word.passage, word.start, word.end) == (None, None, None)
                continue
            passage = example.question if word.passage is None else example.passages[word.passage]
            assert (word.source == "question") == (word.passage is None)
            assert passage[word.start : word.end].lower() == word.text.lower()
            copied += 1
    assert copied >= 4


def test_the_score_is_the_log_probability_of_the_words(predictor):
    preprocessor, model = predictor.preprocessor, predictor.model
    outputs = predictor.read(REQUEST["question"], REQUEST["passages"], REQUEST["style"])
    source = preprocessor.source(*(tf.constant(REQUEST[name]) for name in REQUEST))
    target = preprocessor.target(tf.constant(outputs["answer"]), source)
    names = ("question_ids", "passage_ids", "extended_ids", "style_ids")
    log_p = model({**{name: source[name] for name in names}, **target})["decoder"]
    total = tf.reduce_sum(tf.where(target["target_ids"] > 0, log_p, 0.0), axis=1)
    np.testing.assert_allclose(outputs["score"], total, rtol=1e-4, atol=1e-4)


def test_several_hypotheses_come_best_first(predictor):
    example = EXAMPLES[1]
    answer = predictor.answer(example.question, example.passages, **EXPORT_OPTIONS)
    assert len(answer.alternatives) == 1
    scores = [answer.score, *(other.score for other in answer.alternatives)]
    assert scores == sorted(scores, reverse=True)
    assert len({answer.text, *(other.text for other in answer.alternatives)}) == 2


def test_a_batch_gives_what_single_questions_give(predictor):
    together = list(predictor.predict(EXAMPLES, batch_size=3, style="nlg"))
    for example, expected in zip(EXAMPLES, together, strict=True):
        alone = predictor.answer(example.question, example.passages, "nlg")
        assert alone.text == expected.text
        assert [w.start for w in alone.words] == [w.start for w in expected.words]
        np.testing.assert_allclose(alone.score, expected.score, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(alone.relevance, expected.relevance, rtol=1e-4, atol=1e-6)
        assert len(alone.relevance) == len(example.passages)


def test_predict_reads_examples_only_as_answers_are_taken(predictor):
    read = []

    def stream():
        for i, example in enumerate(EXAMPLES * 2):
            read.append(i)
            yield example

    answers = predictor.predict(stream(), batch_size=2)
    assert read == []
    next(answers)
    assert read == [0, 1]
    assert len(list(answers)) == 7


def test_lengths_are_kept_and_cuts_are_said(predictor):
    example = EXAMPLES[0]
    answer = predictor.answer(example.question, example.passages, min_length=5, max_length=5)
    assert len(answer.words) == 5
    assert not answer.finished
    assert not answer.truncated
    many = predictor.answer(example.question, [*example.passages, "A fourth."])
    assert many.truncated
    assert len(many.relevance) == 3


def test_compiled_gives_the_same_answers(predictor):
    request = (REQUEST["question"], REQUEST["passages"], REQUEST["style"])
    plain = predictor.read(*request, **EXPORT_OPTIONS)
    compiled = predictor.read(*request, **EXPORT_OPTIONS, jit_compile=True)
    np.testing.assert_array_equal(plain["answer"], compiled["answer"])
    np.testing.assert_array_equal(plain["starts"], compiled["starts"])
    np.testing.assert_array_equal(plain["sources"], compiled["sources"])
    np.testing.assert_allclose(plain["score"], compiled["score"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("parts", "outputs"),
    [
        ({"decoder": False}, {"relevance", "answerable_probability", "truncated"}),
        ({"decoder": False, "classifier": False}, {"relevance", "truncated"}),
    ],
)
def test_a_model_gives_what_it_has(parts, outputs):
    predictor = make_reader(**parts)
    found = predictor.read(["How high?"], [["It is 7 metres high.", "It is."]])
    assert set(found) == outputs
    answer = predictor.answer("How high?", ["It is 7 metres high.", "It is."])
    assert answer.text == "" and len(answer.relevance) == 2


def test_a_gold_ranker_reads_the_relevance_of_the_examples(tmp_path):
    predictor = make_reader(ranker="gold", initializer_stddev=0.5)
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
        predictor.answer("how high?", passages)
    with pytest.raises(ValueError, match="nobody has when a question is asked"):
        predictor.export(tmp_path / "gold" / "1")


def test_a_model_without_ranker_and_classifier_answers():
    predictor = make_reader(ranker=False, classifier=False, combined_attention=False)
    answer = predictor.answer("How high?", ["It is 7 metres high."], max_length=3, min_length=1)
    assert answer.words
    assert answer.relevance is None and answer.answerable_probability is None


def test_wrong_calls_are_explained(predictor):
    with pytest.raises(ValueError, match="one of qa, nlg. Received: style='verse'"):
        predictor.answer("How high?", ["It is."], style="verse")
    with pytest.raises(ValueError, match="put a single passage in a list"):
        predictor.answer("How high?", "It is 7 metres high.")
    with pytest.raises(ValueError, match="Received: batch_size=0"):
        next(predictor.predict(EXAMPLES, batch_size=0))
    with pytest.raises(ValueError, match="Received: num_return_sequences=2, num_beams=1"):
        predictor.answer("How high?", ["It is."], num_return_sequences=2)


def test_model_and_features_must_agree(predictor):
    fewer = preprocessing.MasquePreprocessor(
        predictor.preprocessor.vocabulary,
        styles=STYLES,
        num_passages=2,
        generation_vocabulary_size=12,
    )
    with pytest.raises(
        ValueError, match="different num_passages. Received: model=3, preprocessor=2"
    ):
        MasquePredictor(predictor.model, fewer)
    other = preprocessing.MasquePreprocessor(text.Vocabulary(["a"]), styles=STYLES, num_passages=3)
    with pytest.raises(ValueError, match="different vocabulary_size"):
        MasquePredictor(predictor.model, other)


def test_options_are_compared_by_value():
    assert DecodingOptions(num_beams=2) == DecodingOptions(num_beams=2)
    assert hash(DecodingOptions(num_beams=2)) == hash(DecodingOptions(num_beams=2))

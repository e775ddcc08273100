"""The question-answering pipeline: calls, shapes of results, old and mended numbers."""

import json

import numpy as np
import pytest

import tfmrc
from tests.encoders.hugging_face import cases, transformers_process
from tests.predictors.small import LONG, extractive_reader, windows_of
from tests.running import eagerly
from tests.text.subwords.odd_strings import real_strings
from tfmrc import data, models, preprocessing, text
from tfmrc.predictors.hugging_face.legacy_answers import Window, legacy_answers

QUESTION, CONTEXT = "Who named the mill?", "Mills, owls. It is the hill."
SIZES = {"max_seq_len": 24, "doc_stride": 6, "max_answer_len": 5}


@pytest.fixture(scope="module")
def predictor():
    return extractive_reader()


@pytest.fixture(scope="module")
def answerer(predictor):
    return tfmrc.pipeline("question-answering", predictor, **SIZES)


def is_answer(result, context):
    return result["answer"] == context[result["start"] : result["end"]] and result["score"] <= 1


def test_forms_of_calls(answerer):
    expected = answerer(question=QUESTION, context=CONTEXT)
    assert set(expected) == {"score", "start", "end", "answer"} and is_answer(expected, CONTEXT)
    example = {"question": QUESTION, "context": CONTEXT}

    def near(result):
        return result == {**expected, "score": pytest.approx(expected["score"], rel=1e-4)}

    assert near(answerer(example)) and near(answerer(QUESTION, CONTEXT))
    for result in (
        answerer([example]),
        answerer(question=[QUESTION], context=CONTEXT),
        answerer(question=[QUESTION], context=[CONTEXT]),
        list(answerer(iter([example]))),
    ):
        assert len(result) == 1 and near(result[0])
    several = answerer([example, {"question": "Who?", "context": LONG}, example], batch_size=2)
    assert near(several[0]) and near(several[2]) and is_answer(several[1], LONG)


def test_top_k_is_a_list_of_different_texts(answerer):
    results = answerer(question=QUESTION, context=LONG, top_k=3)
    assert len({result["answer"].lower() for result in results}) == 3
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True) and sum(scores) <= 1
    again = answerer(question=QUESTION, context=LONG, top_k=5)
    assert again[:3] == results
    assert isinstance(answerer(question=QUESTION, context="owl", top_k=3), list)


def test_the_marks_of_the_last_letter_belong_to_an_answer(predictor, answerer):
    passages = ["owl\u0301", "", "mill\u0302\u0323 \u0301"]
    answer = predictor.answer(question=QUESTION, passages=passages, num_return_sequences=2)
    for found in (answer, *answer.alternatives):
        assert (found.start, found.end) == {0: (0, 4), 2: (0, 6)}[found.passage]
        assert found.text == passages[found.passage][: found.end]
    ask = {"question": QUESTION, "context": passages[0]}
    for options, expected in (({}, passages[0]), ({"legacy": True}, "owl")):
        assert answerer(**ask, **options)["answer"] == expected


def test_no_answer_is_one_of_the_answers(answerer):
    results = answerer(question=QUESTION, context=CONTEXT, top_k=50, handle_impossible_answer=True)
    assert {"", "owls"} <= {result["answer"] for result in results}
    (none,) = (result for result in results if not result["answer"])
    assert (none["start"], none["end"]) == (0, 0)


def test_legacy_numbers_of_one_window_by_hand():
    window = Window(
        begin=np.log(np.array([1, 5, 2, 1, 1], "float32")),
        end=np.log(np.array([1, 5, 1, 2, 1], "float32")),
        starts=np.array([-1, -1, 0, 2, 4]),
        ends=np.array([-1, -1, 2, 3, 7]),
        words=np.array([-1, -1, 0, 0, 1]),
        is_cls=np.array([True, False, False, False, False]),
    )
    options = {"handle_impossible_answer": True, "align_to_words": True}
    answers = legacy_answers([window], "abc def", top_k=9, max_answer_len=2, **options)
    # Of 5 shares, [CLS] has one: the first word is begun with 2 + 1 of them, and ends with 1 + 2.
    scores = [(answer["answer"], round(answer["score"], 6)) for answer in answers]
    assert scores[:2] == [("abc", (2 * 1 + 2 * 2 + 1 * 2) / 25), ("abc def", 1 / 25)]
    assert ("", 1 / 25) in scores
    both = legacy_answers([window, window], "abc def", top_k=9, max_answer_len=2, **options)
    assert both[0]["score"] == pytest.approx(2 * answers[0]["score"])  # the fault of old numbers


def test_arguments_of_transformers_that_say_what_holds_anyway(predictor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with eagerly():
        predictor.save_hugging_face("reader")
    answerer = tfmrc.pipeline(
        "question-answering", "reader", tokenizer="reader", device=-1, framework="tf", top_k=2
    )
    assert len(answerer(question=QUESTION, context=CONTEXT)) == 2
    precise = tfmrc.pipeline("question-answering", "reader", dtype="bfloat16")
    assert precise.predictor.model.dtype_policy.compute_dtype == "bfloat16"
    tfmrc.pipeline("question-answering", predictor, device="cpu", framework=None)
    with pytest.raises(TypeError, match="tokenizer"):
        tfmrc.pipeline("question-answering", "reader", tokenizer="other")


def test_old_and_mended_numbers(predictor, answerer):
    legacy = tfmrc.pipeline("question-answering", predictor, legacy=True, **SIZES)
    old = legacy(question=QUESTION, context=LONG, top_k=4)
    assert len(windows_of(predictor, QUESTION, [LONG])) > 2
    assert len(old) == 4 and all(isinstance(answer["score"], float) for answer in old)
    one = answerer(question=QUESTION, context=CONTEXT, align_to_words=False, top_k=4)
    same = legacy(question=QUESTION, context=CONTEXT, align_to_words=False, top_k=4)
    assert [each["answer"] for each in one] == [each["answer"] for each in same]
    np.testing.assert_allclose(
        [each["score"] for each in one], [each["score"] for each in same], rtol=1e-4
    )
    assert isinstance(legacy([{"question": "Who?", "context": "owl"}]), dict)
    of_a_call = answerer(question=QUESTION, context=LONG, top_k=4, legacy=True)
    assert of_a_call == old != answerer(question=QUESTION, context=LONG, top_k=4)
    assert legacy(question=QUESTION, context=LONG, top_k=4, legacy=False) != old


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((), {"question": "a", "context": None}, ValueError, "context=None"),
        ((), {"question": ["a"], "context": ["b", "c"]}, ValueError, "zip"),
        ((), {"question": "a", "context": "b", "topk": 2}, TypeError, "argument 'topk'"),
        ((), {"question": "a", "context": "b", "doc_stride": 30}, ValueError, "must have room"),
        ((), {"question": "a", "context": "b", "doc_stride": -5}, ValueError, "`doc_stride`.*=-5"),
    ],
)
def test_wrong_calls(answerer, arguments, options, error, message):
    with pytest.raises(error, match=message):
        answerer(*arguments, **options)


def test_other_predictors_answer_in_batches():
    words = text.Vocabulary("who flew an owl".split())
    model = models.SAN(vocabulary_size=8, word_dim=8, units=4, align_dim=4)
    predictor = tfmrc.Predictor(model, preprocessing.SANPreprocessor(words))
    answerer = tfmrc.pipeline("question-answering", predictor)
    contexts = ["An owl flew.", "Who flew? An owl.", "An owl, an owl flew."]
    alone = [answerer(question="Who flew?", context=context) for context in contexts]
    together = answerer(question="Who flew?", context=contexts[0], batch_size=2)
    assert together == alone[0]
    together = answerer(question=["Who flew?"] * 3, context=contexts, batch_size=2)
    for one, other in zip(alone, together, strict=True):
        assert other == one | {"score": pytest.approx(one["score"], rel=1e-4)}


PEER = """
import json, sys
from transformers import pipeline
answerer = pipeline("question-answering", model=sys.argv[1], tokenizer=sys.argv[1])
tasks = json.load(open(sys.argv[2], encoding="utf-8"))
results = [[answerer(question=q, context=c, **options) for q, c in tasks["pairs"]]
           for options in tasks["options"]]
json.dump(results, open(sys.argv[3], "w"))
"""
OPTIONS = [
    {},
    {"top_k": 3, "handle_impossible_answer": True},
    {"max_seq_len": 96, "doc_stride": 16, "max_answer_len": 30, "align_to_words": False},
]


KINDS = ["Bert", "DistilBert", "Electra", "Roberta", "XLMRoberta", "DebertaV2", "Albert"]


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """A folder with a small reader of each kind, made and saved by transformers."""
    return cases.make_readers(tmp_path_factory.mktemp("readers"), real_strings(300))


def answers_of_peer(folder, pairs, options, into):
    """What transformers' pipeline answers with a folder's reader: a list for each options."""
    tasks, results = into / "tasks.json", into / "results.json"
    tasks.write_text(json.dumps({"pairs": pairs, "options": options}), encoding="utf-8")
    transformers_process.run("-c", PEER, folder, tasks, results)
    return json.loads(results.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_transformers_reads_what_is_saved(kind, readers, tmp_path):
    examples = list(data.load_small_squad("test"))[::41]
    pairs = [(example.question, example.passages[0]) for example in examples]
    saved = tfmrc.load(readers / kind).save_hugging_face(tmp_path / "saved")
    first, second = (
        answers_of_peer(folder, pairs, OPTIONS[:1], tmp_path) for folder in (readers / kind, saved)
    )
    assert len(first[0]) == len(pairs) == len({each["answer"] for each in first[0]}) > 10
    for theirs, again in zip(first[0], second[0], strict=True):
        assert again == {**theirs, "score": pytest.approx(theirs["score"], abs=1e-5)}


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_transformers(kind, readers, tmp_path):
    examples = list(data.load_small_squad("test"))[::13]
    pairs = [(example.question, example.passages[0]) for example in examples]
    expected = answers_of_peer(readers / kind, pairs, OPTIONS, tmp_path)
    answerer = tfmrc.pipeline("question-answering", readers / kind, legacy=True)
    asked = [{"question": question, "context": context} for question, context in pairs]
    for options, theirs in zip(OPTIONS, expected, strict=True):
        ours = answerer(asked, **options)
        for mine, other in zip(ours, theirs, strict=True):
            mine, other = (each if isinstance(each, list) else [each] for each in (mine, other))
            for name in ("answer", "start", "end"):
                assert [each[name] for each in mine] == [each[name] for each in other]
            np.testing.assert_allclose(
                [each["score"] for each in mine], [each["score"] for each in other], atol=1e-4
            )

"""Requests that are computed together get the answers that they get alone."""

import math
import threading

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.predictors import RequestError
from tfmrc.serving import Limits
from tfmrc.serving.batcher import Batcher, is_batchable
from tfmrc.serving.cancellation import Cancellation
from tfmrc.serving.cost import CostEstimator


class Words:
    """A signature that reverses texts, with a column per character, and refuses `bad`."""

    def __init__(self):
        self.batches = []
        self.inputs = {
            "question": tf.TensorSpec([None], tf.string),
            "passages": tf.TensorSpec([None, None], tf.string),
        }
        self.outputs = {
            "num_words": tf.TensorSpec([None], tf.int32),
            "words": tf.TensorSpec([None, None], tf.string),
            "passages": tf.TensorSpec([None], tf.int32),
        }
        self.begun, self.go = threading.Event(), threading.Event()
        self.go.set()

    def run(self, arrays):
        self.begun.set()
        self.go.wait()
        questions = arrays["question"].tolist()
        self.batches.append([question.decode() for question in questions])
        if b"bad" in questions:
            raise RequestError("The question is bad.")
        width = max(map(len, questions))
        words = np.full((len(questions), width), b"", dtype=object)
        for row, question in enumerate(questions):
            words[row, : len(question)] = [bytes([code]) for code in question]
        return {
            "num_words": np.array([len(question) for question in questions]),
            "words": words,
            "passages": (arrays["passages"] != b"").sum(axis=1),
        }


def arrays(*questions, passages=1):
    return {
        "question": np.array([question.encode() for question in questions], dtype=object),
        "passages": np.full((len(questions), passages), b"x", dtype=object),
    }


@pytest.fixture
def words():
    return Words()


CARD = {"preprocessor": {"passage_length": 3, "stride": 2}}


def batcher_of(signature, card=CARD, metrics=None, **options):
    return Batcher({"serving_default": signature}, Limits(**options), card=card, metrics=metrics)


def submit(batcher, request, seconds=math.inf):
    return batcher.submit(batcher.request("serving_default", request), seconds)


def submit_together(batcher, words, requests):
    """Futures of requests that all wait while another one is computed."""
    words.go.clear()
    first = submit(batcher, arrays("first"))
    words.begun.wait()
    futures = [submit(batcher, request) for request in requests]
    words.go.set()
    first.result()
    return futures


def test_waiting_requests_are_one_batch_and_have_their_own_widths(words):
    batcher = batcher_of(words)
    requests = [arrays("a"), arrays("long", "bc", passages=3), arrays("de", passages=2)]
    found = [each.result() for each in submit_together(batcher, words, requests)]
    assert words.batches == [["first"], ["a", "long", "bc", "de"]]
    assert [each["words"].shape for each in found] == [(1, 1), (2, 4), (1, 2)]
    assert found[1]["words"][1].tolist() == [b"b", b"c", b"", b""]
    assert [each["passages"].tolist() for each in found] == [[1], [3, 3], [2]]


def test_a_refused_request_has_no_effect_on_the_others_of_its_batch(words):
    batcher = batcher_of(words)
    requests = [arrays(text) for text in ("a", "b", "bad", "c", "d")]
    futures = submit_together(batcher, words, requests)
    with pytest.raises(RequestError, match="The question is bad"):
        futures[2].result()
    texts = [futures[n].result()["words"][0, 0] for n in (0, 1, 3, 4)]
    assert texts == [b"a", b"b", b"c", b"d"]
    assert words.batches[1] == ["a", "b", "bad", "c", "d"]
    assert ["bad"] in words.batches


def test_batches_have_at_most_their_size_and_keep_the_order(words):
    batcher = batcher_of(words, batch_rows=3)
    requests = [arrays("a", "b"), arrays("c", "d"), arrays("e")]
    for future in submit_together(batcher, words, requests):
        future.result()
    assert words.batches == [["first"], ["a", "b", "e"], ["c", "d"]]


def test_a_full_queue_refuses_with_503(words):
    batcher = batcher_of(words, waiting_words=15)
    words.go.clear()
    first = submit(batcher, arrays("first"))
    words.begun.wait()
    waiting = [submit(batcher, arrays(text)) for text in "abcd"]
    with pytest.raises(RequestError, match="model's queue is full") as refused:
        submit(batcher, arrays("e"))
    assert (refused.value.status, refused.value.grpc_code) == (503, "UNAVAILABLE")
    words.go.set()
    assert len([each.result() for each in [first, *waiting]]) == 5


def test_a_cancelled_request_is_not_computed(words):
    batcher = batcher_of(words)
    words.go.clear()
    first = submit(batcher, arrays("first"))
    words.begun.wait()
    cancelled, other = (submit(batcher, arrays(text)) for text in "ab")
    assert cancelled.cancel()
    words.go.set()
    first.result()
    other.result()
    assert words.batches == [["first"], ["b"]]


def test_a_closed_batcher_finishes_what_waits(words):
    batcher = batcher_of(words)
    futures = submit_together(batcher, words, [arrays("a"), arrays("b")])
    batcher.close()
    assert [future.result()["num_words"].tolist() for future in futures] == [[1], [1]]
    with pytest.raises(RequestError, match="unloaded"):
        submit(batcher, arrays("c"))


def test_signatures_whose_outputs_cannot_be_cut_apart_are_not_batched(words):
    assert is_batchable(words)
    words.outputs["other"] = tf.TensorSpec([None, None], tf.float32)
    assert not is_batchable(words)
    requests = [arrays("a"), arrays("b")]
    for future in submit_together(batcher_of(words), words, requests):
        future.result()
    assert words.batches == [["first"], ["a"], ["b"]]
    words.outputs["other"] = tf.TensorSpec([], tf.float32)
    assert not is_batchable(words)


LONG = arrays("long")
LONG["passages"][0, 0] = b"x " * 12  # six windows


def test_a_long_request_is_computed_alone_beside_small_ones_and_can_be_cancelled(words):
    stopped = threading.Event()

    def run(arrays):
        if arrays["question"][0] != b"long":
            return Words.run(words, arrays)
        words.begun.set()
        while not tf.executing_eagerly() or not answers[0].cancellation._manager.is_cancelled:
            stopped.wait(0.005)
        raise tf.errors.CancelledError(None, None, "cancelled")

    words.run = run
    batcher = batcher_of(words)
    answers = [submit(batcher, LONG)]
    words.begun.wait()
    assert submit(batcher, arrays("a")).result()["num_words"].tolist() == [1]
    waiting = submit(batcher, LONG)
    assert waiting.cancel() and not answers[0].cancel()
    with pytest.raises(tf.errors.CancelledError):
        answers[0].result()


def test_a_request_that_would_wait_too_long_is_told_when_to_repeat(words):
    batcher = batcher_of(words)
    submit(batcher, LONG).result()
    batcher._large._done = np.array([10.0, 50.0])  # 5 seconds a word
    words.go.clear()
    words.begun.clear()
    first = submit(batcher, LONG)
    words.begun.wait()
    cost = batcher.request("serving_default", LONG).cost
    assert (cost.windows, cost.words, cost.is_small) == (6, 20, False)
    with pytest.raises(RequestError, match="1 requests with 20 words") as refused:
        submit(batcher, LONG, seconds=199)
    assert refused.value.retry_after == 60
    second = submit(batcher, LONG, seconds=201)
    words.go.set()
    assert len([first.result(), second.result()]) == 2


def test_a_request_that_costs_too_much_is_413(words):
    with pytest.raises(RequestError, match="about 20 words") as refused:
        batcher_of(words, words=19).request("serving_default", LONG)
    assert (refused.value.status, refused.value.reason) == (413, "cost")


READER = {"window_length": 100, "question_length": 16, "overlap": 40, "longest_passage": 1000}
WRITER = {"preprocessor": {"passage_length": 4}, "decoding": {"max_length": 7}}


@pytest.mark.parametrize(
    ("card", "texts", "cost"),
    [
        ({"preprocessor": READER}, [b"word " * 80], (82, 1, True)),
        ({"preprocessor": READER}, [b"word " * 81], (162, 2, True)),
        ({"preprocessor": READER}, [b"!" * 1000], (80 * 24 + 2, 24, False)),
        ({"preprocessor": READER}, [b"!" * 5000], (80 * 24 + 2, 24, False)),
        ({"preprocessor": READER}, [b"a"] * 5, (7, 5, False)),
        (WRITER, [b"word " * 9, b"word", b""], (4 + 1 + 1 + 8, 1, True)),
        (WRITER, [b"word " * 10_000], (4 + 1 + 8, 1, False)),
        ({}, ["é one".encode()], (4, 1, True)),
    ],
)
def test_costs(card, texts, cost):
    question, passages = np.array([b"Q"], object), np.array([texts], object)
    assert CostEstimator(card)({"question": question, "passages": passages}) == cost


def test_a_cancelled_call_ends_and_no_other(words):
    """TensorFlow's module is private: this fails when it changes."""
    begun = threading.Event()

    def step(x):
        with tf.control_dependencies([tf.py_function(begun.set, [], [])]):
            return (x + 1,)

    long = tf.function(
        lambda n: tf.while_loop(lambda x: x < n, step, (0,)), autograph=False
    ).get_concrete_function(tf.TensorSpec([], tf.int32))
    short = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([], tf.int32))
    cancellation, failures = Cancellation(), []

    def run():
        with cancellation.active():
            try:
                long(tf.constant(300_000))
            except tf.errors.CancelledError as error:
                failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait()  # a call that has not begun is not cancelled
    cancellation.cancel()
    assert int(short(tf.constant(1))) == 2
    thread.join()
    assert len(failures) == 1

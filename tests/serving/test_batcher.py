"""Requests that are computed together get the answers that they get alone."""

import threading

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.predictors import RequestError
from tfmrc.serving import Limits
from tfmrc.serving.batcher import Batcher, is_batchable


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


def batcher_of(words, **options):
    return Batcher({"serving_default": words}, Limits(**options))


def submit_together(batcher, words, requests):
    """Futures of requests that all wait while another one is computed."""
    words.go.clear()
    first = batcher.submit("serving_default", arrays("first"))
    words.begun.wait()
    futures = [batcher.submit("serving_default", request) for request in requests]
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
    requests = [arrays("a", "b"), arrays("c", "d"), arrays("e"), arrays(*"fghij")]
    for future in submit_together(batcher, words, requests):
        future.result()
    assert words.batches == [["first"], ["a", "b", "e"], ["c", "d"], ["f", "g", "h", "i", "j"]]


def test_a_full_queue_refuses_with_503(words):
    batcher = batcher_of(words, waiting_rows=4)
    words.go.clear()
    first = batcher.submit("serving_default", arrays("first"))
    words.begun.wait()
    waiting = [batcher.submit("serving_default", arrays(text)) for text in "abcd"]
    with pytest.raises(RequestError, match="queue of the model is full") as refused:
        batcher.submit("serving_default", arrays("e"))
    assert (refused.value.status, refused.value.grpc_code) == (503, "UNAVAILABLE")
    words.go.set()
    assert len([each.result() for each in [first, *waiting]]) == 5


def test_a_cancelled_request_is_not_computed(words):
    batcher = batcher_of(words)
    words.go.clear()
    first = batcher.submit("serving_default", arrays("first"))
    words.begun.wait()
    cancelled, other = (batcher.submit("serving_default", arrays(text)) for text in "ab")
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
        batcher.submit("serving_default", arrays("c"))


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

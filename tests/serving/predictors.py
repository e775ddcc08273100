"""What the tests of serving share: a small predictor, questions, and how outputs are compared."""

import json
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from tfmrc import Predictor, losses, models, preprocessing, text, training

WORDS = "the . ? how high is hill valley metres who named it and river of , in mill".split()
STYLES = ("qa", "nlg")
EXPORT_OPTIONS = {"num_beams": 3, "num_return_sequences": 2, "length_penalty": 0.7, "max_length": 9}

REQUEST = {
    "question": [
        "How high is Mt. Brannoch?",
        "Who named the river Éala, and WHY?",
        "how high is the mill",
        "川 の 名前?",
    ],
    "passages": [
        ["Mt. Brannoch is 1,310.5 metres high.", "The Éala is a river.", "Nobody lives here."],
        ["Old Tamsin named the Éala.", "", ""],
        ["The mill of Dorrow is 12 metres high; its wheel, 4 metres.", "A mill", ""],
        ["川 は エアラ.", "The river.", "It isn't known."],
    ],
    "style": ["qa", "nlg", "qa", "nlg"],
}


ANSWERS = ["1,310.5 metres", "Tamsin named the WHY.", "12 metres high", "川 high is"]
RELEVANCE = [[1, 0, 0], [1, 0, -1], [1, 0, -1], [1, 0, 0]]


def make_predictor(seed: int = 3, styles: tuple[str, ...] = STYLES, **sizes) -> Predictor:
    """Small, with random weights."""
    keras.utils.set_random_seed(seed)
    preprocessor = preprocessing.MasquePreprocessor(
        text.Vocabulary(WORDS, num_oov_buckets=3),
        styles=styles,
        num_passages=3,
        passage_length=12,
        question_length=8,
        answer_length=10,
        generation_vocabulary_size=12,
    )
    sizes = {
        "word_dim": 12,
        "hidden_dim": 16,
        "num_heads": 2,
        "intermediate_dim": 16,
        "num_shared_blocks": 1,
        "num_question_blocks": 1,
        "num_passage_blocks": 1,
        "num_decoder_blocks": 1,
        "initializer_stddev": 0.1,
        "dropout": 0.0,
        **sizes,
    }
    model = models.Masque(
        vocabulary_size=len(preprocessor.vocabulary),
        num_styles=len(styles),
        num_passages=3,
        num_oov_buckets=3,
        generation_vocabulary_size=12,
        **sizes,
    )
    return Predictor(model, preprocessor)


def train(predictor: Predictor, steps: int = 110) -> Predictor:
    """Learns `ANSWERS` by heart: clear probabilities, words from all three kinds of source."""
    records = {name: tf.constant(values) for name, values in REQUEST.items()}
    records |= {"answer": ANSWERS, "answerable": tf.constant([1, 1, 1, 0])}
    records["relevance"] = tf.constant(RELEVANCE)
    x, y, weights = predictor.preprocessor.batch(records)
    weights["decoder"] = tf.ones([4])
    weights.pop("known_relevance", None)
    batches = tf.data.Dataset.from_tensors((x, y, weights)).repeat(steps)
    predictor.model.compile(
        optimizer=training.AdamW(5e-3, weight_decay=None, use_ema=False),
        loss={
            "decoder": losses.SequenceNLL(),
            "ranker": losses.SmoothedBinaryCrossentropy(),
            "classifier": losses.SmoothedBinaryCrossentropy(),
        },
        jit_compile=False,
    )
    predictor.model.fit(batches, shuffle=False, verbose=0)
    predictor.model.train_function = None  # its graph takes 100 MiB
    return predictor


def run_loader(
    folder: Path,
    requests: list[dict],
    python: str = sys.executable,
    signature: str = "serving_default",
):
    """The answers of `c_api_loader.py` in a process of its own, without tfmrc or Python's API."""
    program = Path(__file__).with_name("c_api_loader.py")
    done = subprocess.run(
        [python, str(program), str(folder), signature],
        input="".join(json.dumps(request) + "\n" for request in requests),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=3600,  # a guard against hanging; a busy machine is slow
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_same_outputs(found: dict, expected: dict, rtol: float = 1e-5) -> None:
    """Outputs of two runs, arrays or nested lists: floats close, strings and ints equal."""

    def text(value):
        return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value

    texts = np.frompyfunc(text, 1, 1)
    assert set(found) == set(expected)
    for name, values in expected.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found[name], values, rtol=rtol, atol=1e-6, err_msg=name)
        else:
            same = (texts(np.array(each, object)) for each in (found[name], values))
            np.testing.assert_array_equal(*same, err_msg=name)


def assert_batched_as_alone(
    folder: Path, requests: list[dict], signature="serving_default"
) -> None:
    """Requests that are computed as one batch have the outputs, and shapes, of each alone."""
    from tfmrc.predictors.exported.signature import SavedModel
    from tfmrc.serving.batcher import Batcher

    model = SavedModel(folder)
    function = model.signature(signature)
    arrays = [function.arrays(request) for request in requests]
    sizes: list[int] = []
    run = function.run

    def counted(joined):
        sizes.append(len(next(iter(joined.values()))))
        return run(joined)

    function.run = counted
    batcher = Batcher(model.signatures, card={"format": 1})  # without sizes: each row is small
    made = [batcher.request(signature, each) for each in arrays]
    with batcher._small._condition:  # all of them wait before the first is taken
        futures = [batcher.submit(each) for each in made]
    together = [future.result() for future in futures]
    batcher.close()
    function.run = run
    assert sizes == [sum(len(next(iter(each.values()))) for each in arrays)]
    for request, found in zip(requests, together, strict=True):
        alone = function(request)
        assert_same_outputs(found, alone)
        assert {n: a.shape for n, a in found.items()} == {n: a.shape for n, a in alone.items()}

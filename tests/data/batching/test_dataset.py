"""Batches for `model.fit`: the strings that preprocessor get, resuming, padding, two replicas."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.data import Example, Span, TrainingExample, make_dataset, padding_share
from tfmrc.data.batching.dataset import strings
from tfmrc.preprocessing import MasquePreprocessor
from tfmrc.text import Vocabulary


class Plain:
    """Gives the strings as they come."""

    styles = ("qa", "nlg")

    def batch(self, records):
        return records, {}, {}


def example(number, words=3):
    return Example(
        str(number),
        f"What is {number}?",
        (f"It is {number}." + " So it goes." * (number % words), "Nothing here."),
        {"qa": (f"{number}",), "nlg": (f"It is {number}.", "other")},
        True,
        (True, False),
    )


EXAMPLES = [example(n) for n in range(20)]
UNANSWERABLE = Example("u", "Why?", ("", "Zoë 😀"), answerable=False, relevance=(False, False))
EVALUATION = Example("e", "Who?", ("So.",))


def questions(dataset, steps):
    return [x["question"].numpy().tolist() for x, _, _ in dataset.take(steps)]


def test_strings_of_a_batch():
    batch = strings(
        [TrainingExample(EXAMPLES[2], "nlg", "It is 2."), TrainingExample(EVALUATION, "qa", "")]
    )
    assert batch["question"].tolist() == [b"What is 2?", b"Who?"]
    assert batch["passages"].tolist() == [
        [b"It is 2. So it goes. So it goes.", b"Nothing here."],
        [b"So.", b""],
    ]
    assert batch["style"].tolist() == [b"nlg", b"qa"]
    assert batch["answer"].tolist() == [b"It is 2.", b""]
    assert batch["answerable"].tolist() == [1, -1]
    assert batch["relevance"].tolist() == [[1, 0], [-1, -1]]
    present = strings([TrainingExample(UNANSWERABLE, "qa", "")])
    assert present["passages"].tolist() == [[b" ", "Zoë 😀".encode()]], "empty is not missing"
    assert present["answerable"].tolist() == [0] and present["relevance"].tolist() == [[0, 0]]
    nothing = strings([TrainingExample(Example("n", "?", ()), "qa", "")])
    assert nothing["passages"].shape == (1, 0)


def test_span_of_a_record_is_the_first_that_is_its_answer():
    passages = ("It is 2, not 3.", "So 3.")
    spans = (Span(0, 9, 12), Span(0, 6, 7), Span(0, 13, 14), Span(1, 3, 4))
    answers = {"qa": ("3",), "nlg": ("It is 3.",)}
    known = Example("s", "?", passages, answers, spans=spans)
    batch = strings([TrainingExample(known, "qa", a) for a in ("3", "2", "It is 3.", "")])
    assert batch["span"].tolist() == [[0, 13, 14], [0, 6, 7], [-1] * 3, [-1] * 3]


def test_features_get_every_record_with_its_style():
    dataset = make_dataset([*EXAMPLES, UNANSWERABLE], Plain(), 4, shuffle=True, seed=2)
    result = set()
    styles = []
    for x, _, _ in dataset:
        rows = zip(x["question"].numpy(), x["style"].numpy(), x["answer"].numpy(), strict=True)
        result |= set(rows)
        styles.append(len(set(x["style"].numpy())))
    assert len(result) == 42
    assert (b"What is 7?", b"qa", b"7") in result and (b"Why?", b"nlg", b"") in result
    assert max(styles) == 2, "batches mix the styles"
    assert dataset.cardinality() == 11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"examples": []}, r"no batch.*another seed or share. Received: examples=\[\]"),
        ({"batch_size": 50, "drop_remainder": True}, "batch_size=50, drop_remainder=True"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_dataset(**{"examples": EXAMPLES, "batch_size": 4, "preprocessor": Plain()} | arguments)


@pytest.mark.parametrize("source", [list, lambda e: lambda: iter(e)], ids=["list", "function"])
def test_a_resumed_run_sees_the_batches_of_an_unbroken_one(source):
    def run(start):
        return make_dataset(
            source(EXAMPLES),
            Plain(),
            6,
            shuffle=True,
            seed=4,
            repeat=True,
            start_step=start,
            window=2,
        )

    unbroken = questions(run(0), 30)
    assert questions(run(17), 13) == unbroken[17:]
    assert questions(run(0), 30) == unbroken
    assert unbroken[:7] != unbroken[7:14], "every pass has its own order"
    if source is list:
        assert run(0).cardinality() == tf.data.INFINITE_CARDINALITY


def test_every_iteration_is_a_pass_of_its_own():
    def passes():
        dataset = make_dataset(EXAMPLES, Plain(), 6, shuffle=True, seed=4)
        return [questions(dataset, 100) for _ in range(3)]

    first = passes()
    assert first == passes()
    assert len({str(order) for order in first}) == 3
    assert len({str(sorted(sum(order, []))) for order in first}) == 1
    fixed = make_dataset(EXAMPLES, Plain(), 6)
    in_order = [row for x, _, _ in fixed for row in x["question"].numpy().tolist()]
    assert in_order == [each.question.encode() for each in EXAMPLES for _ in each.answers]
    assert questions(fixed, 100) == questions(fixed, 100)


def test_a_look_at_some_batches_is_not_a_pass():
    def passes(looks):
        options = {"shuffle": True, "seed": 4, "randomize_oov_buckets": True}
        dataset = make_dataset(EXAMPLES, Plain(), 6, **options)
        found = []
        for _ in range(3):
            for _ in range(looks):
                next(iter(dataset))
            found.append([(x["question"].numpy().tolist(), x["rotation"].numpy().tolist())
                          for x, _, _ in dataset])  # fmt: skip
        return found

    assert passes(2) == passes(0)


@pytest.fixture(scope="module")
def preprocessor():
    vocabulary = Vocabulary(["it", "is", "so", "goes", "what", "nothing", "here", "."])
    return MasquePreprocessor(vocabulary, styles=("qa", "nlg"), num_passages=3)


def test_what_is_unknown_or_unanswerable_has_no_weight(preprocessor):
    [(x, y, weight)] = make_dataset([EXAMPLES[0], UNANSWERABLE, EVALUATION], preprocessor, 8)
    np.testing.assert_allclose(weight["decoder"], [3, 3, 0, 0, 0, 0])
    np.testing.assert_allclose(weight["classifier"], [1.5] * 4 + [0, 0])
    np.testing.assert_allclose(y["classifier"], [1, 1, 0, 0, 0, 0])
    np.testing.assert_allclose(weight["ranker"][:, 0] > 0, [1, 1, 1, 1, 0, 0])
    np.testing.assert_allclose(weight["ranker"][:, 2], 0)
    assert x["passage_ids"][2, 0, 0] == 2, "an empty passage begins with BOS"
    assert not np.any(x["passage_ids"][:, 2]), "a missing one is padding"


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"shuffle": True, "static_shapes": True}, [3, 3]),
        ({"shuffle": True, "static_shapes": True, "drop_remainder": False}, [3, 3, 1]),
        ({"static_shapes": True}, [3, 3, 1]),
        ({"shuffle": True}, [3, 3, 1]),
        ({"shuffle": True, "static_shapes": True, "batch_size": 9}, [7]),
    ],
)
def test_a_last_smaller_batch_is_dropped_where_it_is_compiled_separately(options, sizes):
    options = {"batch_size": 3, "styles": ["qa"], **options}
    dataset = make_dataset(EXAMPLES[:7], Plain(), **options)
    assert [len(x["question"]) for x, _, _ in dataset] == sizes


def test_padding_share_by_hand():
    x = {
        "question_ids": [[5, 6, 7, 0], [5, 0, 0, 0]],
        "passage_ids": [[[2, 5]], [[0, 0]]],
        "target_ids": [[5, 3], [3, 0]],
        "style_ids": [0, 0],
    }
    dataset = tf.data.Dataset.from_tensors((x, {}, {})).repeat(3)
    shares = padding_share(dataset)
    assert shares == {
        "question_ids": 4 / 8,
        "passage_ids": 2 / 4,
        "target_ids": 1 / 4,
        "all": 6 / 12,
    }
    assert padding_share(dataset.repeat(), steps=2) == shares
    with pytest.raises(ValueError, match="Received: steps=None"):
        padding_share(dataset.repeat())


def test_rotation_differs_from_time_to_time_and_is_resumed():
    def rotations(start):
        dataset = make_dataset(
            EXAMPLES, Plain(), 4, repeat=True, start_step=start, randomize_oov_buckets=True
        )
        return [x["rotation"].numpy().tolist() for x, _, _ in dataset.take(24 - start)]

    unbroken = rotations(0)
    assert len({str(rotation) for rotation in unbroken}) == 24
    assert rotations(13) == unbroken[13:]
    for step in (0, 5, 23):
        generator = np.random.default_rng([0, 0, step])
        assert unbroken[step] == generator.integers(2**31 - 1, size=4, dtype=np.int32).tolist()
    plain, _, _ = next(iter(make_dataset(EXAMPLES, Plain(), 4)))
    assert plain["rotation"].numpy().tolist() == [0, 0, 0, 0]

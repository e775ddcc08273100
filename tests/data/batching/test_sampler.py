"""Which records make up which batch: every record once a pass, the same at every run."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, strategies as st

from tfmrc.data import Example, TrainingExample, records
from tfmrc.data.batching.sampler import STEP, BatchSampler


def example(number, length=10):
    return Example(str(number), "q" * length, ("p",), {"a": ("x",)}, True)


EXAMPLES = [example(n, 1 + (n * 37) % 700) for n in range(103)]


class Stream:
    """Can be read again and tells no length."""

    def __init__(self, examples):
        self.examples, self.reads = examples, 0

    def __iter__(self):
        self.reads += 1
        return iter(self.examples)


KINDS = {"list": list, "stream": Stream, "function": lambda e: lambda: iter(e)}


@pytest.fixture(params=KINDS)
def source(request):
    return KINDS[request.param]


def ids(batches):
    return [[record.example.id for record in batch] for batch in batches]


def make(examples=EXAMPLES, size=8, **arguments):
    arguments = {"shuffle": True, "seed": 1, "window": 4, **arguments}
    return BatchSampler(examples, ["a"], size, **arguments)


@given(
    st.integers(0, 60),
    st.integers(1, 7),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.sampled_from(sorted(KINDS)),
)
def test_a_pass_holds_every_record_once(count, size, window, shuffle, bucket, kind):
    examples = EXAMPLES[:count]
    batches = make(KINDS[kind](examples), size, window=window, shuffle=shuffle, bucket=bucket)
    result = ids(batches.of_pass(0))
    assert Counter(n for batch in result for n in batch) == Counter(e.id for e in examples)
    assert [len(batch) for batch in result] == [size] * (count // size) + [count % size][
        : bool(count % size)
    ]


def test_the_order_is_a_function_of_seed_and_pass(source):
    first, again = ids(make(source(EXAMPLES)).of_pass(3)), ids(make(source(EXAMPLES)).of_pass(3))
    assert first == again
    assert first != ids(make(source(EXAMPLES)).of_pass(4))
    assert first != ids(make(source(EXAMPLES), seed=2).of_pass(3))


def test_a_list_is_shuffled_as_a_whole_and_a_stream_in_windows():
    whole = [int(n) for batch in ids(make().of_pass(0))[:4] for n in batch]
    assert max(whole) >= 32
    windowed = [int(n) for batch in ids(make(Stream(EXAMPLES)).of_pass(0))[:4] for n in batch]
    assert sorted(windowed) == list(range(32)) and windowed != sorted(windowed)


@pytest.mark.parametrize("drop_remainder", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_run_that_starts_later_gets_what_an_unbroken_one_gets(source, shuffle, drop_remainder):
    def run(start, steps):
        batches = make(source(EXAMPLES), shuffle=shuffle, drop_remainder=drop_remainder)
        return ids(islice(batches.forever(start), steps))

    unbroken = run(0, 45)
    for start in (1, 3, 4, 11, 12, 13, 14, 25, 26, 30):
        assert run(start, 45 - start) == unbroken[start:]


def test_buckets_hold_records_of_like_length():
    def spread(bucket):
        lengths = [[r.length for r in batch] for batch in make(bucket=bucket, window=20).of_pass(0)]
        return sum(max(batch) - min(batch) for batch in lengths[:-1])

    assert spread(True) < spread(False) / 4


def test_buckets_do_not_look_at_the_answer():
    kinds = ("", "x" * 50)
    examples = [Example(str(n), "q" * (n % STEP), (), {"a": ("x" * 50,)}) for n in range(60)]
    mixed = [TrainingExample(e, "a", kinds[n % 2]) for n, e in enumerate(examples)]
    result = make(mixed, 10, window=6).of_pass(0)
    assert {len({record.answer for record in batch}) for batch in result} == {2}


def test_the_remainder_is_a_random_choice_not_the_longest():
    examples = [example(n, 1 + 100 * n) for n in range(11)]
    last = [ids(make(examples, 8, seed=seed).of_pass(0))[-1] for seed in range(8)]
    assert len({tuple(sorted(batch)) for batch in last}) > 4
    dropped = ids(make(examples, 8, drop_remainder=True).of_pass(0))
    assert [len(batch) for batch in dropped] == [8]


def test_without_shuffle_and_buckets_the_order_stays(source):
    result = ids(make(source(EXAMPLES), shuffle=False, bucket=False).of_pass(5))
    assert [n for batch in result for n in batch] == [e.id for e in EXAMPLES]


def test_records_of_equal_buckets_keep_their_order():
    examples = [example(n, length) for n, length in enumerate((70, 1, 63, 126, 64, 2, 130, 62))]
    result = ids(make(examples, 2, shuffle=False).of_pass(0))
    # The passage has one character more: 64 // 64 is the second bucket.
    assert result == [["1", "5"], ["7", "0"], ["2", "3"], ["4", "6"]]


def test_steps_are_known_for_lists():
    assert make().num_steps == 13 and make(drop_remainder=True).num_steps == 12
    assert make(Stream(EXAMPLES)).num_steps is None


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nothing_to_read_ends(kind):
    assert list(make(KINDS[kind]([])).forever()) == []
    assert list(make(KINDS[kind](EXAMPLES[:3]), drop_remainder=True).forever(5)) == []


def test_records_by_style():
    both = Example("1", "?", ("p",), {"a": ("x", "y"), "b": ("z",)}, True)
    one = Example("2", "?", ("p",), {"b": ("z",)}, True)
    none = Example("3", "?", ("p",), {}, False)
    ready = TrainingExample(both, "c", "w")
    result = [(r.example.id, r.style, r.answer) for r in records([both, one, none, ready], "ab")]
    assert result == [
        ("1", "a", "x"),
        ("1", "b", "z"),
        ("2", "b", "z"),
        ("3", "a", ""),
        ("3", "b", ""),
        ("1", "c", "w"),
    ]

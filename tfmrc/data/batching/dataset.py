"""Batches of examples for `model.fit`, as a `tf.data.Dataset`."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from tfmrc.data.batching.sampler import WINDOW, BatchSampler
from tfmrc.data.batching.training_example import Examples, TrainingExample
from tfmrc.text import layout
from tfmrc.utils.memory import reuse_freed_memory

UNKNOWN = -1

_SIGNATURE = {
    "question": tf.TensorSpec([None], tf.string),
    "passages": tf.TensorSpec([None, None], tf.string),
    "style": tf.TensorSpec([None], tf.string),
    "answer": tf.TensorSpec([None], tf.string),
    "answerable": tf.TensorSpec([None], tf.int32),
    "relevance": tf.TensorSpec([None, None], tf.int32),
    "span": tf.TensorSpec([None, 3], tf.int32),
    "spans": tf.TensorSpec([None, None, 3], tf.int32),
    "rotation": tf.TensorSpec([None], tf.int32),
}


Annotate = Callable[[Sequence[TrainingExample]], dict[str, np.ndarray]]
"""Maps the records of a batch to named strings `[B]`; no records give all names."""


class BatchMaker(Protocol):
    """Converts the strings of a batch to tensors, as a `tfmrc.preprocessing.Preprocessor` does."""

    @property
    def styles(self) -> Sequence[str]:
        """Names of the answer styles."""

    def batch(self, records: dict[str, tf.Tensor]) -> Any:
        """Converts the strings of a batch to `(x, y, sample_weight)` by graph operations."""


def make_dataset(
    examples: Examples,
    preprocessor: BatchMaker,
    batch_size: int,
    *,
    styles: Sequence[str] | None = None,
    shuffle: bool = False,
    seed: int = 0,
    bucket: bool | None = None,
    drop_remainder: bool | None = None,
    repeat: bool = False,
    start_step: int = 0,
    window: int = WINDOW,
    randomize_oov_buckets: bool = False,
    annotate: Annotate | None = None,
    static_shapes: bool = False,
) -> tf.data.Dataset:
    """Makes a dataset of batches ``(x, y, sample_weight)`` for `model.fit`.

    Every example gives one record per answer style, so batches mix styles (see ``records``). The
    batches depend only on the arguments and the number of the pass:

    - ``repeat=True``: an infinite number of passes, each in its own order. A run that is resumed
      with ``start_step=n`` gets exactly the batches that an uninterrupted run gets after n steps.
      Use it with ``steps_per_epoch``; without ``repeat``, the cardinality is that of a pass.
    - ``repeat=False``: one pass per iteration over the dataset. With ``shuffle``, an iteration has
      the order of the n-th pass if n passes were read to their last batch before. Who looks at some
      batches, as Keras does before it trains several replicas, does not change the next pass.

    A list is shuffled as a whole. A stream is never held in memory: it is shuffled within windows
    of ``window`` batches. With ``bucket``, the records of a window are sorted by the number of
    characters of the question and the longest passage, so that the records of a batch have similar
    lengths. Styles and unanswerable questions stay mixed.

    Args:
        examples: list of examples or records, `ExampleStream`, callable that returns an iterable,
            or iterator. An iterator is read into memory.
        preprocessor: `tfmrc.preprocessing.Preprocessor`. ``preprocessor.batch`` runs in the graph.
        batch_size: int. Number of records per batch, over all replicas.
        styles: sequence of str. The answer styles. Default: None, those of ``preprocessor``.
        shuffle: bool. Whether to shuffle the records. Default: False.
        seed: int. Seed of the shuffling. Default: 0.
        bucket: bool. Whether to batch records of similar lengths together. Default: None, as
            ``shuffle``: without either the batches have the order of the examples.
        drop_remainder: bool. Whether to drop a last, smaller batch. With a `MirroredStrategy`,
            every batch size must be a multiple of the number of replicas. Default: None, if both
            ``static_shapes`` and ``shuffle`` are given and the examples fill a batch: a smaller
            batch would be compiled separately, and each pass drops other records.
        repeat: bool. Whether to repeat the passes infinitely. Default: False.
        start_step: int. Number of batches to skip at the start. Those of a list are not built; a
            stream, whose length is unknown, is read from its beginning. Default: 0.
        window: int. Number of batches per window. Default: 100.
        randomize_oov_buckets: bool. Whether to assign unknown words to different buckets each time
            a record is seen (see `MasquePreprocessor.batch`); for training. Default: False.
        annotate: callable. Maps the records of a batch to the strings `[B]` that
            ``preprocessor.annotations`` names, such as a tagger's tags. Default: None.
        static_shapes: bool. Whether to pad all batches to the largest lengths, so that XLA and the
            JAX backend compile the model once (see `tfmrc.text.layout.static_shapes`).
            Default: False.

    Returns:
        The prefetched dataset. Its cardinality is known for lists.

    Raises:
        ValueError: If a style is not one of ``preprocessor``, ``start_step`` is given without
            ``repeat``, or a list has no batch.

    Example:

    >>> from tfmrc.data import Example, make_dataset
    >>> from tfmrc.preprocessing import MasquePreprocessor
    >>> from tfmrc.text import Vocabulary
    >>> vocabulary = Vocabulary(["owl", "who"])
    >>> preprocessor = MasquePreprocessor(vocabulary, styles=("qa",), num_passages=2)
    >>> examples = [Example("1", "Who flew?", ("An owl flew.",), {"qa": ("an owl",)})]
    >>> x, y, sample_weight = next(iter(make_dataset(examples, preprocessor, batch_size=1)))
    >>> tuple(x["passage_ids"].shape)
    (1, 2, 5)
    """
    selected = tuple(preprocessor.styles if styles is None else styles)
    unknown = [style for style in selected if style not in preprocessor.styles]
    if unknown:
        raise ValueError(
            f"The preprocessor has the styles {list(preprocessor.styles)}. "
            f"Received: styles={selected!r}"
        )
    if start_step < 0 or (start_step and not repeat):
        raise ValueError(
            "start_step must be 0 or more, and needs repeat=True: without it every iteration over "
            f"the dataset begins a pass. Received: start_step={start_step}, repeat={repeat}"
        )
    if drop_remainder is None and not (static_shapes and shuffle):
        drop_remainder = False
    batches = BatchSampler(
        examples,
        selected,
        batch_size,
        shuffle=shuffle,
        seed=seed,
        bucket=shuffle if bucket is None else bucket,
        drop_remainder=drop_remainder,
        window=window,
    )
    if batches.num_steps == 0:
        raise ValueError(
            "`examples` has no batch. A part that `tfmrc.data.split_by_group` left empty "
            "needs another seed or share. Received: "
            f"examples={examples!r:.60}, batch_size={batch_size}, drop_remainder={drop_remainder}"
        )
    counts = not repeat and (shuffle or randomize_oov_buckets)  # else all passes are alike
    passes = _Passes(batches, seed if randomize_oov_buckets else None, annotate)
    signature = dict(_SIGNATURE)
    if annotate is not None:
        signature |= {name: tf.TensorSpec([None], tf.string) for name in annotate([])}
    dataset = tf.data.Dataset.from_generator(
        functools.partial(passes.generate, start_step if repeat else None),
        output_signature=(signature, tf.TensorSpec([], tf.int64)),
    )
    # A preprocessor is graph code, as in an export; to convert it would take a second each start.
    batch = layout.static_shapes()(preprocessor.batch) if static_shapes else preprocessor.batch
    convert = tf.autograph.experimental.do_not_convert
    to_batch = convert(lambda texts, number: (batch(texts), number) if counts else batch(texts))
    dataset = dataset.map(to_batch, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    steps = batches.num_steps
    if steps is not None:
        size = tf.data.INFINITE_CARDINALITY if repeat else steps
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(size))
    dataset = dataset.prefetch(tf.data.AUTOTUNE)
    return dataset.map(convert(passes.deliver)) if counts else dataset


class _Passes:
    """The strings of the batches of each pass. A pass counts when its last batch is delivered."""

    def __init__(
        self, batches: BatchSampler, rotation_seed: int | None, annotate: Annotate | None
    ) -> None:
        self.batches, self.rotation_seed, self.annotate = batches, rotation_seed, annotate
        self.finished = 0

    def generate(self, start_step: int | None) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields the strings of each batch, and the number of passes that end before or with it.

        Args:
            start_step: int or None. The first step of all passes; None for a single pass, the next.
        """
        reuse_freed_memory()  # in each pass, since each makes the operation anew
        number, step = (self.finished, 0) if start_step is None else (0, start_step)
        single = start_step is None
        batches = self.batches.of_pass(number) if single else self.batches.forever(step)
        batch = next(batches, None)
        while batch is not None:
            after = next(batches, None)
            rotation = np.zeros(len(batch), np.int32)
            if self.rotation_seed is not None:
                rng = np.random.default_rng([self.rotation_seed, number, step])
                rotation = rng.integers(2**31 - 1, size=len(batch), dtype=np.int32)
            extra = {} if self.annotate is None else self.annotate(batch)
            yield strings(batch) | {"rotation": rotation} | extra, number + (after is None)
            batch, step = after, step + 1

    def deliver(self, batch: Any, number: tf.Tensor) -> Any:
        """Returns a batch in the graph, and notes how many passes end before or with it."""

        def note(number: np.ndarray) -> None:
            self.finished = max(self.finished, int(number))

        with tf.control_dependencies([tf.numpy_function(note, [number], [])]):
            return tf.nest.map_structure(tf.identity, batch)


def strings(batch: Sequence[TrainingExample]) -> dict[str, Any]:
    """Returns the strings and labels of a batch, the input of `preprocessor.batch`.

    Args:
        batch: sequence of B `TrainingExample`.

    Returns:
        A dict: ``question``, ``style``, ``answer`` `[B]` and ``passages`` `[B, K']` of UTF-8 bytes;
        ``answerable`` `[B]` and ``relevance`` `[B, K']` int32: 1, 0 or -1 (unknown); ``span``
        `[B, 3]` int32: passage, start and end of the answer, -1 if unknown; ``spans`` `[B, S, 3]`:
        those of all spans, -1 if there are fewer. A missing passage is an empty string; a passage
        without text is a space.

    Example:

    >>> from tfmrc.data import Example, TrainingExample
    >>> strings([TrainingExample(Example("1", "Who?", ("An owl.",), answerable=False), "qa", "")])
    {'question': array([b'Who?'], dtype=object), 'passages': array([[b'An owl.']], dtype=object),
     'style': array([b'qa'], dtype=object), 'answer': array([b''], dtype=object),
     'answerable': array([0], dtype=int32), 'relevance': array([[-1]], dtype=int32),
     'span': array([[-1, -1, -1]], dtype=int32),
     'spans': array([[[-1, -1, -1]]], dtype=int32)}
    """
    size = len(batch)
    most = max((len(record.example.passages) for record in batch), default=0)
    passages = np.full([size, most], b"", object)
    relevance = np.full([size, most], UNKNOWN, np.int32)
    answerable = np.full([size], UNKNOWN, np.int32)
    span = np.full([size, 3], UNKNOWN, np.int32)
    num_spans = max((len(record.example.spans) for record in batch), default=0)
    spans = np.full([size, max(num_spans, 1), 3], UNKNOWN, np.int32)
    for row, (example, _, answer) in enumerate(batch):
        for column, passage in enumerate(example.passages):
            passages[row, column] = (passage or " ").encode()
        if example.relevance is not None:
            relevance[row, : len(example.relevance)] = example.relevance
        if example.answerable is not None:
            answerable[row] = example.answerable
        if (found := example.span_of(answer)) is not None:
            span[row] = found.passage, found.start, found.end
        for column, one in enumerate(example.spans):
            spans[row, column] = one.passage, one.start, one.end
    return {
        "question": np.array([record.example.question.encode() for record in batch], object),
        "passages": passages,
        "style": np.array([record.style.encode() for record in batch], object),
        "answer": np.array([record.answer.encode() for record in batch], object),
        "answerable": answerable,
        "relevance": relevance,
        "span": span,
        "spans": spans,
    }


def padding_share(dataset: tf.data.Dataset, steps: int | None = None) -> dict[str, float]:
    """Returns the share of positions that hold padding.

    Args:
        dataset: `tf.data.Dataset`. The output of ``make_dataset``.
        steps: int. Number of batches to read. Default: None, all batches.

    Returns:
        A dict from input name (``question_ids``, ``passage_ids``, ``target_ids``) to share, and
        ``all`` for question and passages together. Missing passages count as padding. Inputs
        without such names, as those of an extractive reader, have ``all`` alone, 0.

    Raises:
        ValueError: If the dataset is infinite and ``steps`` is None.

    Example:

    >>> import tensorflow as tf
    >>> x = {"question_ids": [[5, 6, 0, 0]], "passage_ids": [[[2, 5, 6]]]}
    >>> shares = padding_share(tf.data.Dataset.from_tensors((x, {}, {})))
    >>> shares["question_ids"], round(shares["all"], 2)
    (0.5, 0.29)
    """
    if steps is None and dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ValueError("An infinite dataset needs steps. Received: steps=None")
    padded, positions = Counter[str](), Counter[str]()
    for x, *_ in dataset if steps is None else dataset.take(steps):
        for name in ("question_ids", "passage_ids", "target_ids"):
            if name in x:
                ids = np.asarray(x[name])
                padded[name] += int(np.sum(ids == 0))
                positions[name] += ids.size
    shares = {name: padded[name] / max(1, positions[name]) for name in positions}
    source = positions["question_ids"] + positions["passage_ids"]
    shares["all"] = (padded["question_ids"] + padded["passage_ids"]) / max(1, source)
    return shares

"""Questions in columns, answers in columns: what Ray Data, Spark or a pool of threads call."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from tfmrc.data import Example, RecordError, read_table
from tfmrc.evaluation import Prediction
from tfmrc.experiments.answering import Asked, predictions_of
from tfmrc.experiments.loaded import Loaded, open_model

COLUMNS = (
    "id", "answer", "probability", "is_confident", "answerable_probability", "passage", "start",
    "end", "truncated", "error",
)  # fmt: skip


class Answerer:
    """Answers a batch of rows, given and returned as columns.

    It can be pickled: the model is loaded in the process that calls it, once for all answerers with
    the same model and options there. Nothing but question and passage must be right in a row; a
    broken row has an `error` in place of an answer, as has one without the answer that a model asks
    about. For Ray see `tfmrc.integrations.ray`; for Spark, in a function for
    `DataFrame.mapInPandas`::

        def answer(frames):
            answerer = Answerer("runs/my_reader", threads=1)
            for frame in frames:
                yield pandas.DataFrame(answerer(frame.to_dict("list")))

    Args:
        model: str. "ready", a run, a saved predictor or a folder of Hugging Face.
        task: str or None. Name of a task of the predictor; None for the first one. Default: None.
        columns: dict or None. Columns with other names, as for `tfmrc.data.read_table`.
            Default: None.
        batch_size: int. Rows that the model reads at once. Default: 32.
        threads: int or None. Threads of TensorFlow, if nothing has computed in the process; None
            for all cores. Default: None.
        **options: Options of the predictor.

    Example:

    >>> import pickle, tempfile, tfmrc
    >>> from tfmrc import encoders, models, preprocessing
    >>> from tfmrc.integrations.batch import Answerer
    >>> encoder = encoders.from_vocabulary("who flew an owl ? .".split())
    >>> predictor = tfmrc.Predictor(
    ...     models.ExtractiveReader(encoder=encoder),
    ...     preprocessing.ExtractiveReaderPreprocessor(encoder=encoder))
    >>> folder = predictor.save(tempfile.mkdtemp() + "/reader")
    >>> answerer = pickle.loads(pickle.dumps(Answerer(str(folder))))
    >>> found = answerer({"question": ["Who flew?", ""], "passages": [["An owl."], ["An owl."]]})
    >>> found["answer"][0] in "An owl." and "question" in found["error"][1]
    True
    """

    def __init__(
        self,
        model: str,
        *,
        task: str | None = None,
        columns: Mapping[str, Any] | None = None,
        batch_size: int = 32,
        threads: int | None = None,
        **options: Any,
    ):
        self.model = str(model)
        self.task = task
        self.columns = dict(columns or {})
        self.batch_size = batch_size
        self.threads = threads
        self._options = pickle.dumps(options)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Returns the answers to a batch.

        Args:
            batch: dict. Columns of equal length (lists, arrays), named as those of a table:
                `question`, `passages` or `passage`, and if there are ids `id`.

        Returns:
            A dict of the columns `COLUMNS`, one value per row in their order; None where the model
            has no such value, or the row is broken.
        """
        names = list(batch)
        rows = [dict(zip(names, row, strict=True)) for row in zip(*batch.values(), strict=True)]
        stream = read_table(rows, columns=self.columns, on_error="skip")
        stream.labels = "none"
        return columns_of(self.answers(stream.records()))

    def answers(self, records: Iterable[Example | RecordError]) -> Iterator[Prediction]:
        """Yields a `Prediction` per example, and in the place of a broken record its error."""
        model = _loaded(self.model, self.threads, self._options)
        task = model.predictor.task(self.task).name
        given = list(map(Asked.of(model.predictor, task), records))
        return predictions_of(model.predictor, given, task, model.options, self.batch_size)


def columns_of(predictions: Iterable[Prediction]) -> dict[str, list[Any]]:
    """Returns the columns `COLUMNS` of predictions."""
    rows = [
        {**one.scores, "id": one.id, "answer": None if one.error else one.answer,
         "error": one.error or None}
        for one in predictions
    ]  # fmt: skip
    return {name: [row.get(name) for row in rows] for name in COLUMNS}


@cache
def _loaded(model: str, threads: int | None, options: bytes) -> Loaded:
    if threads is not None:
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    return open_model(model, pickle.loads(options), runtime="auto")

"""Preprocessor of evidence readers."""

import keras
import tensorflow as tf

from tfmrc.preprocessing.base import Tensors
from tfmrc.preprocessing.extractive_reader import ExtractiveReaderPreprocessor
from tfmrc.preprocessing.labels import mean_of_counted


@keras.saving.register_keras_serializable(package="tfmrc")
class EvidenceReaderPreprocessor(ExtractiveReaderPreprocessor):
    """Converts strings to the windows of subwords that an evidence reader reads.

    The windows are those of `ExtractiveReaderPreprocessor`, whose arguments it takes;
    `answer_length` and `unanswerable` have no effect. The labels are made of all spans of an
    example (`tfmrc.data.Example.spans`); an example that is marked as unanswerable teaches that
    nothing is evidence.

    Example:
        >>> from tfmrc import encoders
        >>> from tfmrc.data import Example, Span
        >>> from tfmrc.preprocessing import EvidenceReaderPreprocessor
        >>> encoder = encoders.from_vocabulary(["who", "flew", "an", "owl", "?"])
        >>> preprocessor = EvidenceReaderPreprocessor(encoder=encoder)
        >>> answers = {"span": ("An owl",)}
        >>> example = Example("1", "Who flew?", ("An owl.",), answers, spans=(Span(0, 0, 6),))
        >>> x, y, sample_weight = next(iter(preprocessor.dataset([example], batch_size=1)))
        >>> y["evidence"].numpy().tolist()
        [[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]]
    """

    def batch(self, records: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        """Returns one batch for `model.fit`: one window of each example.

        It is the window with most subwords of the evidence, of the passage that the first span is
        in; of an example without evidence the first window of the first passage.

        Args:
            records: dict. `question` string `[B]`, `passages` string `[B, K']`, `spans` int32
                `[B, S, 3]`: passage, start and end of the evidence in characters, -1 if there are
                fewer, and `answerable` int `[B]`: 1, 0 or -1 (unknown).

        Returns:
            `(x, y, sample_weight)`: the model's inputs; `evidence` float32 `[B, P]`, 1 for the
            subwords of the evidence; weights `[B, P]` of mean 1 over the batch, 0 outside passages
            and for examples whose evidence is not known.
        """
        passages, spans = records["passages"], tf.cast(records["spans"], tf.int32)
        filled = tf.pad(passages, [[0, 0], [0, 1]], constant_values="")
        number = tf.maximum(spans[:, :1, 0], 0)  # [B, 1]
        source = self.source(records["question"], tf.gather(filled, number[:, 0], batch_dims=1))
        row, starts, ends = source["row"], source["starts"], source["ends"]  # [W], [W, P], [W, P]
        spans = tf.where((spans[..., 0] == number)[..., None], spans, -1)  # [B, S, 3]
        begin, end = (tf.gather(spans[..., column], row)[:, None] for column in (1, 2))  # [W, 1, S]
        inside = (starts[..., None] < end) & (ends[..., None] > begin)  # [W, P, S]
        evidence = tf.reduce_any(inside, axis=-1) & (starts >= 0)  # [W, P]
        # The first of the windows with most subwords of the evidence.
        held, count = tf.reduce_sum(tf.cast(evidence, tf.int32), axis=1), tf.shape(number)[0]
        most = tf.math.unsorted_segment_max(held, row, count)  # [B]
        windows = tf.where(held == tf.gather(most, row), tf.range(tf.size(row)), tf.size(row))
        window = tf.math.unsorted_segment_min(windows, row, count)  # [B]
        is_known = (most > 0) | (tf.cast(records["answerable"], tf.int32) == 0)  # [B]
        counted = (tf.gather(starts, window) >= 0) & is_known[:, None]  # [B, P]
        y = {"evidence": tf.cast(tf.gather(evidence, window), tf.float32)}
        return self.inputs_of(source, window), y, {"evidence": mean_of_counted(counted)}

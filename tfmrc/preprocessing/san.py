"""Preprocessor of SAN."""

from typing import Any

import keras
import tensorflow as tf

from tfmrc.preprocessing.base import DEVICE, Preprocessor, Tensors
from tfmrc.preprocessing.encoder_inputs import READINGS, encoder_inputs, subwords_of_source
from tfmrc.preprocessing.labels import mean_of_counted
from tfmrc.preprocessing.source import lay_out
from tfmrc.preprocessing.word_features import SHAPES, shape_features
from tfmrc.text.layout import FlatTokens, every_nth, parts_of_rows, same_batch, strings
from tfmrc.text.subwords.tokenizer import Subwords
from tfmrc.text.vocabulary import Vocabulary
from tfmrc.text.words.matching import occurs_in_group
from tfmrc.text.words.stems import light_stems
from tfmrc.text.words.tags import TagSet, tags_of_words

NUM_SAN_FEATURES = 1 + len(SHAPES)  # the other two kinds of match are SAN's own


@keras.saving.register_keras_serializable(package="tfmrc")
class SANPreprocessor(Preprocessor):
    """Converts strings to SAN's inputs and targets by graph operations.

    A passage word matches the question if the question contains it: in its surface form, in the
    tokenizer's compared form (NFKC, lower case), and with `lemmas` also by lemma. The model
    computes the alignment. Tags are inputs (named by `annotations`): one string per text with one
    tag per word of this tokenizer, separated by single spaces.

    A passage of more than `passage_length` words is truncated in training. In inference `windows`
    covers all of it, up to `longest_passage`.

    Args:
        vocabulary: `tfmrc.text.Vocabulary`. Maps words to input ids.
        passage_length: int. Number of words of a passage, or of a window, that the model reads at
            once. Default: 400.
        question_length: int. Largest number of words of a question. Default: 60.
        answer_length: int. Largest number of words of an answer. Default: 15.
        stride: int. Number of words between the starts of consecutive windows; None for half of
            `passage_length`. Default: None.
        longest_passage: int. Largest number of words of a passage in inference. Default: 100000.
        lemmas: bool. Whether lemmas are inputs. Default: False.
        pos_tags: sequence of str. Names of the part-of-speech tags; if empty, tags are not inputs.
            Default: ().
        ner_tags: sequence of str. Names of the entity types; if empty, they are not inputs.
            Default: ().
        styles: sequence of str. Answer styles for training. Default: ('span',).
        encoder: `tfmrc.encoders.Encoder` or `tfmrc.text.SubwordTokenizer`. A pretrained encoder
            whose subwords the model reads in addition to its words. Default: None.
        reading: str. "joint" (question and passage as one sequence) or "separate". Default:
            "joint".
        word_features: bool. Whether each passage word also has the features that need no tagger
            (`tfmrc.preprocessing.word_features`): match by stem, capitals, digits, marks. They
            follow the exact match. Default: False.

    Raises:
        ValueError: A size is not positive, or windows would skip words.

    Example:
        >>> from tfmrc.preprocessing import SANPreprocessor
        >>> from tfmrc.text import Vocabulary
        >>> preprocessor = SANPreprocessor(Vocabulary(["the", "owl", "flew", "who"]))
        >>> source = preprocessor.source(["Who flew?"], ["The owl Flew."])
        >>> source["passage_ids"].numpy(), source["exact_match"][0, :, 1].numpy()
        (array([[4, 5, 6, 1]], dtype=int32), array([0., 0., 1., 0.], dtype=float32))
        >>> begin, end, exact = preprocessor.align(source, [0], [7])
        >>> begin.numpy(), end.numpy(), exact.numpy()
        (array([0], dtype=int32), array([1], dtype=int32), array([ True]))

    Reference: Liu et al. 2018 (SAN), section 2, lexicon encoding layer, san-02.
    """

    needs_spans = True

    passage_length: int
    question_length: int
    answer_length: int
    stride: int
    longest_passage: int

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        passage_length: int = 400,
        question_length: int = 60,
        answer_length: int = 15,
        stride: int | None = None,
        longest_passage: int = 100_000,
        lemmas: bool = False,
        pos_tags: tuple[str, ...] | list[str] = (),
        ner_tags: tuple[str, ...] | list[str] = (),
        styles: tuple[str, ...] = ("span",),
        encoder: Any = None,
        reading: str = "joint",
        word_features: bool = False,
    ):
        super().__init__(
            vocabulary,
            styles=styles,
            encoder=encoder,
            reading=reading,
            passage_length=passage_length,
            question_length=question_length,
            answer_length=answer_length,
            stride=max(1, passage_length // 2) if stride is None else stride,
            longest_passage=longest_passage,
        )
        if self.stride > passage_length:
            raise ValueError(
                "`stride` must be at most `passage_length`, so that windows skip no word; the "
                "default is half of it. "
                f"Received: stride={stride}, passage_length={passage_length}"
            )
        self.lemmas = lemmas
        self.word_features = word_features
        self._tags = {
            name: TagSet(names) for name, names in (("pos", pos_tags), ("ner", ner_tags)) if names
        }
        lemma_inputs = ("question_lemmas", "passage_lemmas") if lemmas else ()
        self.annotations = (*lemma_inputs, *(f"passage_{name}" for name in self._tags))

    @property
    def num_exact_match(self) -> int:
        """Number of forms in which a word may match the question."""
        return 3 if self.lemmas else 2

    def model_kwargs(self) -> dict[str, Any]:
        """Returns the sizes of the model as keyword arguments of `tfmrc.models.SAN`."""
        tags = {f"num_{name}": 0 for name in ("pos", "ner")}
        tags |= {f"num_{name}": len(table.names) for name, table in self._tags.items()}
        if self.word_features:
            tags["num_word_features"] = NUM_SAN_FEATURES
        return super().model_kwargs() | {"num_exact_match": self.num_exact_match} | tags

    @property
    def model_inputs(self) -> tuple[str, ...]:
        """Names of the model's inputs."""
        return (*self._word_inputs, *(() if self.subwords is None else READINGS[self.reading]))

    @property
    def _word_inputs(self) -> tuple[str, ...]:
        return ("question_ids", "passage_ids", "exact_match", *(f"{n}_ids" for n in self._tags))

    def source(
        self, question: tf.Tensor, passage: tf.Tensor, limit: int | None = None, **annotations: Any
    ) -> Tensors:
        """Returns the model's inputs and the words' offsets.

        Args:
            question: string `[B]`.
            passage: string `[B]`.
            limit: int. Largest number of words of the passage. Default: None, `passage_length`.
            **annotations: string `[B]` each, the inputs named by `annotations`.

        Returns:
            A dict. The model's inputs: `question_ids [B, m]`, `passage_ids [B, n]` int32,
            `exact_match [B, n, 2 or 3]` float32, with `word_features` five more columns, `pos_ids`,
            `ner_ids [B, n]` int32 with tags, and with an encoder the inputs of
            `tfmrc.preprocessing.encoder_inputs`. In addition `starts`, `ends` int32 `[B, n]`, code
            points of the passage, and `truncated` bool `[B]`.

        Raises:
            tf.errors.InvalidArgumentError: The batch sizes differ, or the numbers of tags and words
                of a text differ.
        """
        with tf.device(DEVICE):
            question = strings("question", question)
            passage = strings("passage", passage)
            question = same_batch("questions and passages", question, passage)
            source = lay_out(
                self.tokenizer,
                question,
                passage[:, None],
                self.question_length,
                limit or self.passage_length,
                num_begin=0,
            )
            tokens = source.tokens
            asked = tokens.row % 2 == 0  # [N], rows are question, passage, question, …

            def of_passage(values):
                return source.passage_part(source.spread(values))[:, 0]

            forms = [tokens.surface, tokens.compared]
            if self.lemmas:
                forms.append(self._annotation(annotations, "lemmas", tokens))
            if self.word_features:
                forms.append(light_stems(tokens.compared))
            matches = [occurs_in_group(form, source.example, asked) for form in forms]  # [N] each
            features = tf.cast(tf.stack(matches, axis=-1), tf.float32)  # [N, 2 or 3]
            if self.word_features:
                features = tf.concat([features, shape_features(tokens.surface)], axis=-1)
            ids = source.spread(self.vocabulary.lookup(tokens.compared))  # [B, m + n]
            result = {
                "question_ids": source.question_part(ids),
                "passage_ids": source.passage_part(ids)[:, 0],
                "exact_match": source.spread_features(features)[1][:, 0],
                "starts": of_passage(tokens.starts),
                "ends": of_passage(tokens.ends),
                "truncated": source.truncated,
            }
            for name, table in self._tags.items():
                tags = self._annotation(annotations, name, tokens)
                result[f"{name}_ids"] = of_passage(table.lookup(tags))
            if self.subwords is not None:
                words = source.spread(tokens.surface)  # [B, m + n]
                texts = subwords_of_source(self.subwords, source, words, num_begin=0)
                for name, text in zip(("question", "passage"), texts, strict=True):
                    result[f"{name}_subwords"], result[f"{name}_counts"] = text
                result |= encoder_inputs(self.subwords, self.reading, *texts)
            return result

    def _annotation(self, annotations: Tensors, name: str, tokens: FlatTokens) -> tf.Tensor:
        """Returns the tags of all words of questions and passages; "" without tags."""
        result = tf.fill(tf.shape(tokens.row), "")
        for offset, text in enumerate(("question", "passage")):
            if f"{text}_{name}" in self.annotations:
                own, positions = every_nth(tokens, 2, offset)
                tags = tags_of_words(annotations[f"{text}_{name}"], own, f"{text}_{name}")
                result = tf.tensor_scatter_nd_update(result, positions, tags)
        return result

    def align(self, source: Tensors, start: tf.Tensor, end: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns the words that contain the characters of an answer.

        Args:
            source: dict. The output of `source`.
            start: int32 `[B]`, the answer's first character (code point); -1 if unknown.
            end: int32 `[B]`, the position after the answer's last character.

        Returns:
            `begin` and `end` int32 `[B]`, the first and last word, -1 if the answer is unknown or
            truncated; `exact` bool `[B]`, True if the words have exactly the answer's characters.
        """
        start, end = (tf.cast(tf.convert_to_tensor(x), tf.int32)[:, None] for x in (start, end))
        starts, ends = source["starts"], source["ends"]
        within = (starts < ends) & (ends > start) & (starts < end) & (start >= 0)  # [B, n]
        size = tf.shape(starts)[1]
        first = tf.argmax(within, axis=1, output_type=tf.int32)  # [B]
        last = size - 1 - tf.argmax(tf.reverse(within, [1]), axis=1, output_type=tf.int32)  # [B]
        begins = tf.gather(starts, first, batch_dims=1)  # [B], characters
        stops = tf.gather(ends, last, batch_dims=1)  # [B]
        # Truncation may have removed the end of the answer, unless a word follows it.
        lengths = tf.reduce_sum(tf.cast(starts < ends, tf.int32), axis=1)  # [B]
        whole = ~source["truncated"] | (stops >= end[:, 0]) | (last < lengths - 1)
        result = tf.reduce_any(within, axis=1) & whole
        exact = result & (begins == start[:, 0]) & (stops == end[:, 0])
        return tf.where(result, first, -1), tf.where(result, last, -1), exact

    def batch(self, records: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        """Returns one batch for `model.fit`.

        Args:
            records: dict. `question` string `[B]`, `passages` string `[B, K']`; `span` int32
                `[B, 3]`: passage, start and end of the target answer in characters, -1 without an
                answer; the annotations, string `[B]`; and optionally `rotation` int `[B]` (see
                `MasquePreprocessor.batch`). The model reads the span's passage, or the first.

        Returns:
            `(x, y, sample_weight)`: the model's inputs; `begin` and `end` int32 `[B]`, -1 if the
            answer is not within the words; weights of mean 1 over the batch, 0 without an answer.
        """
        passages, span = records["passages"], records["span"]
        number = tf.maximum(span[:, 0], 0)
        filled = tf.pad(passages, [[0, 0], [0, 1]], constant_values="")
        source = self.source(
            records["question"],
            tf.gather(filled, number, batch_dims=1),
            **{name: records[name] for name in self.annotations},
        )
        begin, end, _ = self.align(source, span[:, 1], span[:, 2])
        x = {name: source[name] for name in self.model_inputs}
        self.randomize_oov_buckets(x, records, ("question_ids", "passage_ids"))
        weight = mean_of_counted(begin >= 0)
        return x, {"begin": begin, "end": end}, {"begin": weight, "end": weight}

    def windows(self, source: Tensors) -> Tensors:
        """Divides passages of any length into windows of at most `passage_length` words.

        Args:
            source: dict. The output of `source` for the whole passages of B examples.

        Returns:
            The model's inputs for W windows, at least one, and otherwise none of a passage without
            words; and int32 `[W]`: `row`, the example, and `first`, the position in the passage of
            the window's first word.
        """
        ids = source["passage_ids"]  # [B, n]
        size = tf.minimum(tf.shape(ids)[1], self.passage_length)
        lengths = tf.reduce_sum(tf.cast(source["starts"] < source["ends"], tf.int32), axis=1)
        further = tf.maximum(lengths - size, 0)  # [B], words beyond the first window
        has_words = lengths > 0
        # One even without any word: layers do not agree on zero rows.
        read = has_words | ((tf.range(tf.size(lengths)) == 0) & ~tf.reduce_any(has_words))
        counts = tf.where(read, 1 + (further + self.stride - 1) // self.stride, 0)  # [B]
        row = tf.repeat(tf.range(tf.shape(ids)[0]), counts)  # [W]
        first = (tf.range(tf.size(row)) - tf.gather(tf.cumsum(counts) - counts, row)) * self.stride
        position = first[:, None] + tf.range(size)  # [W, size]
        inside = position < tf.shape(ids)[1]
        position = tf.minimum(position, tf.shape(ids)[1] - 1)
        result = {"row": row, "first": first}
        for name in self._word_inputs:
            if name == "question_ids":
                result[name] = tf.gather(source[name], row)
            else:
                values = parts_of_rows(source[name], row, position)  # [W, size, ..]
                mask = inside[..., None] if name == "exact_match" else inside
                result[name] = tf.where(mask, values, tf.zeros([], values.dtype))
        if self.subwords is not None:
            question, passage = (
                Subwords(source[f"{name}_subwords"], source[f"{name}_counts"])
                for name in ("question", "passage")
            )
            question = Subwords(*(tf.gather(values, row) for values in question))
            passage = passage.part(row, first, size)
            result |= encoder_inputs(self.subwords, self.reading, question, passage)
        return result

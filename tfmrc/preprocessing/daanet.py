"""The preprocessor of DAANET: passages, questions and answers to the model's inputs."""

from typing import Any

import keras
import tensorflow as tf

from tfmrc.ops.ids import BOS, EOS, NUM_SPECIAL, PAD
from tfmrc.preprocessing.base import DEVICE, Preprocessor, Tensors
from tfmrc.preprocessing.encoder_inputs import subwords_of_tokens
from tfmrc.preprocessing.source import copied_passage
from tfmrc.preprocessing.targets import decoder_targets
from tfmrc.preprocessing.word_features import NUM_WORD_FEATURES, spread_features, word_features
from tfmrc.text.layout import FlatTokens, longest, spread, strings
from tfmrc.text.subwords.tokenizer import Subwords
from tfmrc.text.vocabulary import Vocabulary
from tfmrc.text.words.character_ids import character_ids

MODEL_INPUTS = ("passage_ids", "passage_characters", "extended_ids", "generable_characters")
TASKS = {"answer": "answer", "ask": "question"}  # what each task writes


@keras.saving.register_keras_serializable(package="tfmrc")
class DAANetPreprocessor(Preprocessor):
    """Converts passages, questions and answers to `DAANet`'s inputs, and ids back to strings.

    Words are spelled as they are compared (NFKC, lower case), because a generated word has no
    other spelling. Question and answer begin with `BOS`. Extended ids: a word among the first G =
    `generation_vocabulary_size` rows has its input id, every other word G + its first position in
    the passage, which alone is copied from.

    A pretrained encoder reads the passage for both tasks. `reading="joint"`: question and passage
    as one sequence for answering, answer and passage as one for asking, so that the passage's
    vectors know what is given; each example is read twice in training. `reading="separate"`: the
    passage alone, once for both tasks.

    Args:
        vocabulary: the input ids.
        passage_length: words of a passage that are kept.
        question_length: words of a question that are kept; `EOS` follows them.
        answer_length: words of an answer that are kept; `EOS` follows them.
        word_length: characters of a word that are kept.
        num_characters: rows of the model's character table.
        generation_vocabulary_size: at most so many generable rows, special ones included.
        styles: whose answers `tfmrc.data.make_dataset` takes.
        encoder: a pretrained encoder (`tfmrc.encoders.from_preset`) or its subwords; None for
            none.
        reading: what the encoder reads: "joint" or "separate", as above.
        word_features: adds the features of the passage's words
            (`tfmrc.preprocessing.word_features`), once for each task: whether a word occurs in the
            question for answering, in the answer for asking; capitals, digits, marks. The words
            of question and answer have none: one encoding of a text serves where it is given and
            where it is written, and a word that is written has no spelling of its own.

    Raises:
        ValueError: a size is not positive.

    Example:
        >>> from tfmrc.preprocessing import DAANetPreprocessor
        >>> from tfmrc.text import Vocabulary
        >>> preprocessor = DAANetPreprocessor(Vocabulary(["who", "met", "the", "king", "?"]))
        >>> source = preprocessor.source(["Ada met the king of Ada."])
        >>> source["passage_ids"].numpy(), source["extended_ids"].numpy()
        (array([[1, 5, 6, 7, 1, 1, 1]], dtype=int32),
         array([[ 9,  5,  6,  7, 13,  9, 15]], dtype=int32))
        >>> question = preprocessor.written(["Who met Ada?"], "question", source)
        >>> question["question_ids"].numpy(), question["question_target_ids"].numpy()
        (array([[2, 4, 5, 1, 8]], dtype=int32), array([[4, 5, 9, 8, 3]], dtype=int32))
        >>> preprocessor.detokenize(question["question_target_ids"], source)[0].numpy()
        array([b'who met Ada?'], dtype=object)

    Reference: Xiao et al. 2018 (DAANET), embedding layer and output layer.
    """

    passage_length: int
    question_length: int
    answer_length: int
    word_length: int
    num_characters: int

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        passage_length: int = 400,
        question_length: int = 50,
        answer_length: int = 50,
        word_length: int = 16,
        num_characters: int = 256,
        generation_vocabulary_size: int = 90_000,
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
            generation_vocabulary_size=generation_vocabulary_size,
            passage_length=passage_length,
            question_length=question_length,
            answer_length=answer_length,
            word_length=word_length,
            num_characters=num_characters,
        )
        self.word_features = word_features

    def model_kwargs(self) -> dict[str, Any]:
        """The sizes that a `tfmrc.models.DAANet` must have."""
        sizes = {"num_characters": self.num_characters}
        if self.word_features:
            sizes["num_word_features"] = NUM_WORD_FEATURES
        return super().model_kwargs() | sizes

    @property
    def passage_inputs(self) -> tuple[str, ...]:
        """Names of the inputs of decoding that `source` gives."""
        alone = self.subwords is not None and self.reading == "separate"
        return MODEL_INPUTS + (("encoder_ids", "passage_pieces") if alone else ())

    def source(self, passage: tf.Tensor) -> Tensors:
        """Returns the inputs that both tasks read and copy from.

        Args:
            passage: string `[B]`.

        Returns:
            A dict. For the model, int32: `passage_ids` and `extended_ids` `[B, n]`,
            `passage_characters` `[B, n, c]`, `generable_characters` `[G, c]`; with an encoder that
            reads the passage alone `encoder_ids` `[B, W, P]` and `passage_pieces` `[B, n, 2]`, see
            `tfmrc.text.SubwordTokenizer.separate`. Beside them,
            `[B, n]`: `words` (surfaces), `compared`, `starts` and `ends` (code points of the
            passage); and `truncated` bool `[B]`: words of the passage were cut.
        """
        with tf.device(DEVICE):
            tokens = self.cut_words(strings("passage", passage), self.passage_length)
            result = copied_passage(
                tokens, self.vocabulary, self.generation_vocabulary_size, self.passage_length
            )
            shape = tuple(tf.unstack(tf.shape(result["passage_ids"])))
            result |= {
                "passage_characters": self._spell(tokens, tokens.position, shape),
                "generable_characters": self.generable_characters(),
                "truncated": tokens.cut,
            }
            if self.subwords is not None:
                subwords = subwords_of_tokens(self.subwords, tokens, self.passage_length)
                result["passage_subwords"], result["passage_counts"] = subwords
                if self.reading == "separate":
                    read = self.subwords.separate(subwords)
                    result["encoder_ids"] = read["encoder_ids"]
                    result["passage_pieces"] = read["pieces"]
            return result

    def given(self, text: tf.Tensor, name: str, source: Tensors | None = None) -> Tensors:
        """Returns the inputs that a task reads beside the passage.

        Args:
            text: string `[B]`.
            name: "question" or "answer".
            source: what `source` gave for the same examples; needed with an encoder that reads
                jointly, and with `word_features`.

        Returns:
            `{name}_ids` int32 `[B, m]`, `BOS` first, and `{name}_characters` `[B, m, c]`. With an
            encoder that reads jointly, for the sequence of this text and the passage,
            `{name}_encoder_ids` and `{name}_segment_ids` int32 `[B, W, P]`, and the words of the
            passage in it, `{name}_passage_pieces` `[B, n, 2]`; see
            `tfmrc.text.SubwordTokenizer.joint`. With `word_features` those of the passage's words
            beside this text, `{name}_passage_features` float32 `[B, n, F]`.

        """
        with tf.device(DEVICE):
            tokens = self.cut_words(strings(name, text), self._length_of(name))
            return self._read(tokens, name) | self._read_with_passage(tokens, name, source)

    def written(self, text: tf.Tensor, name: str, source: Tensors) -> Tensors:
        """Returns the inputs or targets of a task in training.

        Args:
            text: string `[B]`.
            name: "question" or "answer".
            source: what `source` gave for the same examples.

        Returns:
            What `given` gives and `{name}_target_ids` int32 `[B, m]`: the words' extended ids
            (`UNK` for a word that can be neither generated nor copied), then `EOS`.
        """
        with tf.device(DEVICE):
            length = self._length_of(name)
            tokens = self.cut_words(strings(name, text), length)
            target_ids = decoder_targets(self, tokens, length, source)["target_ids"]  # [B, m]
            result = self._read(tokens, name) | self._read_with_passage(tokens, name, source)
            return result | {f"{name}_target_ids": target_ids}

    def batch(self, records: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        """One batch for `model.fit`.

        Args:
            records: `question`, `answer` string `[B]`, `passages` string `[B, K]`, which are one
                passage together; `rotation` as for `MasquePreprocessor.batch`.

        Returns:
            `(x, y, sample_weight)`: the model's inputs; the target ids of `answer` and `ask`
            and of `answer_coverage` and `ask_coverage`; float32 `[B]`, for each the number of its
            words, which makes the sums over words of the paper's loss of their means. An example
            without an answer weighs nothing in all of them.

        Reference: daanet-15, daanet-16.
        """
        passage = tf.strings.reduce_join(records["passages"], axis=1, separator=" ")  # [B]
        source = self.source(passage)
        x = {n: source[n] for n in self.passage_inputs if n != "generable_characters"}
        for name in TASKS.values():
            x |= self.written(records[name], name, source)
        answered = tf.cast(x["answer_target_ids"][:, 0] != EOS, tf.float32)  # [B]
        y, weights = {}, {}
        for task, name in TASKS.items():
            target_ids = x[f"{name}_target_ids"]
            count = tf.reduce_sum(tf.cast(target_ids != PAD, tf.float32), axis=1)  # [B]
            for part in (task, f"{task}_coverage"):
                y[part], weights[part] = target_ids, count * answered
        self.randomize_oov_buckets(x, records, ("passage_ids", "question_ids", "answer_ids"))
        return x, y, weights

    def generable_characters(self) -> tf.Tensor:
        """Returns the characters of the generable words: int32 `[G, c]`, zeros for special rows."""
        words = ("",) * NUM_SPECIAL + self.vocabulary.words[NUM_SPECIAL:]
        return self._characters(tf.constant(words[: self.generation_vocabulary_size]))

    def _length_of(self, name: str) -> int:
        return getattr(self, f"{name}_length")

    def _read(self, tokens: FlatTokens, name: str) -> Tensors:
        """Ids and characters, one position further on, behind `BOS`."""
        shape = (tf.size(tokens.lengths), longest(tokens.lengths + 1, self._length_of(name) + 1))
        position = tokens.position + 1  # [N], after `BOS`
        ids = spread(self.vocabulary.lookup(tokens.compared), tokens.row, position, shape)  # [B, m]
        begins = tf.one_hot(tf.zeros_like(tokens.lengths), shape[1], dtype=tf.int32) * BOS  # [B, m]
        return {
            f"{name}_ids": ids + begins,
            f"{name}_characters": self._spell(tokens, position, shape),
        }

    def _read_with_passage(self, tokens: FlatTokens, name: str, source: Tensors | None) -> Tensors:
        """What depends on a given text and the passage together."""
        jointly = self.subwords is not None and self.reading == "joint"
        result: Tensors = {}
        if self.subwords is not None and source is not None and jointly:
            passage = Subwords(source["passage_subwords"], source["passage_counts"])
            given = subwords_of_tokens(self.subwords, tokens, self._length_of(name))
            read = self.subwords.joint(given, passage)
            for part in ("encoder_ids", "segment_ids", "passage_pieces"):
                result[f"{name}_{part}"] = read[part]
        if self.word_features and source is not None:
            result[f"{name}_passage_features"] = self._features(tokens, source)
        return result

    def _features(self, given: FlatTokens, source: Tensors) -> tf.Tensor:
        """Features of the passage's words beside a given text: float32 `[B, n, F]`."""
        words = source["words"]  # [B, n]
        places = tf.where(words != "", name="places")  # [N, 2]
        row, column = tf.unstack(tf.cast(places, tf.int32), num=2, axis=1)
        count = tf.size(row)
        features = word_features(
            tf.concat([tf.gather_nd(words, places), given.surface], axis=0),
            tf.concat([tf.gather_nd(source["compared"], places), given.compared], axis=0),
            tf.concat([row, given.row], axis=0),
            tf.range(count + tf.size(given.row)) >= count,
        )
        shape = tuple(tf.unstack(tf.shape(words)))
        return spread_features(features[:count], row, column, shape)

    def _spell(self, tokens: FlatTokens, position: tf.Tensor, shape: tuple) -> tf.Tensor:
        return tf.scatter_nd(
            tf.stack([tokens.row, position], axis=1),
            self._characters(tokens.compared),
            tf.stack([*shape, self.word_length]),
        )

    def _characters(self, words: tf.Tensor) -> tf.Tensor:
        return character_ids(words, self.word_length, self.num_characters)

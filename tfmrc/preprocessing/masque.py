"""The preprocessor of Masque: strings to the model's inputs, in training and in exports."""

from typing import Any

import keras
import tensorflow as tf

from tfmrc.encoders.elmo.characters import elmo_character_ids, elmo_generable_characters
from tfmrc.encoders.elmo.elmo import SENTENCE_BEGIN, boundary
from tfmrc.ops.ids import BOS, EOS
from tfmrc.preprocessing.base import DEVICE, Preprocessor, Tensors
from tfmrc.preprocessing.encoder_inputs import (
    READINGS_OF_PASSAGES,
    encoder_inputs_of_passages,
    subwords_of_source,
)
from tfmrc.preprocessing.labels import UNKNOWN, masque_labels
from tfmrc.preprocessing.source import SourceLayout, lay_out
from tfmrc.preprocessing.targets import decoder_targets
from tfmrc.preprocessing.word_features import NUM_WORD_FEATURES, word_features
from tfmrc.text.extended_ids import source_extended_ids
from tfmrc.text.layout import exactly, same_batch, strings
from tfmrc.text.vocabulary import Vocabulary

MODEL_INPUTS = ("question_ids", "passage_ids", "extended_ids", "style_ids")
CHARACTER_INPUTS = ("question_characters", "passage_characters", "generable_characters")
FEATURE_INPUTS = ("question_features", "passage_features")


@keras.saving.register_keras_serializable(package="tfmrc")
class MasquePreprocessor(Preprocessor):
    """Converts strings to Masque's inputs and targets, and ids back, by graph operations.

    The source of an example is its question followed by its passages, `S = J + K * L` positions:
    `[question, padded to J | passage 1, padded to L | … | passage K]`. Every passage begins with
    `BOS`. A passage that is the empty string is missing: all padding; a passage without a word,
    such as `" "`, is present and holds `BOS` alone. J and L are those of the batch's longest.

    Extended ids: a word among the first G = `generation_vocabulary_size` rows has its input id,
    every other word G + the position of its first occurrence in the example's source. Words are
    compared in the tokeniser's form (NFKC, lower case).

    Args:
        vocabulary: the input ids.
        styles: names of the answer styles; the position is the style's id.
        num_passages: K, fixed. Further passages are cut, fewer are filled up with missing ones.
        passage_length: words of a passage that are kept.
        question_length: words of a question that are kept.
        answer_length: words of an answer that are kept; `EOS` follows them.
        generation_vocabulary_size: at most so many generable rows, special ones included.
        gold_relevance: adds `relevance_gold` to the model's inputs in `batch`.
        encoder: a pretrained encoder (`tfmrc.encoders.from_preset`) or its subwords, which the
            model then reads beside the words; None for none.
        reading: what the encoder reads: "joint", each passage as one sequence with the question,
            or "separate".
        characters: adds the words' character ids (`tfmrc.encoders.elmo_character_ids`), which a
            model with ELMo reads.
        word_features: adds the words' features (`tfmrc.preprocessing.word_features`): whether a
            question's word occurs in one of the passages and a passage's word in the question, as
            written, in lower case and by stem; capitals, digits, marks.

    Raises:
        ValueError: a size is not positive, styles are empty or repeated.

    Example:
        >>> from tfmrc.preprocessing import MasquePreprocessor
        >>> from tfmrc.text import Vocabulary
        >>> vocabulary = Vocabulary(["the", "king", "met"])
        >>> preprocessor = MasquePreprocessor(vocabulary, styles=("qa", "nlg"), num_passages=2)
        >>> source = preprocessor.source(["Who met Ada?"], [["The king met Ada Lee."]], ["qa"])
        >>> source["passage_ids"][0].numpy()
        array([[2, 4, 5, 6, 1, 1, 1],
               [0, 0, 0, 0, 0, 0, 0]], dtype=int32)
        >>> source["extended_ids"][0, :11].numpy()
        array([ 7,  6,  9, 10,  0,  4,  5,  6,  9, 16, 17], dtype=int32)
        >>> target = preprocessor.target(["Ada Lee"], source)
        >>> target["target_ids"].numpy(), target["answer_ids"].numpy()
        (array([[ 9, 16,  3]], dtype=int32), array([[2, 1, 1]], dtype=int32))
        >>> preprocessor.detokenize(target["target_ids"], source)[0].numpy()
        array([b'Ada Lee'], dtype=object)

    Reference: Nishida et al. 2019, sections 3.1.1 and 3.4.3 (V_ext).
    """

    num_passages: int
    passage_length: int
    question_length: int
    answer_length: int

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        styles: tuple[str, ...] = ("qa",),
        num_passages: int = 10,
        passage_length: int = 100,
        question_length: int = 100,
        answer_length: int = 100,
        generation_vocabulary_size: int = 5000,
        gold_relevance: bool = False,
        encoder: Any = None,
        reading: str = "joint",
        characters: bool = False,
        word_features: bool = False,
    ):
        super().__init__(
            vocabulary,
            styles=styles,
            encoder=encoder,
            reading=reading,
            generation_vocabulary_size=generation_vocabulary_size,
            num_passages=num_passages,
            passage_length=passage_length,
            question_length=question_length,
            answer_length=answer_length,
        )
        self.gold_relevance = gold_relevance
        self.characters = characters
        self.word_features = word_features

    def model_kwargs(self) -> dict[str, Any]:
        """The sizes that a `tfmrc.models.Masque` must have."""
        sizes = {"num_styles": len(self.styles), "num_passages": self.num_passages}
        if self.word_features:
            sizes["num_word_features"] = NUM_WORD_FEATURES
        return super().model_kwargs() | sizes

    @property
    def model_inputs(self) -> tuple[str, ...]:
        """Names of the model's inputs that `source` makes."""
        read = () if self.subwords is None else READINGS_OF_PASSAGES[self.reading]
        spelled = CHARACTER_INPUTS if self.characters else ()
        features = FEATURE_INPUTS if self.word_features else ()
        return (*MODEL_INPUTS, *read, *spelled, *features)

    def source(self, question: tf.Tensor, passages: tf.Tensor, style: tf.Tensor) -> Tensors:
        """Returns the model's inputs, and what maps source positions back to strings.

        Args:
            question: string `[B]`.
            passages: string `[B, K']`, any K'; "" is a missing passage.
            style: string `[B]`.

        Returns:
            A dict. The model's inputs, int32: `question_ids [B, J]`, `passage_ids [B, K, L]`,
            `extended_ids [B, S]` (0 at padding and `BOS`: not to be copied), `style_ids [B]`, and
            with an encoder what `encoder_inputs_of_passages` describes; with `characters`
            `question_characters [B, J, 50]`, `passage_characters [B, K, L, 50]` and
            `generable_characters [G, 50]`; with `word_features` float32 `question_features
            [B, J, F]` and `passage_features [B, K, L, F]`, 0 at `BOS` and padding. Beside them,
            `[B, S]`:
            `words` (surfaces, "" where no word is), `compared` (the form that words are compared
            by), `starts` and `ends` (int32 code points of the question or passage); and
            `truncated` bool `[B]`: words or passages were cut.

        Raises:
            tf.errors.InvalidArgumentError: a style is unknown, or the batch sizes differ.
        """
        with tf.device(DEVICE):
            question = strings("question", question)
            passages = strings("passages", passages, rank=2)
            style_ids = self._style_ids.lookup(strings("style", style))
            question = same_batch(
                "questions, rows of passages and styles", question, passages, style_ids
            )
            source = lay_out(
                self.tokenizer,
                question,
                exactly(passages, self.num_passages),
                self.question_length,
                self.passage_length,
            )
            words = source.tokens.compared  # [N], of all texts
            input_ids = self.vocabulary.lookup(words)  # [N]
            extended_ids = source_extended_ids(
                input_ids, words, source.example, source.position, self.generation_vocabulary_size
            )
            ids = source.spread(input_ids)  # [B, S]
            begins = tf.one_hot(0, source.passage_size, dtype=tf.int32) * BOS  # [L]
            begins = tf.cast(source.present, tf.int32)[:, :, None] * begins  # [B, K, L]
            dropped = tf.reduce_any(passages[:, self.num_passages :] != "", axis=1)  # [B]
            surfaces = source.spread(source.tokens.surface)  # [B, S]
            read: Tensors = {}
            if self.subwords is not None:
                texts = subwords_of_source(self.subwords, source, surfaces, num_begin=1)
                read |= encoder_inputs_of_passages(
                    self.subwords, self.reading, *texts, source.present
                )
            if self.characters:
                read |= self._characters(source, surfaces)
            if self.word_features:
                read |= self._word_features(source)
            return {
                **read,
                "question_ids": source.question_part(ids),
                "passage_ids": source.passage_part(ids) + begins,
                "extended_ids": source.spread(extended_ids),
                "style_ids": style_ids,
                "words": surfaces,
                "compared": source.spread(words),
                "starts": source.spread(source.tokens.starts),
                "ends": source.spread(source.tokens.ends),
                "truncated": source.truncated | dropped,
            }

    def _characters(self, source: SourceLayout, words: tf.Tensor) -> Tensors:
        begins = source.present[:, :, None] & (tf.range(source.passage_size) == 0)  # [B, K, L]
        passages = elmo_character_ids(source.passage_part(words))  # [B, K, L, 50]
        generable = self.vocabulary.words[: self.generation_vocabulary_size]
        return {
            "question_characters": elmo_character_ids(source.question_part(words)),
            "passage_characters": tf.where(begins[..., None], boundary(SENTENCE_BEGIN), passages),
            "generable_characters": elmo_generable_characters(generable),
        }

    def _word_features(self, source: SourceLayout) -> Tensors:
        tokens, asked = source.tokens, source.position < source.question_size
        features = word_features(tokens.surface, tokens.compared, source.example, asked)  # [N, F]
        return dict(zip(FEATURE_INPUTS, source.spread_features(features), strict=True))

    def target(self, answer: tf.Tensor, source: Tensors) -> Tensors:
        """Decoder inputs and targets.

        Args:
            answer: string `[B]`.
            source: what `source` gave for the same examples.

        Returns:
            `answer_ids` int32 `[B, T]`: `BOS`, then the input ids of the words; `target_ids` int32
            `[B, T]`: the extended ids of the words (`UNK` for a word that can be neither generated
            nor copied), then `EOS`; `PAD` after that in both. T is that of the batch's longest.
            With `characters` also `answer_characters` int32 `[B, T, 50]`, those of `answer_ids`.
        """
        with tf.device(DEVICE):
            tokens = self.cut_words(strings("answer", answer), self.answer_length)
            target = decoder_targets(self, tokens, self.answer_length, source)
            words = target.pop("answer_words")
            if self.characters:
                begins = tf.range(tf.shape(words)[1])[:, None] == 0  # [T, 1]
                spelled = elmo_character_ids(words)  # [B, T, 50]
                target["answer_characters"] = tf.where(begins, boundary(SENTENCE_BEGIN), spelled)
            return target

    def batch(self, records: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        """One batch for `model.fit`.

        Args:
            records: `question`, `style`, `answer` string `[B]`, `passages` string `[B, K']`; and
                where they are known `answerable` int `[B]` and `relevance` int `[B, K']`: 1 yes,
                0 no, -1 unknown (a missing entry is unknown). `rotation` int `[B]` moves all
                unknown words of an example that many buckets on: a word is still the same word
                in question, passages and answer, but no bucket's vector can be learnt by heart.

        Returns:
            `(x, y, sample_weight)`.

            x: the inputs of `source` (`model_inputs`), the two of `target`, and with
            `gold_relevance` also `relevance_gold` float32 `[B, K]` (1 where the relevance is
            unknown).

            y: `decoder` int32 `[B, T]`, `ranker` float32 `[B, K]`, `classifier` float32 `[B]`.

            sample_weight, float32: `decoder [B]`, `ranker [B, K]`, `classifier [B]`. Each has the
            mean 1 over the batch and is 0 where an example does not count: unanswerable examples
            and empty answers for the decoder; missing passages and unknown relevance for the
            ranker; unknown answerability for the classifier. An answerable example whose relevant
            passages all lie beyond the K that are read counts for neither decoder nor classifier.
            If nothing counts, all are 0.

        Reference: "masque-23", "masque-24", "masque-25" (which examples each loss averages over).
        """
        source = self.source(records["question"], records["passages"], records["style"])
        target = self.target(records["answer"], source)
        passages = exactly(records["passages"], self.num_passages)
        relevance = records.get("relevance", tf.fill(tf.shape(passages), UNKNOWN))
        some = tf.reduce_any(relevance == 1, axis=1)  # [B]
        relevance = exactly(tf.cast(relevance, tf.int32), self.num_passages, UNKNOWN)
        # Whether the other passages hold the answer is unknown, and it should not be invented.
        lost = some & ~tf.reduce_any(relevance == 1, axis=1)  # [B]
        answerable = records.get("answerable", tf.fill(tf.shape(passages)[:1], UNKNOWN))
        answerable = tf.cast(answerable, tf.int32)
        labels, weights = masque_labels(
            present=passages != "",
            has_answer=(target["target_ids"][:, 0] != EOS) & ~lost,
            relevance=relevance,
            answerable=tf.where(lost & (answerable == 1), UNKNOWN, answerable),
        )
        x = {name: source[name] for name in self.model_inputs} | target
        x.pop("generable_characters", None)  # a training batch has the answers' own
        self.randomize_oov_buckets(x, records, ("question_ids", "passage_ids", "answer_ids"))
        if self.gold_relevance:
            x["relevance_gold"] = self.relevance_gold(passages, relevance)
        return x, {"decoder": target["target_ids"], **labels}, weights

    def relevance_gold(self, passages: tf.Tensor, relevance: tf.Tensor) -> tf.Tensor:
        """Returns the true relevance, which a model with a gold ranker reads.

        Args:
            passages: string `[B, K']`.
            relevance: int `[B, K']`: 1, 0 or -1 (unknown, which counts as 1).

        Returns:
            float32 `[B, K]`; 0 where there is no passage.
        """
        passages = exactly(passages, self.num_passages)
        relevance = exactly(tf.cast(relevance, tf.int32), self.num_passages, UNKNOWN)
        return tf.cast((passages != "") & (relevance != 0), tf.float32)

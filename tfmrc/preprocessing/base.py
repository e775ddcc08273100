"""Base class of all preprocessors."""

import functools
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import tensorflow as tf

from tfmrc.data.batching.dataset import make_dataset
from tfmrc.data.batching.training_example import Examples, examples_of
from tfmrc.preprocessing.encoder_inputs import subwords_of
from tfmrc.preprocessing.span_labels import check_spans, warn_of_unread
from tfmrc.preprocessing.styles import Styles
from tfmrc.text.layout import FlatTokens, cut_rows
from tfmrc.text.pickling import Pickled
from tfmrc.text.subwords.tokenizer import SubwordTokenizer
from tfmrc.text.vocabulary import FILE_NAME, Vocabulary, WordRows
from tfmrc.text.words.counting import Record
from tfmrc.text.words.detokenize import join_words, words_of_ids
from tfmrc.text.words.tokenizer import Tokenizer
from tfmrc.utils.arguments import check_arguments, check_whole_numbers, parameters_of

Tensors = dict[str, tf.Tensor]
ENCODER = "encoder"  # folder of the subwords among the assets
DEVICE = "/CPU:0"  # string operations run on the CPU


class Preprocessor(Pickled, tf.Module):
    """Converts strings to a model's inputs, and ids to strings, by graph operations.

    A preprocessor determines the sizes of its model: `models.X(**preprocessor.model_kwargs())`. A
    subclass defines `source` (the inputs of the model), `batch` (training batches) and
    `model_kwargs`. Its constructor takes the vocabulary and keyword-only plain values. The
    arguments are captured, so that `get_config` and `from_config` need no code. An unknown argument
    is an error that names the nearest known one. A saved predictor can be loaded if its subclass is
    registered with `keras.saving.register_keras_serializable`.

    Args:
        vocabulary: `tfmrc.text.Vocabulary`. Maps words to input ids.
        styles: sequence of str. Names of the answer styles; the index is the style's id.
            Default: ("span",).
        generation_vocabulary_size: int. Largest number of rows of the vocabulary, including special
            words, that can be generated. Default: None, the model generates nothing.
        encoder: `tfmrc.encoders.Encoder` or its `tfmrc.text.SubwordTokenizer`. A pretrained encoder
            whose subwords the model reads in addition to its words. Default: None.
        reading: str. "joint" (question and passage as one sequence) or "separate".
            Default: "joint".
        **sizes: Further positive integers, which become attributes.

    Raises:
        TypeError: An argument is unknown.
        ValueError: A size is not a positive integer, or styles are missing, empty or repeated.

    Example:
        >>> import keras
        >>> from tfmrc.preprocessing import Preprocessor
        >>> from tfmrc.text import Vocabulary
        >>> @keras.saving.register_keras_serializable(package="mine")
        ... class MyPreprocessor(Preprocessor):
        ...     def __init__(self, vocabulary, *, passage_length=400):
        ...         super().__init__(vocabulary, passage_length=passage_length)
        >>> preprocessor = MyPreprocessor(Vocabulary(["owl"]), passage_length=9)
        >>> preprocessor.get_config(), preprocessor.model_kwargs()
        ({'passage_length': 9, 'num_oov_buckets': 0}, {'vocabulary_size': 5})
        >>> MyPreprocessor(preprocessor.vocabulary, pasage_length=9)
        Traceback (most recent call last):
        ...
        TypeError: MyPreprocessor has no argument `pasage_length`; did you mean `passage_length`? \
Received: pasage_length=9
    """

    annotations: tuple[str, ...] = ()
    """Names of the inputs from an external tagger; empty if none are needed."""

    needs_spans: bool = False
    """Whether the labels are made of spans, so that an answer without one trains nothing."""

    generation_vocabulary_size: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = _capturing(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        styles: Iterable[str] = ("span",),
        generation_vocabulary_size: int | None = None,
        encoder: Any = None,
        reading: str = "joint",
        **sizes: int,
    ):
        super().__init__()
        self.subwords = subwords_of(encoder)
        self.reading = reading
        if generation_vocabulary_size is not None:
            sizes = sizes | {"generation_vocabulary_size": generation_vocabulary_size}
        check_whole_numbers(1, **sizes)
        for name, size in sizes.items():
            setattr(self, name, size)
        self.vocabulary = vocabulary
        self.tokenizer = Tokenizer()
        self._style_ids = Styles(styles)
        if generation_vocabulary_size is not None:
            self.generation_vocabulary_size = min(generation_vocabulary_size, len(vocabulary.words))

    @classmethod
    def from_examples(
        cls,
        examples: Examples,
        *,
        vocabulary_size: int | None = None,
        min_count: int = 1,
        num_oov_buckets: int = 0,
        vectors: WordRows | None = None,
        **arguments: Any,
    ) -> Self:
        """Builds the vocabulary of the examples and the preprocessor.

        The examples are read once. Memory grows with the number of distinct words.

        Args:
            examples: list of examples, `ExampleStream`, or callable that returns an iterable; or a
                list of dicts with the columns of a table, as for `tfmrc.data.read_table`.
            vocabulary_size: int. Largest number of rows, including the four special words and
                excluding the buckets; the most frequent words are selected. Default: None, all
                words.
            min_count: int. Words with a smaller count are left out. Default: 1.
            num_oov_buckets: int. Number of hash buckets for unknown words. Default: 0, every
                unknown word is `[UNK]`.
            vectors: `tfmrc.encoders.WordVectors`. Pretrained vectors, whose words are all added to
                the vocabulary. Default: None.
            **arguments: Further arguments of the constructor. If `styles` is not given, the styles
                are those of the examples' answers, in order of their first occurrence.

        Raises:
            TypeError: An argument does not exist.
            ValueError: `vocabulary_size` leaves no room for a word, or the examples contain no
                word.

        Example:
            >>> from tfmrc.data import Example
            >>> from tfmrc.preprocessing import MasquePreprocessor
            >>> example = Example("1", "Who flew?", ("The owl flew.",), {"nlg": ("The owl.",)})
            >>> MasquePreprocessor.from_examples([example], num_passages=1).model_kwargs()
            {'vocabulary_size': 10, 'generation_vocabulary_size': 10, 'num_oov_buckets': 0,
             'num_styles': 1, 'num_passages': 1}
        """
        styles: dict[str, None] = {}
        examples = examples_of(examples)

        def read() -> Iterator[Record]:
            for example in examples() if callable(examples) else examples:
                styles.update(dict.fromkeys(example.answers))
                yield example

        vocabulary = Vocabulary.from_examples(
            read, vocabulary_size, min_count, num_oov_buckets, vectors
        )
        takes_styles = "styles" in parameters_of(cls)
        if styles and takes_styles:
            arguments = {"styles": tuple(styles)} | arguments
        return cls(vocabulary, **arguments)

    @property
    def styles(self) -> tuple[str, ...]:
        """Names of the answer styles; the index is the style's id."""
        return self._style_ids.names

    def model_kwargs(self) -> dict[str, Any]:
        """Returns the sizes of the model as keyword arguments of its constructor."""
        sizes: dict[str, Any] = {"vocabulary_size": len(self.vocabulary)}
        if hasattr(self, "generation_vocabulary_size"):
            sizes["generation_vocabulary_size"] = self.generation_vocabulary_size
            sizes["num_oov_buckets"] = self.vocabulary.num_oov_buckets
        if self.subwords is not None:
            sizes["reading"] = self.reading
        return sizes

    def batch(self, records: Tensors) -> Any:
        """Converts the strings of a batch to `(x, y, sample_weight)` for `model.fit`.

        Args:
            records: `question`, `style`, `answer` string `[B]`, `passages` string `[B, K']`, and
                the other columns of `tfmrc.data.make_dataset`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define `batch`.")

    def dataset(self, examples: Examples, batch_size: int, **options: Any) -> tf.data.Dataset:
        """Makes batches of examples for `model.fit`; see `tfmrc.data.make_dataset`.

        A warning has the number of answers that train nothing: without a span where the labels are
        spans, or not within the words that are read.

        Args:
            examples: list of examples, `ExampleStream`, or callable that returns an iterable; or a
                list of dicts with the columns of a table, as for `tfmrc.data.read_table`.
            batch_size: int. Number of examples per batch, over all replicas.
            **options: `shuffle`, `seed`, `repeat` and the other options of `make_dataset`.

        Returns:
            A `tf.data.Dataset` of `(x, y, sample_weight)`.

        Raises:
            ValueError: If the labels are spans, and no answer has one (of a stream, none in its
                first 1,000 records).

        Example:
            >>> from tfmrc.data import Example
            >>> from tfmrc.preprocessing import SANPreprocessor
            >>> example = Example("1", "Who flew?", ("The owl flew.",))
            >>> preprocessor = SANPreprocessor.from_examples([example])
            >>> x, y, sample_weight = next(iter(preprocessor.dataset([example], batch_size=1)))
            >>> tuple(x["passage_ids"].shape)
            (1, 4)
        """
        styles = options.get("styles") or self.styles
        if isinstance(examples, Iterator):  # which can be read once
            examples = list(examples)
        examples = examples_of(examples, styles[0], self.needs_spans)
        if self.needs_spans:
            check_spans(examples, styles, type(self).__name__)
        warn_of_unread(self, examples, styles, options.get("annotate"))
        return make_dataset(examples, self, batch_size, **options)

    def randomize_oov_buckets(self, inputs: Tensors, records: Tensors, names: Any) -> None:
        """Moves unknown words to other buckets in place, if `records` has a `rotation`.

        A word has the same bucket in question, passages and answer, but the model cannot memorize
        the vectors of buckets.

        Args:
            inputs: dict with the input ids int32 `[B, …]`.
            records: dict. `rotation` int `[B]` is the number of buckets to advance.
            names: iterable of str. The keys of `inputs` to change.
        """
        if "rotation" in records and self.vocabulary.num_oov_buckets:
            for name in names:
                inputs[name] = self._rotated(inputs[name], records["rotation"])

    def _rotated(self, input_ids: tf.Tensor, rotation: tf.Tensor) -> tf.Tensor:
        first, count = self.vocabulary.size, self.vocabulary.num_oov_buckets
        shape = tf.concat([tf.shape(rotation), tf.ones([tf.rank(input_ids) - 1], tf.int32)], axis=0)
        steps = tf.reshape(tf.cast(rotation, tf.int32) % count, shape)
        moved = first + (input_ids - first + steps) % count
        return tf.where(input_ids < first, input_ids, moved)

    def cut_words(self, texts: tf.Tensor, length: int) -> FlatTokens:
        """Returns the words of texts `[B]`, at most `length` of each."""
        words = self.tokenizer.tokenize(texts)
        return cut_rows(words, tf.fill([words.starts.nrows(tf.int32)], length))

    def detokenize(self, ids: tf.Tensor, source: Tensors) -> tuple[tf.Tensor, tf.Tensor]:
        """Converts extended ids to text and words.

        Args:
            ids: int32 `[B, …, T]`, such as `[B, T]` or `[B, num_return_sequences, T]`.
            source: dict. The output of `source` for the same B examples.

        Returns:
            The text, string `[B, …]`, and its words, string `[B, …, T]`. A generable word has the
            spelling of the vocabulary, a copied word that of its first occurrence in the source.
            From the first `EOS` on, all words are "".
        """
        words = words_of_ids(ids, source["words"], self.vocabulary, self.generation_vocabulary_size)
        return join_words(words), words

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments as plain values; `save_assets` saves the words."""
        arguments = dict(self.__dict__.get("_arguments", {}))
        if arguments.get("encoder") is None:
            arguments.pop("encoder", None)
            arguments.pop("reading", None)
        else:
            arguments["encoder"] = ENCODER
        return {
            **{name: _plain(value) for name, value in arguments.items()},
            "num_oov_buckets": self.vocabulary.num_oov_buckets,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], vocabulary: Vocabulary | str | Path) -> Self:
        """Builds a preprocessor from its configuration.

        Args:
            config: dict. The output of `get_config`.
            vocabulary: `Vocabulary`, or str or path of a folder of `save_assets`.
        """
        config = dict(config)
        num_oov_buckets = config.pop("num_oov_buckets")
        if config.get("encoder") == ENCODER:
            config["encoder"] = SubwordTokenizer.from_assets(Path(vocabulary) / ENCODER)
        if not isinstance(vocabulary, Vocabulary):
            vocabulary = Vocabulary.load(vocabulary, num_oov_buckets)
        return cls(vocabulary, **config)

    def save_assets(self, folder: str | Path) -> None:
        """Writes `vocabulary.txt` and an encoder's subwords to a folder, which is created."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.vocabulary.save(folder / FILE_NAME)
        if self.subwords is not None:
            self.subwords.save_assets(folder / ENCODER)

    def changed(self, **arguments: Any) -> Self:
        """Returns a preprocessor with other values of some arguments of the constructor."""
        return type(self)(self.vocabulary, **{**self._constructor_arguments(), **arguments})

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), **self._constructor_arguments()), (self.vocabulary,)

    def _constructor_arguments(self) -> dict[str, Any]:
        arguments = dict(self.__dict__.get("_arguments", {}))
        if self.subwords is not None:  # the encoder's layer belongs to the model
            arguments["encoder"] = self.subwords
        return arguments

    def __repr__(self) -> str:
        config = self.get_config()
        config.pop("num_oov_buckets")
        arguments = [f"{name}={value!r}" for name, value in config.items()]
        return (
            f"<{type(self).__name__} {', '.join([*arguments, f'vocabulary={self.vocabulary!r}'])}>"
        )


def _capturing(init: Any) -> Any:
    """Wraps a constructor to check its argument names and capture their values."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def captured(self: Preprocessor, *positional: Any, **arguments: Any) -> None:
        check_arguments(init, arguments, type(self).__name__)
        if "_arguments" not in self.__dict__:  # captured only by the outermost constructor
            bound = signature.bind(self, *positional, **arguments)
            bound.apply_defaults()
            _, _, *rest = bound.arguments.items()  # without self and vocabulary
            values = dict(rest)
            for parameter in signature.parameters.values():
                if parameter.kind is parameter.VAR_KEYWORD:
                    values |= values.pop(parameter.name)
            object.__setattr__(self, "_arguments", values)  # not tracked by tf.Module
        init(self, *positional, **arguments)

    return captured


def _plain(value: Any) -> Any:
    """Returns a JSON-compatible value: tuples become lists."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value

"""The base of all preprocessors: a vocabulary, sizes, and strings to model inputs and back."""

import functools
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import tensorflow as tf

from tfmrc.arguments import check_arguments
from tfmrc.data.batching.dataset import make_dataset
from tfmrc.data.batching.training_example import Source
from tfmrc.preprocessing.encoder_inputs import check_reading, subwords_of
from tfmrc.preprocessing.styles import Styles
from tfmrc.text.counting import Record
from tfmrc.text.detokenize import join_words, words_of_ids
from tfmrc.text.subwords import SubwordTokenizer
from tfmrc.text.tokenizer import Tokenizer
from tfmrc.text.vocabulary import FILE_NAME, Vectors, Vocabulary

Tensors = dict[str, tf.Tensor]
ENCODER = "encoder"  # folder of the subwords among the assets
DEVICE = "/CPU:0"  # strings live there; a server's accelerator is for the model


class Preprocessor(tf.Module):
    """Strings to a model's inputs and back, over one vocabulary; graph operations only.

    A preprocessor settles the sizes of its model: `models.X(**preprocessor.model_kwargs())`. A
    subclass defines `source` (what the model reads), `batch` (what it trains on) and
    `model_kwargs`. Its constructor takes the vocabulary and, keyword-only, plain values. They are
    captured, so that `get_config` and `from_config` need no code, and an unknown one is an error
    that names the nearest known one. Register a subclass with
    `keras.saving.register_keras_serializable`, and a saved predictor that uses it can be loaded.

    Args:
        vocabulary: `tfmrc.text.Vocabulary`. The input ids.
        styles: Names of the answer styles; the index is the style's id. Default `("span",)`.
        generation_vocabulary_size: int. At most this many rows of the vocabulary, special ones
            included, can be generated. Default None: the model generates nothing.
        encoder: `tfmrc.encoders.Encoder` or its `tfmrc.text.SubwordTokenizer`. The pretrained
            encoder whose subwords the model reads beside its words. Default None.
        reading: "joint" (question and passage as one sequence) or "separate". Default "joint".
        **sizes: Further positive integers. Each becomes an attribute.

    Raises:
        TypeError: An argument is unknown, or `vocabulary` is no vocabulary.
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
    """Names of the inputs that a tagger makes outside the graph; empty if none is needed."""

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
        check_reading(reading)
        self.subwords = subwords_of(encoder)
        self.reading = reading
        if not hasattr(vocabulary, "lookup"):
            raise TypeError(
                f"{type(self).__name__} takes a `tfmrc.text.Vocabulary`: Vocabulary(words), "
                f"Vocabulary.load(path) or {type(self).__name__}.from_examples(examples). "
                f"Received: vocabulary={vocabulary!r:.80}"
            )
        if generation_vocabulary_size is not None:
            sizes = sizes | {"generation_vocabulary_size": generation_vocabulary_size}
        for name, size in sizes.items():
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"`{name}` is a positive integer. Received: {name}={size!r}")
            setattr(self, name, size)
        self.vocabulary = vocabulary
        self.tokenizer = Tokenizer()
        self._style_ids = Styles(styles)
        if generation_vocabulary_size is not None:
            self.generation_vocabulary_size = min(generation_vocabulary_size, len(vocabulary.words))

    @classmethod
    def from_examples(
        cls,
        examples: Source,
        *,
        vocabulary_size: int | None = None,
        min_count: int = 1,
        num_oov_buckets: int = 0,
        vectors: Vectors | None = None,
        **arguments: Any,
    ) -> Self:
        """Counts the words of examples, and makes the vocabulary and the preprocessor.

        The examples are read once; memory grows with the number of distinct words alone.

        Args:
            examples: A list of examples, a reader's stream, or a function that returns them.
            vocabulary_size: int. At most this many rows, the four special ones included and the
                buckets not; the most frequent words are kept. Default None: every word.
            min_count: int. Words that occur less often are left out. Default 1.
            num_oov_buckets: int. Rows that unknown words share by their hash. Default 0: every
                unknown word is `[UNK]`.
            vectors: `tfmrc.encoders.WordVectors`. Pretrained vectors, all of whose words the
                vocabulary then holds. Default None.
            **arguments: Further arguments of the constructor. Unless `styles` is given, the styles
                are those of the examples' answers, in the order in which they first occur.

        Raises:
            TypeError: An argument does not exist.
            ValueError: `vocabulary_size` leaves no room for a word, or the examples hold no word.

        Example:
            >>> from tfmrc.data import Example
            >>> from tfmrc.preprocessing import MasquePreprocessor
            >>> example = Example("1", "Who flew?", ("The owl flew.",), {"nlg": ("The owl.",)})
            >>> MasquePreprocessor.from_examples([example], num_passages=1).model_kwargs()
            {'vocabulary_size': 10, 'generation_vocabulary_size': 10, 'num_oov_buckets': 0,
             'num_styles': 1, 'num_passages': 1}
        """
        check_arguments(cls, arguments, cls.__name__)
        styles: dict[str, None] = {}

        def read() -> Iterator[Record]:
            for example in examples() if callable(examples) else examples:
                styles.update(dict.fromkeys(example.answers))
                yield example

        vocabulary = Vocabulary.from_examples(
            read, vocabulary_size, min_count, num_oov_buckets, vectors
        )
        takes_styles = "styles" in inspect.signature(cls).parameters
        if styles and takes_styles:
            arguments = {"styles": tuple(styles)} | arguments
        return cls(vocabulary, **arguments)

    @property
    def styles(self) -> tuple[str, ...]:
        """The styles whose answers are read or written; the index is the style's id."""
        return self._style_ids.names

    def model_kwargs(self) -> dict[str, Any]:
        """The sizes that the model must have: keyword arguments of its constructor."""
        sizes: dict[str, Any] = {"vocabulary_size": len(self.vocabulary)}
        if hasattr(self, "generation_vocabulary_size"):
            sizes["generation_vocabulary_size"] = self.generation_vocabulary_size
            sizes["num_oov_buckets"] = self.vocabulary.num_oov_buckets
        if self.subwords is not None:
            sizes["reading"] = self.reading
        return sizes

    def batch(self, records: Tensors) -> Any:
        """Strings of a batch to `(x, y, sample_weight)` for `model.fit`, by graph operations.

        Args:
            records: `question`, `style`, `answer` string `[B]`, `passages` string `[B, K']`, and
                the other columns of `tfmrc.data.make_dataset`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define `batch`.")

    def dataset(self, examples: Source, batch_size: int, **options: Any) -> tf.data.Dataset:
        """Batches of examples for `model.fit`; see `tfmrc.data.make_dataset`.

        Args:
            examples: A list of examples, a reader's stream, or a function that returns them.
            batch_size: int. Examples per batch, of all replicas together.
            **options: `shuffle`, `seed`, `repeat` and the other options of `make_dataset`.

        Returns:
            A `tf.data.Dataset` of `(x, y, sample_weight)`.

        Example:
            >>> from tfmrc.data import Example
            >>> from tfmrc.preprocessing import SANPreprocessor
            >>> example = Example("1", "Who flew?", ("The owl flew.",))
            >>> preprocessor = SANPreprocessor.from_examples([example])
            >>> x, y, sample_weight = next(iter(preprocessor.dataset([example], batch_size=1)))
            >>> tuple(x["passage_ids"].shape)
            (1, 4)
        """
        check_arguments(make_dataset, options, f"{type(self).__name__}.dataset")
        return make_dataset(examples, self, batch_size, **options)

    def randomize_oov_buckets(self, inputs: Tensors, records: Tensors, names: Any) -> None:
        """Moves unknown words to other buckets where `records` has a `rotation`, in place.

        A word is still the same word in question, passages and answer, but no bucket's vector can
        be learnt by heart.

        Args:
            inputs: A dict with the input ids int32 `[B, …]`.
            records: `rotation` int `[B]`: the number of buckets to move on by.
            names: The keys of `inputs` to change.
        """
        if "rotation" in records and self.vocabulary.num_oov_buckets:
            for name in names:
                inputs[name] = self._rotated(inputs[name], records["rotation"])

    def _rotated(self, input_ids: tf.Tensor, rotation: Any) -> tf.Tensor:
        first, count = self.vocabulary.size, self.vocabulary.num_oov_buckets
        shape = tf.concat([tf.shape(rotation), tf.ones([tf.rank(input_ids) - 1], tf.int32)], axis=0)
        steps = tf.reshape(tf.cast(rotation, tf.int32) % count, shape)
        moved = first + (input_ids - first + steps) % count
        return tf.where(input_ids < first, input_ids, moved)

    def detokenize(self, ids: Any, source: Tensors) -> tuple[tf.Tensor, tf.Tensor]:
        """Extended ids to running text and its words.

        Args:
            ids: int32 `[B, …, T]`, for instance `[B, T]` or `[B, num_return_sequences, T]`.
            source: The result of `source` for the same B examples.

        Returns:
            The text, string `[B, …]`, and its words, string `[B, …, T]`. A generable word is
            written as in the vocabulary, a copied one as at its first occurrence in the source;
            from the first `EOS` on all words are "".
        """
        words = words_of_ids(ids, source["words"], self.vocabulary, self.generation_vocabulary_size)
        return join_words(words), words

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments as plain values; `save_assets` saves the words."""
        arguments = dict(self.__dict__.get("_arguments", {}))
        if arguments.get("encoder") is None:  # without an encoder there is nothing to say
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
        """Builds the preprocessor again.

        Args:
            config: The result of `get_config`.
            vocabulary: A vocabulary, or the folder that `save_assets` wrote to.
        """
        config = dict(config)
        num_oov_buckets = config.pop("num_oov_buckets", None)
        if config.get("encoder") == ENCODER:
            if isinstance(vocabulary, Vocabulary):
                raise ValueError(
                    f"The subwords of a {cls.__name__} with an encoder are read from a folder: "
                    "`from_config(config, folder)`, or put the encoder into the configuration. "
                    f"Received: vocabulary={vocabulary!r:.80}"
                )
            config["encoder"] = SubwordTokenizer.from_assets(Path(vocabulary) / ENCODER)
        if not isinstance(vocabulary, Vocabulary):
            if not isinstance(num_oov_buckets, int):
                raise ValueError(
                    f"A configuration of {cls.__name__} has an integer `num_oov_buckets`. "
                    f"Received: num_oov_buckets={num_oov_buckets!r}"
                )
            vocabulary = Vocabulary.load(vocabulary, num_oov_buckets)
        return cls(vocabulary, **config)

    def save_assets(self, folder: str | Path) -> None:
        """Writes `vocabulary.txt`, and an encoder's subwords, into the folder, which is created."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.vocabulary.save(folder / FILE_NAME)
        if self.subwords is not None:
            self.subwords.save_assets(folder / ENCODER)

    def __repr__(self) -> str:
        config = self.get_config()
        config.pop("num_oov_buckets")
        arguments = [f"{name}={value!r}" for name, value in config.items()]
        return (
            f"<{type(self).__name__} {', '.join([*arguments, f'vocabulary={self.vocabulary!r}'])}>"
        )


def _capturing(init: Any) -> Any:
    """A constructor that checks the names of its arguments and keeps their values."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def captured(self: Preprocessor, *positional: Any, **arguments: Any) -> None:
        check_arguments(init, arguments, type(self).__name__)
        if "_arguments" not in self.__dict__:  # the outermost class's are the object's
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
    """The value as JSON gives it back: tuples are lists."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value

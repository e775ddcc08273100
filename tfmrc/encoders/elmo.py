"""ELMo: word vectors in context from a bidirectional language model over characters."""

import keras
import numpy as np
from keras import ops

from tfmrc.encoders.character_cnn import CharacterCNN
from tfmrc.encoders.projected_lstm import ProjectedLSTM
from tfmrc.ops.shapes import flatten_leading

MAX_CHARACTERS = 50  # a word: its begin, up to 48 bytes, its end, padding
# Character ids: 0 masks, 1 to 256 are bytes, and then these, all one more than in the paper's code.
SENTENCE_BEGIN, SENTENCE_END, WORD_BEGIN, WORD_END, PADDING = 257, 258, 259, 260, 261


def boundary(character):
    """The character ids of a sentence boundary `[50]`: `SENTENCE_BEGIN` or `SENTENCE_END`."""
    row = np.full(MAX_CHARACTERS, PADDING, "int32")
    row[:3] = WORD_BEGIN, character, WORD_END
    return row


@keras.saving.register_keras_serializable(package="tfmrc")
class ELMo(keras.layers.Layer):
    """Contextual word vectors: a scalar mix of the layers of a bidirectional language model.

    `x_k` = `CharacterCNN` of word k; each direction runs its LSTM layers (`ProjectedLSTM`) over
    `<S> x_1 … x_n </S>`; layer 0 is `[x_k; x_k]`, layer j `[forward_j; backward_j]`;
    `ELMo_k = gamma sum_j s_j h_kj` with `s = softmax(w)`.

    The language model is frozen unless `encoder_trainable`; `w` and `gamma` are always trained.
    `tfmrc.encoders.load_elmo` reads the authors' files. Character ids come from
    `tfmrc.encoders.elmo_character_ids`.

    A decoder reads the forward direction alone: `forward` over given words, and `decode_step` word
    by word from `init_cache`. Both take words as they are and add no boundary; the first word is
    the beginning of the sentence (`boundary(SENTENCE_BEGIN)`), as a decoder's BOS is. They share
    the mix with the reader: `forward` gives the forward half of what a call gives.

    Padding: real words come first. Boundaries are put next to the real words, so padding does not
    matter; the outputs there, and in rows without a word, are zeros.

    Args:
        filters: pairs of width and number of the character convolutions.
        projection_dim: width p of one direction.
        lstm_dim: width of the LSTM cells.
        num_lstm_layers: LSTM layers of each direction.
        character_dim: width of the character vectors.
        num_characters: number of character ids, 0 included.
        num_highways: highway layers after the convolutions.
        activation: of the convolutions, "relu" or "tanh".
        cell_clip: largest magnitude of a cell, or None.
        proj_clip: largest magnitude of a projected state, or None.
        use_skip_connections: whether LSTM layers beyond the first add their input.
        encoder_trainable: whether the language model is trained, too.

    Call arguments:
        character_ids: int `[..., n, 50]`. A row that begins with the beginning of the sentence
            keeps it, and its first vector belongs to it; all others get one.
        padding_mask: boolean `[..., n]`, True = real; by default the words that have characters.
        initial_state: the states that the language model begins with, as `return_state` gives
            them; zeros by default. The authors' code carries them from batch to batch.
        return_state: whether to return the states after the last word, too.

    Returns:
        `[..., n, 2 p]`, forward then backward; with `return_state` also the states: for each
        direction and layer `(cell [N, u], hidden [N, p])`, N the product of the leading axes.

    Raises:
        ValueError: a size is wrong.

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders import ELMo, elmo_character_ids
        >>> elmo = ELMo(filters=[[1, 4], [2, 4]], projection_dim=3, lstm_dim=5, character_dim=4)
        >>> ids = elmo_character_ids([["An", "owl", ""]]).numpy()
        >>> tuple(elmo(ids).shape), tuple(elmo.forward(ids).shape), elmo.forward_dim
        ((1, 3, 6), (1, 3, 3), 3)
        >>> cache = elmo.init_cache(batch_size=1, num_beams=2)
        >>> vector, cache = elmo.decode_step(np.broadcast_to(ids[:, :1], (1, 2, 50)), cache)
        >>> tuple(vector.shape)
        (1, 2, 3)

    Departure: layer normalisation before the mix, an option of the authors' code, is left out; its
    statistics run over the batch, so that an example would depend on its neighbours.

    Reference: Peters et al. 2018, "Deep contextualized word representations", equation 1 and
    section 3.4.
    """

    def __init__(
        self,
        filters,
        projection_dim,
        lstm_dim,
        num_lstm_layers=2,
        character_dim=16,
        num_characters=262,
        num_highways=2,
        activation="relu",
        cell_clip=None,
        proj_clip=None,
        use_skip_connections=False,
        encoder_trainable=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        sizes = {
            "projection_dim": projection_dim,
            "lstm_dim": lstm_dim,
            "num_lstm_layers": num_lstm_layers,
            "character_dim": character_dim,
        }
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"Sizes are positive. Received: {name}={size}")
        if num_characters <= PADDING:
            raise ValueError(
                f"The authors' scheme has {PADDING + 1} character ids. "
                f"Received: num_characters={num_characters}"
            )
        self._config = sizes | {
            "filters": [list(pair) for pair in filters],
            "num_characters": num_characters,
            "num_highways": num_highways,
            "activation": activation,
            "cell_clip": cell_clip,
            "proj_clip": proj_clip,
            "use_skip_connections": use_skip_connections,
            "encoder_trainable": encoder_trainable,
        }
        self.forward_dim = projection_dim
        self.output_dim = 2 * projection_dim
        num_filters = sum(number for _, number in filters)
        common = {"weights_trainable": encoder_trainable, "dtype": self.dtype_policy}
        self.words = CharacterCNN(
            filters,
            None if projection_dim == num_filters else projection_dim,
            num_characters,
            character_dim,
            num_highways,
            activation,
            name="words",
            **common,
        )
        self.directions = [
            [
                ProjectedLSTM(
                    lstm_dim,
                    projection_dim if projection_dim < lstm_dim else None,
                    cell_clip,
                    proj_clip,
                    residual=use_skip_connections and layer > 0,
                    reverse=name == "backward",
                    name=f"{name}_{layer}",
                    **common,
                )
                for layer in range(num_lstm_layers)
            ]
            for name in ("forward", "backward")
        ]
        for direction in self.directions:
            for layer in direction:
                layer.build((None, None, projection_dim))
        self.mix_weights = self.add_weight(
            (num_lstm_layers + 1,), initializer="zeros", name="mix_weights"
        )
        self.gamma = self.add_weight((), initializer="ones", name="gamma")
        self.built = True

    def call(
        self,
        character_ids,
        padding_mask=None,
        initial_state=None,
        return_state=False,
        direction="both",
    ):
        if direction == "forward":
            outputs, state = self._forward(character_ids, padding_mask, initial_state)
        else:
            layers, state = self.layers_of(character_ids, padding_mask, initial_state)
            outputs = self._mixed(layers)
        return (outputs, state) if return_state else outputs

    def forward(self, character_ids, padding_mask=None):
        """The forward direction alone; no output depends on a later word.

        Args:
            character_ids: int `[..., n, 50]`, the beginning of the sentence first.
            padding_mask: boolean `[..., n]`; by default the words that have characters.

        Returns:
            `[..., n, p]`.
        """
        return self(character_ids, padding_mask=padding_mask, direction="forward")

    def init_cache(self, batch_size, num_beams):
        """The state before the first word, for `decode_step`: leaves `[B, W, ...]`."""
        return tuple(layer.zero_state(batch_size, num_beams) for layer in self.directions[0])

    def decode_step(self, character_ids, cache):
        """One word of each beam.

        Args:
            character_ids: int `[B, W, 50]`; the beginning of the sentence at the first step.
            cache: what `init_cache` or the step before gave.

        Returns:
            `[B, W, p]`, and the new cache.
        """
        x = self.words(character_ids)
        layers, states = [x], []
        for lstm, state in zip(self.directions[0], cache, strict=True):
            x, state = lstm.decode_step(x, state)
            layers.append(x)
            states.append(state)
        return self._mixed(layers), tuple(states)

    def layers_of(self, character_ids, padding_mask=None, initial_state=None):
        """All layers of the language model, before the mix.

        Args:
            character_ids: int `[..., n, 50]`.
            padding_mask: boolean `[..., n]`, or None.
            initial_state: as for a call.

        Returns:
            A list of `[..., n, 2 p]`, the character layer first, zeros at padding; and the states.
        """
        rows, mask = self._rows(character_ids, padding_mask)
        begun = ops.equal(rows[:, :1, 1], SENTENCE_BEGIN)  # [N, 1]: has its first boundary
        length = ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True)
        with_begin = ops.pad(rows, [[0, 0], [1, 1], [0, 0]])
        with_begin = ops.concatenate(
            [ops.zeros_like(rows[:, :1]) + boundary(SENTENCE_BEGIN), with_begin[:, 1:]], axis=1
        )
        ids = ops.where(begun[..., None], ops.pad(rows, [[0, 0], [0, 2], [0, 0]]), with_begin)
        end = length + ops.where(begun, 0, 1)  # [N, 1]: index of the last boundary
        position = ops.arange(ops.shape(ids)[1])[None]
        ids = ops.where(ops.equal(position, end)[..., None], boundary(SENTENCE_END), ids)
        real = ops.logical_and(position <= end, length > 0)

        x = self.words(ids)
        layers = [ops.concatenate([x, x], axis=-1)]
        outputs, states = [], []
        for number, direction in enumerate(self.directions):
            y, ends, found = x, [], []
            for index, lstm in enumerate(direction):
                first = None if initial_state is None else initial_state[number][index]
                y, state = lstm(y, padding_mask=real, initial_state=first)
                found.append(y)
                ends.append(state)
            outputs.append(found)
            states.append(tuple(ends))
        layers += [ops.concatenate(pair, axis=-1) for pair in zip(*outputs, strict=True)]

        def words_only(y):
            y = ops.where(begun[..., None], y[:, :-2], y[:, 1:-1])
            y = ops.where(mask[..., None], y, 0.0)
            return ops.reshape(y, (*ops.shape(character_ids)[:-1], self.output_dim))

        return [words_only(y) for y in layers], tuple(states)

    def _forward(self, character_ids, mask, initial_state):
        rows, mask = self._rows(character_ids, mask)
        x = self.words(rows)
        layers, states = [x], []
        for index, lstm in enumerate(self.directions[0]):
            first = None if initial_state is None else initial_state[0][index]
            x, state = lstm(x, padding_mask=mask, initial_state=first)
            layers.append(x)
            states.append(state)
        outputs = ops.where(mask[..., None], self._mixed(layers), 0.0)
        shape = (*ops.shape(character_ids)[:-1], self.forward_dim)
        return ops.reshape(outputs, shape), (tuple(states),)

    def _rows(self, character_ids, mask):
        rows = ops.cast(flatten_leading(character_ids, keep=2), "int32")
        if mask is None:
            return rows, ops.any(rows > 0, axis=-1)
        return rows, flatten_leading(mask, keep=1)

    def _mixed(self, layers):
        shares = ops.unstack(ops.cast(ops.softmax(self.mix_weights), self.compute_dtype))
        total = sum(share * layer for share, layer in zip(shares, layers, strict=True))
        return ops.cast(self.gamma, self.compute_dtype) * total

    def compute_output_spec(
        self,
        character_ids,
        padding_mask=None,
        initial_state=None,
        return_state=False,
        direction="both",
    ):
        width = self.forward_dim if direction == "forward" else self.output_dim
        shape, dtype = character_ids.shape, self.compute_dtype
        outputs = keras.KerasTensor((*shape[:-1], width), dtype)
        if not return_state:
            return outputs
        rows = None if None in shape[:-2] else int(np.prod(shape[:-2]))

        def state(layer):
            return tuple(
                keras.KerasTensor((rows, dim), "float32") for dim in (layer.units, layer.output_dim)
            )

        directions = self.directions[: 1 if direction == "forward" else 2]
        return outputs, tuple(tuple(state(layer) for layer in part) for part in directions)

    def get_config(self):
        return {**super().get_config(), **self._config}

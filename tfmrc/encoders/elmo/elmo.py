"""ELMo: contextual word vectors from a bidirectional language model over characters."""

import itertools

import keras
import numpy as np
from keras import ops

from tfmrc.encoders.elmo.character_cnn import CharacterCNN
from tfmrc.encoders.elmo.projected_lstm import ProjectedLSTM
from tfmrc.layers.base import Layer
from tfmrc.ops.own_policy import own_policy
from tfmrc.ops.shapes import flatten_leading
from tfmrc.ops.sizes import sizes

MAX_CHARACTERS = 50  # per word: begin, at most 48 bytes, end, padding
# Character ids: 0 is masked, 1 to 256 are bytes, then these; all are the authors' ids plus 1.
SENTENCE_BEGIN, SENTENCE_END, WORD_BEGIN, WORD_END, PADDING = 257, 258, 259, 260, 261


def boundary(character):
    """Returns the character ids `[50]` of `SENTENCE_BEGIN` or `SENTENCE_END`."""
    row = np.full(MAX_CHARACTERS, PADDING, "int32")
    row[:3] = WORD_BEGIN, character, WORD_END
    return row


@keras.saving.register_keras_serializable(package="tfmrc")
class ELMo(Layer):
    """Computes contextual word vectors, a scalar mix of the layers of a bidirectional LM.

    `x_k` = `CharacterCNN` of word k; each direction runs its LSTM layers (`ProjectedLSTM`) over
    `<S> x_1 … x_n </S>`; layer 0 is `[x_k; x_k]`, layer j `[forward_j; backward_j]`;
    `ELMo_k = gamma sum_j s_j h_kj` with `s = softmax(w)`.

    The language model is frozen unless `encoder_trainable`; `w` and `gamma` are always trained.
    `tfmrc.encoders.load_elmo` loads the authors' files. Character ids come from
    `tfmrc.encoders.elmo_character_ids`.

    A decoder uses the forward direction only: `forward` over given words, and `decode_step` word
    by word from `init_cache`. Neither adds boundaries; the first word is the beginning of the
    sentence (`boundary(SENTENCE_BEGIN)`), like a decoder's BOS. They share the mix with the reader:
    `forward` returns the forward half of the output of a call.

    Padding: real words come first. Boundaries are inserted next to the real words, so padding has
    no effect; the outputs at padding and in empty rows are zeros.

    Args:
        filters: list of pairs of int. Width and number of the character convolutions.
        projection_dim: int. Width p of one direction.
        lstm_dim: int. Width of the LSTM cells.
        num_lstm_layers: int. Number of LSTM layers per direction. Default: 2.
        character_dim: int. Width of the character vectors. Default: 16.
        num_characters: int. Number of character ids, including 0. Default: 262.
        num_highways: int. Number of highway layers after the convolutions. Default: 2.
        activation: str. Activation of the convolutions, "relu" or "tanh". Default: "relu".
        cell_clip: float. Largest magnitude of a cell; None for no limit. Default: None.
        proj_clip: float. Largest magnitude of a projected state; None for no limit. Default: None.
        use_skip_connections: bool. Whether LSTM layers after the first add their input. Default:
            False.
        encoder_trainable: bool. Whether to train the language model. Default: False.

    Call arguments:
        character_ids: int `[..., n, 50]`. A boundary is added to a row unless the row begins with
            the beginning of the sentence, whose vector is then returned too.
        padding_mask: boolean `[..., n]`, True = real; by default the words that have characters.
        initial_state: initial states of the language model, as from `return_state`; zeros by
            default. The authors' code carries them from batch to batch.
        return_state: bool. Whether to also return the states after the last word.

    Returns:
        `[..., n, 2 p]`, forward then backward; with `return_state` also the states: for each
        direction and layer `(cell [N, u], hidden [N, p])`, N the product of the leading axes.

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

    Departure: layer normalization before the mix, an option of the authors' code, is left out. Its
    statistics are over the batch, so an example would depend on the others.

    Reference: Peters et al. 2018, "Deep contextualized word representations", equation 1 and
    section 3.4.
    """

    reads = "characters"

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
        self.dtype_policy = own_policy(self)
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
                    residual=use_skip_connections and number > 0,
                    reverse=direction == "backward",
                    name=f"{direction}_{number}",
                    **common,
                )
                for number in range(num_lstm_layers)
            ]
            for direction in ("forward", "backward")
        ]
        for lstm in itertools.chain(*self.directions):
            lstm.build((None, None, projection_dim))
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
        """Runs the forward direction only; no output depends on a later word.

        Args:
            character_ids: int `[..., n, 50]`, the beginning of the sentence first.
            padding_mask: boolean `[..., n]`; by default the words that have characters. Default:
                None.

        Returns:
            `[..., n, p]`.
        """
        return self(character_ids, padding_mask=padding_mask, direction="forward")

    def init_cache(self, batch_size, num_beams):
        """Returns the initial state of `decode_step`, with leaves `[B, W, ...]`."""
        return tuple(layer.zero_state(batch_size, num_beams) for layer in self.directions[0])

    def decode_step(self, character_ids, cache):
        """Encodes one word of each beam.

        Args:
            character_ids: int `[B, W, 50]`; the beginning of the sentence at the first step.
            cache: the output of `init_cache` or of the previous step.

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
        """Returns all layers of the language model, before the mix.

        Args:
            character_ids: int `[..., n, 50]`.
            padding_mask: boolean `[..., n]`, or None. Default: None.
            initial_state: as in the call. Default: None.

        Returns:
            A list of `[..., n, 2 p]`, the character layer first, zeros at padding; and the states.
        """
        rows, mask = self._rows(character_ids, padding_mask)  # [N, n, 50], [N, n]
        begun = ops.equal(rows[:, :1, 1], SENTENCE_BEGIN)  # [N, 1]: begins with a boundary
        length = ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True)  # [N, 1]
        with_begin = ops.pad(rows, [[0, 0], [1, 1], [0, 0]])  # [N, n + 2, 50]
        with_begin = ops.concatenate(
            [ops.zeros_like(rows[:, :1]) + boundary(SENTENCE_BEGIN), with_begin[:, 1:]], axis=1
        )
        ids = ops.where(begun[..., None], ops.pad(rows, [[0, 0], [0, 2], [0, 0]]), with_begin)
        end = length + ops.where(begun, 0, 1)  # [N, 1]: index of the last boundary
        position = ops.arange(sizes(ids)[1])[None]
        ids = ops.where(ops.equal(position, end)[..., None], boundary(SENTENCE_END), ids)
        real = ops.logical_and(position <= end, length > 0)  # [N, n + 2]

        x = self.words(ids)  # [N, n + 2, p]
        runs = [
            self._run(lstms, x, real, state)
            for lstms, state in zip(self.directions, initial_state or (None, None), strict=True)
        ]
        outputs, states = zip(*runs, strict=True)
        layers = [(x, x), *zip(*outputs, strict=True)]  # of both directions

        def words_only(pair):
            y = ops.concatenate(pair, axis=-1)  # [N, n + 2, 2 p]
            y = ops.where(begun[..., None], y[:, :-2], y[:, 1:-1])
            y = ops.where(mask[..., None], y, 0.0)
            return ops.reshape(y, (*sizes(character_ids)[:-1], self.output_dim))

        return [words_only(pair) for pair in layers], states

    def _forward(self, character_ids, mask, initial_state):
        rows, mask = self._rows(character_ids, mask)
        x = self.words(rows)  # [N, n, p]
        first = None if initial_state is None else initial_state[0]
        layers, states = self._run(self.directions[0], x, mask, first)
        outputs = ops.where(mask[..., None], self._mixed([x, *layers]), 0.0)
        shape = (*sizes(character_ids)[:-1], self.forward_dim)
        return ops.reshape(outputs, shape), (states,)

    def _run(self, lstms, x, mask, states):
        """Returns the outputs of LSTM layers, each the input of the next, and their last states."""
        outputs, ends = [], []
        for lstm, state in zip(lstms, states or [None] * len(lstms), strict=True):
            x, end = lstm(x, padding_mask=mask, initial_state=state)
            outputs.append(x)
            ends.append(end)
        return outputs, tuple(ends)

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
        if return_state:
            rest = padding_mask, initial_state, True, direction
            return super().compute_output_spec(character_ids, *rest)
        width = self.forward_dim if direction == "forward" else self.output_dim
        return keras.KerasTensor((*character_ids.shape[:-1], width), self.compute_dtype)

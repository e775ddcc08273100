"""One task of a dual model, with the interface that decoding and export expect."""

from keras import ops

from tfmrc.models.generation import GenerationMixin, input_characters, input_ids
from tfmrc.ops.checks import check_positions
from tfmrc.ops.ids import BOS, PAD
from tfmrc.ops.sizes import sizes

GIVEN = {"answer": "question", "ask": "answer"}  # input of a task besides the passage
TARGET = {"answer": "answer", "ask": "question"}  # output of a task


class Direction(GenerationMixin):
    """`model.answering` or `model.asking`: the steps of decoding for one task of `DAANet`.

    Args:
        model: The `tfmrc.models.DAANet`.
        task: str. "answer" or "ask".

    Example:
        >>> from tfmrc.models import DAANet
        >>> model = DAANet(vocabulary_size=9, word_dim=4, character_dim=4, hidden_dim=4,
        ...                num_lstm_layers=1, num_heads=2, inner_dim=4, num_characters=9)
        >>> model.asking.given, model.asking.target
        ('answer', 'question')

    Reference: Xiao et al. 2018 (DAANET), "Implementation Details": decoding separately for each.
    """

    def __init__(self, model, task):
        self.model = model
        self.task = task
        self.given = GIVEN[task]
        self.target = TARGET[task]
        self.num_generable = model.num_generable

    def encode(self, inputs):
        """Computes the tensors that do not change from step to step.

        Args:
            inputs: dict. `passage_ids`, `passage_characters`, `extended_ids`; `{given}_ids` and
                `{given}_characters` of the task's input; `generable_characters` `[G, c]`, the
                characters of the generable words; with a pretrained encoder, its inputs for this
                task.

        Returns:
            A dict of tensors with the batch as first axis, except `generable_characters` and
            `characters`, the products of all characters with the kernel of their embedding.

        Raises:
            ValueError: An input has rows without any position.
        """
        check_positions(inputs)
        memory = self.model.read(self.task, inputs, {})
        memory["keys"] = self.model.second_fold[self.task].project(memory["folded"])
        project = getattr(self.model.character_embedding, "project", None)  # a part may be replaced
        memory["characters"] = project() if project else None
        return {
            **memory,
            "source_ids": inputs["passage_ids"],
            "source_characters": inputs["passage_characters"],
            "generable_characters": inputs["generable_characters"],
        }

    def init_cache(self, memory, num_beams, max_length):
        """Returns an empty cache for `max_length` steps of `num_beams` beams: `[B, W, ...]`."""
        batch_size = sizes(memory["extended_ids"])[0]
        writer = self.model.writer(self.task)
        return writer.init_cache(batch_size, num_beams, max_length)

    def decode_step(self, memory, cache, ids, t):
        """Computes one step of decoding.

        Args:
            memory: dict. Result of `encode`.
            cache: Result of `init_cache` or of the previous step.
            ids: int `[B, W]` extended ids of each beam's previous word; ignored at `t = 0`.
            t: int or scalar tensor. The step, from 0.

        Returns:
            Log-probabilities `[B, W, G + n]` of all extended ids, and the new cache.
        """
        first = ops.equal(t, 0)
        words = ops.where(first, BOS, input_ids(memory, ids, self.num_generable))
        characters = ops.where(first, 0, input_characters(memory, ids, self.num_generable))
        products = memory["characters"]
        embedded = self.model.embed(words, characters, products=products)  # [B, W, d]
        written, cache = self.model.writer(self.task).decode_step(embedded, cache, t)
        parts = self.model.distribute(self.task, memory, written)
        return self.model.switch[self.task].distribution(parts, memory["extended_ids"]), cache

    def attribute(self, memory, target_ids):
        """Computes the source of each of the given words, in one pass.

        Args:
            memory: dict. Result of `encode`.
            target_ids: int `[B, T]` extended ids, PAD after the end.

        Returns:
            A dict: `log_probability` `[B, T]`; `mixture` and `log_parts` `[B, T, 2]`, the shares
            of the vocabulary and the passage (daanet-13) and the log of each one's part in the
            word's probability; `passage_attention` `[B, T, n]` (daanet-12).
        """
        previous = input_ids(memory, target_ids, self.num_generable)[:, :-1]
        ids = ops.pad(previous, [[0, 0], [1, 0]], constant_values=BOS)
        spelled = input_characters(memory, target_ids, self.num_generable)[:, :-1]
        characters = ops.pad(spelled, [[0, 0], [1, 0], [0, 0]])
        embedded = self.model.embed(ids, characters)
        written = self.model.writer(self.task)(embedded, padding_mask=ops.not_equal(ids, PAD))
        parts = self.model.distribute(self.task, memory, written, target_ids)
        return {
            "log_probability": parts["log_probability"],
            "mixture": ops.exp(parts["log_mixture"]),
            "log_parts": parts["log_parts"],
            "passage_attention": ops.exp(parts["log_attentions"][0]),
        }

"""Small models with the papers' own contextual embeddings: Masque with ELMo, SAN with CoVe."""

import tensorflow as tf

from tests.layers.weights import randomise
from tfmrc.data import Example
from tfmrc.encoders import ELMo
from tfmrc.encoders.cove import CoVe
from tfmrc.models import SAN, Masque
from tfmrc.preprocessing import MasquePreprocessor, SANPreprocessor
from tfmrc.text import Vocabulary

EXAMPLES = [
    Example(
        "1", "Who met the king?", ("Ada Lee met the king.", "It was Bob"), {"qa": ("Ada Lee",)}
    ),
    Example("2", "Who was it", ("the queen",), {"qa": ("the queen and zorro",)}),
]
WORDS = "who met the king queen and it was".split()


def elmo():
    layer = ELMo(
        filters=[[1, 4], [2, 4]], projection_dim=3, lstm_dim=5, character_dim=4, name="elmo"
    )
    randomise(layer, seed=4, scale=0.5)
    return layer


def masque_with_elmo(**changes):
    """A small Masque that reads ELMo, with its preprocessor."""
    preprocessor = MasquePreprocessor(
        Vocabulary(WORDS, num_oov_buckets=2), num_passages=2, characters=True,
        generation_vocabulary_size=8,
    )  # fmt: skip
    model = Masque(
        **preprocessor.model_kwargs(), word_dim=6, hidden_dim=8, num_heads=2, intermediate_dim=8,
        num_shared_blocks=1, num_question_blocks=1, num_passage_blocks=1, num_decoder_blocks=1,
        contextual_embedding=elmo(), dropout=0.0, **changes,
    )  # fmt: skip
    return _random(model), preprocessor


def masque_batch(preprocessor, examples=EXAMPLES):
    """The model's inputs for these examples, and the source."""
    questions = [e.question for e in examples]
    passages = tf.constant([[*e.passages, ""][:2] for e in examples])
    styles, answers = ["qa"] * len(examples), [e.answers["qa"][0] for e in examples]
    records = {"question": questions, "passages": passages, "style": styles, "answer": answers}
    return preprocessor.batch(records)[0], preprocessor.source(questions, passages, styles)


def san_with_cove():
    """A small SAN that reads CoVe, with its preprocessor."""
    preprocessor = SANPreprocessor(Vocabulary(WORDS, num_oov_buckets=2))
    cove = CoVe(units=3, input_dim=6, name="cove")
    randomise(cove, seed=4, scale=0.5)
    model = SAN(
        **preprocessor.model_kwargs(), word_dim=6, units=4, align_dim=4, num_steps=2,
        contextual_embedding=cove,
    )  # fmt: skip
    return _random(model), preprocessor


def _random(model):
    for layer in model.layers:
        if layer is not model.contextual_embedding:
            randomise(layer, seed=5, scale=0.3)
    return model

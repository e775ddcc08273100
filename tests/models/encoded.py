"""Masque on a small random encoder, and its inputs from strings."""

import keras
import numpy as np

from tests.layers.weights import randomise
from tests.models import examples
from tfmrc import encoders, models, preprocessing, text

WORDS = "the . ? how high is hill who named it mill a".split()
PIECES = [*WORDS, "##s", "##l", "mi", "##n", "m", "t", "1", ",", "'"]
QUESTIONS = ["How high is Mt. Brannoch?", "Who", "Who named the mills?", ""]
LONG = " ".join(f"the mills {n} named a hill." for n in range(4))
PASSAGES = [
    ["Mt. Brannoch is 1,310.5 high; the mill isn't.", "A hill named Ts.", "It is"],
    ["It.", LONG, ""],
    ["", "", ""],
    ["The hills", " ", "Who named it"],
]
ANSWERS = ["1,310.5", "a hill", "", "It named Ada"]
STYLES = ["qa", "nlg", "qa", "nlg"]


def make_encoder(num_layers=1, **options):
    return encoders.from_vocabulary(
        PIECES, length=20, overlap=4, hidden_dim=6, dropout=0.0, num_layers=num_layers, **options
    )


def make(use="reader", reading="joint", seed=1, decoder=True, **options):
    """A model, its preprocessor and its encoder, with weights that give clear probabilities."""
    keras.utils.set_random_seed(seed)
    encoder = make_encoder(**options)
    preprocessor = preprocessing.MasquePreprocessor(
        text.Vocabulary(WORDS, num_oov_buckets=3),
        styles=("qa", "nlg"),
        num_passages=3,
        passage_length=26,
        question_length=8,
        answer_length=4,
        generation_vocabulary_size=9,
        encoder=encoder,
        reading=reading,
    )
    sizes = {name: size for name, size in examples.SIZES.items()
             if name not in preprocessor.model_kwargs()}  # fmt: skip
    model = models.Masque(
        **{**sizes, "num_decoder_blocks": 1, **preprocessor.model_kwargs()},
        encoder=encoder,
        encoder_use=use,
        decoder=decoder,
    )
    randomise(model, seed=seed, scale=0.4)
    return model, preprocessor, encoder


def inputs(preprocessor, questions=QUESTIONS, passages=PASSAGES, answers=ANSWERS, styles=STYLES):
    """The model's inputs as arrays."""
    source = preprocessor.source(questions, passages, styles)
    x = {name: source[name] for name in preprocessor.model_inputs}
    return {name: np.array(a) for name, a in (x | preprocessor.target(answers, source)).items()}


def reading_inputs(x):
    """What `encode` takes."""
    return {name: a for name, a in x.items() if name not in ("answer_ids", "target_ids")}

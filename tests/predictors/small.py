"""Small predictors with random weights that prefer clearly, and how a reader's windows look."""

import keras
import numpy as np

from tfmrc import Predictor, encoders, models, preprocessing, text
from tfmrc.predictors import DAANetPredictor, MaxoutPointerQGPredictor

SAN_WORDS = "the . ? how high is hill who named it mill a".split()
SAN_OPTIONS = {"num_return_sequences": 3, "max_length": 4}
DAANET_WORDS = "what the . ? how high is hill metres who named it and river in".split()
DAANET_OPTIONS = {"num_beams": 3, "num_return_sequences": 2, "max_length": 6}
PIECES = "the . ? how high is hill who named it mill a ##s ##l mi ##n m t 1 , ' owl".split()
LONG = "The hills. Who named a mill? It is 1,111 m high, the owl's mill. " * 3
QG_WORDS = "what the . ? how high is hill metres who named it and river in".split()


def san(seed=1, tagger=None, model=None, **options):
    keras.utils.set_random_seed(seed)
    sizes = {"passage_length": 20, "stride": 10, "answer_length": 5, **options}
    preprocessor = preprocessing.SANPreprocessor(
        text.Vocabulary(SAN_WORDS, num_oov_buckets=4), **sizes
    )
    arguments = {
        **preprocessor.model_kwargs(),
        "word_dim": 8,
        "units": 4,
        "align_dim": 4,
        "num_layers": 1,
        "num_steps": 2,
        "tagger": "rules 1" if preprocessor.annotations else None,
    }
    made = models.SAN(**(arguments | (model or {})))
    random = np.random.default_rng(seed)
    for weight in made.trainable_weights:  # clear probabilities
        weight.assign(random.normal(scale=0.7, size=weight.shape))
    predictor = Predictor(made, preprocessor)
    predictor.tagger = tagger
    return predictor


def daanet(**options):
    keras.utils.set_random_seed(3)
    vocabulary = text.Vocabulary(DAANET_WORDS, num_oov_buckets=3)
    preprocessor = preprocessing.DAANetPreprocessor(
        vocabulary, word_length=6, generation_vocabulary_size=14
    )
    model = models.DAANet(
        vocabulary_size=len(vocabulary), word_dim=8, character_dim=6, hidden_dim=8,
        num_lstm_layers=1, inner_dim=8, num_oov_buckets=3, generation_vocabulary_size=14, **options,
    )  # fmt: skip
    return DAANetPredictor(model, preprocessor)


def extractive_reader(seed=1, num_layers=2, kind="ExtractiveReader", **options):
    keras.utils.set_random_seed(seed)
    encoder = encoders.from_vocabulary(PIECES, length=64, num_layers=num_layers)
    preprocessor = getattr(preprocessing, f"{kind}Preprocessor")(
        encoder=encoder, window_length=24, overlap=6, question_length=8, answer_length=5, **options
    )
    model = getattr(models, kind)(encoder=encoder, dropout=0.0)
    random = np.random.default_rng(seed)
    for weight in model.trainable_weights:  # clear probabilities
        weight.assign(random.normal(scale=0.5, size=weight.shape))
    return Predictor(model, preprocessor)


def maxout_pointer_qg():
    keras.utils.set_random_seed(3)
    preprocessor = preprocessing.MaxoutPointerQGPreprocessor(
        text.Vocabulary(QG_WORDS, num_oov_buckets=3),
        context="sentence",
        passage_length=12,
        question_length=8,
        generation_vocabulary_size=14,
    )
    model = models.MaxoutPointerQG(
        vocabulary_size=len(preprocessor.vocabulary),
        word_dim=12,
        hidden_dim=16,
        num_oov_buckets=3,
        generation_vocabulary_size=14,
        initializer_stddev=1.0,
    )
    for weight in model.trainable_weights:  # clear preferences
        weight.assign(2.0 * weight)
    return MaxoutPointerQGPredictor(model, preprocessor)


def windows_of(predictor, question, passages):
    """What the reference reads: the scores of each window, computed one window at a time."""
    result = []
    for number, passage in enumerate(passages):
        read = predictor.preprocessor.source([question], [passage])
        read = {name: value.numpy() for name, value in read.items()}
        for row in range(len(read["row"])):
            size = read["lengths"][row]
            one = {n: read[n][row : row + 1, :size] for n in ("encoder_ids", "segment_ids")}
            scores = np.array(predictor.model.scores(one), "float64")[0]
            spans, words = (
                [tuple(pair) if pair[0] >= 0 else None for pair in zip(*pairs, strict=True)]
                for pairs in (
                    (read["starts"][row, :size].tolist(), read["ends"][row, :size].tolist()),
                    (
                        read["word_starts"][row, :size].tolist(),
                        read["word_ends"][row, :size].tolist(),
                    ),
                )
            )
            result.append(
                {"passage": number, "begin": scores[:, 0], "end": scores[:, 1], "span": spans,
                 "word": words}
            )  # fmt: skip
    return result

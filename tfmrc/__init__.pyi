from . import (
    data as data,
    decoding as decoding,
    documents as documents,
    encoders as encoders,
    evaluation as evaluation,
    experiments as experiments,
    integrations as integrations,
    layers as layers,
    losses as losses,
    models as models,
    ops as ops,
    predictors as predictors,
    preprocessing as preprocessing,
    serving as serving,
    storage as storage,
    testing as testing,
    text as text,
    training as training,
)
from .data.example import Example as Example
from .predictors.base import Predictor as Predictor
from .predictors.hugging_face.question_answering import pipeline as pipeline
from .predictors.load import load as load

__version__: str

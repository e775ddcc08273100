"""Model and preprocessor of a user's own classes, built from settings."""

import keras
import pytest

from tests.models.test_san import SMALL
from tfmrc.experiments import building, counts, loading
from tfmrc.models import SAN
from tfmrc.predictors import SANPredictor
from tfmrc.preprocessing import MasquePreprocessor, Preprocessor, SANPreprocessor
from tfmrc.text import Vocabulary

SIZES = {name: value for name, value in SMALL.items() if name in ("word_dim", "align_dim")}


@keras.saving.register_keras_serializable(package="tests")
class WideSAN(SAN):
    """A subclass that passes arguments on, as docs/replacing_parts.md writes it."""

    def __init__(self, *, width=4, **kwargs):
        super().__init__(units=width, **kwargs)


class LongPreprocessor(MasquePreprocessor):
    def __init__(self, vocabulary, *, more=1, **kwargs):
        super().__init__(vocabulary, **kwargs)


class WithoutStyles(Preprocessor):
    def __init__(self, vocabulary, *, length=9):
        super().__init__(vocabulary, length=length)


class Annotated(SANPreprocessor):
    """Reads tags of parts of speech, but neither lemmas nor entities."""

    def __init__(self, vocabulary, *, pos_tags=(), styles=("span",)):
        super().__init__(vocabulary, pos_tags=pos_tags, styles=styles)


def experiment(**settings):
    model = {"name": "WideSAN", "width": 3, "num_layers": 1, **SIZES}
    sources = [{"format": "small_squad", "train": "train"}]
    return loading.from_mapping({"name": "x", "sources": sources, "model": model, **settings})


def test_a_subclass_that_passes_arguments_on_takes_those_of_its_base():
    settings = experiment(seed=7, encoder={"preset": "minilm"})
    building.check_experiment(settings)
    model = building.build_model(experiment(seed=7), SANPreprocessor(Vocabulary(["owl"])))
    arguments = model.arguments
    assert (arguments.units, arguments.num_layers, arguments.seed) == (3, 1, 7)
    building.check_experiment(experiment(contextual={"cove": "cove.pth"}))
    wrong = experiment(model={"name": "WideSAN", "num_layer": 1})
    with pytest.raises(ValueError, match="no argument `num_layer`; did you mean `num_layers`"):
        building.check_experiment(wrong)
    assert counts.max_passages(experiment(), LongPreprocessor) == 10
    assert building.reads_tags(building.Classes(SAN, LongPreprocessor, None)) is False


def test_preprocessor_and_model_get_what_they_take():
    classes = building.Classes(SAN, Annotated, SANPredictor)
    assert building.reads_tags(classes)
    tags = {"lemmas": True, "pos_tags": ["NN"], "ner_tags": []}
    assert building.tag_arguments(classes, tags) == {"pos_tags": ["NN"]}

    @keras.saving.register_keras_serializable(package="tests")
    class Untagged(SAN):
        def __init__(self, *, vocabulary_size, num_exact_match=2, num_pos=0, num_ner=0):
            super().__init__(**{**SMALL, "vocabulary_size": vocabulary_size})

    settings = experiment(model={"name": "Untagged"})
    preprocessor = SANPreprocessor(Vocabulary(["owl"]))
    assert building.build_model(settings, preprocessor, tagger="spacy 3").tagger is None
    half = experiment(model={"name": "Untagged"}, training={"dtype": "mixed_bfloat16"})
    with pytest.raises(ValueError, match="no argument `dtype`. Received: training.dtype='mixed_b"):
        building.check_experiment(half)


def test_a_preprocessor_without_styles_is_refused_before_data_are_read(monkeypatch):
    classes = building.Classes(SAN, WithoutStyles, SANPredictor)
    monkeypatch.setattr(building, "classes_of", lambda _: classes)
    with pytest.raises(ValueError, match="needs an argument `styles`. Received: WithoutStyles"):
        building.check_experiment(experiment())

"""Model and preprocessor of a user's own classes, built from settings."""

from pathlib import Path

import keras
import pytest

from tests.models.test_san import SMALL
from tfmrc.experiments import building, counts, loading
from tfmrc.experiments.plan import Classes, Plan
from tfmrc.models import SAN
from tfmrc.predictors import SANPredictor
from tfmrc.preprocessing import MasquePreprocessor, SANPreprocessor
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


class Annotated(SANPreprocessor):
    """Reads tags of parts of speech, but neither lemmas nor entities."""

    def __init__(self, vocabulary, *, pos_tags=(), styles=("span",)):
        super().__init__(vocabulary, pos_tags=pos_tags, styles=styles)


def plan(**settings):
    model = {"name": "WideSAN", "width": 3, "num_layers": 1, **SIZES}
    sources = [{"format": "small_squad", "train": "train"}]
    values = {"name": "x", "sources": sources, "model": model, **settings}
    return Plan(loading.from_mapping(values), Path("run"))


def test_a_subclass_that_passes_arguments_on_takes_those_of_its_base():
    assert plan(encoder={"preset": "minilm"}).classes.model is WideSAN
    model = building.build_model(plan(seed=7), SANPreprocessor(Vocabulary(["owl"])))
    arguments = model.arguments
    assert (arguments.units, arguments.num_layers, arguments.seed) == (3, 1, 7)
    assert plan(contextual={"cove": "cove.pth"}).classes.preprocessor is SANPreprocessor
    assert counts.max_passages(plan().experiment, LongPreprocessor) == 10
    assert Classes(SAN, LongPreprocessor, None).read_tags is False


def test_preprocessor_and_model_get_what_they_take():
    classes = Classes(SAN, Annotated, SANPredictor)
    assert classes.read_tags
    tags = {"lemmas": True, "pos_tags": ["NN"], "ner_tags": []}
    assert classes.tag_arguments(tags) == {"pos_tags": ["NN"]}

    @keras.saving.register_keras_serializable(package="tests")
    class Untagged(SAN):
        def __init__(self, *, vocabulary_size, num_exact_match=2, num_pos=0, num_ner=0):
            super().__init__(**{**SMALL, "vocabulary_size": vocabulary_size})

    untagged, preprocessor = plan(model={"name": "Untagged"}), SANPreprocessor(Vocabulary(["owl"]))
    assert building.build_model(untagged, preprocessor, tagger="spacy 3").tagger is None
    half = plan(model={"name": "Untagged"}, training={"dtype": "mixed_bfloat16"})
    with pytest.raises(ValueError, match="`training.dtype` has no effect on Untagged"):
        assert half.classes


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": {"name": "Masqe"}}, "did you mean Masque"),
        ({"model": {"name": "SAN", "num_layer": 1}}, "`num_layer`; did you mean `num_layers`"),
        ({"model": {"name": "SAN", "preset": "san_dmo"}}, "did you mean san_demo"),
        (
            {"model": {"name": "DAANet"}, "contextual": {"cove": "x"}},
            "`contextual` has no effect",
        ),
        ({"model": {"name": "Masque"}, "tagger": "en"}, "`tagger` has no effect on Masque"),
        ({"preprocessor": {"passage_lengt": 9}}, "did you mean `passage_length`"),
        ({"training": {"optimizer": {"learning_rat": 9}}}, "did you mean `learning_rate`"),
        ({"evaluation": {"also": {"more": {"num_beam": 2}}}}, "evaluation.also.more has no argum"),
        ({"sources": [{"format": "small_squad", "test": "test"}]}, "At least one source"),
    ],
)
def test_settings_that_do_not_fit_the_classes(settings, message):
    with pytest.raises(ValueError, match=message):
        assert plan(**settings).classes

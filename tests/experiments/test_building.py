"""Model and preprocessor of a user's own classes, built from settings."""

from pathlib import Path

import keras
import numpy as np
import pytest

from tests.encoders.elmo import files as elmo_files
from tests.models.spans import SMALL
from tfmrc.encoders import load_elmo
from tfmrc.experiments import from_mapping
from tfmrc.experiments.building import model as building
from tfmrc.experiments.classes import Classes
from tfmrc.experiments.plan import Plan
from tfmrc.models import SAN
from tfmrc.predictors import SANPredictor
from tfmrc.preprocessing import MasquePreprocessor, SANPreprocessor
from tfmrc.text import Vocabulary

SIZES = {name: value for name, value in SMALL.items() if name in ("word_dim", "align_dim")}


@keras.saving.register_keras_serializable(package="tests")
class WideSAN(SAN):
    """A subclass that passes arguments on, as docs/how-to/replace_a_part.md writes it."""

    def __init__(self, *, width=4, **kwargs):
        super().__init__(units=width, **kwargs)


class LongPreprocessor(MasquePreprocessor):
    def __init__(self, vocabulary, *, more=1, **kwargs):
        super().__init__(vocabulary, **kwargs)


@keras.saving.register_keras_serializable(package="tests")
class BareSAN(SAN):
    """A model whose predictor is not registered."""


class BarePredictor(SANPredictor):
    model_class = BareSAN


def plan(**settings):
    model = {"name": "WideSAN", "width": 3, "num_layers": 1, **SIZES}
    sources = [{"format": "small_squad", "train": "train"}]
    values = {"name": "x", "sources": sources, "model": model, **settings}
    return Plan(from_mapping(values), Path("run"))


def test_a_subclass_that_passes_arguments_on_takes_those_of_its_base():
    assert plan(encoder={"preset": "minilm"}).classes.model is WideSAN
    model = building.build_model(plan(seed=7), SANPreprocessor(Vocabulary(["owl"])))
    arguments = model.arguments
    assert (arguments.units, arguments.num_layers, arguments.seed) == (3, 1, 7)
    assert plan(contextual={"cove": "cove.pth"}).classes.preprocessor is SANPreprocessor
    assert Classes(SAN, LongPreprocessor, SANPredictor, SAN).read_tags is False


def test_elmo_is_built_from_its_files(tmp_path):
    options, file = elmo_files.write(tmp_path)
    settings = {"elmo": {"options": options.name, "weights": file.name}}
    experiment = plan(model={"name": "Masque"}, contextual=settings).experiment
    made = building.build_contextual(Plan(experiment, tmp_path, data=tmp_path))
    for ours, theirs in zip(made.weights, load_elmo(options, file).weights, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": {"name": "SAN", "num_layer": 1}}, "`num_layer`; did you mean `num_layers`"),
        ({"model": {"name": "Masque"}, "tagger": "en"}, "Masque cannot take the setting `tagger`"),
        ({"model": {"name": "MySAN"}}, "Decorate a class of yours"),
        ({"model": {"name": "BareSAN"}}, "BarePredictor is not registered"),
        ({"preprocessor": {"passage_lengt": 9}}, "did you mean `passage_length`"),
        ({"evaluation": {"also": {"more": {"num_beam": 2}}}}, "evaluation.also.more has no argum"),
    ],
)
def test_settings_that_do_not_fit_the_classes(settings, message):
    with pytest.raises(ValueError, match=message):
        assert plan(**settings).classes

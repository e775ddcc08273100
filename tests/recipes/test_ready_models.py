"""How the ready models are made: the threshold of a confident answer."""

from types import SimpleNamespace

import pytest

from recipes.ready_models.main import best_threshold
from tfmrc.data import Example
from tfmrc.predictors import GeneratedText

EXAMPLES = [
    Example("0", "Who?", ("p",), {"short": ("owl",), "long": ("the owl flew",)}),
    Example("1", "Who?", ("p",), {}, answerable=False),
    Example("2", "Who?", ("p",), {"short": ("elk",)}),
]
WRITTEN = {
    None: [("owl", 0.9), ("owl", 0.7), ("elk", 0.8)],
    "long": [("the owl flew", 0.3), ("an elk", 0.2), ("a fox", 0.1)],
}


@pytest.mark.parametrize(("style", "expected"), [(None, 0.8), ("long", 0.3)])
def test_the_threshold_of_a_style_gives_its_best_f1(style, expected):
    """The second question has no answer; in the style "long" the answer to the third is wrong."""

    def predict(examples, task):
        return (GeneratedText(text, probability=p) for text, p in WRITTEN[task])

    assert best_threshold(SimpleNamespace(predict=predict), EXAMPLES, style) == expected

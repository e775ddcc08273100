import math
from types import SimpleNamespace

import numpy as np
import pytest

from tfmrc.predictors import MasqueRanker, Task, TfIdfRanker


def test_by_hand():
    ranker = TfIdfRanker(["a b", "a c"])
    common, rare = math.log(3 / 3) + 1, math.log(3 / 2) + 1
    (found,) = ranker("A b", ["b b."])
    asked = math.hypot(common, rare)
    assert found == pytest.approx(rare / asked)
    assert ranker("a", ["c", "", "a"]) == pytest.approx([0.0, 0.0, 1.0])


def test_the_ranker_of_a_masque_reader():
    asked = []

    def run(signature, inputs):
        asked.append((signature, inputs))
        return {"relevance": np.array([[0.25, 0.5]])}

    predictor = SimpleNamespace(
        model=SimpleNamespace(passage_ranker=object()),
        run=run,
        tasks=(Task("qa", "answer", "qa"),),
        is_trained=lambda part: True,
    )
    assert MasqueRanker(predictor)("Who?", ("a", "b", "c")) == [0.25, 0.5, 0.0]
    assert MasqueRanker(predictor)("Who?", ("a",)) == [0.25]
    inputs = {"question": ["Who?"], "passages": [["a", "b", "c"]], "style": ["qa"]}
    assert asked[0] == ("serving_default", inputs)
    predictor.is_trained = lambda part: part != "ranker"
    with pytest.raises(ValueError, match="ranker was never trained"):
        MasqueRanker(predictor)
    with pytest.raises(ValueError, match="has no ranker"):
        MasqueRanker(SimpleNamespace(model=SimpleNamespace(passage_ranker=None)))

"""What must not matter does not: the batch, padding, the order of the passages."""

from dataclasses import replace

import numpy as np
import pytest

from tests.layers.weights import randomise
from tests.models import examples
from tests.models.examples import FOUR, G
from tests.models.generation import assert_scores_are_those_of_the_words

X = examples.batch(FOUR)
LENGTHS = [len(q.answer) + 1 for q in FOUR]


@pytest.fixture(scope="module", params=["transformer", "lstm"])
def model(request):
    model = examples.small(block=request.param)
    randomise(model, seed=3, scale=0.4)
    return model


def run(model, questions, **options):
    """Log-probabilities of each answer's own words, and the logits of passages and answers."""
    x = examples.batch(questions, **options)
    outputs = {name: np.array(a) for name, a in model(x).items()}
    words = [row[: len(q.answer) + 1] for row, q in zip(outputs["decoder"], questions, strict=True)]
    return words, outputs["ranker"], outputs["classifier"]


def test_order_of_the_passages_moves_their_relevance_and_nothing_of_the_answer(model):
    order = [2, 0, 1]
    three = replace(FOUR[1], passages=[*FOUR[1].passages[:2], [11, 4, -3]])
    moved = replace(three, passages=[three.passages[k] for k in order])
    words, ranker, _ = run(model, [three])
    again, ranked, _ = run(model, [moved])
    np.testing.assert_allclose(ranked[0], ranker[0][order], rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(again[0], words[0], rtol=1e-4, atol=2e-5)


def said(hypotheses, x, row):
    """Ids of the answers of one example with places in the source turned into words."""
    source = np.concatenate([x["question_ids"][row], x["passage_ids"][row].reshape(-1)])
    return [
        [int(i) if i < G else ("source", int(source[i - G])) for i in ids if i]
        for ids in np.array(hypotheses.ids)[row]
    ]


@pytest.mark.parametrize("beams", [1, 3])
def test_generated_answers_do_not_depend_on_the_batch(model, beams):
    options = {"max_length": 3, "num_beams": beams, "num_return_sequences": beams}
    together = model.generate(model.encode(examples.source_only(X)), **options)
    for b in (0, 3):
        x = examples.batch([FOUR[b]])
        alone = model.generate(model.encode(examples.source_only(x)), **options)
        assert said(alone, x, 0) == said(together, X, b)
        np.testing.assert_allclose(alone.score[0], together.score[b], rtol=1e-4)


def test_score_of_an_answer_is_its_teacher_forced_log_probability(model):
    assert_scores_are_those_of_the_words(model, examples.source_only(X), 3)

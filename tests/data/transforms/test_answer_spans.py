import random

import pytest

from tfmrc.data import Example, best_span, with_best_spans


def rouge_l(result, wanted, beta=1.2):
    """ROUGE-L, from the whole table of longest common subsequences."""
    table = [[0] * (len(wanted) + 1) for _ in range(len(result) + 1)]
    for i, word in enumerate(result):
        for j, other in enumerate(wanted):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if word == other else max(table[i][j + 1], table[i + 1][j])
            )
    common = table[-1][-1]
    if not common:
        return 0.0
    precision, recall = common / len(result), common / len(wanted)
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


@pytest.mark.parametrize("seed", range(6))
def test_best_of_all_spans(seed):
    drawn = random.Random(seed)
    words, answer = drawn.choices("abcdef", k=14), drawn.choices("abcxy", k=4)
    first, end, score = best_span(words, answer, max_length=6)
    every = [
        rouge_l(words[i:j], answer) for i in range(14) for j in range(i + 1, min(i + 6, 14) + 1)
    ]
    assert score == pytest.approx(max(every))
    assert rouge_l(words[first:end], answer) == pytest.approx(score)


def test_examples_get_the_span_of_their_best_passage():
    passages = ("A cat slept.", "Then the Owl,  flew off.", "An owl.")
    free = Example("1", "Who flew?", passages, {"qa": ("The owl flew",)})
    alien = Example("2", "Who?", ("Nothing here",), {"qa": ("xyzzy",)})
    other = Example("3", "Who?", passages, {"nlg": ("owl",)})
    [(result, score)] = with_best_spans([free, alien, other], "qa")
    assert [result.span_text(span) for span in result.spans] == ["the Owl,  flew"]
    assert result.answers == {"qa": ("the Owl,  flew",)} and result.spans[0].passage == 1
    words = ["the", "owl", ",", "flew"]
    assert score == pytest.approx(rouge_l(words, ["the", "owl", "flew"]))

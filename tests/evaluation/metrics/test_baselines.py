"""The two baselines without a model."""

from tfmrc.evaluation import first_sentence, most_similar_sentence, sentences


def test_sentences() -> None:
    text = 'Mrs. Ode said "Stop!" Then J. Ley left at 3.15 p.m. today. 12 owls flew\nA line'
    assert sentences(text) == [
        'Mrs. Ode said "Stop!"',
        "Then J. Ley left at 3.15 p.m. today.",
        "12 owls flew",
        "A line",
    ]
    assert sentences("  ") == []


def test_first_sentence() -> None:
    assert first_sentence(["  ", "One. Two."]) == "One."
    assert first_sentence([]) == ""


def test_most_similar_sentence() -> None:
    passages = ["The weir is old. Ode built the old mill.", "Ode built the old mill in spring."]
    assert most_similar_sentence("Who built the mill, Ode?", passages) == "Ode built the old mill."
    assert most_similar_sentence("Spring mill?", passages) == "Ode built the old mill in spring."
    assert most_similar_sentence("Anything?", []) == ""


def test_words_without_letters_do_not_count() -> None:
    assert most_similar_sentence("Is it so?", ["What? Why?", "It is."]) == "It is."

"""What a training prints at its end: held-out examples, and what the model predicts for them."""

import pytest

from tests.predictors.small import extractive_reader, maxout_pointer_qg
from tfmrc.data import Example, TrainingExample
from tfmrc.experiments.steps.predictions import print_predictions

PASSAGE = "The owl named the mill."


def records(style):
    asked = [f"Who named {n}?" for n in range(9)]
    examples = [Example(q[10], q, (PASSAGE,), {style: ("The owl",)}) for q in asked]
    return [TrainingExample(one, style, "The owl") for one in examples]


@pytest.mark.parametrize("make", [extractive_reader, maxout_pointer_qg])
def test_three_held_out_examples_are_printed(make, capsys, without_graphs):
    predictor = make()
    print_predictions(predictor, records(predictor.tasks[0].style), {"num_return_sequences": 1})
    title, *lines = capsys.readouterr().out.splitlines()
    names, texts = zip(*(line.split(maxsplit=1) for line in lines), strict=True)
    assert title == "3 held-out examples:"
    if make is extractive_reader:
        assert names == ("question", "expected", "predicted") * 3
        assert texts[1::3] == ("The owl",) * 3
        found = [predictor.answer(question=text, passages=[PASSAGE]) for text in texts[::3]]
    else:
        assert names == ("answer", "expected", "predicted") * 3
        assert texts[::3] == ("The owl",) * 3 and len(set(texts[1::3])) == 3
        found = [predictor.ask(passage=PASSAGE, answer="The owl")] * 3
    assert list(texts[2::3]) == [" ".join(each.headline.split()) or "(none)" for each in found]

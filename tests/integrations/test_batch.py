"""Columns in, columns out, for a model that asks."""

import pickle

from tests.predictors.small import maxout_pointer_qg
from tfmrc.integrations.batch import Answerer

PASSAGE = "It rained. Old Tamsin named the hill."


def test_a_row_without_the_answer_that_a_model_asks_about_has_an_error(tmp_path):
    asker = maxout_pointer_qg()
    folder = str(asker.save(tmp_path / "asker"))
    answerer = pickle.loads(pickle.dumps(Answerer(folder, num_beams=2, max_length=5)))
    answers = [["Old Tamsin"], ["Elbe"], None, ["hill"]]
    found = answerer({"question": ["?"] * 4, "passage": [PASSAGE] * 3 + [""], "answers": answers})
    expected = asker.ask(passage=PASSAGE, answer="Old Tamsin", num_beams=2, max_length=5)
    assert found["answer"] == [expected.text, None, None, None]
    errors = found["error"]
    assert errors[0] is None and "must have a passage" in errors[3]
    assert all("the model asks about an answer that a passage contains" in e for e in errors[1:3])

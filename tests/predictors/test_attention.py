"""Attention of every paper's predictor: its words, and weights that add up to one."""

import numpy as np
import pytest

from tests.predictors import small
from tfmrc import Predictor, models, preprocessing
from tfmrc.data import Example, Span

PASSAGES = ["Bob swam.", "An owl flew to a mill."]
EXAMPLE = Example("1", "Who flew?", tuple(PASSAGES), {"span": ("An owl",)}, spans=(Span(1, 0, 6),))
OWL = ["An", "owl", "flew", "to", "a", "mill", "."]
READ = ["[BOS]", "Bob", "swam", ".", "[BOS]", *OWL]
ASKED = ["Who", "flew", "?"]
ANSWER = ["An", "owl", "[EOS]"]
SMALL = {"word_dim": 8}
HIDDEN = {**SMALL, "hidden_dim": 8}
CASES = {
    "SAN": (
        {**SMALL, "units": 4, "align_dim": 4, "num_steps": 3},
        {
            "aligned_embedding": (OWL, ASKED),
            "question_attention": (OWL, ASKED),
            "self_attention": (OWL, OWL),
            "memory_attention": (["step 1", "step 2"], OWL),
        },
    ),
    "Masque": (
        {**HIDDEN, "num_heads": 2, "intermediate_dim": 8, "num_decoder_blocks": 1},
        {
            "passage_to_question": (READ, ASKED),
            "question_to_passage": (READ, ASKED),
            "question_copy": (ANSWER, ASKED),
            "passage_copy": (ANSWER, READ),
        },
    ),
    "MaxoutPointerQG": (
        HIDDEN,
        {"gated_self_attention": (OWL, OWL), "attention": ([*ASKED, "[EOS]"], OWL)},
    ),
    "DAANet": (
        {**HIDDEN, "character_dim": 4, "num_lstm_layers": 1, "num_heads": 2, "inner_dim": 4},
        {
            "answer_first_fold": (OWL, ["[BOS]", *ASKED]),
            "answer_second_fold": (ANSWER, OWL),
            "ask_first_fold": (OWL, ["[BOS]", *ANSWER[:2]]),
            "ask_second_fold": ([*ASKED, "[EOS]"], OWL),
        },
    ),
}


def predictor(name):
    sizes = {"num_passages": 3} if name == "Masque" else {}
    kind = getattr(preprocessing, f"{name}Preprocessor")
    preprocessor = kind.from_examples([EXAMPLE], **sizes)
    arguments = {**preprocessor.model_kwargs(), **CASES[name][0]}
    return Predictor(getattr(models, name)(**arguments), preprocessor)


@pytest.mark.parametrize("name", CASES)
def test_attention_stands_beside_its_words(name, tmp_path):
    passages = PASSAGES if name in ("SAN", "Masque") else PASSAGES[1:]
    found = predictor(name).attention(question="Who flew?", passages=passages, answer="An owl")
    assert {key: (list(a.rows), list(a.columns)) for key, a in found.items()} == CASES[name][1]
    for key, attention in found.items():
        if key == "question_to_passage":  # over the words of each passage
            parts = attention.weights[:4], attention.weights[4:]
            sums = [part.sum(axis=0) for part in parts]
        else:
            sums = [attention.weights.sum(axis=1)]
        if key not in ("self_attention", "passage_copy", "question_copy"):
            np.testing.assert_allclose(np.concatenate(sums), 1.0, atol=1e-5)
    assert [file.suffix for file in found[key].plot(tmp_path / "map")] == [".png", ".svg"]


def test_what_is_missing_is_predicted():
    asking, answering = predictor("MaxoutPointerQG"), predictor("SAN")
    found = asking.attention(passages=PASSAGES[1], answer="mill", num_beams=1, max_length=2)
    assert list(found["gated_self_attention"].columns) == OWL
    text = answering.answer(question="Who flew?", passages=PASSAGES)
    found = answering.attention(question="Who flew?", passages=PASSAGES)
    assert "".join(found["self_attention"].rows) in PASSAGES[text.passage].replace(" ", "")


def test_a_reader_has_no_attention_to_show():
    with pytest.raises(ValueError, match="ExtractiveReader has no attention to show"):
        small.extractive_reader().attention(question="Who flew?", passages=PASSAGES)

"""Model cards: a meaning speaks only of outputs that the signature has."""

import re

import pytest

from tfmrc.storage.meanings import output_meanings

SIGNATURES = {
    "Masque": "answer answerable_probability ends finished log_probability mixture num_words "
    "passage_indices probability relevance score source_texts sources starts truncated words "
    "alternatives alternative_scores alternative_log_probabilities alternative_finished",
    "Masque without a decoder": "relevance answerable_probability truncated",
    "SAN": "answer answers start starts end ends probability probabilities truncated step_begin "
    "step_end step_weights word_starts word_ends",
    "ExtractiveReader": "answer answers start starts end ends probability probabilities "
    "answer_passages answerable_probability truncated",
    "MaxoutPointerQG": "question questions probabilities log_probabilities finished answer_start "
    "truncated",
    "MaxoutPointerQG, candidates": "answers answer_starts questions probabilities "
    "log_probabilities finished truncated",
    "DAANet, answer": "answer answers probabilities log_probabilities finished truncated",
    "DAANet, ask": "question questions probabilities log_probabilities finished truncated",
}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_every_output_has_a_meaning_that_names_only_other_outputs(signature):
    names = SIGNATURES[signature].split()
    meanings = output_meanings(names)
    for name in names:
        assert meanings[name]
        assert set(re.findall("`(.*?)`", meanings[name])) <= set(names)
        if "Masque" not in signature and signature != "ExtractiveReader":
            assert "passages" not in meanings[name] and "span" not in meanings[name]

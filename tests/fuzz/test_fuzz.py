"""A part of `make fuzz`, with other seeds."""

from tests.fuzz import files, texts


def test_mutated_files_are_read_rightly_or_refused_by_name(tmp_path):
    outcomes, wrong = files.attack(400, seed=7, folder=tmp_path)
    assert wrong == []
    read = sum(number for name, number in outcomes.items() if name.endswith(": read"))
    assert 50 < read < 350  # the mutations neither miss nor destroy everything


def test_odd_texts_have_right_offsets_in_every_preprocessor():
    words, wrong = texts.attack(2_000, seed=7)
    assert wrong == []
    assert words["Masque"] > words["SAN"] == words["DAANet"] == words["MaxoutPointerQG"] > 10_000

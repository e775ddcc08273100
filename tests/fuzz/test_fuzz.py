"""A part of `make fuzz`, with other seeds."""

from tests.fuzz import files


def test_mutated_files_are_read_rightly_or_refused_by_name(tmp_path):
    outcomes, wrong = files.attack(400, seed=7, folder=tmp_path)
    assert wrong == []
    read = sum(number for name, number in outcomes.items() if name.endswith(": read"))
    assert 50 < read < 350  # the mutations neither miss nor destroy everything

"""A part of the flipped bits of `make attacks`, with another seed."""

import pytest

from tests.attacks import flips

pytestmark = pytest.mark.usefixtures("without_graphs")


def test_a_flipped_bit_of_any_file_is_found_or_without_effect(tmp_path, capsys):
    assert flips.attack(4, 7, tmp_path) == []
    assert "predictor: 5 files" in capsys.readouterr().out


def test_a_wrong_outcome_is_seen(tmp_path, monkeypatch):
    def build(folder):
        path = folder / "words.txt"
        path.write_text("0123")

        def read():
            word = path.read_bytes()
            if word.isdigit():
                return word
            raise KeyError if word.isascii() else ValueError("no digits")

        return [path], read

    monkeypatch.setattr(flips, "KINDS", {"words": build})
    wrong = flips.attack(40, 7, tmp_path)
    assert any("another result" in problem for problem in wrong)
    assert any("KeyError" in problem for problem in wrong)
    assert len(wrong) < 40

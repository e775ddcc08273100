"""A part of the mutated files of `make attacks`, with other seeds."""

import re

from tests.attacks import files


def test_mutated_files_are_read_rightly_or_refused_by_name(tmp_path, capsys):
    assert files.attack(400, seed=7, folder=tmp_path) == []
    read = sum(map(int, re.findall(r": read +(\d+)", capsys.readouterr().out)))
    assert 50 < read < 350  # the mutations neither miss nor destroy everything

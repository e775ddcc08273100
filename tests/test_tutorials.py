"""The tutorials run from end to end, and print what their pages show."""

import re

import pytest

from tests import fresh_python
from tools.tutorials import PICTURES, SHOWN, TUTORIALS

PAGES = sorted(TUTORIALS.glob("*.md"))
NUMBER = re.compile(r"[\d.,:]*\d[\d.,:]*")
VARYING = re.compile(  # progress, times, the machine; what a trained model says at the margin
    r"^(step |\d+/\d+ - |Trained |.* weights, \d+ steps; |  predicted |  or: ).*\n", re.MULTILINE
)


def words(page: str) -> list[str]:
    """Returns the words of a page without what varies; its numbers are 0."""
    return NUMBER.sub("0", VARYING.sub("", page)).split()


def test_their_pictures_are_small():
    shown = [name for page in PAGES for name in SHOWN.findall(page.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir())
    assert max(path.stat().st_size for path in PICTURES.iterdir()) < 60_000


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_prints_what_its_page_shows(page, tmp_path):
    fresh_python.run("tools/tutorials.py", page, "--to", tmp_path)
    printed = (tmp_path / page.name).read_text(encoding="utf-8")
    assert words(printed) == words(page.read_text(encoding="utf-8"))

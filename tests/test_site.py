"""The site builds without a warning, and needs nothing from other places."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import fresh_python

ROOT = Path(__file__).resolve().parents[1]
LOADED = re.compile(r'<(?:script|img|iframe|link)\b[^>]*?(?:src|href)="(https?:)?//[^"]*"')


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python with the packages of the extra `docs`: TFMRC_DOCS_PYTHON, or one made anew."""
    if named := os.environ.get("TFMRC_DOCS_PYTHON"):
        return named
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    locked = str(ROOT / "requirements-docs.lock")
    install = ["-m", "pip", "install", "-q", "--require-hashes", "--no-deps", "-r", locked]
    subprocess.run([folder / "bin" / "python", *install], check=True)
    return str(folder / "bin" / "python")


@pytest.mark.slow
def test_the_site_builds_and_loads_nothing_from_elsewhere(python, tmp_path):
    build = ["-m", "sphinx", "-qW", "--keep-going", "-c", "docs", ".", str(tmp_path)]
    done = subprocess.run(
        [python, *build],
        cwd=ROOT,
        env=fresh_python.environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*.html")}
    for page in pages.values():
        assert not LOADED.search(page.read_text(encoding="utf-8")), page
    layers = pages[Path("docs/reference/api/layers.html")].read_text(encoding="utf-8")
    assert 'id="tfmrc.layers.DualAttention"' in layers
    equations = pages[Path("docs/reference/api/equations.html")].read_text(encoding="utf-8")
    for link, anchor in re.findall(r'href="../../../(_modules/[^"#]+)#([^"]+)"', equations):
        assert f'id="{anchor}"' in pages[Path(link)].read_text(encoding="utf-8"), (link, anchor)

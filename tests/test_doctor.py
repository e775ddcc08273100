"""`tfmrc doctor`: what it finds, and what it says about what is missing."""

import importlib.metadata
import json
from pathlib import Path

import pytest

from tfmrc import cli
from tfmrc.cli import doctor
from tfmrc.predictors.ready import shipped

INSTALL = Path(__file__).parents[1] / "docs" / "how-to" / "install.md"


def test_versions_devices_and_intact_models(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "NVIDIA_DRIVER", Path(__file__))  # a driver, and no GPU
    assert cli.main(["doctor"]) == 0
    report = capsys.readouterr().out
    for package in doctor.PACKAGES:
        assert f"{package} {importlib.metadata.version(package)}" in report
    assert "no GPU" in report and "pip install 'tensorflow[and-cuda]" in report
    for name in shipped.NAMES:
        assert f"  {name:<15} intact" in report


def test_a_missing_extra_has_its_install_line(capsys, monkeypatch):
    installed = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: name != "uvicorn" and installed(name))
    cli.main(["doctor"])
    [line] = [line for line in capsys.readouterr().out.splitlines() if "  serve " in line]
    assert line.endswith("missing: pip install 'tfmrc[serve]'")


def test_a_damaged_model_is_named(capsys, monkeypatch, tmp_path):
    (tmp_path / "ready").mkdir()
    (tmp_path / "ready" / shipped.CARD).write_text(json.dumps({"difference": "0" * 64}))
    (tmp_path / "ready" / shipped.DIFFERENCE).write_bytes(b"cut")
    monkeypatch.setattr(shipped, "FILES", tmp_path)
    monkeypatch.setattr(shipped, "NAMES", ("ready",))
    assert cli.main(["doctor"]) == 1
    assert "  ready           damaged: install tfmrc again" in capsys.readouterr().out


@pytest.mark.parametrize("extra", doctor.EXTRAS)
def test_each_extra_is_in_the_package_and_on_the_page(extra):
    assert doctor.requirements(extra)
    assert f"`{extra}`" in INSTALL.read_text(encoding="utf-8")


def test_every_extra_of_users_is_listed():
    extras = set(importlib.metadata.metadata("tfmrc").get_all("Provides-Extra"))
    assert extras - {"test", "docs"} == {*doctor.EXTRAS}

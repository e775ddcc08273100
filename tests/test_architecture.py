"""Rules of the code base that no linter checks: contracts, names, light imports, documents."""

import importlib
import inspect
import pkgutil
import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

from tests import equations, fresh_python

ROOT = Path(__file__).resolve().parent.parent
KERAS_ONLY = ("ops", "layers", "losses", "models", "decoding")


def rooms() -> list[str]:
    return sorted(
        module.name
        for module in pkgutil.iter_modules([str(ROOT / "tfmrc")])
        if module.ispkg and module.name != "cli"
    )


def test_every_room_is_an_attribute_of_tfmrc() -> None:
    import tfmrc

    assert set(rooms()) - {"utils"} <= set(tfmrc.__all__)


LIGHT = """
import sys

def heavy(*names):
    return sorted(set(names) & set(sys.modules))

import tfmrc
print(heavy("tensorflow", "keras", "numpy", "matplotlib"), len(sys.modules) < 400)

from tfmrc.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert not end.code
print(heavy("tensorflow", "keras"))
"""


def test_importing_tfmrc_and_its_help_are_light() -> None:
    lines = fresh_python.run("-c", LIGHT).splitlines()
    assert (lines[0], lines[-1]) == ("[] True", "[]")


REGISTERED = ("SAN", "Masque", "DualAttention", "WordEmbedding")


def test_keras_only_rooms_import_no_tensorflow_and_register_all_classes() -> None:
    code = f"""
import sys, keras, tfmrc
print([keras.saving.get_registered_object(f"tfmrc>{{n}}") is not None for n in {REGISTERED}])
import {", ".join(f"tfmrc.{room}" for room in KERAS_ONLY)}
print("tensorflow" in sys.modules)
"""
    said = fresh_python.run("-c", code, KERAS_BACKEND="jax").splitlines()
    assert said == ["[True, True, True, True]", "False"]


def public_modules() -> list[str]:
    """Returns all modules but those that need a package of an extra."""
    names = []
    for module in pkgutil.walk_packages([str(ROOT / "tfmrc")], prefix="tfmrc."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            names.append(module.name)
    return [name for name in names if not name.startswith("tfmrc.integrations.")]


def test_every_keras_class_is_registered_under_tfmrc() -> None:
    import keras

    kinds = (
        keras.layers.Layer,
        keras.losses.Loss,
        keras.metrics.Metric,
        keras.optimizers.Optimizer,
        keras.optimizers.schedules.LearningRateSchedule,
        keras.initializers.Initializer,
        keras.constraints.Constraint,
    )
    seen = 0
    for name in public_modules():
        module = importlib.import_module(name)
        for label, value in vars(module).items():
            if label.startswith("_") or not inspect.isclass(value) or value.__module__ != name:
                continue
            if issubclass(value, kinds):
                registered = keras.saving.get_registered_name(value)
                assert registered == f"tfmrc>{label}", f"{name}.{label} is {registered!r}"
                seen += 1
    assert seen > 10


def test_layers_tell_their_outputs_for_all_arguments_of_their_call() -> None:
    import keras

    seen = 0
    for name in public_modules():
        for value in vars(importlib.import_module(name)).values():
            if not inspect.isclass(value) or value.__module__ != name:
                continue
            if issubclass(value, keras.layers.Layer) and "compute_output_spec" in vars(value):
                call, told = (
                    [*inspect.signature(method).parameters]
                    for method in (value.call, value.compute_output_spec)
                )
                assert told == call, value.__name__
                seen += 1
    assert seen > 5


def test_public_names_of_the_rooms_exist() -> None:
    for room in set(rooms()) - {"utils"}:
        module = importlib.import_module(f"tfmrc.{room}")
        assert module.__doc__, f"tfmrc.{room} says nothing of itself"
        for name in getattr(module, "__all__", vars(module)):
            value = getattr(module, name)
            if name[0] != "_" and (inspect.isclass(value) or inspect.isroutine(value)):
                assert value.__doc__, f"tfmrc.{room}.{name} has no docstring"


LOADED = """
import sys
import tfmrc, keras
known = [name for name in sys.modules if name.startswith("tfmrc.")]
model = keras.models.load_model(sys.argv[1])
print(known, type(model).__name__, type(model.loss["end"]).__name__, "tensorflow" in sys.modules)
"""


def test_keras_loads_models_whose_classes_are_not_imported(tmp_path) -> None:
    from tfmrc import losses, models

    model = models.SAN(vocabulary_size=9, word_dim=4, units=2, align_dim=2)
    model.compile(loss={name: losses.SpanPositionNLL() for name in ("begin", "end")})
    model.save(tmp_path / "san.keras")
    light = ["tfmrc.utils", "tfmrc.utils.keras_registry"]
    printed = fresh_python.run("-c", LOADED, tmp_path / "san.keras", KERAS_BACKEND="jax")
    assert printed == f"{light} SAN SpanPositionNLL False"


def tracked(pattern: str) -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).exists()]


def test_library_has_no_bare_assert_and_no_stub() -> None:
    stub = re.compile(r"^\s*(pass|\.\.\.)\s*$|\bTODO\b|\bFIXME\b|^\s*assert\b", re.MULTILINE)
    for path in tracked("tfmrc/*.py") + tracked("recipes/*.py"):
        text = path.read_text(encoding="utf-8")
        code = re.sub(r'"""(?:.|\n)*?"""', "", text)
        found = stub.search(code)
        assert not found, f"{path.relative_to(ROOT)}: {found.group(0).strip()!r}"


def test_documents_name_no_missing_file() -> None:
    folders = sorted(path.name for path in ROOT.iterdir() if path.is_dir())
    linked = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
    quoted = re.compile(rf"`((?:{'|'.join(map(re.escape, folders))})/[\w./-]*)`")
    made = ("runs/", "savedmodels/", ".venv/")
    missing = []
    for path in tracked("*.md"):
        text = path.read_text(encoding="utf-8")
        for target in linked.findall(text):
            generated = re.search(r"(^|reference/)api/", target)  # `make docs` checks these
            if "://" not in target and not generated and not (path.parent / target).exists():
                missing.append(f"{path.relative_to(ROOT)}: {target}")
        for target in quoted.findall(text):
            if not target.startswith(made) and not (ROOT / target).exists():
                missing.append(f"{path.relative_to(ROOT)}: {target}")
    assert not missing


def test_lock_files_pin_everything_by_hash_and_name_no_place() -> None:
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-docs.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text and "\n-" not in text
        entries = re.split(r"\n(?=\S)", text.strip())
        pins = [entry for entry in entries if not entry.startswith("#")]
        assert len(pins) > 40
        for entry in pins:
            assert re.match(r"[a-z0-9-]+==[\w.]+( ; [^\\]+)? \\\n\s+--hash=sha256:", entry), entry


def test_setup_requirements_are_locked_and_explained() -> None:
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    names = [name.lower() for name in re.findall(r'"([\w-]+)(?:\[\w+\])?>=', setup)]
    locks = [ROOT / f"requirements-{name}.lock" for name in ("dev", "docs")]
    lock = "".join(path.read_text(encoding="utf-8") for path in locks)
    explained = (ROOT / "docs/reference/dependencies.md").read_text(encoding="utf-8").lower()
    # Not in the lock file: tested in environments of their own.
    extras = {"haystack-ai", "mlflow-skinny", "nncf", "ray"}
    assert len(names) > 15
    for name in names:
        assert f"`{name}`" in explained, f"dependencies.md does not say why {name} is there"
        assert name in extras or f"\n{name}==" in lock, f"{name} is not in the lock"


def test_the_page_on_a_registry_links_to_files_of_the_project(monkeypatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("setuptools.setup", given.update)
    runpy.run_path(str(ROOT / "setup.py"))
    page, place = given["long_description"], f"{given['url']}/(raw|blob)/main/"
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    assert all(link.startswith("https://") for link in links)
    paths = [re.sub(f"{place}|#.*", "", link) for link in links if re.match(place, link)]
    assert len(paths) > 20 and all((ROOT / path).exists() for path in paths)
    [picture] = re.findall(r"!\[[^\]]+\]\((\S+)\)", page)
    assert picture == f"{given['url']}/raw/main/docs/images/documents_page.png"


def test_every_equation_has_a_test_and_a_line_of_code() -> None:
    assert len(equations.names()) == 71
    assert equations.missing() == {}


def test_the_page_of_equations_is_complete() -> None:
    text = equations.page()
    assert all(f"| {equation} |" in text for equation in equations.names())
    assert equations.formulas().keys() == equations.names().keys()

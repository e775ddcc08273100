"""The classes of tfmrc in Keras' registry, imported when Keras looks for one of them.

So `keras.models.load_model` needs only `import tfmrc`, which imports neither subpackages nor Keras.
The dict of Keras' registry is private; `tests/test_architecture.py` fails if a new version of Keras
moves it.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

REGISTRY = "keras.src.saving.object_registration"
ROOMS = ("models", "losses", "training", "encoders")  # in this order, until the class is there


class _Classes(dict[str, Any]):
    def __contains__(self, name: object) -> bool:
        if isinstance(name, str) and name.startswith("tfmrc>"):
            for room in ROOMS:
                if super().__contains__(name):
                    break
                importlib.import_module(f"tfmrc.{room}")
        return super().__contains__(name)


class _Finder:
    """Finds Keras' registry if Keras is imported after tfmrc."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != REGISTRY:
            return None
        sys.meta_path.remove(cls)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module: ModuleType) -> None:
                execute(module)
                _replace(module)

            spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


def _replace(module: ModuleType) -> None:
    names = vars(module)
    names["GLOBAL_CUSTOM_OBJECTS"] = _Classes(names["GLOBAL_CUSTOM_OBJECTS"])


def register_on_demand() -> None:
    """Lets Keras find the classes of tfmrc, whether or not Keras is imported yet."""
    if REGISTRY in sys.modules:
        _replace(sys.modules[REGISTRY])
    else:
        sys.meta_path.insert(0, _Finder)

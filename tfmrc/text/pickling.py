"""Mixin of objects with lookup tables, which are pickled as what they are made of."""

import copy
from typing import Any, Self


class Pickled:
    """Copies an object attribute by attribute; its `__reduce__` is for pickles alone.

    TensorFlow copies a table, but cannot pickle it.
    """

    def __copy__(self) -> Self:
        return self._with(dict(self.__dict__))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        result = memo[id(self)] = self._with({})
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return result

    def _with(self, attributes: dict[str, Any]) -> Self:
        result = type(self).__new__(type(self))
        result.__dict__.update(attributes)
        return result

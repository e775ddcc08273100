"""The registry of formats: the readers of data files by the names that recipes use."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

from tfmrc.data.example import Example
from tfmrc.utils.arguments import suggestion

Reader = TypeVar("Reader", bound=Callable[..., Iterable[Example]])


@dataclass(frozen=True)
class Format:
    """A format of data files and its reader.

    Attributes:
        name: str. The name in recipes.
        reader: Function that returns examples. The first argument is the file. The argument
            `style` or `styles` gets the styles of the answers; the others are options.
        one_style: bool. Whether the answers have one style.
        files: dict from an option that names a further file to a function that returns the
            usual place of this file from that of the first. Default: none.
        is_file: bool. Whether the first argument is a file; False for data that tfmrc ships.
            Default: True.
    """

    name: str
    reader: Callable[..., Iterable[Example]]
    one_style: bool
    files: Mapping[str, Callable[[Path], Path]] = field(default_factory=dict)
    is_file: bool = True

    def besides(self, path: str | PathLike[str], options: Mapping[str, Any]) -> dict[str, Path]:
        """Returns the further files by option; a relative one is in the folder of the first."""
        first = Path(path)
        return {
            name: first.parent / options[name] if name in options else place(first)
            for name, place in self.files.items()
        }

    def read(
        self, path: str | PathLike[str], styles: Sequence[str], **options: Any
    ) -> Iterable[Example]:
        """Returns the examples of a file.

        Args:
            path: str or path. The file, or the name of a shipped split.
            styles: sequence of str. Styles of the answers, the first one for readers of one style.
            **options: Options of the reader.
        """
        given = {"style": styles[0], "styles": tuple(styles)}
        known = inspect.signature(self.reader).parameters.keys() & given
        named = {name: given[name] for name in known}
        return self.reader(path, **named | options | self.besides(path, options))


_FORMATS: dict[str, Format] = {}


def register_format(
    name: str,
    *,
    one_style: bool | None = None,
    files: Mapping[str, Callable[[Path], Path]] | None = None,
    is_file: bool = True,
) -> Callable[[Reader], Reader]:
    """Registers the decorated reader as a format of data files.

    Args:
        name: str. The name in recipes.
        one_style: bool or None. Whether the answers have one style. Default: None, whether the
            reader has an argument `style`.
        files, is_file: See `Format`.

    Example:

    >>> from tfmrc.data.stream import ExampleStream
    >>> @register_format("lines")
    ... def read_lines(path, *, style="line", on_error="raise"):
    ...     def read(account):
    ...         for number, line in enumerate(open(path)):
    ...             question, passage, answer = line.rstrip().split("|")
    ...             yield Example(str(number), question, (passage,), {style: (answer,)})
    ...     return ExampleStream(read, on_error)
    >>> find_format("lines").reader is read_lines
    True
    """

    def register(reader: Reader) -> Reader:
        has_one = "style" in inspect.signature(reader).parameters
        single = has_one if one_style is None else one_style
        _FORMATS[name] = Format(name, reader, single, files or {}, is_file)
        return reader

    return register


def find_format(name: str) -> Format:
    """Returns the format of a name.

    Raises:
        ValueError: No reader is registered by this name; the message has the nearest known one.

    Example:

    >>> find_format("squat")
    Traceback (most recent call last):
    ...
    ValueError: There is no format 'squat'; did you mean squad?
    """
    known = formats()
    if name not in known:
        raise ValueError(f"There is no format {name!r}{suggestion(name, known)}")
    return known[name]


def formats() -> dict[str, Format]:
    """Returns all formats by name: those of the modules beside this one, and users' own."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
    return dict(sorted(_FORMATS.items()))

"""Formats of the sources: the reader of each format and its files."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.data import Example
from tfmrc.data.formats.detect import summaries_of
from tfmrc.experiments.settings import Source

Read = Callable[..., Iterable[Example]]
NO_QUESTION = "?"
HIDDEN = ("question", "passages")


@dataclass(frozen=True)
class SourceFormat:
    """A file format and its reader.

    Attributes:
        read: Function of path, styles and options that returns examples.
        options: A function whose keyword arguments are the options.
        one_style: bool. Whether the answers have one style. Default: True.
        besides: Function of a file and the options that returns further files.
        is_file: bool. Whether `train` and `test` name files. Default: True.
    """

    read: Read
    options: Callable[..., Any]
    one_style: bool = True
    besides: Callable[[Path, dict[str, Any]], list[Path]] = lambda path, options: []
    is_file: bool = True


def _read_corpus(name: Path, styles: tuple[str, ...], hide: str | None = None) -> "Corpus":
    return Corpus(name.name, hide)


@dataclass(frozen=True)
class Corpus:
    """A split of the shipped corpus, optionally with questions or passages hidden.

    Args:
        split: str. `"train"`, `"dev"` or `"test"`.
        hide: str or None. `"question"`, `"passages"` or None. Hidden part, to measure a blind
            model. Default: None.

    Raises:
        ValueError: If `hide` is none of these.
    """

    split: str
    hide: str | None = None

    def __post_init__(self) -> None:
        if self.hide not in (None, *HIDDEN):
            raise ValueError(f"Hide one of {', '.join(HIDDEN)}. Received: hide={self.hide!r}")

    def __iter__(self) -> Iterator[Example]:
        for example in data.load_corpus(self.split):
            yield example if self.hide is None else blinded(example, self.hide)


def blinded(example: Example, hide: str) -> Example:
    """Returns the example with its question or its passages hidden; labels and answers stay."""
    if hide == "question":
        return replace(example, question=NO_QUESTION)
    return replace(example, passages=("",) * len(example.passages), spans=())


def corpus_options(hide: str | None = None) -> None:
    """Declares the options of the format `corpus`: `hide` the `"question"` or the `"passages"`."""


def _read_small_squad(name: Path, styles: tuple[str, ...]) -> Iterable[Example]:
    return data.load_small_squad(name.name, style=styles[0])


def no_options() -> None:
    """Declares the options of the format `small_squad`: none."""


def _read_squad(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_squad(path, style=styles[0], **options)


def _read_passages(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.squad_for_masque(path, style=styles[0], **options)


def _summaries(path: Path, options: dict[str, Any]) -> list[Path]:
    named = options.get("summaries")
    return [summaries_of(path) if named is None else path.parent / named]


def _read_narrativeqa(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    [summaries] = _summaries(path, options)
    options.pop("summaries", None)
    return data.read_narrativeqa(path, summaries, style=styles[0], **options)


def _read_dream(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_dream(path, style=styles[0], **options)


def _read_msmarco(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_msmarco(path, styles=styles, **options)


def _read_examples(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_examples(path, **options)


def _questions(path: Path, options: dict[str, Any]) -> list[Path]:
    return [path.with_name(path.name.replace("src", "tgt", 1))]


def _read_pairs(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_pairs(path, *_questions(path, options), **options)


def _read_triviaqa(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    evidence = options.pop("evidence", None) or path.resolve().parents[1] / "evidence"
    return data.read_triviaqa(path, evidence, style=styles[0], **options)


def _read_wikiqa(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_wikiqa(path, style=styles[0], **options)


def _read_table(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_table(path, style=styles[0], **options)


def formats() -> dict[str, SourceFormat]:
    """Returns all formats by name."""
    return {
        "corpus": SourceFormat(_read_corpus, corpus_options, one_style=False, is_file=False),
        "dream": SourceFormat(_read_dream, data.read_dream),
        "examples": SourceFormat(_read_examples, data.read_examples, one_style=False),
        "msmarco": SourceFormat(_read_msmarco, data.read_msmarco, one_style=False),
        "narrativeqa": SourceFormat(_read_narrativeqa, data.read_narrativeqa, besides=_summaries),
        "pairs": SourceFormat(_read_pairs, data.read_pairs, besides=_questions),
        "small_squad": SourceFormat(_read_small_squad, no_options, is_file=False),
        "squad": SourceFormat(_read_squad, data.read_squad),
        "squad_passages": SourceFormat(_read_passages, data.squad_for_masque),
        "table": SourceFormat(_read_table, data.read_table, one_style=False),
        "triviaqa": SourceFormat(_read_triviaqa, data.read_triviaqa),
        "wikiqa": SourceFormat(_read_wikiqa, data.read_wikiqa),
    }


def files_of(source: Source, name: str, folder: Path, options: dict[str, Any]) -> list[Path]:
    """Returns a source's file and further files that belong to it.

    Raises:
        ValueError: If one of them does not exist.
    """
    known = formats()[source.format]
    if not known.is_file:
        return []
    path = folder / name
    files = [path, *known.besides(path, {**source.options, **options})]
    for file in files:
        if not file.is_file():
            raise ValueError(f"A file of the experiment does not exist. Received: {file}")
    return files


def read(
    source: Source, name: str, folder: Path, options: dict[str, Any] | None = None
) -> Iterable[Example]:
    """Returns the examples of one file of a source.

    Raises:
        ValueError: If the file does not exist.
    """
    options = {**source.options, **(options or {})}
    files_of(source, name, folder, options)
    return formats()[source.format].read(folder / name, source.styles, **options)

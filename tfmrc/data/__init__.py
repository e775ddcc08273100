"""Examples, readers of official files, splits, the shipped corpus and tf.data pipelines.

Names are imported when they are first used: reading files does not load TensorFlow.
"""

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "Example": "example",
    "ExampleStream": "stream",
    "Record": "record",
    "RecordError": "stream",
    "Report": "stream",
    "Span": "example",
    "TagCache": "tagging",
    "batched": "pipeline",
    "best_span": "answer_spans",
    "load_corpus": "corpus",
    "num_steps": "record",
    "padding_share": "pipeline",
    "read_dream": "dream",
    "read_examples": "example",
    "read_msmarco": "msmarco",
    "read_narrativeqa": "narrativeqa",
    "read_pairs": "pairs",
    "read_squad": "squad",
    "read_triviaqa": "triviaqa",
    "read_wikiqa": "wikiqa",
    "records": "record",
    "spacy_tagger": "tagging",
    "split_by_group": "splits",
    "split_summary": "windows",
    "squad_for_masque": "squad_masque",
    "with_best_spans": "answer_spans",
    "with_exact_spans": "exact_spans",
    "words_tagger": "tagging",
    "write_examples": "example",
    "write_squad": "squad_form",
}

if TYPE_CHECKING:
    from tfmrc.data.answer_spans import best_span, with_best_spans
    from tfmrc.data.corpus import load_corpus
    from tfmrc.data.dream import read_dream
    from tfmrc.data.exact_spans import with_exact_spans
    from tfmrc.data.example import Example, Span, read_examples, write_examples
    from tfmrc.data.msmarco import read_msmarco
    from tfmrc.data.narrativeqa import read_narrativeqa
    from tfmrc.data.pairs import read_pairs
    from tfmrc.data.pipeline import batched, padding_share
    from tfmrc.data.record import Record, num_steps, records
    from tfmrc.data.splits import split_by_group
    from tfmrc.data.squad import read_squad
    from tfmrc.data.squad_form import write_squad
    from tfmrc.data.squad_masque import squad_for_masque
    from tfmrc.data.stream import ExampleStream, RecordError, Report
    from tfmrc.data.tagging import TagCache, spacy_tagger, words_tagger
    from tfmrc.data.triviaqa import read_triviaqa
    from tfmrc.data.wikiqa import read_wikiqa
    from tfmrc.data.windows import split_summary

__all__ = [
    "Example",
    "ExampleStream",
    "Record",
    "RecordError",
    "Report",
    "Span",
    "TagCache",
    "batched",
    "best_span",
    "load_corpus",
    "num_steps",
    "padding_share",
    "read_dream",
    "read_examples",
    "read_msmarco",
    "read_narrativeqa",
    "read_pairs",
    "read_squad",
    "read_triviaqa",
    "read_wikiqa",
    "records",
    "spacy_tagger",
    "split_by_group",
    "split_summary",
    "squad_for_masque",
    "with_best_spans",
    "with_exact_spans",
    "words_tagger",
    "write_examples",
    "write_squad",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)

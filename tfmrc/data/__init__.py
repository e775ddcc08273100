"""Examples, readers of official files, splits, the shipped data and tf.data pipelines.

Names are imported lazily, so reading files does not load TensorFlow.
"""

from typing import TYPE_CHECKING

from tfmrc.lazy import lazy_imports

_HOMES = {
    "Example": "example",
    "ExampleStream": "stream",
    "RecordError": "stream",
    "Report": "stream",
    "Span": "example",
    "TagCache": "transforms.tagging",
    "TrainingExample": "batching.training_example",
    "best_span": "transforms.answer_spans",
    "cloze_questions": "transforms.cloze",
    "load_corpus": "corpus",
    "load_small_squad": "small_squad",
    "make_dataset": "batching.dataset",
    "num_steps": "batching.training_example",
    "padding_share": "batching.dataset",
    "read_dream": "formats.dream",
    "read_examples": "formats.examples",
    "read_file": "formats.detect",
    "read_msmarco": "formats.msmarco",
    "read_narrativeqa": "formats.narrativeqa",
    "read_pairs": "formats.pairs",
    "read_squad": "formats.squad",
    "read_table": "formats.tables",
    "read_triviaqa": "formats.triviaqa",
    "read_wikiqa": "formats.wikiqa",
    "records": "batching.training_example",
    "spacy_tagger": "transforms.tagging",
    "split_by_group": "transforms.splits",
    "split_summary": "transforms.windows",
    "squad_for_masque": "transforms.squad_masque",
    "with_best_spans": "transforms.answer_spans",
    "with_exact_spans": "transforms.exact_spans",
    "words_tagger": "transforms.tagging",
    "write_examples": "formats.examples",
    "write_squad": "formats.squad_writer",
}

if TYPE_CHECKING:
    from tfmrc.data.batching.dataset import make_dataset, padding_share
    from tfmrc.data.batching.training_example import TrainingExample, num_steps, records
    from tfmrc.data.corpus import load_corpus
    from tfmrc.data.example import Example, Span
    from tfmrc.data.formats.detect import read_file
    from tfmrc.data.formats.dream import read_dream
    from tfmrc.data.formats.examples import read_examples, write_examples
    from tfmrc.data.formats.msmarco import read_msmarco
    from tfmrc.data.formats.narrativeqa import read_narrativeqa
    from tfmrc.data.formats.pairs import read_pairs
    from tfmrc.data.formats.squad import read_squad
    from tfmrc.data.formats.squad_writer import write_squad
    from tfmrc.data.formats.tables import read_table
    from tfmrc.data.formats.triviaqa import read_triviaqa
    from tfmrc.data.formats.wikiqa import read_wikiqa
    from tfmrc.data.small_squad import load_small_squad
    from tfmrc.data.stream import ExampleStream, RecordError, Report
    from tfmrc.data.transforms.answer_spans import best_span, with_best_spans
    from tfmrc.data.transforms.cloze import cloze_questions
    from tfmrc.data.transforms.exact_spans import with_exact_spans
    from tfmrc.data.transforms.splits import split_by_group
    from tfmrc.data.transforms.squad_masque import squad_for_masque
    from tfmrc.data.transforms.tagging import TagCache, spacy_tagger, words_tagger
    from tfmrc.data.transforms.windows import split_summary

__all__ = [
    "Example",
    "ExampleStream",
    "RecordError",
    "Report",
    "Span",
    "TagCache",
    "TrainingExample",
    "best_span",
    "cloze_questions",
    "load_corpus",
    "load_small_squad",
    "make_dataset",
    "num_steps",
    "padding_share",
    "read_dream",
    "read_examples",
    "read_file",
    "read_msmarco",
    "read_narrativeqa",
    "read_pairs",
    "read_squad",
    "read_table",
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

__getattr__, __dir__ = lazy_imports(__name__, _HOMES)

from .batching.dataset import make_dataset as make_dataset, padding_share as padding_share
from .batching.training_example import TrainingExample as TrainingExample, records as records
from .example import Example as Example, Span as Span
from .formats.corpus import load_corpus as load_corpus
from .formats.detect import read_file as read_file
from .formats.dream import read_dream as read_dream
from .formats.examples import read_examples as read_examples, write_examples as write_examples
from .formats.msmarco import read_msmarco as read_msmarco
from .formats.narrativeqa import read_narrativeqa as read_narrativeqa
from .formats.pairs import read_pairs as read_pairs
from .formats.registry import (
    Format as Format,
    find_format as find_format,
    register_format as register_format,
)
from .formats.small_squad import load_small_squad as load_small_squad
from .formats.squad import read_squad as read_squad
from .formats.squad_passages import squad_for_masque as squad_for_masque
from .formats.tables import read_table as read_table
from .formats.triviaqa import read_triviaqa as read_triviaqa
from .formats.wikiqa import read_wikiqa as read_wikiqa
from .stream import Account as Account, ExampleStream as ExampleStream, RecordError as RecordError
from .transforms.answer_spans import best_span as best_span, with_best_spans as with_best_spans
from .transforms.exact_spans import with_exact_spans as with_exact_spans
from .transforms.splits import split_by_group as split_by_group
from .transforms.tagging import (
    TagCache as TagCache,
    spacy_tagger as spacy_tagger,
    words_tagger as words_tagger,
)
from .transforms.with_sentences import (
    sentence_spans as sentence_spans,
    with_sentences as with_sentences,
)

"""An index of documents and the model that reads them: questions in, cited answers out."""

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from os import PathLike
from typing import Any, Self, cast

from tfmrc.documents.answer import DocumentAnswer, cite, span_query
from tfmrc.documents.document import Passage
from tfmrc.documents.store import DocumentStore, open_store
from tfmrc.documents.vectors import DEPTH, encode, join
from tfmrc.predictors.protocols import PredictorLike

NUM_PASSAGES = 10
CANDIDATES = 5  # spans of a passage, of which those that overlap are left out


class DocumentCollection:
    """Answers questions from documents, with the place of each answer.

    Args:
        store: `DocumentStore`. The index.
        model: str, path or predictor. What `tfmrc.load` loads, at the first question, or its
            result. Default: "ready".

    Example:

    >>> import pathlib, tempfile, tfmrc
    >>> from tfmrc import documents, encoders, models, preprocessing
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "owls.md").write_text("# Owls\\n\\nAn owl flew.")
    >>> _ = documents.index(folder, folder / "owls.index")
    >>> encoder = encoders.from_vocabulary("what flew an owl ? .".split())
    >>> reader = tfmrc.Predictor(
    ...     models.ExtractiveReader(encoder=encoder),
    ...     preprocessing.ExtractiveReaderPreprocessor(encoder=encoder))
    >>> with documents.load(folder / "owls.index", model=reader) as collection:
    ...     answer = collection.answer(question="What flew?")
    ...     text = collection.document_text(answer.document)
    >>> answer.document, answer.heading, text[answer.start : answer.end] == answer.text
    ('owls.md', ('Owls',), True)
    """

    def __init__(
        self, store: DocumentStore, model: str | PathLike[str] | PredictorLike = "ready"
    ) -> None:
        self.store = store
        self._model = model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    @property
    def predictor(self) -> PredictorLike:
        """The predictor that reads the passages."""
        from tfmrc.predictors.load import load as load_predictor

        if isinstance(self._model, str | PathLike):
            self._model = load_predictor(self._model)
        return cast(PredictorLike, self._model)

    def search(self, question: str, k: int = NUM_PASSAGES) -> list[Passage]:
        """Returns the k different passages that fit a question best, with their scores.

        A score is BM25 as a share of the best passage's; in an index with vectors, twice the
        cosine is added.
        """
        depth = max(k, DEPTH)
        near = self.store.nearest(encode([question])[0], depth) if self.store.dense else []
        return join(self.store.search(question, depth), near, k)

    def document_text(self, name: str) -> str:
        """Returns the text of a document, to which the places of answers refer.

        Raises:
            KeyError: If there is no such document.
        """
        return self.store.document_text(name)

    def answer(
        self,
        *,
        question: str,
        num_passages: int = NUM_PASSAGES,
        num_alternatives: int = 3,
        style: str | None = None,
        **options: Any,
    ) -> DocumentAnswer:
        """Answers one question from the passages that fit it best.

        A reader of spans reads each alone, and its spans get one distribution: see
        `tfmrc.documents.answer.join_spans`. A model that writes reads them together.

        Args:
            question: str. The question.
            num_passages: int. Number of passages that are read. Default: 10.
            num_alternatives: int. Largest number of further candidates; an evidence reader gives
                all its spans. Default: 3.
            style: str or None. The answer style; None for the first one. Default: None.
            **options: Options of the predictor, such as `min_probability`.

        Returns:
            A `DocumentAnswer`; its text is `""` if no passage has a word of the question, or the
            model found no answer.
        """
        from tfmrc.predictors.options import EvidenceOptions

        passages = self.search(question, num_passages)
        if not passages:
            return DocumentAnswer("", is_confident=False)
        predictor = self.predictor
        kind = getattr(predictor, "options_class", None)
        if finds_spans(predictor):
            if kind is not None:
                options = {"num_return_sequences": CANDIDATES} | options
            query = span_query(question, passages)
            result = query.read(predictor.run(query.signature, query.inputs, **options))
        else:
            texts = [passage.text for passage in passages]
            result = predictor.answer(question=question, passages=texts, style=style, **options)
        if kind is EvidenceOptions:
            num_alternatives = len(result.alternatives)
        return cite(result, passages, num_alternatives)

    def predict(
        self,
        examples: Iterable[Any],
        *,
        task: str | None = None,
        batch_size: int = 1,
        **options: Any,
    ) -> Iterator[DocumentAnswer]:
        """Yields the answers to many questions, in their order.

        Args:
            examples: iterable. Objects with a `question`, as `tfmrc.data.Example`; their passages
                are not read.
            task: str or None. A task of the predictor; None for the first one. Default: None.
            batch_size: int. Unused: the passages of one question are a batch. Default: 1.
            **options: As of `answer`.
        """
        style = cast(Any, self.predictor).task(task).style
        for example in examples:
            yield self.answer(question=example.question, style=style, **options)

    @property
    def digest(self) -> str:
        """A digest of the documents, which changes with what is found."""
        return sha256(json.dumps(sorted(self.store.versions().items())).encode()).hexdigest()


def finds_spans(predictor: PredictorLike) -> bool:
    """Returns True for a reader of spans, or an export of one."""
    from tfmrc.predictors.options import ReaderOptions, SpanOptions

    exported = getattr(predictor, "saved_model", None)
    signature = exported and exported.signatures.get("serving_default")
    if signature:
        return "starts" in signature.outputs
    return getattr(predictor, "options_class", None) in (ReaderOptions, SpanOptions)


def load(
    path: str | PathLike[str], model: str | PathLike[str] | PredictorLike = "ready"
) -> DocumentCollection:
    """Opens an index of documents to ask questions about them.

    Args:
        path: str or path. The index, as of `open_store`.
        model: str, path or predictor. What `tfmrc.load` loads, at the first question, or its
            result. Default: "ready", the reader of English that comes with tfmrc.

    Raises:
        FileNotFoundError: If there is no index.
        ValueError: If it is damaged or of another version.

    Example:

    >>> load("nowhere.index")
    Traceback (most recent call last):
    ...
    FileNotFoundError: There is no index nowhere.index: `tfmrc index FOLDER --to nowhere.index` \
makes one.
    """
    return DocumentCollection(open_store(path), model)

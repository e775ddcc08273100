"""Haystack: a reader as a component of a pipeline, behind a retriever.

Needs `pip install tfmrc[haystack]`.
"""

from typing import Any

import haystack
from haystack import Document, ExtractedAnswer, component

from tfmrc.experiments.loaded import open_model
from tfmrc.predictors import DecodingOptions, EvidenceOptions, SpanAnswer
from tfmrc.utils.arguments import check_whole_numbers


@component
class Reader:
    """Finds the answer to a query in the documents that a retriever returns.

    All spans of all documents share one distribution, so the scores of answers from different
    documents can be compared. Documents without text are left
    out. An export gives as many answers as it was made for.

    Args:
        model: str. What `tfmrc.load` loads: a saved predictor, a run, an export, a folder of
            Hugging Face or `hf://owner/name`, of a model whose answers are spans.
        top_k: int. Greatest number of answers. Default: 1.
        options: dict or None. Further options of the predictor, such as
            `{"min_probability": 0.5}`. Default: None.

    Example:

        from haystack import Document
        from tfmrc.integrations.haystack import Reader

        reader = Reader("runs/san_squad_quick")
        reader.run(query="Who flew?", documents=[Document(content="An owl flew.")])["answers"]
    """

    def __init__(self, model: str, top_k: int = 1, options: dict[str, Any] | None = None):
        self.model, self.top_k, self.options = str(model), top_k, dict(options or {})
        self._predictor: Any = None
        self._options: dict[str, Any] = {}

    def to_dict(self) -> dict[str, Any]:
        """Returns the component as a dict for the YAML of a pipeline."""
        return dict(
            haystack.default_to_dict(self, model=self.model, top_k=self.top_k, options=self.options)
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Reader":
        """Returns the component that `to_dict` described."""
        built: Reader = haystack.default_from_dict(cls, data)
        return built

    def warm_up(self) -> None:
        """Loads the model; a pipeline calls it before its first run.

        Raises:
            ValueError: If an option does not exist or has a wrong value; an export has none.
        """
        if self._predictor is None:
            opened = open_model(self.model, self.options, runtime="auto", exports=True)
            self._predictor, self._options = opened.predictor, opened.options

    @component.output_types(answers=list[ExtractedAnswer])
    def run(
        self, query: str, documents: list[Document], top_k: int | None = None
    ) -> dict[str, list[ExtractedAnswer]]:
        """Answers a query.

        Args:
            query: str. The question.
            documents: list of `Document`. The documents.
            top_k: int or None. Greatest number of answers; None for that of the component.
                Default: None.

        Returns:
            `{"answers": [...]}`, the most probable first. `meta["is_confident"]` is False if the
            reader refuses; `data` is None if the documents have no words.

        Raises:
            ValueError: If `top_k` is not a positive int.
        """
        count = self.top_k if top_k is None else top_k
        check_whole_numbers(1, top_k=count)
        self.warm_up()
        held = [document for document in documents if document.content and document.content.strip()]
        if not held:
            return {"answers": []}
        options, kind = dict(self._options), getattr(self._predictor, "options_class", None)
        if kind is not None and not issubclass(kind, DecodingOptions | EvidenceOptions):
            options["num_return_sequences"] = count  # of the best spans
        best = self._predictor.answer(
            question=query, passages=[document.content for document in held], **options
        )
        answers = (best, *best.alternatives)[:count]
        return {"answers": [_extracted(query, answer, held) for answer in answers]}


def _extracted(query: str, answer: SpanAnswer, documents: list[Document]) -> ExtractedAnswer:
    meta = {"is_confident": answer.is_confident}
    if answer.start < 0:
        return ExtractedAnswer(query=query, score=answer.probability, meta=meta)
    return ExtractedAnswer(
        query=query,
        score=answer.probability,
        data=answer.text,
        document=documents[answer.passage],
        document_offset=ExtractedAnswer.Span(answer.start, answer.end),
        meta=meta,
    )

"""Model Context Protocol: documents as tools of an assistant.

Needs `pip install tfmrc[mcp]`.
"""

from dataclasses import dataclass
from threading import Lock
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

from tfmrc import __version__
from tfmrc.documents import DocumentAnswer, DocumentCollection, Passage

INSTRUCTIONS = (
    "Answers questions from the user's documents. Every quotation stands in the document that it "
    "names, at these characters: quote it word for word, with document and page. If there is no "
    "answer, say that the documents do not answer the question."
)
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)


@dataclass(frozen=True)
class Quotation:
    """Characters of a document.

    Attributes:
        quotation: str. The characters from `start` to `end` of the document's text.
        document: str. Name of the document.
        heading: list of str. The headings above it, the outermost first.
        page: int or None. The page, from 1, or the row of a table.
        start: int. Offset of the first character.
        end: int. Offset after the last one.
        sentence: str. Of an answer: the sentence that it stands in. Default: "".
        probability: float or None. Probability that it answers the question. Default: None.
    """

    quotation: str
    document: str
    heading: list[str]
    page: int | None
    start: int
    end: int
    sentence: str = ""
    probability: float | None = None


@dataclass(frozen=True)
class Answer:
    """What the documents answer.

    Attributes:
        answer: `Quotation` or None. The answer; None if no answer is confident.
        others: list of `Quotation`. Less certain candidates, the best first.
    """

    answer: Quotation | None
    others: list[Quotation]


def documents_server(collection: DocumentCollection) -> MCPServer:
    """Returns a server with two tools; its `run()` serves standard input and output.

    `answer_from_documents` returns an `Answer`, `search_documents` the passages that fit best.

    Args:
        collection: `DocumentCollection`. The documents and the model that reads them.
    """
    server: MCPServer = MCPServer("tfmrc", version=__version__, instructions=INSTRUCTIONS)
    lock = Lock()  # a model answers one question at a time

    def place_of(found: Passage | DocumentAnswer) -> tuple[str, list[str], int | None, int, int]:
        return str(found.document), list(found.heading), found.page, found.start, found.end

    @server.tool(annotations=READ_ONLY)
    def answer_from_documents(
        question: Annotated[str, Field(description="A whole question in the documents' language")],
    ) -> Answer:
        """Answers a question by quotations from the user's documents, with their places."""
        with lock:
            best = collection.answer(question=question)
        found = [
            Quotation(each.quotation, *place_of(each), each.sentence, each.probability)
            for each in (best, *best.alternatives)
            if each.document
        ]
        first = found.pop(0) if found and best.is_confident else None
        return Answer(first, found)

    @server.tool(annotations=READ_ONLY)
    def search_documents(
        query: Annotated[str, Field(description="Words that the passages should have")],
        num_passages: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> list[Quotation]:
        """Finds the passages of the user's documents that fit a query best, with their places."""
        with lock:
            found = collection.search(query, num_passages)
        return [Quotation(each.text, *place_of(each)) for each in found]

    return server

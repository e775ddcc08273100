"""Documents as tools of an assistant, asked by the client of the protocol's own package."""

import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import tfmrc
from tests import fresh_python
from tests.documents.files import pdf
from tfmrc import documents, encoders, models, preprocessing
from tfmrc.integrations.mcp import documents_server
from tfmrc.predictors import SpanAnswer


class Reader:
    """Quotes the word `owl` of each passage; confident without the word `perhaps`."""

    def answer(self, *, question, passages, style, **options):
        found = [
            SpanAnswer(
                "owl", start=text.index("owl"), end=text.index("owl") + 3, passage=number,
                probability=0.5 / (number + 1), is_confident="perhaps" not in question,
            )
            for number, text in enumerate(passages)
            if "owl" in text
        ]  # fmt: skip
        if not found:
            return SpanAnswer("", probability=0.9)
        best, *others = found
        return SpanAnswer(**{**vars(best), "alternatives": tuple(others)})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library") / "pages"
    folder.mkdir()
    lines = [("Birds", 20, 700)], [("An owl sat in the mill.", 10, 700)]
    (folder / "birds.pdf").write_bytes(pdf(lines))
    (folder / "notes.md").write_text("# Owls\n\nThe owl slept until noon.")
    documents.index(folder, folder.with_name("pages.index"))
    return folder.with_name("pages.index")


@pytest.fixture
def call(path):
    """Calls a tool in this process; returns the values of its reply, or the text of its error."""

    async def called(server, name, arguments):
        async with Client(server) as client:
            reply = await client.call_tool(name, arguments)
            return reply.content[0].text if reply.is_error else reply.structured_content

    with documents.load(path, model=Reader()) as collection:
        server = documents_server(collection)
        yield lambda name, **arguments: anyio.run(called, server, name, arguments)


OWL = {
    "quotation": "owl",
    "document": "birds.pdf",
    "heading": ["Birds"],
    "page": 2,
    "start": 10,
    "end": 13,
    "sentence": "An owl sat in the mill.",
    "probability": 0.5,
}


def test_an_answer_is_a_quotation_with_its_place(call, path):
    found = call("answer_from_documents", question="Which owl sat in the mill?")
    assert found["answer"] == OWL
    [other] = found["others"]
    assert (other["document"], other["heading"], other["page"]) == ("notes.md", ["Owls"], None)
    with documents.load(path) as collection:
        for each in (found["answer"], other):
            text = collection.document_text(each["document"])
            assert text[each["start"] : each["end"]] == each["quotation"]


def test_an_answer_that_is_not_confident_is_among_the_others(call):
    found = call("answer_from_documents", question="Which owl sat in the mill, perhaps?")
    assert found["answer"] is None and found["others"][0] == OWL


@pytest.mark.parametrize("question", ["Which llama?", ""])
def test_no_answer_is_said(call, question):
    found = call("answer_from_documents", question=question)
    assert found == {"answer": None, "others": []}


def test_passages_have_their_places(call):
    [found] = call("search_documents", query="noon")["result"]
    assert found["quotation"] == "The owl slept until noon."
    assert (found["document"], found["heading"]) == ("notes.md", ["Owls"])
    assert len(call("search_documents", query="owl mill noon", num_passages=1)["result"]) == 1


def test_wrong_arguments_are_named(call):
    assert "num_passages" in call("search_documents", query="owl", num_passages=0)


@pytest.mark.slow
def test_the_command_speaks_the_protocol_alone(path, tmp_path):
    encoder = encoders.from_vocabulary("which owl sat in the mill ? .".split())
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(encoder=encoder)
    reader = tfmrc.Predictor(models.ExtractiveReader(encoder=encoder), preprocessor)
    folder = str(reader.save(tmp_path / "reader"))
    command = ["-m", "tfmrc", "mcp", folder, "--documents", str(path)]
    environment = fresh_python.environment(TF_CPP_MIN_LOG_LEVEL="0")  # TensorFlow's log
    server = StdioServerParameters(command=sys.executable, args=command, env=environment)

    async def ask():
        async with Client(stdio_client(server)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            question = {"question": "Which owl sat in the mill?"}
            return tools, await client.call_tool("answer_from_documents", question)

    tools, reply = anyio.run(ask)
    assert tools == ["answer_from_documents", "search_documents"]
    quotations = [reply.structured_content["answer"], *reply.structured_content["others"]]
    assert {each["document"] for each in quotations if each} <= {"birds.pdf", "notes.md"}
    assert not reply.is_error and any(quotations)

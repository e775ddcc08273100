"""A program for the environment of `test_packages.py`: a reader behind a retriever of Haystack."""

import os
import re
import sys
from pathlib import Path

from haystack import Document, Pipeline, version
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import tfmrc
from tfmrc import encoders, models, preprocessing, text
from tfmrc.integrations.haystack import Reader

folder = Path(sys.argv[1]) / "reader"
QUESTION = "Who flew, an owl?"
encoder = encoders.from_vocabulary("who what flew slept an a owl cat ? .".split())
predictor = tfmrc.Predictor(
    models.ExtractiveReader(encoder=encoder),
    preprocessing.ExtractiveReaderPreprocessor(encoder=encoder),
)
predictor.save(folder)

store = InMemoryDocumentStore()
texts = ("An owl flew.", "A cat slept.", "Nobody.", "")
store.write_documents([Document(content=each) for each in texts])
pipeline = Pipeline()
pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=4))
pipeline.add_component("reader", Reader(str(folder), top_k=3))
pipeline.connect("retriever.documents", "reader.documents")

found = pipeline.run(
    {"retriever": {"query": QUESTION}, "reader": {"query": QUESTION}},
    include_outputs_from={"retriever"},
)
answers = found["reader"]["answers"]
passages = [d.content for d in found["retriever"]["documents"] if d.content]
best = predictor.answer(question=QUESTION, passages=passages, num_return_sequences=3)
for answer, span in zip(answers, (best, *best.alternatives), strict=True):
    assert (answer.query, answer.data) == (QUESTION, span.text)
    assert answer.document.content == passages[span.passage]
    offset = answer.document_offset
    assert answer.document.content[offset.start : offset.end] == answer.data
    assert abs(answer.score - span.probability) < 1e-6

# A pipeline is written as YAML and read again.
module = "tfmrc.integrations.haystack"
again = Pipeline.loads(pipeline.dumps(), allowed_modules=["haystack", "haystack.*", module])
copy = again.get_component("reader")
assert (copy.model, copy.top_k, copy.options) == (str(folder), 3, {})

reader = Reader(str(folder))
document = Document(content="An owl flew.")
assert reader.run(query=QUESTION, documents=[]) == {"answers": []}
assert reader.run(query=QUESTION, documents=[Document(content=None)]) == {"answers": []}
assert len(reader.run(query=QUESTION, documents=[document], top_k=2)["answers"]) == 2
wordless = Document(content="\u200b")
[none] = reader.run(query=QUESTION, documents=[wordless])["answers"]
assert none.data is None and none.document is None and none.score == 0.0
sure = Reader(str(folder), options={"min_probability": 1.0})
[unsure] = sure.run(query=QUESTION, documents=[document])["answers"]
assert unsure.data and unsure.meta == {"is_confident": False}

# An export gives as many answers as it was made for; SAN's name the documents that they are of.
predictor.export(folder.parent / "export" / "1", num_return_sequences=3)
exported = Reader(str(folder.parent / "export"), top_k=2)
documents = [Document(content=each) for each in texts[:2]]
from_export = exported.run(query=QUESTION, documents=documents)["answers"]
from_folder = reader.run(query=QUESTION, documents=documents, top_k=2)["answers"]
assert [a.data for a in from_export] == [a.data for a in from_folder]
assert len(from_export) == 2
san = tfmrc.Predictor(
    models.SAN(vocabulary_size=12, word_dim=8, units=4, align_dim=4),
    preprocessing.SANPreprocessor(text.Vocabulary("an owl flew a cat slept . who".split())),
)
san.save(folder.parent / "san")
several = Reader(str(folder.parent / "san"), top_k=3).run(query=QUESTION, documents=documents)
for answer in several["answers"]:
    offset = answer.document_offset
    assert answer.document.content[offset.start : offset.end] == answer.data

# The program of the page.
os.chdir(sys.argv[1])
predictor.save("runs/san_squad_quick")
page = Path(__file__).parents[2] / "docs" / "integrations.md"
[program] = re.findall(r"```python\n(from haystack.*?)```", page.read_text("utf-8"), re.DOTALL)
exec(program)
print("done", version.__version__)

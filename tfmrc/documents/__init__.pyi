from .answer import DocumentAnswer as DocumentAnswer
from .collection import DocumentCollection as DocumentCollection, load as load
from .document import (
    Block as Block,
    Document as Document,
    DocumentBuilder as DocumentBuilder,
    Passage as Passage,
)
from .formats.readers import READERS as READERS, read_document as read_document
from .indexing import IndexReport as IndexReport, index as index
from .lancedb_store import LanceDBStore as LanceDBStore
from .passages import split_document as split_document
from .sqlite_store import SQLiteStore as SQLiteStore
from .store import DocumentStore as DocumentStore, open_store as open_store

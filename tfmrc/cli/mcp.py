"""Serve documents to an assistant, as tools.

The Model Context Protocol over standard input and output: an assistant, such as Claude Desktop or
VS Code, starts this command itself. Needs `pip install tfmrc[mcp]`; see docs/how-to/documents.md.
"""

import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout

from tfmrc.cli.parsing import add_shared
from tfmrc.utils.optional import optional_import


def add_arguments(parser: ArgumentParser) -> None:
    what = "the model that reads the documents; default: ready"
    parser.add_argument("model", nargs="?", default="ready", help=what)
    add_shared(parser.add_mutually_exclusive_group(required=True), "--documents")


def run(options: Namespace) -> None:
    with optional_import("tfmrc[mcp]"):
        from tfmrc.integrations.mcp import documents_server
    from tfmrc import documents

    with documents.load(options.documents, options.model) as collection:
        with redirect_stdout(sys.stderr):  # standard output is the protocol's
            _ = collection.predictor
        documents_server(collection).run()

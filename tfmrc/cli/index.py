"""Index a folder of documents, to ask questions about them.

Text, Markdown, HTML, PDF, Word, CSV and JSON lines are read (`pip install tfmrc[documents]`). The
same command brings the index up to date: it reads what is new or changed and removes what is gone.
`tfmrc answer --documents FILE` answers from it.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.utils.pipes import print_text
from tfmrc.utils.progress import show_progress


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("documents", metavar="FOLDER", help="the folder, with those below it")
    parser.add_argument("--to", metavar="FILE", required=True, help="the index")
    parser.add_argument(
        "--passage-length",
        type=int,
        metavar="N",
        help="largest number of subwords of a passage; default: 150",
    )
    parser.add_argument(
        "--dense",
        action="store_true",
        help="also find passages by MiniLM's vectors, without a word of the question; indexing "
        "takes longer",
    )


def run(options: Namespace) -> int:
    from tfmrc import documents
    from tfmrc.documents.passages import PASSAGE_LENGTH

    length = PASSAGE_LENGTH if options.passage_length is None else options.passage_length
    with show_progress():
        report = documents.index(
            options.documents, options.to, passage_length=length, dense=options.dense
        )
    print_text(str(report))
    return 0 if report.documents else 1

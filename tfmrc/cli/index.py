"""Index a folder of documents, to ask questions about them.

Text, Markdown, HTML, PDF, Word, CSV and JSON lines are read (`pip install tfmrc[documents]`). The
same command brings the index up to date: it reads what is new or changed and removes what is gone.
`tfmrc answer --documents FILE` answers from it. After a file that cannot be read the exit status
is 1.
"""

import sys
from argparse import ArgumentParser, Namespace

from tfmrc.utils.pipes import print_text
from tfmrc.utils.progress import show_progress


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="the folder, subfolders included")
    parser.add_argument("--to", metavar="FILE", required=True, help="the index")
    what = "also find passages that share no word with the question, by MiniLM's vectors (slower)"
    parser.add_argument("--dense", action="store_true", help=what)


def run(options: Namespace) -> int:
    from tfmrc import documents

    with show_progress():
        report = documents.index(options.folder, options.to, dense=options.dense)
    print_text(str(report))
    if report.left_out:
        print(f"Files that are not in the index: {len(report.left_out):,}.", file=sys.stderr)
    return 0 if report.documents and not report.left_out else 1

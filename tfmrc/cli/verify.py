"""Compare files with their digests.

The files of predictors, runs and exports are compared with the digests written beside them.
"""

from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="+", help="a predictor, a run, an export or a folder of them"
    )


def run(options: Namespace) -> None:
    from tfmrc.storage import verify

    for folder in options.folder:
        for verified in verify(folder):
            print(verified)

"""The options of the commands that write files and figures."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfmrc.evaluation.commands import file_commands, report_commands

Command = Callable[[str, Callable[[Any], Any], str], argparse.ArgumentParser]


def add(command: Command) -> None:
    """Adds these commands; `command(name, run, about)` creates the parser of one."""
    convert = command("convert", file_commands.convert, "write predictions in an official form")
    predictions(convert, scores=False)
    convert.add_argument(
        "--form", required=True, choices=("msmarco", "squad", "squad-no-answer", "lines")
    )
    convert.add_argument("--output", type=Path, required=True)
    convert.add_argument("--references", type=Path, help="write in the order of this file")
    convert.add_argument("--split", help="NarrativeQA's set: train, valid or test")
    convert.add_argument(
        "--threshold", type=float, help="answerable probability below which no answer is written"
    )

    words = command("attribution", file_commands.attribution, "sources of the words of one answer")
    predictions(words, scores=False)
    words.add_argument("--id", required=True)
    words.add_argument("--output", type=Path, required=True, help="an .html file, or a figure")
    words.add_argument("--source", type=Path, help="JSON lines with the question and passages")

    curves = command("curves", file_commands.curves, "learning curves from a CSV log")
    curves.add_argument("--log", type=Path, required=True)
    curves.add_argument("--output", type=Path, required=True)
    curves.add_argument("--metrics", nargs="+", action="extend")

    heat = command("heatmap", report_commands.heat_map, "attention weights as a heat map")
    heat.add_argument(
        "--input", type=Path, required=True, help="JSON lines: rows (words), weights, columns, id"
    )
    heat.add_argument("--id", help="id of the line; by default the first")
    _picture(heat)

    bars = command("bars", report_commands.bars, "scores of finished runs as bars")
    bars.add_argument(
        "--metrics", type=Path, nargs="+", action="extend", required=True, help="metrics.json files"
    )
    bars.add_argument(
        "--scores",
        nargs="+",
        action="extend",
        required=True,
        help="names, such as duplication_rate",
    )
    _picture(bars)

    seeds = command("seeds", report_commands.seeds, "mean and deviation of runs of several seeds")
    seeds.add_argument(
        "--metrics", type=Path, nargs="+", action="extend", required=True, help="metrics.json files"
    )
    _json(seeds)

    samples = command(
        "samples", report_commands.samples, "answers of several systems or styles side by side"
    )
    samples.add_argument(
        "--predictions",
        nargs="+",
        action="extend",
        required=True,
        metavar="NAME=FILE",
        help="NAME is the style",
    )
    samples.add_argument("--references", type=Path, required=True)
    samples.add_argument("--style", help="style of all files, if the NAMEs are not styles")
    samples.add_argument("--split", help="NarrativeQA's set: train, valid or test")
    samples.add_argument(
        "--ids", nargs="+", action="extend", help="ids of the questions; by default a random sample"
    )
    samples.add_argument("--count", type=int, default=8, help="size of the random sample")
    samples.add_argument("--seed", type=int, default=0, help="seed of the random sample")
    samples.add_argument("--output", type=Path, required=True, help="a Markdown file")
    samples.add_argument("--title", default="Samples")


def predictions(parser: argparse.ArgumentParser, scores: bool = True) -> None:
    """Adds the options of every command that reads one prediction file."""
    parser.add_argument("--predictions", type=Path, required=True)
    parser.add_argument("--style", help="style of the answers, if a file has several")
    if scores:
        _json(parser)


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, help="file for the scores ('-': print only JSON)")


def _picture(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, required=True, help="the files without their ending")
    parser.add_argument("--title", default="")

"""Score a file of predictions.

Predictions are JSON lines (id, answer, style, scores), MS MARCO's candidates or SQuAD's JSON.
References are files of any official form, examples, tables, or MS MARCO's references. Every number
comes with its scorer, version and tokenisation. All metrics that apply are computed.
"""

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmrc.cli.parsing import add_table_options, columns_of
from tfmrc.utils.pipes import print_json


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("predictions", help="the predictions")
    add_options(parser)


def add_options(parser: ArgumentParser) -> None:
    """Adds the references and the options of scoring."""
    parser.add_argument("references", help="the references")
    parser.add_argument(
        "--rules",
        default="plain",
        help="rules of scoring: plain (the default), squad (only exact match and F1), adversarial, "
        "msmarco, narrativeqa, qg, ...",
    )
    parser.add_argument(
        "--metrics", nargs="+", metavar="NAME", help="the metrics; default: all that apply"
    )
    parser.add_argument("--style", help="the style of the answers, if there are several")
    parser.add_argument("--split", help="a split of NarrativeQA's references")
    parser.add_argument(
        "--missing",
        choices=("error", "empty", "leave_out"),
        default="error",
        help="treat a missing prediction as an error (the default), as an empty answer, or leave "
        "its question out",
    )
    parser.add_argument(
        "--tokenizer",
        choices=("english", "unicode", "whitespace", "spacy"),
        help="replace the tokenizer of the rules",
    )
    parser.add_argument(
        "--meteor", action=BooleanOptionalAction, help="compute METEOR; default: as the rules say"
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="P",
        help="probability at which a question counts as answerable (0.5)",
    )
    parser.add_argument(
        "--samples", type=int, default=0, metavar="N", help="resamples for bootstrap intervals (0)"
    )
    add_table_options(parser)
    parser.add_argument("--output", metavar="FOLDER", help="write metrics.json and report.md here")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(options: Namespace) -> None:
    show(report_of(options, {Path(options.predictions).stem: options.predictions}), options)


def report_of(options: Namespace, files: Mapping[str, str]) -> Any:
    """Returns the report of prediction files, by the name of their system."""
    from tfmrc import evaluation
    from tfmrc.data import Account

    account = Account(options.on_error or "raise", "texts", only_labelled=True)
    references = evaluation.read_references(
        options.references,
        style=options.style,
        split=options.split,
        columns=columns_of(options.columns),
        blank_answers=options.blank_answers,
        account=account,
    )
    account.print(Path(options.references).name)
    details: dict[str, str] = {}
    report = evaluation.Report(
        f"{', '.join(files)}: rules {options.rules}",
        dataset=Path(options.references).name,
        split=options.split or f"{len(references):,} questions",
        details=details,
    )
    for system, path in files.items():
        submission = evaluation.Submission(
            evaluation.read_predictions(path, options.style),
            references,
            options.rules,
            missing=options.missing,
            meteor=options.meteor,
            tokenizer=options.tokenizer,
            threshold=options.threshold,
        )
        for scores in evaluation.score(submission, options.metrics):
            report.add(system, scores, samples=options.samples)
            counts = [f"{name} {count:,}" for name, count in scores.counts.items() if count]
            if counts:
                details[f"{system}, {scores.rules}"] = ", ".join(counts)
    return report


def show(report: Any, options: Namespace) -> None:
    """Prints scores, their intervals and differences, and writes the report if requested."""
    if options.json:
        print_json(report.to_json())
    else:
        for system, rows in report.systems.items():
            heading = ""
            print(system)
            for name, row in sorted(rows.items(), key=lambda item: report.tables[item[0]]):
                if report.tables[name] != heading:
                    heading = report.tables[name]
                    print(f"  {heading}:")
                interval = report.intervals.get((system, name))
                print(f"  {row}" if interval is None else f"  {row}, interval {interval}")
        for about, text in report.details.items():
            print(f"{about}: {text}")
        for (system, other), tests in report.tests.items():
            print(f"{system} - {other}, paired bootstrap")
            for name, test in tests.items():
                print(f"  {report.systems[system][name].label} {test}")
    if options.output is not None:
        report.write(options.output)

"""The command line of the evaluation: from prediction and reference files to a table or JSON."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tfmrc.evaluation.commands import compare, file_options, score_commands as commands
from tfmrc.evaluation.commands.file_options import predictions
from tfmrc.evaluation.metrics.rules import RULES

_ABOUT = """Scores prediction files. Predictions are JSON lines (id, answer, style, scores),
MS MARCO's candidate lines or SQuAD's JSON; references are JSON lines, SQuAD's JSON, MS MARCO's
files or NarrativeQA's qaps.csv. Every number comes with its scorer, version and tokenisation."""

_EXAMPLES = """examples:
  python -m tfmrc.evaluation answers --predictions run.jsonl --references dev.jsonl --rules msmarco
  python -m tfmrc.evaluation squad --predictions run.json --references dev-v2.0.json --version 2.0
  python -m tfmrc.evaluation compare --predictions a.jsonl --second b.jsonl --references dev.jsonl
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: list of str or None. The words after the name of the program. By default those of
            the process.

    Returns:
        The exit status: 0, or 2 with a message on standard error.
    """
    options = _parser().parse_args(arguments)
    try:
        result = options.run(options)
    except BrokenPipeError:
        raise
    except (OSError, ValueError, TypeError, ImportError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if result is not None and options.json:
        text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
        if str(options.json) == "-":
            sys.stdout.write(text)
        else:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(text, encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tfmrc.evaluation",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Any], Any], about: str) -> argparse.ArgumentParser:
        added = kinds.add_parser(name, help=about, description=about)
        added.set_defaults(run=run, json=None)
        return added

    answers = command("answers", commands.answers, "ROUGE-L, BLEU and METEOR of generated answers")
    _files(answers)
    _text(answers)
    _resampling(answers)
    _groups(answers)

    squad = command("squad", commands.squad, "exact match and F1 of SQuAD v1.1 and v2.0")
    _files(squad)
    _resampling(squad)
    squad.add_argument("--version", choices=("1.1", "2.0"), default="1.1")
    squad.add_argument(
        "--no-answer",
        type=Path,
        help="JSON object from id to the probability of no answer (v2.0); default: one minus the "
        "predictions' answerable_probability, if they have it",
    )
    squad.add_argument(
        "--normalization",
        choices=("official", "unicode"),
        default="official",
        help="normal form of the text; 'unicode' is not the official one",
    )
    _groups(squad)

    adversarial = command("adversarial", commands.adversarial, "worst variant of AddSent files")
    _files(adversarial)
    _resampling(adversarial)

    ranking = command("ranking", commands.ranking, "MAP and MRR of the passages' relevance")
    _files(ranking)
    _resampling(ranking)
    ranking.add_argument("--field", default="relevance", help="the score to rank by")
    ranking.add_argument("--cutoff", type=int, help="ranks that count (MRR@10: 10)")

    possible = command("answerability", commands.answerability, "F1 of the decision to answer")
    _files(possible)
    _resampling(possible)
    possible.add_argument(
        "--field", default="answerable_probability", help="the score to decide by"
    )
    possible.add_argument("--threshold", type=float, help="threshold that was fixed before")
    possible.add_argument("--dev-predictions", type=Path, help="tune the threshold on these")
    possible.add_argument("--dev-references", type=Path, help="references of --dev-predictions")
    possible.add_argument("--dev-split", help="NarrativeQA's set of --dev-references")
    possible.add_argument("--plot", type=Path, help="plot the precision-recall curve (PNG, SVG)")

    oracle = command("oracle", commands.oracle, "exact match and F1 of the best of K answers")
    _files(oracle)
    oracle.add_argument("-k", type=int, nargs="+", default=[1, 2, 3, 4])
    oracle.add_argument("--version", choices=("1.1", "2.0"), default="1.1")
    oracle.add_argument("--plot", type=Path, help="plot a bar for each K (PNG, SVG)")

    repeats = command("repetition", commands.repetition, "word duplication rates")
    predictions(repeats)
    _resampling(repeats)

    lengths = command("lengths", commands.lengths, "answer length by style and query type")
    _files(lengths)
    lengths.add_argument("--plot", type=Path, help="plot bars with error bars (PNG, SVG)")

    pair = command("compare", compare.compare, "paired bootstrap test of two systems")
    _files(pair)
    _text(pair, compare.FURTHER_RULES)
    pair.add_argument("--field", default="relevance", help="the score to rank by (ranking)")
    pair.add_argument("--second", type=Path, required=True, help="the other prediction file")
    pair.add_argument("--samples", type=int, default=1000)
    pair.add_argument("--seed", type=int, default=0)

    file_options.add(command)
    return parser


def _files(parser: argparse.ArgumentParser) -> None:
    predictions(parser)
    parser.add_argument("--references", type=Path, required=True)
    parser.add_argument("--split", help="NarrativeQA's set: train, valid or test")
    parser.add_argument("--missing", choices=("error", "empty", "leave_out"), default="error")


def _text(parser: argparse.ArgumentParser, further: Sequence[str] = ()) -> None:
    parser.add_argument("--rules", choices=[*sorted(RULES), *further], default="msmarco")
    parser.add_argument("--tokenizer", choices=("english", "unicode", "whitespace", "spacy"))
    parser.add_argument(
        "--meteor",
        action=argparse.BooleanOptionalAction,
        help="by default the rules decide",
    )


def _resampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--samples", type=int, default=0, help="bootstrap resamples (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the resampling")


def _groups(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--by", choices=("question-word", "query-type"), help="break scores down by group"
    )
    parser.add_argument("--plot", type=Path, help="plot the breakdown as bars (PNG, SVG)")

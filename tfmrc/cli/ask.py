"""Ask questions about a passage, or about documents.

From an index of documents comes a table to train on: questions about each passage, without those
that the ready reader answers otherwise.
An export needs TensorFlow and no model code. The key of a server is read from the variable
TFMRC_API_KEY.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli import asking
from tfmrc.cli.parsing import add_shared, utf8
from tfmrc.utils.pipes import print_json, print_text
from tfmrc.utils.progress import show_progress


def add_arguments(parser: ArgumentParser) -> None:
    asking.add_model(parser, "questions", default="ready-qg")
    add_shared(asking.add_passage(parser), "--documents")
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="with --documents: the table (.csv, .tsv, .xlsx), which init reads; default: standard "
        "output, as JSON lines",
    )
    parser.add_argument(
        "--answer", type=utf8, help="what to ask about; default: answers that the model finds"
    )


def run(options: Namespace) -> None:
    with asking.loaded(options.model, options.option) as (predictor, search):
        tasks = getattr(predictor, "tasks", ())  # of a server nothing is known
        if tasks and all(task.target == "answer" for task in tasks):
            raise ValueError(
                f"{options.model} answers questions and does not ask any. "
                "Use a model that asks (MaxoutPointerQG, DAANet)."
            )
        if options.answer is not None and options.documents is None:
            best = predictor.ask(passage=options.passage, answer=options.answer, **search)
            questions = [best, *best.alternatives]
        elif not hasattr(predictor, "generate_from_passage"):
            raise ValueError(
                f"{type(predictor).__name__} does not find answers to ask about; name one by "
                "--answer."
            )
        elif options.documents is None:
            (questions,) = predictor.generate_from_passage([options.passage], **search)
        else:
            from tfmrc import experiments

            with show_progress():
                experiments.ask_documents(predictor, options.documents, options.output, **search)
            return
    if options.json:
        print_json([question.to_json() for question in questions])
    else:
        texts = [question.describe() for question in questions]
        print_text("\n".join(texts) or "(found nothing to ask about)")

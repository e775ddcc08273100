"""Write a recipe for your own questions.

The recipe trains a model on your files: CSV, TSV, JSON, Excel, Parquet, SQuAD or the
form of another dataset.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import add_table_options, table_options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="the recipe's name; writes NAME.yaml")
    parser.add_argument(
        "--model",
        required=True,
        help="reader: finds the answer with a pretrained encoder; san: finds the answer in a "
        "passage; masque: writes the answer from several passages; maxout_pointer_qg: asks "
        "questions; daanet: answers and asks",
    )
    parser.add_argument(
        "--data", required=True, nargs="+", metavar="FILE", help="the questions to train on"
    )
    parser.add_argument("--test", metavar="FILE", help="the questions to report on")
    share = "without --test: share of the questions to report on (0.2)"
    parser.add_argument("--test-share", type=float, default=0.2, metavar="SHARE", help=share)
    add_table_options(parser)
    parser.add_argument(
        "--from",
        dest="start",
        metavar="MODEL",
        help="what the model starts from: a ready model, a run, a saved predictor, or none; "
        "default: the ready model of its kind (English)",
    )
    parser.add_argument(
        "--encoder",
        help="the encoder of a model that starts from none, such as a Hugging Face folder; "
        "default: minilm",
    )


def run(options: Namespace) -> None:
    from tfmrc import experiments

    summary = experiments.init(
        options.name,
        model=options.model,
        data=options.data,
        test=options.test,
        test_share=options.test_share,
        start=options.start,
        encoder=options.encoder,
        **table_options(options),
    )
    print(summary)

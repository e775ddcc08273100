"""Answer one question.

The answer comes from passages, or from an index of documents that `tfmrc index` wrote.
Without a model, the ready reader answers (English). An export needs TensorFlow and no model code.
The key of a server is read from the variable TFMRC_API_KEY.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from tfmrc.cli import asking
from tfmrc.cli.parsing import add_shared, utf8
from tfmrc.utils.pipes import print_json, print_text


def add_arguments(parser: ArgumentParser) -> None:
    asking.add_model(parser, "masque", default="ready")
    parser.add_argument("--question", type=utf8, required=True, help="the question")
    add_shared(asking.add_passage(parser, "append"), "--documents")
    add_shared(parser, "--runtime")
    parser.add_argument("--style", help="a style of the model; default: the first one")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page that shows the source of each word"
    )


def run(options: Namespace) -> None:
    if options.documents is not None:
        answer: Any = _from_documents(options)
    else:
        with asking.loaded(options.model, options.option, options.runtime) as (predictor, search):
            answer = predictor.answer(
                question=options.question, passages=options.passage, style=options.style, **search
            )
    if options.json:
        print_json(answer.to_json())
    else:
        print_text(answer.describe())
    if options.html is not None:
        _write_page(answer, options)


def _from_documents(options: Namespace) -> Any:
    from tfmrc import documents

    with (
        documents.load(options.documents) as found,
        asking.loaded(options.model, options.option, options.runtime) as (predictor, search),
    ):
        return documents.DocumentCollection(found.store, predictor).answer(
            question=options.question, style=options.style, **search
        )


def _write_page(answer: Any, options: Namespace) -> None:
    from tfmrc import evaluation

    if options.documents is not None or (answer.text and not getattr(answer, "words", ())):
        raise ValueError(
            "--html needs --passage and a model that returns the source of each word (Masque). "
            f"Received: --html {options.html}"
        )
    relevance = getattr(answer, "relevance", None)
    page = evaluation.attribution_html(
        answer.to_json().get("words", ()),
        question=options.question,
        passages=options.passage[: len(relevance or options.passage)],
        relevance=relevance,
        title=answer.headline,
        note=", style ".join(part for part in (options.model, options.style) if part),
    )
    Path(options.html).parent.mkdir(parents=True, exist_ok=True)
    Path(options.html).write_text(page, encoding="utf-8")

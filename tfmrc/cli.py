"""The command line: `tfmrc COMMAND ...`, one subcommand for each step from data to answers."""

import argparse
import gc
import importlib
import os
import re
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from tfmrc.utils.arguments import nearest
from tfmrc.utils.memory import keep_freed_memory
from tfmrc.utils.pipes import run_piped

GUIDE = """Machine reading with Keras: train a model, score it, export it, ask it.

Train
  init NAME           write a recipe for your own file of questions
  prepare RECIPE      read the data, split it, count its words
  train RECIPE        train a model or a grid; the same command resumes
Evaluate
  evaluate RUN        answer the test questions and score the answers
  predict RUN         answer the questions of a file
  reproduction        list the papers' tables and figures with their state
Use
  answer MODEL        answer one question
  ask MODEL           ask about a passage
  export RUN          write a SavedModel for TensorFlow Serving
  serve FOLDER        serve all exports of a folder: REST, gRPC, a page
  verify FOLDER       compare files with their digests
  profile EXPORT      show where the time of an answer goes

RECIPE is a YAML file or a recipe of tfmrc (san_squad), RUN the folder that `train`
writes (runs/NAME), MODEL an export, a run or the address of a served model.
`tfmrc COMMAND --help` describes the flags and settings of a command."""

__all__ = ["main", "parser"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: list of str or None. The words after `tfmrc`. Default: those of the process.

    Returns:
        The exit status: 0 for success, 1 for a failure (described on standard error), 130 if
        interrupted, 141 if the reader of the output has closed it (`tfmrc ... | head`), 143 if
        SIGTERM ended a training.

    Raises:
        SystemExit: After `--help` and `--version` (0) and wrong usage (2).
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    return run_piped(lambda: _main(words))


def _main(words: Sequence[str]) -> int:
    program = parser()
    if not words:
        program.print_help()
        return 2
    options = program.parse_args(words)
    try:
        if options.command != "reproduction":
            _import_tensorflow()
        with _said_when_terminated(options.command):
            return _COMMANDS[options.command](options) or 0
    except KeyboardInterrupt as interruption:
        print(f"\n{_interrupted(words, interruption)}", file=sys.stderr)
        return 143 if isinstance(interruption, _Terminated) else 130
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, ImportError) and "pip install" not in str(error):
            raise  # not an extra that is missing, but a broken installation
        print(f"tfmrc {options.command}: {error}", file=sys.stderr)
        return 1


class _Terminated(KeyboardInterrupt):
    """A training that got SIGTERM."""


@contextmanager
def _said_when_terminated(command: str) -> Iterator[None]:
    """SIGTERM raises `_Terminated` in a training, so that its last line says how to resume.

    A second one ends the process at once. Other commands have no such line, or a handler of their
    own (`serve`); a handler of the program that calls `main` is kept.
    """
    is_main = threading.current_thread() is threading.main_thread()
    default = signal.SIG_DFL
    if command != "train" or not is_main or signal.getsignal(signal.SIGTERM) is not default:
        yield
        return

    def terminate(*_: Any) -> NoReturn:
        signal.signal(signal.SIGTERM, default)
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, default)


def _interrupted(words: Sequence[str], interruption: KeyboardInterrupt) -> str:
    """Returns the last line of a command that was interrupted, which says how to go on."""
    command = words[0]
    if command != "train":
        return f"tfmrc {command}: interrupted. To run it again: {shlex.join(['tfmrc', *words])}"
    said = str(interruption) or "Interrupted; what was saved before is kept"
    resume = shlex.join(["tfmrc", *(word for word in words if word != "--fresh")])
    return f"tfmrc train: {said}. To resume: {resume}"


class _Parser(argparse.ArgumentParser):
    """A parser that names the nearest flag when one does not exist."""

    _words: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            message = self._unknown(unknown.split())
        elif message.startswith("the following arguments are required"):
            # A misspelled flag is often the reason why another one is missing.
            words = self._unknown_flags()
            if words:
                message = f"{self._unknown(words)} Also, {message}"
        super().error(message)

    def _unknown_flags(self) -> Sequence[str]:
        """Returns the words from the first flag on that does not exist."""
        for number, word in enumerate(self._words):
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                break
            flag = word.partition("=")[0]
            if flag.startswith("--") and " " not in flag:
                if flag not in self._option_string_actions:
                    return self._words[number:]
        return ()

    def _unknown(self, words: Sequence[str]) -> str:
        word = words[0]
        flag = word.partition("=")[0]
        if "." in flag and flag.startswith("--"):
            value = word.partition("=")[2] or (words[1] if len(words) > 1 else "VALUE")
            return f"a setting is given as `--set {flag[2:]}={value}`. Received: {word}"
        known = [name for name in self._option_string_actions if name.startswith("--")]
        similar = nearest(flag, known)
        hint = f"did you mean {similar}?" if similar else f"the flags are {', '.join(known)}."
        return f"there is no argument {word}; {hint}"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # Unknown words of a subcommand are reported by its own parser, which knows its flags.
        self._words = [str(word) for word in (sys.argv[1:] if args is None else args)]
        before_command = self._unknown_flags() if self._subparsers is not None else ()
        if before_command:
            self.error(f"unrecognized arguments: {' '.join(before_command)}")
        options, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown


class _SettingsHelp(argparse.Action):
    """Prints the help of a command with all settings."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="show this help")

    def __call__(self, parser: Any, *_: Any) -> NoReturn:
        from tfmrc.experiments.loading import describe

        print(parser.format_help())
        print(describe())
        raise SystemExit(0)


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the whole program."""
    from tfmrc import __version__

    program = _Parser(
        prog="tfmrc",
        usage="tfmrc COMMAND ...",
        description=GUIDE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    program.add_argument("--version", action="version", version=f"tfmrc {__version__}")
    commands = program.add_subparsers(
        dest="command",
        metavar="COMMAND",
        prog="tfmrc",
        help=argparse.SUPPRESS,  # the guide lists the commands
        required=True,
        parser_class=_Parser,
    )

    def add(name: str, line: str, description: str, settings: bool = False) -> Any:
        added = commands.add_parser(
            name,
            help=line,
            description=description,
            allow_abbrev=False,
            add_help=not settings,
        )
        if settings:
            added.add_argument("-h", "--help", action=_SettingsHelp)
            added.add_argument(
                "--set",
                nargs="+",
                action="extend",
                default=[],
                metavar="NAME=VALUE",
                help="settings, such as training.epochs=3",
            )
        return added

    def add_data(command: Any) -> None:
        command.add_argument("--data", metavar="FOLDER", help="the data folder (TFMRC_DATA)")

    def add_columns(command: Any) -> None:
        command.add_argument(
            "--columns",
            nargs="+",
            metavar="FIELD=COLUMN",
            help="columns of a table, as question=Frage passages=Text1,Text2; with a column per "
            "style answers.short=COLUMN answers.long=COLUMN",
        )

    def add_grid(command: Any) -> None:
        command.add_argument(
            "--variants", nargs="+", metavar="NAME", help="of a grid; default: all"
        )
        command.add_argument("--seeds", nargs="+", type=int, metavar="N", help="of a grid")

    init = add(
        "init",
        "write a recipe for your own data",
        "Write a recipe that trains a model on a file of questions: CSV, TSV, JSON, JSON lines, "
        "Parquet, SQuAD and other official forms.",
    )
    init.add_argument("name", help="of the recipe; writes NAME.yaml")
    init.add_argument(
        "--model",
        required=True,
        help="san: finds the answer in a passage; masque: writes it from several passages; "
        "maxout_pointer_qg: asks questions; daanet: answers and asks; extractive_reader or "
        "reader: finds the answer with a pretrained encoder",
    )
    init.add_argument("--data", required=True, metavar="FILE", help="the questions to train on")
    init.add_argument("--test", metavar="FILE", help="the questions to report on")
    add_columns(init)
    init.add_argument(
        "--encoder", help="a pretrained encoder, as minilm; default: none, of a reader minilm"
    )
    prepare = add(
        "prepare",
        "read and split the data, count its words",
        "Read a recipe's data, split it, count its words, and print the numbers.",
        settings=True,
    )
    train = add(
        "train",
        "train a recipe, or resume it",
        "Train a recipe. A run that was interrupted resumes from its last checkpoint.",
        settings=True,
    )
    for command in (prepare, train):
        command.add_argument("recipe", help="a YAML file, or the name of a recipe of tfmrc")
        add_data(command)
        command.add_argument("--run", metavar="FOLDER", help="the run's folder (runs/NAME)")
    train.add_argument(
        "--fresh", action="store_true", help="delete the run in the folder and start again"
    )
    train.add_argument(
        "--first-look",
        action="store_true",
        help="train ten steps in runs/NAME_first_look and tell what all of them would take",
    )
    train.add_argument(
        "--from",
        dest="start_from",
        metavar="FOLDER",
        help="trains the model of a run or a saved predictor further",
    )
    add_grid(train)
    evaluate = add(
        "evaluate",
        "score the answers to the test questions",
        "Answer the test questions of a run or grid and score the answers: metrics.json, "
        "report.md, figures. The data is that of the training unless --data names another. With "
        "--input, a saved predictor or a reader of Hugging Face is scored on the questions of a "
        "file; --set then gives options of decoding, and `dtype` for such a reader.",
        settings=True,
    )
    evaluate.add_argument(
        "run", help="a run's folder, a saved predictor, or a reader of Hugging Face"
    )
    evaluate.add_argument("--input", metavar="FILE", help="questions with answers")
    add_columns(evaluate)
    evaluate.add_argument(
        "--output", metavar="FOLDER", help="for the report, with --input; default: none"
    )
    evaluate.add_argument(
        "--rules",
        help="of scoring, with --input: plain (the default), squad (exact match and F1 alone), "
        "narrativeqa, ...",
    )
    add_data(evaluate)
    add_grid(evaluate)
    predict = add(
        "predict",
        "answer the questions of a file",
        "Answer the questions of a file: a table with question and passage (CSV, TSV, JSON, "
        "Parquet), JSON lines with id, question and passages, or an official form.",
        settings=True,
    )
    predict.add_argument(
        "run", help="a run's folder, a saved predictor, or a reader of Hugging Face"
    )
    predict.add_argument("--input", required=True, metavar="FILE", help="the questions")
    add_columns(predict)
    predict.add_argument(
        "--output", metavar="FILE", help="one prediction per line; default: standard output"
    )
    predict.add_argument("--task", help="a task or style of the model; default: the first one")
    predict.add_argument(
        "--format",
        choices=("answers", "full", "squad"),
        help="of standard output: the texts, JSON lines, or one object from id to text; default: "
        "the texts on a terminal, JSON lines elsewhere",
    )
    export = add(
        "export",
        "write a SavedModel",
        "Write a run's model, a saved predictor, or a reader of Hugging Face as a SavedModel on "
        "plain strings.",
        settings=True,
    )
    export.add_argument(
        "run", help="a run's folder, a saved predictor, or a reader of Hugging Face"
    )
    export.add_argument(
        "--to", metavar="FOLDER", help="FOLDER/NAME/VERSION; default: the next of savedmodels/NAME"
    )
    export.add_argument("--overwrite", action="store_true", help="replace a version that exists")
    export.add_argument(
        "--serving-config",
        action="store_true",
        help="also write models.config, batching.config and compose.yaml beside the models, for "
        "TensorFlow Serving in a container",
    )
    _add_serve(add)
    answer = add(
        "answer",
        "answer one question with an export, a trained run or a server",
        "Answer one question. An export needs TensorFlow and no model code; a run's folder or a "
        "saved predictor is loaded as the model that it is. The key of a server is read from the "
        "environment variable TFMRC_API_KEY.",
    )
    answer.add_argument(
        "model",
        help="an export, such as savedmodels/masque/1, a run, or a served model, such as "
        "http://127.0.0.1:8501/v1/models/masque",
    )
    answer.add_argument("--question", type=_text, required=True, help="the question")
    answer.add_argument(
        "--passage", type=_text, action="append", required=True, help="a passage; once for each"
    )
    answer.add_argument("--style", help="a style of the model; default: the first one")
    answer.add_argument("--json", action="store_true", help="print all outputs as JSON")
    answer.add_argument(
        "--html", metavar="FILE", help="write a page that shows the source of each word"
    )
    ask = add(
        "ask",
        "ask about a passage with an export, a trained run or a server",
        "Ask about a passage. An export needs TensorFlow and no model code; a run's folder or a "
        "saved predictor is loaded as the model that it is. The key of a server is read from the "
        "environment variable TFMRC_API_KEY.",
    )
    ask.add_argument(
        "model",
        help="an export, such as savedmodels/questions/1, a run, or a served model, such as "
        "http://127.0.0.1:8501/v1/models/questions",
    )
    ask.add_argument("--passage", type=_text, required=True, help="the passage")
    ask.add_argument(
        "--answer", type=_text, help="what to ask about; default: answers that the export finds"
    )
    ask.add_argument("--json", action="store_true", help="print all outputs as JSON")
    verify = add(
        "verify",
        "compare files with their digests",
        "Compare the files of predictors, runs and exports with the digests written with them.",
    )
    verify.add_argument(
        "folder", nargs="+", help="a predictor, a run, an export or a folder of them"
    )
    profile = add(
        "profile",
        "show where the time of an answer goes",
        "Run an export as TensorFlow Serving does, and show the executed operations, the time by "
        "part of the model, the loops with their steps, and the memory of the process.",
    )
    profile.add_argument("export", help="an export, such as savedmodels/masque/1")
    profile.add_argument(
        "--request",
        metavar="FILE",
        help='JSON such as {"inputs": {"question": ["Who?"], "passages": [["An owl."]]}}; default: '
        "the export's own warm-up request",
    )
    profile.add_argument("--signature", default="serving_default", help="(serving_default)")
    profile.add_argument(
        "--batch-size", type=int, help="rows, those of the request again and again"
    )
    profile.add_argument("--depth", type=int, default=2, help="layers in a part's name (2)")
    profile.add_argument("--repeats", type=int, default=5, help="requests for the time (5)")
    profile.add_argument("--json", action="store_true", help="print all parts as JSON")
    rows = add(
        "reproduction",
        "list the papers' tables and figures with their state",
        "List every table and figure of the four papers with its state and the results of its "
        "runs, read from the reports (metrics.json) below the folders.",
    )
    rows.add_argument(
        "--runs", nargs="+", action="extend", metavar="FOLDER", help="folders of runs (runs)"
    )
    rows.add_argument("--rows", metavar="FILE", help="default: recipes/reproduction.yaml")
    rows.add_argument(
        "--only", nargs="+", action="extend", metavar="ID", help="these rows, with their commands"
    )
    rows.add_argument("--markdown", metavar="FILE", help="also write the list to this file")
    rows.add_argument("--json", metavar="FILE", help="also as JSON; '-' prints only JSON")
    return program


def _add_serve(add: Callable[..., Any]) -> None:
    serve = add(
        "serve",
        "serve all exports of a folder",
        "Serve all exports below a folder with TensorFlow Serving's REST and gRPC protocols, and a "
        "page to try them at the address of REST. New versions are picked up. The server listens "
        "on this machine only, unless --host names another address. It needs the extra "
        "`tfmrc[serve]`.",
    )
    serve.add_argument("folder", help="with the exports NAME/VERSION, such as savedmodels")
    serve.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (127.0.0.1); 0.0.0.0 for all"
    )
    serve.add_argument("--port", type=int, default=8501, help="of REST (8501); 0 for a free one")
    serve.add_argument(
        "--grpc-port", type=int, default=8500, help="of gRPC (8500); 0 for a free one"
    )
    serve.add_argument("--no-grpc", action="store_true", help="serve REST only")
    serve.add_argument(
        "--models-config",
        metavar="FILE",
        help="TensorFlow Serving's models.config: names, versions to serve, labels",
    )
    serve.add_argument(
        "--batching-config", metavar="FILE", help="TensorFlow Serving's batching file"
    )
    serve.add_argument(
        "--poll-seconds",
        type=float,
        default=2.0,
        metavar="S",
        help="between looks for versions (2)",
    )
    serve.add_argument("--no-warm-up", action="store_true", help="do not run warm-up requests")
    serve.add_argument(
        "--api-key-file",
        metavar="FILE",
        help="with the key that requests must have; default: the variable TFMRC_API_KEY, if set",
    )
    serve.add_argument("--certificate", metavar="FILE", help="PEM file, for TLS")
    serve.add_argument("--private-key", metavar="FILE", help="PEM file of the certificate's key")
    serve.add_argument(
        "--cors-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a site whose pages may send requests, such as https://example.org; once for each",
    )
    serve.add_argument("--no-access-log", action="store_true", help="write no line per request")
    serve.add_argument(
        "--limit",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="limits of requests, such as seconds=10 body_bytes=1000000 (see docs/serving.md)",
    )


def _import_tensorflow() -> None:
    """Imports TensorFlow and suppresses the lines that its libraries write while they load.

    If the import fails, the lines are shown. Python's garbage collector rests meanwhile: what is
    imported stays, and the search for garbage in it takes a quarter of the time.
    """
    if "tensorflow" in sys.modules:
        return
    keep_freed_memory()
    # TensorFlow's default on CPUs with AVX-512 VNNI alone, but with AVX2 too it takes less time.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    with tempfile.TemporaryFile() as lines:
        saved = os.dup(2)
        os.dup2(lines.fileno(), 2)
        gc.disable()
        try:
            for name in ("tensorflow", "keras"):
                importlib.import_module(name)
            gc.freeze()
        except ImportError:
            lines.seek(0)
            os.write(saved, lines.read())
            raise
        finally:
            gc.enable()
            os.dup2(saved, 2)
            os.close(saved)


def _recipe(options: Any) -> Any:
    from tfmrc import experiments

    return _settings(experiments.find_recipe(options.recipe), options.set)


def _settings(file: Path, changes: Sequence[str]) -> Any:
    """Returns the settings of a file, changed by `--set`.

    An error names the setting of an option of decoding that is given by its name alone.
    """
    from tfmrc import experiments
    from tfmrc.experiments.building import options_of_decoding

    try:
        return experiments.load(file, *changes)
    except ValueError as error:
        known = options_of_decoding(file)
        for change in changes:
            name = change.partition("=")[0].strip()
            if name in known and f"setting `{name}`" in str(error):
                raise ValueError(
                    "An option of decoding is given as "
                    f"`--set evaluation.options.{change}`. Received: --set {change}"
                ) from error
        raise


def _run(options: Any) -> Any:
    """Returns the settings of a run, changed by `--set`."""
    from tfmrc.experiments import run_folder

    folder = Path(options.run)
    config = folder / run_folder.CONFIG
    if not run_folder.is_run(folder) or not config.is_file():
        from tfmrc.predictors.load import not_a_model

        _, found, models = not_a_model(folder).partition(" Models in ")
        raise ValueError(
            f"{folder} is not a run: `tfmrc train RECIPE.yaml` makes one. A saved predictor or a "
            f"reader of Hugging Face is scored on a file: --input FILE.{found}{models} "
            f"Received: {options.run}"
        )
    return _settings(config, options.set)


def _text(word: str) -> str:
    """Returns an argument of the command line; bytes that are not UTF-8 become U+FFFD.

    Python gives them as lone surrogates, which no text that is encoded may hold.
    """
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", word)


def _columns(words: Sequence[str] | None) -> dict[str, Any]:
    """Returns the columns of `--columns`."""
    columns: dict[str, Any] = {}
    for word in words or ():
        name, _, column = word.partition("=")
        if not column:
            raise ValueError(f"Columns are given as question=COLUMN. Received: --columns {word}")
        field, _, style = name.partition(".")
        if style:
            styles = columns.setdefault(field, {})
            if not isinstance(styles, dict):
                raise ValueError(f"`{field}` is given twice. Received: --columns {word}")
            styles[style] = column
        else:
            columns[field] = column.split(",") if "," in column else column
    return columns


def _init(options: Any) -> None:
    from tfmrc import experiments

    print(
        experiments.init(
            options.name,
            model=options.model,
            data=options.data,
            test=options.test,
            columns=_columns(options.columns),
            encoder=options.encoder,
        )
    )


def _prepare(options: Any) -> None:
    from tfmrc import experiments

    experiments.prepare(_recipe(options), data=options.data, run=options.run)


def _train(options: Any) -> None:
    import json

    from tfmrc import experiments
    from tfmrc.training import NonFiniteError

    if options.start_from is not None:
        options.set = [
            *options.set,
            f"start_from={json.dumps(str(Path(options.start_from).resolve()))}",
        ]
    places = {"data": options.data, "run": options.run}
    chosen = {"variants": options.variants, "seeds": options.seeds}
    try:
        if options.first_look:
            experiments.first_look(_recipe(options), **places, **chosen)
        else:
            experiments.train(_recipe(options), **places, **chosen, fresh=options.fresh)
    except NonFiniteError as error:  # of the settings, and no fault of the program
        raise ValueError(str(error)) from error


def _evaluate(options: Any) -> int:
    from tfmrc import experiments
    from tfmrc.experiments.loading import override
    from tfmrc.experiments.steps.evaluate import verdict

    wrong = (
        ("output", "rules", "columns") if options.input is None else ("data", "variants", "seeds")
    )
    for name in wrong:
        if getattr(options, name) is not None:
            goes = "goes with" if options.input is None else "does not go with"
            raise ValueError(f"--{name} {goes} --input FILE. Received: {getattr(options, name)}")
    if options.input is not None:
        experiments.evaluate_with(
            options.run, options.input, options.output,
            rules=options.rules or "plain", options=override({}, options.set),
            columns=_columns(options.columns),
        )  # fmt: skip
        return 0
    experiment = _run(options)
    folders = experiments.evaluate(
        experiment,
        data=options.data,
        run=options.run,
        variants=options.variants,
        seeds=options.seeds,
    )
    lines, reached = verdict(experiment, folders)
    print("\n".join(lines), end="\n" if lines else "")
    return 0 if reached else 1


def _predict(options: Any) -> None:
    from tfmrc import experiments
    from tfmrc.experiments import run_folder
    from tfmrc.experiments.loading import override

    if not run_folder.is_run(Path(options.run)):
        experiments.predict_with(
            options.run, options.input, options.output,
            task=options.task, form=options.format, options=override({}, options.set),
            columns=_columns(options.columns),
        )  # fmt: skip
        return
    experiments.predict(
        _run(options),
        options.input,
        options.output,
        task=options.task,
        form=options.format,
        run=options.run,
        columns=_columns(options.columns),
    )


def _export(options: Any) -> None:
    from tfmrc import experiments
    from tfmrc.experiments import run_folder
    from tfmrc.experiments.loading import override

    folder = Path(options.run)
    if run_folder.is_run(folder):
        path = experiments.export(
            _run(options), options.run, options.to, overwrite=options.overwrite
        )
    else:
        path = experiments.export_predictor(
            options.run, folder.resolve().name, options.to,
            overwrite=options.overwrite, options=override({}, options.set),
        )  # fmt: skip
    if options.serving_config:
        from tfmrc.serving import write_serving_config

        for file in write_serving_config(Path(path).parents[1], "/models"):
            print(file)


def _serve(options: Any) -> None:
    from tfmrc.serving.command import serve

    serve(options)


def _is_served(model: str) -> bool:
    return "://" in model and not model.startswith("hf://")


def _loaded(folder: str) -> tuple[Any, dict[str, Any]]:
    """Loads an export, run, saved predictor or client, and the options of a run's settings."""
    if _is_served(folder):
        from tfmrc.serving import Client
        from tfmrc.serving.api_key import check_api_key

        key = os.environ.get("TFMRC_API_KEY")
        key = check_api_key(key, "TFMRC_API_KEY") if key else None
        return Client.from_url(folder, api_key=key), {}
    from tfmrc.experiments.predictor import load_any

    return load_any(folder)


@contextmanager
def _graphs_as_they_are(model: str) -> Iterator[None]:
    """TensorFlow optimises no graph, which takes longer than to compute one answer without."""
    if _is_served(model):  # and a client does not import TensorFlow
        yield
        return
    import tensorflow as tf

    off = "disable_meta_optimizer"
    before = tf.config.optimizer.get_experimental_options().get(off, False)
    tf.config.optimizer.set_experimental_options({off: True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({off: before})


def _answer(options: Any) -> None:
    import json

    with _graphs_as_they_are(options.model):
        predictor, search = _loaded(options.model)
        answer = predictor.answer(
            question=options.question, passages=options.passage, style=options.style, **search
        )
    if options.json:
        print(json.dumps(answer.to_json(), ensure_ascii=False, indent=2))
    else:
        print(answer.describe())
    if options.html is not None:
        if answer.text and not getattr(answer, "words", ()):
            raise ValueError(
                "A page shows the source of each word, which only Masque returns. "
                f"Received: --html {options.html}"
            )
        from tfmrc import evaluation

        relevance = getattr(answer, "relevance", None)
        words = evaluation.attribution_of(answer.to_json().get("words", ()))
        page = evaluation.attribution_html(
            **words,
            question=options.question,
            passages=options.passage[: len(relevance or options.passage)],
            relevance=relevance,
            title=answer.text or "(no answer)",
            note=", style ".join(part for part in (options.model, options.style) if part),
        )
        Path(options.html).parent.mkdir(parents=True, exist_ok=True)
        Path(options.html).write_text(page, encoding="utf-8")


def _ask(options: Any) -> None:
    import json

    with _graphs_as_they_are(options.model):
        predictor, search = _loaded(options.model)
        if options.answer is None:
            if not hasattr(predictor, "generate_from_passage"):
                if all(task.target != "question" for task in predictor.tasks):
                    raise ValueError(
                        f"{type(predictor).__name__} does not ask questions. It answers them: "
                        f"`tfmrc answer`. Received: {options.model}"
                    )
                raise ValueError(
                    f"{type(predictor).__name__} finds no answers to ask about; pass --answer. "
                    "Received: no --answer"
                )
            (questions,) = predictor.generate_from_passage([options.passage], **search)
        else:
            best = predictor.ask(passage=options.passage, answer=options.answer, **search)
            questions = [best, *best.alternatives]
    if options.json:
        print(json.dumps([each.to_json() for each in questions], ensure_ascii=False, indent=2))
    else:
        print(
            "\n".join(each.describe() for each in questions) or "(nothing to ask about was found)"
        )


def _verify(options: Any) -> None:
    from tfmrc.storage import verify

    for folder in options.folder:
        for verified in verify(folder):
            print(verified)


def _profile(options: Any) -> None:
    import json
    from dataclasses import asdict

    from tfmrc.serving.profiling import profile, read_request

    found = profile(
        options.export,
        None if options.request is None else read_request(options.request),
        signature=options.signature,
        batch_size=options.batch_size,
        depth=options.depth,
        repeats=options.repeats,
    )
    if options.json:
        print(json.dumps({**asdict(found), "path": str(found.path)}, indent=2))
    else:
        print(found)


def _reproduction(options: Any) -> None:
    from tfmrc.experiments.reproduction.command import reproduction

    reproduction(
        options.runs or (),
        rows=options.rows,
        only=options.only or (),
        markdown=options.markdown,
        json_file=options.json,
    )


_COMMANDS: dict[str, Callable[[Any], int | None]] = {
    "init": _init,
    "prepare": _prepare,
    "train": _train,
    "evaluate": _evaluate,
    "predict": _predict,
    "reproduction": _reproduction,
    "export": _export,
    "serve": _serve,
    "answer": _answer,
    "ask": _ask,
    "verify": _verify,
    "profile": _profile,
}

if __name__ == "__main__":
    sys.exit(main())

"""The program `tfmrc`: its parser, and what holds for every command."""

import argparse
import gc
import importlib
import os
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn

from tfmrc.cli import (
    answer,
    ask,
    calibrate,
    compare,
    doctor,
    evaluate,
    export,
    index,
    init,
    mcp,
    predict,
    prepare,
    score,
    serve,
    train,
    verify,
)
from tfmrc.cli.parsing import Parser, add_shared
from tfmrc.utils.memory import keep_freed_memory
from tfmrc.utils.pipes import print_text, run_piped
from tfmrc.utils.run_imports import import_modules

COMMANDS: dict[str, list[tuple[ModuleType, str]]] = {
    "Train": [(init, "NAME"), (prepare, "RECIPE"), (train, "RECIPE")],
    "Evaluate": [
        (evaluate, "RUN"),
        (predict, "RUN"),
        (score, "FILE"),
        (compare, "FILE FILE"),
        (calibrate, "MODEL"),
    ],
    "Use": [
        (answer, "MODEL"),
        (index, "FOLDER"),
        (ask, "MODEL"),
        (export, "RUN"),
        (serve, "FOLDER"),
        (mcp, "MODEL"),
        (verify, "FOLDER"),
        (doctor, ""),
    ],
}
WITHOUT_TENSORFLOW = (score, compare, index, doctor)

ABOUT = "Machine reading with Keras: train a model, score it, export it, ask it.\n"
WORDS = """
RECIPE is a YAML file or a recipe of tfmrc (san_squad), RUN the folder that `train`
writes (runs/NAME), MODEL an export, a run, the address of a served model, or the
reader `ready` (English). `tfmrc COMMAND --help` describes the flags and settings."""


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
        if options.module not in WITHOUT_TENSORFLOW:
            import_tensorflow()
        import_modules(options.imports)
        with _sigterm_interrupts(options.module is train):
            return options.module.run(options) or 0
    except KeyboardInterrupt as interruption:
        print(f"\n{_interrupted(words, interruption)}", file=sys.stderr)
        return 143 if isinstance(interruption, _Terminated) else 130
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, ImportError) and "pip install" not in str(error):
            raise  # the installation is broken; no extra is missing
        notes = getattr(error, "__notes__", [])
        print_text("\n".join([f"tfmrc {words[0]}: {error}", *notes]), sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the whole program."""
    from tfmrc import __version__

    lines = [ABOUT]
    for group, commands in COMMANDS.items():
        lines.append(group)
        for module, argument in commands:
            summary = (module.__doc__ or "\n").splitlines()[0].rstrip(".")
            lines.append(f"  {f'{_name(module)} {argument}':<18}  {summary}")
    program = Parser(
        prog="tfmrc",
        usage="tfmrc COMMAND ...",
        description="\n".join([*lines, WORDS]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    program.add_argument("--version", action="version", version=f"tfmrc {__version__}")
    subparsers = program.add_subparsers(
        dest="command",
        metavar="COMMAND",
        prog="tfmrc",
        help=argparse.SUPPRESS,  # the description lists the commands
        required=True,
        parser_class=Parser,
    )
    for module, _ in (command for commands in COMMANDS.values() for command in commands):
        added = subparsers.add_parser(_name(module), description=module.__doc__, allow_abbrev=False)
        added.set_defaults(module=module)
        module.add_arguments(added)
        add_shared(added, "--import")
    return program


def import_tensorflow() -> None:
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


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


class _Terminated(KeyboardInterrupt):
    """A training that got SIGTERM."""


@contextmanager
def _sigterm_interrupts(is_training: bool) -> Iterator[None]:
    """SIGTERM raises `_Terminated` in a training, so that its last line says how to resume.

    A second SIGTERM ends the process at once. A handler of the program that calls `main` is kept.
    """
    is_main = threading.current_thread() is threading.main_thread()
    default = signal.SIG_DFL
    if not is_training or not is_main or signal.getsignal(signal.SIGTERM) is not default:
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
    """Returns the last line of an interrupted command, which says how to go on."""
    command = words[0]
    if command != "train":
        return f"tfmrc {command}: interrupted. To run it again: {shlex.join(['tfmrc', *words])}"
    message = str(interruption) or "Interrupted; what was saved before is kept"
    resume = shlex.join(["tfmrc", *(word for word in words if word != "--fresh")])
    return f"tfmrc train: {message}. To resume: {resume}"

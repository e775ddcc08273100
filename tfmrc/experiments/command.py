"""What the commands of all recipes have in common: their first flags, and how they end."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def parser(module: str, description: str | None, config: Path) -> argparse.ArgumentParser:
    """The parser of a recipe's command, with `--config`, `--data` and `--runs`.

    Args:
        module: as it stands behind `python -m`.
        description: what `--help` says, the module's docstring.
        config: the settings where `--config` names no others.

    Returns:
        A parser to which the recipe adds what it takes besides.
    """
    made = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--config", type=Path, default=config, help="the settings, a YAML file")
    made.add_argument("--data", type=Path, help="the data folder (default: TFMRC_DATA)")
    made.add_argument("--runs", type=Path, help="the folder to write (default: runs/NAME)")
    return made


def status(run: Callable[[], int | None]) -> int:
    """Runs a command to its exit status.

    Args:
        run: the command; what it returns is the status, None being 0.

    Returns:
        0 done, 1 failed (the words are on standard error), 130 stopped by hand.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        return run() or 0
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"The recipe failed: {error}", file=sys.stderr)
        return 1

"""Draws the self-attention of a given passage: Figure 5 of Zhao et al. 2018.

    python -m recipes.maxout_pointer_qg_squad.self_attention PREDICTOR --passage TEXT --answer TEXT

PREDICTOR is the folder of a trained predictor, `predictor` in the folder of a run. `tfmrc evaluate`
draws the same for the first test question.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command."""
    program = argparse.ArgumentParser(
        prog="python -m recipes.maxout_pointer_qg_squad.self_attention",
        description=__doc__.partition("\n")[0],
        allow_abbrev=False,
    )
    program.add_argument("predictor", type=Path, help="folder of a trained predictor")
    program.add_argument("--passage", required=True)
    program.add_argument("--answer", required=True, help="a part of the passage")
    program.add_argument("--to", type=Path, default=Path("self_attention"), help="without ending")
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Returns:
        0, or 1 after a message on standard error.
    """
    options = parser().parse_args(arguments)
    try:
        for path in draw(options.predictor, options.passage, options.answer, options.to):
            print(path)
    except (ValueError, OSError) as error:
        print(f"self_attention: {error}", file=sys.stderr)
        return 1
    return 0


def draw(folder: Path, passage: str, answer: str, to: Path) -> list[Path]:
    """Draws the self-attention of a passage.

    Args:
        folder: Path. Folder of a trained predictor.
        passage: str. The passage.
        answer: str. A part of it.
        to: Path. The figure's name without ending.

    Returns:
        The files.

    Raises:
        ValueError: If the predictor has no self-attention, or the passage does not contain the
            answer.
    """
    from tfmrc import Predictor

    predictor = Predictor.load(folder)
    found = predictor.attention(passages=passage, answer=answer)
    if "gated_self_attention" not in found:
        raise ValueError(f"This predictor has no self-attention. Received: {folder}")
    return found["gated_self_attention"].plot(to, f"Answer: {answer}")


if __name__ == "__main__":
    sys.exit(main())

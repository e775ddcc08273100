"""The modules that are mutated, the tests that must notice, and the mutations that say nothing."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOTS = (
    "tfmrc/ops",
    "tfmrc/losses",
    "tfmrc/decoding",
    "tfmrc/data/batching",
    "tfmrc/serving/limits.py",
)

# Beside `tests/ROOM/test_NAME.py`, or in its place. Nothing that takes long: a mutant that survives
# has run them all; and not doctests, before which the tokenizer's graph is made.
_FURTHER = {
    "ops/copying": "ops/test_copying_properties",
    "ops/coverage": "ops/test_words_and_coverage",
    "ops/dropout": "layers/regularization/test_dropout",
    "ops/gradients": "ops/test_attention",
    "ops/ids": "ops/test_shapes_and_positions",
    "ops/masking": "ops/test_copying",
    "ops/maxout": "ops/test_shapes_and_positions",
    "ops/mixture": "layers/heads/test_pointer_generator layers/heads/test_copy_switch",
    "ops/normalization": "layers/encoders/test_layer_normalization",
    "ops/positions": "ops/test_shapes_and_positions",
    "ops/shapes": "ops/test_shapes_and_positions layers/encoders/test_dense",
    "ops/typing": "ops/test_checks",
    "ops/words": "ops/test_words_and_coverage layers/heads/test_maxout_pointer",
    "losses": "losses/test_losses",
    "decoding/beam": "decoding/test_variety decoding/test_parts",
    "decoding/constraints": "decoding/test_parts decoding/test_beam decoding/test_variety",
    "decoding/greedy": "decoding/test_parts",
    "decoding/hypotheses": "decoding/test_beam",
    "decoding/sampling": "decoding/test_parts",
    "data/batching/training_example": "data/batching/test_sampler",
}

#: Tests that start other processes, which takes too long for every surviving mutant.
DESELECTED = ("tests/data/batching/test_dataset.py::test_two_replicas_share_each_global_batch",)

# Each of them would be killed without a test, or is the same as another mutant.
_ARITHMETIC, _BITS = "Add|Sub|Mul|Div|FloorDiv|Mod|Pow", "BitAnd|BitOr|BitXor|LShift|RShift"
_EXCLUDED = re.compile(
    # A TypeError for floats and most tensors: the share of killed mutants would only look better.
    rf"ReplaceBinaryOperator_(({_ARITHMETIC})_({_BITS})|({_BITS})_({_ARITHMETIC}|LShift|RShift))"
    # Whether equal numbers are the same object is the interpreter's choice.
    "|ReplaceComparisonOperator_(?!Is).*_(Is|IsNot)"
    # `+x` is `x`, and of a number `~1` is -2, `not 1` is 0: what other operators give as well.
    "|ReplaceUnaryOperator_USub_(UAdd|Invert|Not)"
)


def modules(root: Path = ROOT) -> list[str]:
    """Returns the modules in scope below a folder that compute something."""
    paths = [root / each for each in ROOTS]
    files = [file for path in paths for file in ([path] if path.is_file() else path.glob("*.py"))]
    return sorted(
        str(file.relative_to(root))
        for file in files
        if file.name not in ("__init__.py", "typing.py")
    )


def tests_of(module: str) -> tuple[str, ...]:
    """Returns the test files that must notice a mutant of a module."""
    room, _, name = module.removeprefix("tfmrc/").removesuffix(".py").rpartition("/")
    further = _FURTHER.get(f"{room}/{name}") or _FURTHER.get(room, "")
    files = [f"tests/{each}.py" for each in (f"{room}/test_{name}", *further.split())]
    return tuple(file for file in files if (ROOT / file).is_file())


def is_excluded(operator: str) -> bool:
    """Returns whether an operator of cosmic-ray, `core/NumberReplacer`, is left out."""
    return _EXCLUDED.fullmatch(operator.rpartition("/")[2]) is not None


def annotations(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Returns where annotations begin and end, (line, column): nothing reads them at run time."""
    result = []
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            found = getattr(node, name, None)
            if isinstance(found, ast.expr):
                end = found.end_lineno or 0, found.end_col_offset or 0
                result.append(((found.lineno, found.col_offset), end))
    return result


def says_nothing(source: str, mutated: str) -> bool:
    """Returns whether a mutant is no program, or the same program."""
    try:
        return ast.dump(ast.parse(source)) == ast.dump(ast.parse(mutated))
    except SyntaxError:
        return True

"""The modules that are mutated, the tests that must notice, and the mutations that say nothing."""

import ast
import re
from pathlib import Path

ROOTS = (
    "tfmrc/ops",
    "tfmrc/losses",
    "tfmrc/decoding",
    "tfmrc/data/batching",
    "tfmrc/serving/limits.py",
)

#: The tests of each module, its own first. Not its doctests, before which the tokenizer's graph is
#: made, and nothing that takes long: a mutant that survives has run them all.
TESTS: dict[str, tuple[str, ...]] = {
    "tfmrc/ops/attention.py": ("tests/ops/test_attention.py",),
    "tfmrc/ops/checks.py": ("tests/ops/test_checks.py",),
    "tfmrc/ops/chunks.py": ("tests/ops/test_chunks.py",),
    "tfmrc/ops/copying.py": (
        "tests/ops/test_copying.py",
        "tests/ops/test_copying_properties.py",
    ),
    "tfmrc/ops/coverage.py": ("tests/ops/test_words_and_coverage.py",),
    "tfmrc/ops/dropout.py": (
        "tests/ops/test_dropout.py",
        "tests/layers/regularization/test_dropout.py",
    ),
    "tfmrc/ops/ids.py": ("tests/ops/test_shapes_and_positions.py",),
    "tfmrc/ops/masking.py": ("tests/ops/test_masking.py", "tests/ops/test_copying.py"),
    "tfmrc/ops/maxout.py": ("tests/ops/test_shapes_and_positions.py",),
    "tfmrc/ops/mixture.py": (
        "tests/ops/test_mixture.py",
        "tests/layers/heads/test_pointer_generator.py",
        "tests/layers/heads/test_copy_switch.py",
    ),
    "tfmrc/ops/normalization.py": ("tests/layers/encoders/test_layer_normalization.py",),
    "tfmrc/ops/own_policy.py": ("tests/ops/test_own_policy.py",),
    "tfmrc/ops/portable.py": ("tests/ops/test_portable.py",),
    "tfmrc/ops/positions.py": ("tests/ops/test_shapes_and_positions.py",),
    "tfmrc/ops/gelu.py": ("tests/ops/test_gelu.py",),
    "tfmrc/ops/gradients.py": ("tests/ops/test_gradients.py", "tests/ops/test_attention.py"),
    "tfmrc/ops/random_numbers.py": ("tests/ops/test_dropout.py",),
    "tfmrc/ops/recurrence.py": ("tests/ops/test_recurrence.py",),
    "tfmrc/ops/replica.py": ("tests/ops/test_replica.py",),
    "tfmrc/ops/shapes.py": (
        "tests/ops/test_shapes_and_positions.py",
        "tests/layers/encoders/test_dense.py",
    ),
    "tfmrc/ops/similarity.py": ("tests/ops/test_similarity.py",),
    "tfmrc/ops/sizes.py": ("tests/ops/test_sizes.py",),
    "tfmrc/ops/spans.py": ("tests/ops/test_spans.py",),
    "tfmrc/ops/words.py": (
        "tests/ops/test_words_and_coverage.py",
        "tests/layers/heads/test_maxout_pointer.py",
    ),
    "tfmrc/losses/sequence_mean.py": ("tests/losses/test_losses.py",),
    "tfmrc/losses/sequence_nll.py": ("tests/losses/test_losses.py",),
    "tfmrc/losses/smoothed_binary_crossentropy.py": ("tests/losses/test_losses.py",),
    "tfmrc/losses/span_position_nll.py": ("tests/losses/test_losses.py",),
    "tfmrc/decoding/beam.py": (
        "tests/decoding/test_variety.py",
        "tests/decoding/test_beam.py",
        "tests/decoding/test_parts.py",
    ),
    "tfmrc/decoding/constraints.py": (
        "tests/decoding/test_parts.py",
        "tests/decoding/test_beam.py",
        "tests/decoding/test_variety.py",
    ),
    "tfmrc/decoding/greedy.py": ("tests/decoding/test_greedy.py", "tests/decoding/test_parts.py"),
    "tfmrc/decoding/groups.py": ("tests/decoding/test_parts.py", "tests/decoding/test_variety.py"),
    "tfmrc/decoding/hypotheses.py": ("tests/decoding/test_beam.py",),
    "tfmrc/decoding/sampling.py": (
        "tests/decoding/test_parts.py",
        "tests/decoding/test_sampling.py",
    ),
    "tfmrc/data/batching/dataset.py": ("tests/data/batching/test_dataset.py",),
    "tfmrc/data/batching/sampler.py": ("tests/data/batching/test_sampler.py",),
    "tfmrc/data/batching/training_example.py": ("tests/data/batching/test_sampler.py",),
    "tfmrc/serving/limits.py": ("tests/serving/test_limits.py",),
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


def modules(root: Path) -> list[str]:
    """Returns the modules in scope below a folder; `__init__.py` only imports."""
    paths = [root / each for each in ROOTS]
    files = [file for path in paths for file in ([path] if path.is_file() else path.glob("*.py"))]
    return sorted(str(file.relative_to(root)) for file in files if file.name != "__init__.py")


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

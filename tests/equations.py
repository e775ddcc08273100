"""Every printed equation of the four papers, the tests that check it and the code that names it.

    python -m tests.equations                          list everything, and what is missing
    python -m tests.equations --paper masque --check   exit 1 if an equation of Masque is missing

A test carries its equation as `@pytest.mark.equation("masque-06")`; the docstring of the code that
computes it names the same id. Both are found by reading the files, so nothing heavy is imported.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

EQUATIONS: dict[str, dict[int, str]] = {
    "masque": {
        1: "residual block: layer normalisation of f(x) + x",
        2: "similarity U[l, j] of a passage word and a question word",
        3: "A: softmax of U over the question",
        4: "B: softmax of U over the passage",
        5: "A1: question words as each passage word sees them",
        6: "B1: passage words as each question word sees them",
        7: "A2: what B1 gives back to each passage word",
        8: "B2: what A1 gives back to each question word",
        9: "G of a passage: five features side by side",
        10: "G of the question: five features with maxima over the passages",
        11: "relevance beta of a passage",
        12: "answer possibility P(a)",
        13: "P_v: generation over the extended vocabulary with tied embeddings",
        14: "additive scores e over the question and over the passages",
        15: "alpha: attention over all passages together",
        16: "context vectors c of the question and of the passages",
        17: "copy distribution of the question",
        18: "copy distribution of the passages",
        19: "mixture of generation and both copy distributions",
        20: "weights lambda of the mixture",
        21: "combined attention: alpha weighted by relevance",
        22: "total loss with the weights of its three parts",
        23: "decoder loss over the answerable examples",
        24: "ranker loss with smoothed positive labels",
        25: "classifier loss with smoothed positive labels",
    },
    "san": {
        1: "position-wise feed-forward net of the lexicon encoding",
        2: "exact match in three forms",
        3: "aligned question embedding",
        4: "alignment weights gamma",
        5: "attention C of passage and question",
        6: "question-aware passage U",
        7: "self attention without its diagonal",
        8: "memory M",
        9: "first state s_0 and its weights alpha",
        10: "attention beta on the memory and the input x_t",
        11: "state update by a GRU",
        12: "P_begin of a step",
        13: "P_end of a step",
        14: "average of P_begin over the steps",
        15: "average of P_end over the steps",
        16: "prediction dropout that keeps at least one step",
    },
    "qg": {
        1: "encoder with answer tags",
        2: "self-attention weights",
        3: "self matching s",
        4: "candidate f",
        5: "gate g",
        6: "gated output",
        7: "decoder step",
        8: "generator distribution",
        9: "raw attention scores r",
        10: "attention weights",
        11: "context vector",
        12: "attentional state",
        13: "copy scores by sum, one softmax, equal words added",
        14: "copy scores by maximum (maxout pointer)",
    },
    "daanet": {
        1: "projection of word and character embedding",
        2: "highway gate",
        3: "highway output",
        4: "character convolution and maximum over time",
        5: "causal self-attention and its mask",
        6: "similarity s(X, Y)",
        7: "first attention fold for asking, C_A",
        8: "first attention fold for answering, C_Q",
        9: "second fold, question",
        10: "second fold, answer",
        11: "P_vocab with the shared projection",
        12: "P_context with equal words merged",
        13: "switch lambda",
        14: "mixture of generation and copying",
        15: "negative log likelihood of both tasks",
        16: "coverage loss of both tasks",
    },
}


def names(papers: tuple[str, ...] = tuple(EQUATIONS)) -> dict[str, str]:
    """Ids ("masque-06") to one-line names."""
    return {
        f"{paper}-{number:02d}": name
        for paper in papers
        for number, name in EQUATIONS[paper].items()
    }


def _marks(node: ast.AST, path: str, where: str = "") -> Iterator[tuple[str, str]]:
    """(id, test) of every `equation(...)` mark below `node`, with the innermost name around it."""
    for child in ast.iter_child_nodes(node):
        inner = where
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = f"{where}::{child.name}"
        if isinstance(child, ast.Call) and getattr(child.func, "attr", "") == "equation":
            for argument in child.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, f"{path}{where}"
        yield from _marks(child, path, inner)


def tested(root: Path = ROOT) -> dict[str, list[str]]:
    """Ids to the tests that carry them."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for equation, test in _marks(tree, path.relative_to(root).as_posix()):
            found.setdefault(equation, []).append(test)
    return found


def written(root: Path = ROOT) -> dict[str, list[str]]:
    """Ids to the library files whose text names them ("masque-03, -04" and "masque-01..04" too)."""
    found: dict[str, list[str]] = {}
    text = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((root / "tfmrc").rglob("*.py"))
    }
    for paper in EQUATIONS:
        further = rf"(?:\s*(?:,|and|to|\.\.))*\s*(?:{paper})?-?\d\d"
        pattern = re.compile(rf"\b{paper}-(\d\d(?:{further})*)")
        for place, content in text.items():
            for number in sorted(
                {n for match in pattern.findall(content) for n in _numbers(match)}
            ):
                found.setdefault(f"{paper}-{number:02d}", []).append(place)
    return found


def _numbers(text: str) -> list[int]:
    """`"03, -04 and 07..09"` to [3, 4, 7, 8, 9]."""
    numbers: list[int] = []
    for separator, digits in re.findall(r"(\D*)(\d\d)", text):
        number = int(digits)
        if numbers and (".." in separator or "to" in separator):
            numbers.extend(range(numbers[-1] + 1, number))
        numbers.append(number)
    return numbers


def missing(papers: tuple[str, ...] = tuple(EQUATIONS)) -> dict[str, str]:
    """What is wrong: an id without a test, without code that names it, or a mark of no equation."""
    tests, code = tested(), written()
    problems = {
        equation: f"{equation} ({name}): no test carries it"
        for equation, name in names(papers).items()
        if equation not in tests
    }
    for equation, name in names(papers).items():
        if equation not in code and equation not in problems:
            problems[equation] = f"{equation} ({name}): no docstring in tfmrc/ names it"
    for equation in sorted(set(tests) - set(names())):
        problems[equation] = f"{equation}: not an equation of the papers, in {tests[equation][0]}"
    return problems


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.equations", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--paper", choices=sorted(EQUATIONS), help="only this paper")
    parser.add_argument("--check", action="store_true", help="exit 1 if something is missing")
    options = parser.parse_args(arguments)
    papers = (options.paper,) if options.paper else tuple(EQUATIONS)
    tests, code = tested(), written()
    for equation, name in names(papers).items():
        print(f"{equation:<10} {name}")
        for place in code.get(equation, []):
            print(f"{'':<12}code  {place}")
        for place in tests.get(equation, []):
            print(f"{'':<12}test  {place}")
    problems = missing(papers)
    checked = sum(equation in tests for equation in names(papers))
    print(f"\n{checked} of {len(names(papers))} equations have a test.")
    for problem in problems.values():
        print(f"  {problem}")
    return 1 if options.check and problems else 0


if __name__ == "__main__":
    sys.exit(main())

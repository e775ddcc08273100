"""Every printed equation of the four papers, the line that computes it and the tests that check it.

    python -m tests.equations    lists what is missing

The line that computes an equation carries its id as a comment (`# masque-05`), and a test carries
it as `@pytest.mark.equation("masque-05")`. Both are found by reading the files, so no heavy module
is imported.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

TITLES = {
    "masque": ("Nishida et al. 2019, Masque", "https://aclanthology.org/P19-1220/"),
    "san": ("Liu et al. 2018, stochastic answer networks", "https://aclanthology.org/P18-1157/"),
    "qg": (
        "Zhao et al. 2018, maxout pointer and gated self-attention",
        "https://aclanthology.org/D18-1424/",
    ),
    "daanet": ("Xiao et al. 2018, dual ask-answer network", "https://arxiv.org/abs/1809.01997"),
}

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


def computed(root: Path = ROOT) -> dict[str, dict[str, int]]:
    """Ids to the functions that compute them, as `path::symbol`, and the first line of each."""
    found: dict[str, dict[str, int]] = {}
    identifier = re.compile(rf"\b(?:{'|'.join(EQUATIONS)})-\d\d\b")
    for path in sorted((root / "tfmrc").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not identifier.search(text):
            continue
        symbols = [(path.stem, 1, len(text)), *_symbols(ast.parse(text))]
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line = token.start[0]
                symbol = [name for name, first, last in symbols if first <= line <= last][-1]
                place = f"{path.relative_to(root).as_posix()}::{symbol}"
                for equation in identifier.findall(token.string):
                    found.setdefault(equation, {}).setdefault(place, line)
    return found


def _symbols(node: ast.AST, where: str = "") -> Iterator[tuple[str, int, int]]:
    """Dotted name, first and last line of classes and functions, the outer before the inner."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{where}{child.name}"
            yield name, child.lineno, child.end_lineno or child.lineno
            yield from _symbols(child, f"{name}.")
        else:
            yield from _symbols(child, where)


def formulas(root: Path = ROOT) -> dict[str, str]:
    """Ids to formulas in LaTeX."""
    lines = (root / "docs" / "formulas.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def page(root: Path = ROOT) -> str:
    """Returns the page of equations; the site shows the lines of code (docs/conf.py)."""
    tests, places, latex = tested(root), computed(root), formulas(root)
    parts = [
        "# Equations\n\n"
        "The printed equations of the four papers, the lines that compute them, and the tests that "
        "compare them with an independent float64 reference. Each line of code carries the id of "
        "its equation as a comment, and each test as a mark: `grep -rn masque-05 tfmrc tests` "
        "finds them.\n"
    ]
    for paper, (title, address) in TITLES.items():
        parts.append(
            f"\n## {paper}\n\n[{title}]({address})\n\n"
            "| id | equation | code | tests |\n| --- | --- | --- | --- |\n"
        )
        for equation, name in names((paper,)).items():
            code = "<br>".join(_line(*place) for place in places.get(equation, {}).items())
            formula = f"{name}<br>${latex[equation]}$"
            parts.append(f"| {equation} | {formula} | {code} | {len(tests.get(equation, []))} |\n")
    return "".join(parts)


def _line(place: str, line: int) -> str:
    """Returns a link to a line of the code's page."""
    path, symbol = place.split("::")
    address = f"../../../_modules/{path.removesuffix('.py')}.html#L-{line}"
    return f'<a href="{address}">{symbol}</a>'


def missing(papers: tuple[str, ...] = tuple(EQUATIONS)) -> dict[str, str]:
    """Ids without a test or without a line of code, and marks and comments of no equation."""
    tests, code = tested(), computed()
    problems = {}
    for equation, name in names(papers).items():
        if equation not in tests:
            problems[equation] = f"{equation} ({name}): no test carries it"
        elif equation not in code:
            problems[equation] = f"{equation} ({name}): no line of tfmrc/ carries it as a comment"
    for equation in sorted((set(tests) | set(code)) - set(names())):
        where = [*tests.get(equation, []), *code.get(equation, [])][0]
        problems[equation] = f"{equation}: not an equation of the papers, in {where}"
    return problems


if __name__ == "__main__":
    print("\n".join([f"{len(names())} equations", *missing().values()]))

"""`python -m tests.mutants`: mutates the modules in scope and runs their tests on each mutant.

    make mutants
    make mutants MUTANTS="--only ops/masking.py --sample 40"

cosmic-ray makes the mutants and keeps the results, a session file per module in `.mutants`. A copy
of the tree is mutated. A run that was stopped goes on where it was; a module that has changed
begins anew. `--again` tries the surviving mutants once more, after tests were added. The status is
1 if fewer than 90 percent of the mutants of a module that are not equivalent were killed.
"""

import argparse
import compileall
import hashlib
import json
import os
import py_compile
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

from tests.mutants import report, scope

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = WorkResult(worker_outcome=WorkerOutcome.SKIPPED)


class Server:
    """A process that runs tests on the tree in forks of itself."""

    def __init__(self, python: str, tree: Path) -> None:
        self.process = subprocess.Popen(
            [python, "-B", "-m", "tests.mutants.server"],
            cwd=tree,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tree), "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        self._answer()

    def run(self, module: str, cpu: int, write: bool = False) -> dict[str, Any]:
        """Runs the tests of a module."""
        tests, deselected = scope.tests_of(module), scope.DESELECTED
        request = {"tests": tests, "deselected": deselected, "cpu": cpu, "write": write}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit("The process that runs the tests has ended.")
        return json.loads(line)


def copied(tree: Path) -> Path:
    """Copies the files that git knows or would add, compiled so that a mutant is noticed."""
    shutil.rmtree(tree, ignore_errors=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    # By its digest: a mutant can have the size and the second of the file before it.
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(tree / "tfmrc", quiet=1, invalidation_mode=mode)
    return tree


def session_of(folder: Path, module: str, source: str) -> Path:
    """Returns the session file of a module as it is now."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    return folder / f"{module.removesuffix('.py').replace('/', '.')}-{digest}.sqlite"


def prepare(database: WorkDB, module: str, tree: Path) -> None:
    """Lists the mutants of a module, unless the session has them."""
    if database.num_work_items:
        return
    init([tree / module], database, {})
    where = scope.annotations((tree / module).read_text(encoding="utf-8"))
    for item in database.work_items:
        (mutation,) = item.mutations
        begin = tuple(mutation.start_pos)
        in_annotation = any(start <= begin < end for start, end in where)
        if in_annotation or scope.is_excluded(mutation.operator_name):
            database.set_result(item.job_id, SKIPPED)


def ordered(items: Iterator[WorkItem] | tuple[WorkItem, ...], seed: int) -> list[WorkItem]:
    """Returns items in an order that depends on the seed only."""
    result = sorted(items, key=lambda each: _name(each))
    random.Random(seed).shuffle(result)
    return result


def _name(item: WorkItem) -> tuple[str, int]:
    return item.mutations[0].operator_name, item.mutations[0].occurrence


def attempt(item: WorkItem, module: str, tree: Path, server: Server, cpu: int) -> WorkResult:
    """Mutates the tree, runs the tests and restores the tree."""
    (mutation,) = item.mutations
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    with use_mutation(tree / module, operator, mutation.occurrence) as (source, mutated):
        if mutated is None or scope.says_nothing(source, mutated):
            return SKIPPED
        answer = server.run(module, cpu)
    diff = unified_diff(source.split("\n"), mutated.split("\n"), module, module, lineterm="", n=0)
    return WorkResult(
        worker_outcome=WorkerOutcome.NORMAL,
        output=answer["output"],
        test_outcome=TestOutcome.KILLED if answer["status"] else TestOutcome.SURVIVED,
        diff="\n".join(diff),
    )


def mutate(database: WorkDB, module: str, options: argparse.Namespace, server: Server) -> None:
    """Tries the mutants of a module that have no result."""
    tree = options.folder / "tree"
    results = dict(database.results)
    lived = {key for key, each in results.items() if each.test_outcome == TestOutcome.SURVIVED}
    real = [item for item in database.work_items if results.get(item.job_id) != SKIPPED]
    selected = ordered(tuple(real), options.seed)[: options.sample]
    if options.again:
        pending = [item for item in selected if item.job_id in lived]
    else:
        pending = [item for item in selected if item.job_id not in results]
    if not pending:
        return
    start = time.monotonic()
    server.run(module, 3600, write=True)  # compiles the tests
    usual = server.run(module, 3600)
    if usual["status"]:
        sys.exit(f"The tests of {module} fail without a mutation:\n{usual['output']}")
    cpu = 10 + int(3 * usual["cpu"])
    said = f"{module}: {len(pending)} mutants, {usual['cpu']:.1f} CPU seconds of tests"
    print(said, flush=True)
    alive = 0
    for number, item in enumerate(pending, 1):
        result = attempt(item, module, tree, server, cpu)
        database.set_result(item.job_id, result)
        alive += result.test_outcome == TestOutcome.SURVIVED
        if number % 20 == 0 or number == len(pending):
            minutes = (time.monotonic() - start) / 60
            print(f"  {number} tried, {alive} survived, {minutes:.1f} minutes", flush=True)


def tried(database: WorkDB, module: str) -> tuple[int, list[report.Mutant]]:
    """Returns the number of a module's mutants and those that were tried."""
    result, total = [], database.num_work_items
    for _, each in database.completed_work_items:
        if each.worker_outcome == WorkerOutcome.SKIPPED:
            total -= 1
        else:
            lines = report.changed(each.diff or "")
            result.append(report.Mutant(module, *lines, each.test_outcome == TestOutcome.KILLED))
    return total, result


def main() -> int:
    """Runs the mutants and prints the report."""
    parser = argparse.ArgumentParser(description="Mutation testing of the modules in scope.")
    parser.add_argument("--python", default=sys.executable, help="has the library and pytest")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutants")
    parser.add_argument("--only", action="append", default=[], help="a part of a module's path")
    parser.add_argument("--sample", type=int, help="mutants per module; default: all")
    parser.add_argument("--seed", type=int, default=0, help="of the order and of the sample")
    parser.add_argument("--again", action="store_true", help="try the surviving mutants again")
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    # Not resolved: the link in an environment is what makes it one.
    options.python = os.path.abspath(options.python)
    options.folder = options.folder.resolve()
    only = options.only or ["tfmrc"]
    names = [name for name in scope.modules() if any(map(name.count, only))]
    server = None if options.report else Server(options.python, copied(options.folder / "tree"))
    totals: dict[str, int] = {}
    mutants: list[report.Mutant] = []
    for module in names:
        session = session_of(options.folder, module, (ROOT / module).read_text(encoding="utf-8"))
        if server is None and not session.exists():
            continue
        with use_db(session, WorkDB.Mode.create) as database:
            if server is not None:
                prepare(database, module, options.folder / "tree")
                mutate(database, module, options, server)
            totals[module], those = tried(database, module)
            mutants += those
    if server is not None:
        server.close()
    reasons = report.equivalents()
    counted = report.counts(totals, mutants, reasons)
    for each in report.survivors(mutants, reasons):
        print(f"survived: {each.module}\n  - {each.before}\n  + {each.after}")
    print("\n".join(report.table(counted)))
    low = [name for name, count in counted.items() if count.score < report.BAR]
    print("\n".join(f"below {report.BAR:g} percent: {name}" for name in low))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())

"""Figures of a run: killed, equivalent and surviving mutants of each module."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

BAR = 90.0
LIST = Path(__file__).with_name("equivalent.toml")


class Mutant(NamedTuple):
    """A mutant that was tried: the changed line before and after, without indentation."""

    module: str
    before: str
    after: str
    killed: bool


class Count(NamedTuple):
    """Counts of a module."""

    mutants: int
    tried: int
    killed: int
    equivalent: int

    @property
    def score(self) -> float:
        """Percent killed of those that are not equivalent."""
        real = self.tried - self.equivalent
        return 100 * self.killed / real if real else 100.0


def changed(diff: str) -> tuple[str, str]:
    """Returns the lines that a unified diff removes and adds, without indentation."""
    lines = [line for line in diff.split("\n") if not line.startswith(("---", "+++"))]
    removed, added = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign)).strip()
        for sign in "-+"
    )
    return removed, added


def equivalents(path: Path = LIST) -> dict[tuple[str, str, str], str]:
    """Returns the reason of each mutant that changes nothing, by module, line and mutated line."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return {
        (entry["module"], entry["line"], mutant): entry["reason"]
        for entry in entries
        for mutant in entry["mutants"]
    }


def survivors(
    mutants: Iterable[Mutant], reasons: Mapping[tuple[str, str, str], str]
) -> list[Mutant]:
    """Returns the mutants that neither a test kills nor the list explains."""
    return [each for each in mutants if not each.killed and each[:3] not in reasons]


def counts(
    totals: Mapping[str, int],
    mutants: Iterable[Mutant],
    reasons: Mapping[tuple[str, str, str], str],
) -> dict[str, Count]:
    """Returns the counts of each module, from its number of mutants and those that were tried."""
    tried = list(mutants)
    result = {}
    for module, total in totals.items():
        own = [each for each in tried if each.module == module]
        killed = sum(each.killed for each in own)
        equivalent = sum(not each.killed and each[:3] in reasons for each in own)
        result[module] = Count(total, len(own), killed, equivalent)
    return result


def table(counted: Mapping[str, Count]) -> list[str]:
    """Returns the lines of a table, with the sum of all modules."""
    lines = [
        "| module | mutants | tried | killed | equivalent | killed, percent of the others |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    total = Count(*map(sum, zip(*counted.values(), strict=True)))
    for name, count in {**counted, "**all**": total}.items():
        cells = [name.removeprefix("tfmrc/"), *(f"{number:,}" for number in count)]
        lines.append(f"| {' | '.join(cells)} | {count.score:.1f} |")
    return lines

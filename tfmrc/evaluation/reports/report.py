"""Reports of a run: `metrics.json`, and a Markdown table beside the paper's figures."""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tfmrc.evaluation.metrics.resampling import Interval, PairedTest, bootstrap, paired_bootstrap
from tfmrc.evaluation.metrics.score import Score, Scores, library_version
from tfmrc.utils.files import read_json, write_text
from tfmrc.utils.markdown import table_lines


@dataclass
class Report:
    """Scores of one or more systems on one dataset, with the facts needed to repeat them.

    Args:
        title: str. The heading ("Masque on SQuAD").
        dataset: str. Name and version of the data.
        split: str. The part that was scored.
        seed: int or None. Seed of the training run. None if nothing was random. Default: None.
        details: dict. Further facts beside the numbers (model size, steps, hours, machine).
            Default: {}.
        paper: dict. The paper's figures in its own unit (69.77), by system and score name.
            Default: {}.

    Example:

    >>> from tfmrc.evaluation import Report, score_answers
    >>> report = Report("Demo", dataset="own corpus", split="test", seed=1,
    ...                 paper={"Masque": {"rouge_l": 69.77}})
    >>> report.add("Masque", score_answers({"q": "a mill"}, {"q": ["a mill"]}, rules="plain"))
    >>> print(report.markdown().splitlines()[4][:46])
    | Masque | 1 | 100.00 | 69.77 | 100.00 | 100.0
    """

    title: str
    dataset: str
    split: str
    seed: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    paper: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    systems: dict[str, dict[str, Score]] = field(default_factory=dict, init=False)
    intervals: dict[tuple[str, str], Interval] = field(default_factory=dict, init=False)
    _parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict, init=False)
    tables: dict[str, str] = field(default_factory=dict, init=False)
    worst: str = field(default="", init=False)
    predictions: list[dict[str, Any]] = field(default_factory=list, init=False)
    tests: dict[tuple[str, str], dict[str, PairedTest]] = field(default_factory=dict, init=False)

    def add(self, system: str, scores: Scores, *, prefix: str = "", samples: int = 0) -> None:
        """Adds scores of a system; call it again for further kinds of scores.

        Args:
            system: str. The row of the table.
            scores: `Scores`. The scores.
            prefix: str. Prefix of the names and labels (a style, for instance). Default: "".
            samples: int. Number of resamples for bootstrap intervals; 0 computes none. Default: 0.

        Raises:
            ValueError: If the system already has a score of this name.
        """
        rows = self.systems.setdefault(system, {})
        scores = scores.prefixed(prefix)
        for row in scores.rows:
            name = row.name
            if name in rows:
                raise ValueError(
                    "A score can be added once (use `prefix` to tell kinds apart). "
                    f"Received: system={system!r}, score={name!r}"
                )
            rows[name] = row
            self.tables[name] = scores.table
            is_single = row.statistics is not None and row.deviation is None
            if samples and is_single and row.value is not None:
                self.intervals[system, name] = bootstrap(row, samples=samples)
        part = {"rules": scores.rules, "prefix": scores.prefix, "counts": dict(scores.counts)}
        self._parts.setdefault(system, []).append(part)

    def compare(self, system: str, other: str, *, samples: int = 1000) -> None:
        """Adds paired bootstrap tests of two systems in the scores of the main table.

        Args:
            system: str. A system of the report.
            other: str. The system that is subtracted, such as a baseline.
            samples: int. Number of resamples. Default: 1000.

        Example:

        >>> from tfmrc.evaluation import Report, score_squad
        >>> known = {n: ["yes"] for n in range(40)}
        >>> report = Report("Demo", dataset="own", split="test")
        >>> report.add("model", score_squad(dict.fromkeys(known, "yes"), known))
        >>> report.add("coin", score_squad({n: "yes" if n % 2 else "no" for n in known}, known))
        >>> report.compare("model", "coin")
        >>> print(report.markdown().splitlines()[11])
        | model – coin | +50.00 [+35.00, +65.00] | +50.00 [+35.00, +65.00] |
        """
        first, second = self.systems[other], self.systems[system]
        self.tests[system, other] = {
            name: paired_bootstrap(first[name], row, samples=samples)
            for name, row in second.items()
            if not self.tables[name] and name in first and _same_ids(first[name], row)
        }

    def to_json(self) -> dict[str, Any]:
        """Returns the content of `metrics.json`: fractions, and the paper's figures in its unit."""
        facts = {"dataset": self.dataset, "split": self.split, "seed": self.seed}
        systems: dict[str, Any] = {}
        for system, rows in self.systems.items():
            scores = {}
            for name, row in rows.items():
                record = row.to_json() | facts
                interval = self.intervals.get((system, name))
                if interval is not None:
                    names = ("low", "high", "level", "samples")
                    record["interval"] = {name: getattr(interval, name) for name in names}
                scores[name] = record
            systems[system] = {"parts": self._parts[system], "scores": scores}
        return {
            "title": self.title,
            **facts,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"python": platform.python_version(), "library": library_version()},
            "details": dict(self.details),
            "systems": systems,
            "differences": [
                {"system": system, "other": other, "score": name, **asdict(test)}
                for (system, other), tests in self.tests.items()
                for name, test in tests.items()
            ],
            "paper": {system: dict(row) for system, row in self.paper.items()},
            "predictions": self.predictions,
        }

    def markdown(self) -> str:
        """Returns heading, tables (in per cent, beside the paper's figures) and scorers."""
        names = list(dict.fromkeys(name for rows in self.systems.values() for name in rows))
        beside = {name for row in self.paper.values() for name in row}
        names += sorted(beside - set(names))
        known = {n: row.label for rows in self.systems.values() for n, row in rows.items()}
        labels = {name: known.get(name, name) for name in names}
        main = [name for name in names if not self.tables.get(name)]
        lines = [f"# {self.title}", "", *self._table(main, labels, beside)]
        lines += self._differences(main, labels)
        for heading in dict.fromkeys(filter(None, map(self.tables.get, names))):
            own = [name for name in names if self.tables.get(name) == heading]
            lines += ["", f"## {heading}", "", *self._table(own, labels, beside)]
        seed = "none" if self.seed is None else self.seed
        lines += ["", f"Data: {self.dataset}, {self.split}; seed {seed}."]
        lines += [f"{key}: {value}." for key, value in self.details.items()]
        lines += ["", *self._scorers(labels)]
        return "\n".join(lines) + "\n"

    def _table(self, names: list[str], labels: Mapping[str, str], beside: set[str]) -> list[str]:
        """Returns a table of the systems that have one of the scores.

        A cell whose score is of fewer examples than others of its row says of how many.
        """
        head = ["", "n"]
        for name in names:
            head += [labels[name], "paper"] if name in beside else [labels[name]]
        rows = []
        for system in dict.fromkeys([*self.systems, *self.paper]):
            found = {*self.systems.get(system, {}), *self.paper.get(system, {})}
            if found.intersection(names):
                rows.append(self._row(system, names, beside))
        return table_lines(head, rows, numbers=True)

    def _differences(self, names: list[str], labels: Mapping[str, str]) -> list[str]:
        """Returns a table of the differences between systems."""
        compared = [name for name in names if any(name in tests for tests in self.tests.values())]
        if not compared:
            return []
        level = next(test.level for tests in self.tests.values() for test in tests.values())
        lines = ["", f"Differences, with intervals of {level:.0%} for the same examples:", ""]
        rows = []
        for (system, other), tests in self.tests.items():
            if tests:  # else of means of several runs
                cells = [tests[name].interval() if name in tests else "–" for name in compared]
                rows.append([f"{system} – {other}", *cells])
        return lines + table_lines(["", *(labels[name] for name in compared)], rows, numbers=True)

    def write(self, folder: str | Path) -> list[Path]:
        """Writes `metrics.json` and `report.md` into the folder, which is created.

        Each file is replaced as a whole, `metrics.json` last.

        Returns:
            The two files.
        """
        metrics, report = Path(folder) / "metrics.json", Path(folder) / "report.md"
        write_text(report, self.markdown() + self.worst)
        write_text(metrics, json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n")
        return [metrics, report]

    def _row(self, system: str, names: list[str], beside: set[str]) -> list[str]:
        rows = {n: row for n, row in self.systems.get(system, {}).items() if n in names}
        size = max((row.size for row in rows.values()), default=0)
        cells = [system, str(size) if rows else "–"]
        for name in names:
            value = rows[name].value if name in rows else None
            cell = "–" if value is None else f"{100 * value:.2f}"
            deviation = rows[name].deviation if name in rows else None
            cell += "" if deviation is None else f" ± {100 * deviation:.2f}"
            cell += "" if value is None or rows[name].size == size else f" (n = {rows[name].size})"
            interval = self.intervals.get((system, name))
            if interval is not None:
                cell += f" [{100 * interval.low:.2f}, {100 * interval.high:.2f}]"
            cells.append(cell)
            if name in beside:
                figure = self.paper.get(system, {}).get(name)
                cells.append("–" if figure is None else f"{figure:.2f}")
        return cells

    def _scorers(self, labels: Mapping[str, str]) -> list[str]:
        lines: dict[str, dict[str, None]] = {}  # ordered sets of labels
        for rows in self.systems.values():
            for name, row in rows.items():
                text = f"{row.scorer} {row.version}, text: {row.tokenisation}"
                text += f" ({row.note})" if row.note else ""
                lines.setdefault(text, {})[labels[name]] = None
        return [f"- {', '.join(names)}: {text}" for text, names in lines.items()]


def read_metrics(path: str | Path) -> dict[str, Any]:
    """Reads a `metrics.json` that `Report` wrote.

    Raises:
        ValueError: If the file is not one.
    """
    metrics = read_json(Path(path))
    if not isinstance(metrics.get("systems"), dict):
        raise ValueError(f"{path} is not a report's metrics.json. Received: no 'systems' in it")
    return metrics


def _same_ids(first: Score, second: Score) -> bool:
    """Returns True if both scores can be resampled together."""
    one, two = first.statistics, second.statistics
    return one is not None and two is not None and set(one.ids) == set(two.ids) != set()

"""Reports of a run: `metrics.json`, and a Markdown table beside the paper's figures."""

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tfmrc.evaluation.metrics.resampling import Interval, bootstrap
from tfmrc.evaluation.metrics.score import Score, Scores, library_version


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
    _intervals: dict[tuple[str, str], Interval] = field(default_factory=dict, init=False)
    _parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict, init=False)

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
        for row in scores.rows:
            name = f"{prefix}_{row.name}" if prefix else row.name
            if name in rows:
                raise ValueError(
                    "A score can be added once (use `prefix` to tell kinds apart). "
                    f"Received: system={system!r}, score={name!r}"
                )
            label = f"{prefix} {row.label}" if prefix else row.label
            rows[name] = replace(row, name=name, label=label)
            if samples and row.statistics is not None and row.value is not None:
                self._intervals[system, name] = bootstrap(row, samples=samples)
        part = {"rules": scores.rules, "prefix": prefix, "counts": dict(scores.counts)}
        self._parts.setdefault(system, []).append(part)

    def to_json(self) -> dict[str, Any]:
        """Returns the content of `metrics.json`: fractions, and the paper's figures in its unit."""
        systems: dict[str, Any] = {}
        for system, rows in self.systems.items():
            scores = {}
            for name, row in rows.items():
                record = row.to_json() | {
                    "dataset": self.dataset,
                    "split": self.split,
                    "seed": self.seed,
                }
                interval = self._intervals.get((system, name))
                if interval is not None:
                    record["interval"] = {
                        "low": interval.low,
                        "high": interval.high,
                        "level": interval.level,
                        "samples": interval.samples,
                    }
                scores[name] = record
            systems[system] = {"parts": self._parts[system], "scores": scores}
        return {
            "title": self.title,
            "dataset": self.dataset,
            "split": self.split,
            "seed": self.seed,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"python": platform.python_version(), "library": library_version()},
            "details": dict(self.details),
            "systems": systems,
            "paper": {system: dict(row) for system, row in self.paper.items()},
        }

    def markdown(self) -> str:
        """Returns heading, table (in per cent, beside the paper's figures) and scorers."""
        names = list(dict.fromkeys(name for rows in self.systems.values() for name in rows))
        beside = {name for row in self.paper.values() for name in row}
        names += sorted(beside - set(names))
        known = {n: row.label for rows in self.systems.values() for n, row in rows.items()}
        labels = {name: known.get(name, name) for name in names}
        head = ["", "n"]
        for name in names:
            head += [labels[name], "paper"] if name in beside else [labels[name]]
        lines = [f"# {self.title}", "", "| " + " | ".join(head) + " |"]
        lines.append("|" + " --- |" + " ---: |" * (len(head) - 1))
        for system in dict.fromkeys([*self.systems, *self.paper]):
            lines.append("| " + " | ".join(self._row(system, names, beside)) + " |")
        lines += ["", f"Data: {self.dataset}, {self.split}; seed {_shown(self.seed)}."]
        lines += [f"{key}: {value}." for key, value in self.details.items()]
        lines += ["", *self._scorers(labels)]
        return "\n".join(lines) + "\n"

    def write(self, folder: str | Path) -> list[Path]:
        """Writes `metrics.json` and `report.md` into the folder, which is created.

        Returns:
            The two files.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        files = [target / "metrics.json", target / "report.md"]
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        files[0].write_text(text, encoding="utf-8")
        files[1].write_text(self.markdown(), encoding="utf-8")
        return files

    def _row(self, system: str, names: list[str], beside: set[str]) -> list[str]:
        rows = self.systems.get(system, {})
        sizes = sorted({row.size for row in rows.values()})
        cells = [system, "/".join(map(str, sizes)) or "–"]
        for name in names:
            value = rows[name].value if name in rows else None
            cell = "–" if value is None else f"{100 * value:.2f}"
            deviation = rows[name].deviation if name in rows else None
            cell += "" if deviation is None else f" ± {100 * deviation:.2f}"
            interval = self._intervals.get((system, name))
            if interval is not None:
                cell += f" [{100 * interval.low:.2f}, {100 * interval.high:.2f}]"
            cells.append(cell)
            if name in beside:
                figure = self.paper.get(system, {}).get(name)
                cells.append("–" if figure is None else f"{figure:.2f}")
        return cells

    def _scorers(self, labels: Mapping[str, str]) -> list[str]:
        lines: dict[str, list[str]] = {}
        for rows in self.systems.values():
            for name, row in rows.items():
                text = f"{row.scorer} {row.version}, text: {row.tokenisation}"
                text += f" ({row.note})" if row.note else ""
                shown = lines.setdefault(text, [])
                if labels[name] not in shown:
                    shown.append(labels[name])
        return [f"- {', '.join(names)}: {text}" for text, names in lines.items()]


def _shown(seed: int | None) -> str:
    return "none" if seed is None else str(seed)

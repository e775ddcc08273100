"""The runs of a settings file: where they lie, how they are made, what they answer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from recipes.san_squad.settings import Settings, references, test_examples, training_examples
from recipes.san_squad.tags import Tags
from recipes.san_squad.train import facts_of, train
from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.experiments.run_folder import read_json, write_json

NUM_BEST = 4
EVALUATION = "evaluation"
ROWS = Path(__file__).parents[1] / "reproduction.yaml"
RECIPE = "san_squad"  # what the names of systems begin with in ROWS


@dataclass(frozen=True)
class Runs:
    """All runs of a settings file.

    Args:
        settings: sizes and budget.
        data: the data folder.
        folder: of the runs; each lies in `ANSWER-SEED`, or in `ANSWER-Tsteps-SEED` if it is
            trained with another T than the settings have.
    """

    settings: Settings
    data: Path
    folder: Path

    @cached_property
    def test(self) -> list[Example]:
        """The questions that are reported on."""
        return test_examples(self.settings, self.data)

    @cached_property
    def tags(self) -> Tags | None:
        """The cached tags, where the settings want any."""
        return Tags.of(self.settings.tagger, self.folder) if self.settings.tags else None

    def place(self, answer: str, seed: int, num_steps: int | None = None) -> Path:
        """The folder of a run."""
        other = num_steps not in (None, self.settings.model["num_steps"])
        return self.folder / f"{answer}-{f'{num_steps}steps-' if other else ''}{seed}"

    def trained(self, answer: str, seeds: Sequence[int]) -> list[Path]:
        """The folders of those seeds' runs that are trained."""
        places = [self.place(answer, seed) for seed in seeds]
        return [run for run in places if facts_of(run) is not None]

    def train(self, answer: str, seed: int, num_steps: int | None = None) -> Path:
        """Trains a run, or leaves it as it is if it is trained; its folder."""
        run = self.place(answer, seed, num_steps)
        if facts_of(run) is None:
            examples, validation = training_examples(self.settings, self.data)
            if self.tags is not None:
                self.tags.add([*examples, *validation])
            parts = examples, validation
            train(self.settings, answer, seed, *parts, run, self.data, num_steps, self.tags)
        return run

    def predictor(self, run: Path) -> Any:
        """The predictor of a trained run, with the tagger that it needs."""
        from tfmrc import Predictor

        predictor = Predictor.load(run / "predictor")
        if self.tags is not None:
            predictor.tagger = self.tags.cache.tagger_of(predictor.preprocessor.annotations)
        return predictor

    def answers(
        self, run: Path, make_reader: Callable[[], Any] | None = None
    ) -> dict[str, list[list[Any]]]:
        """The best answers to the test questions, each text, start, end and probability.

        They are kept in the run's `answers.json`.

        Args:
            run: the run's folder.
            make_reader: gives what answers in place of the run's own predictor.
        """
        path = run / "answers.json"
        found = read_json(path, "evaluate") if path.is_file() else {}
        if found.keys() != {example.id for example in self.test}:
            found = {}
            predictor = self.predictor(run) if make_reader is None else make_reader()
            answers = predictor.predict(self.test, num_return_sequences=NUM_BEST)
            for example, answer in zip(self.test, answers, strict=True):
                best = (answer, *answer.alternatives)
                found[example.id] = [[b.text, b.start, b.end, b.probability] for b in best]
            write_json(path, found)
        return found

    def score(self, run: Path) -> dict[str, evaluation.Scores]:
        """A run's scores by kind: "official", "oracle" (the K best) and "words" (by question word).

        The run's `metrics.json` and `report.md` have them too.
        """
        answers, facts = self.answers(run), facts_of(run)
        texts = {key: [best[0] for best in several] for key, several in answers.items()}
        known = references(self.test)
        official = evaluation.score_squad({k: v[0] for k, v in texts.items()}, known)
        found = {
            "official": official,
            "oracle": evaluation.score_oracle(texts, known, k=tuple(range(1, NUM_BEST + 1))),
            "words": self.by_question_word(official),
        }
        if facts is not None:
            with self.report("", run, [run], seed=facts["seed"]) as report:
                for scores in found.values():
                    report.add(facts["answer"], scores)
        return found

    def by_question_word(self, scores: evaluation.Scores) -> evaluation.Scores:
        """Exact match and F1 by question word: `f1_what`, ..."""
        groups = {example.id: evaluation.question_word(example.question) for example in self.test}
        rows = tuple(
            replace(part, name=f"{row.name}_{word}", label=f"{row.label}, {word}")
            for row in scores.rows
            for word, part in evaluation.score_by_group(row, groups).items()
        )
        return evaluation.Scores(scores.rules, rows, scores.counts)

    @contextmanager
    def report(
        self, row: str, to: Path, runs: Sequence[Path], seed: int | None = None, **more: Any
    ) -> Iterator[evaluation.Report]:
        """A report to add scores to, which is then written.

        Args:
            row: id of the paper's table or figure, whose figures stand beside; or "".
            to: its folder.
            runs: the folders of the runs that it is about.
            seed: theirs, if it is one.
            **more: other arguments of `tfmrc.evaluation.Report`.
        """
        size = len(self.test)
        limit = self.settings.test_limit
        drawn = ", drawn by id" if limit is not None and size == limit else ""
        options = {
            "title": f"{self.settings.name}: {to.name}",
            "dataset": self.settings.dataset,
            "split": f"{self.settings.test}, {size:,} questions with an answer{drawn}",
            "seed": seed,
            "details": details(self.settings, runs),
            "paper": paper(row, self.settings.name),
        }
        report = evaluation.Report(**(options | more))
        yield report
        report.write(to)


def details(settings: Settings, runs: Sequence[Path]) -> dict[str, str]:
    """What a report says about the training of its runs."""
    facts = [found for run in runs if (found := facts_of(run)) is not None]
    if not facts:
        return {}
    parts = (settings.model, settings.training, settings.preprocessor, settings.vocabulary)

    def span(values: Sequence[float], form: str) -> str:
        return " to ".join(
            dict.fromkeys(format(value, form) for value in (min(values), max(values)))
        )

    return {
        "Training": f"{len(facts)} run{'s' * (len(facts) > 1)} of "
        f"{span([f['steps'] for f in facts], ',')} steps in "
        f"{span([f['seconds'] / 60 for f in facts], '.1f')} minutes on "
        f"{span([f['examples'] for f in facts], ',')} questions, ended by: "
        + ", ".join(sorted({f["ended_by"] for f in facts})),
        "Weights": span([f["weights"] for f in facts], ","),
        "Settings": ", ".join(f"{name} {value}" for part in parts for name, value in part.items()),
        **_vectors(settings, facts[0]),
        "Machine": "; ".join(sorted({f["machine"] for f in facts})),
        "Training answers that are whole words, hold a part of one, lie behind the cut": ", ".join(
            f"{facts[0]['alignment'][name]:,}"
            for name in ("exact", "part_of_a_word", "outside_the_window")
        ),
    }


def _vectors(settings: Settings, facts: dict[str, Any]) -> dict[str, str]:
    share = facts.get("words_with_a_vector")
    if settings.vectors is None or share is None:
        return {}
    return {"Word vectors": f"{Path(settings.vectors).name}, for {share:.1%} of the words"}


def paper(
    row: str, name: str, rows: Path = ROWS, recipe: str = RECIPE
) -> dict[str, dict[str, float]]:
    """The paper's figures of a table by the names of our systems, which begin with `name`."""
    parts = [
        part for found in evaluation.read_rows(rows) if found.id == row for part in found.parts
    ]
    return {
        part.run.replace(recipe, name, 1): dict(part.paper)
        for part in parts
        if part.run and part.paper
    }

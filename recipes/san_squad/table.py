"""All answer modules and seeds as one table, with the paper's figures beside, and its figures."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recipes.san_squad.evaluate import NUM_BEST, by_question_word, score_run
from recipes.san_squad.settings import ANSWERS, Settings, test_examples
from tfmrc import evaluation
from tfmrc.recipe.folder import read_json, write_json

TITLES = {
    "one_step": ("Standard 1-step", 75.139, 83.367),
    "last_step": ("5-step memory network, last step", 75.033, 83.327),
    "average": ("5-step memory network, average", 75.256, 83.215),
    "reasonet": ("ReasoNet, at most 5 steps", 75.355, 83.360),
    "stochastic": ("SAN, 5 steps", 76.235, 84.056),
}
BASELINES = {
    "first sentence": lambda example: evaluation.first_sentence(example.passages),
    "most similar sentence": lambda example: evaluation.most_similar_sentence(
        example.question, example.passages
    ),
}


def write_table(settings: Settings, folder: Path, runs: Path, seeds: Sequence[int]) -> Path:
    """Scores every run of `runs/ANSWER-SEED` and writes `table.md`, `table.json` and pictures.

    Returns:
        The table.
    """
    figures: dict[str, Any] = {}
    oracle: dict[str, dict[str, float]] = {}
    words: dict[str, dict[str, float]] = {}
    facts: dict[str, Any] = {}
    for answer in ANSWERS:
        found = []
        for seed in seeds:
            run = runs / f"{answer}-{seed}"
            if not (run / "training.json").is_file():
                continue
            facts = read_json(run / "training.json", "train")
            scores = score_run(settings, folder, run)
            best = scores["oracle"]
            found.append(
                {
                    "seed": seed,
                    "steps": facts["steps"],
                    "minutes": round(facts["seconds"] / 60, 1),
                    **{row.name: row.value for row in scores["official"].rows},
                    **{row.name: row.value for row in best.rows},
                }
            )
            if seed == seeds[0]:
                oracle[answer] = {
                    f"K = {k}": float(best[f"f1@{k}"].value or 0.0) for k in range(1, NUM_BEST + 1)
                }
                words[answer] = by_question_word(settings, folder, scores)
                evaluation.plot_learning_curves(run / "log.csv", runs / f"learning_{answer}")
        if found:
            figures[answer] = found
    if not figures:
        raise ValueError(f"No run is trained. Received: runs={str(runs)!r}")
    evaluation.plot_scores(oracle, runs / "oracle", title="K-best oracle", label="F1 (%)")
    evaluation.plot_scores(words, runs / "question_words", title="By question word", label="F1 (%)")
    baselines = _baselines(settings, folder)
    write_json(runs / "table.json", {"modules": figures, "baselines": baselines, "last": facts})
    path = runs / "table.md"
    path.write_text(_markdown(figures, baselines, facts, settings, folder), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))
    return path


def _baselines(settings: Settings, folder: Path) -> dict[str, dict[str, float]]:
    examples = test_examples(settings, folder)
    references = {example.id: list(example.answers["span"]) for example in examples}
    return {
        name: {
            row.name: float(row.value or 0.0)
            for row in evaluation.score_squad(
                {example.id: answer(example) for example in examples}, references
            ).rows
        }
        for name, answer in BASELINES.items()
    }


def _markdown(figures, baselines, facts, settings, folder) -> str:
    size = len(test_examples(settings, folder))
    lines = [
        f"# {settings.name}",
        "",
        f"Trained on {facts['examples']:,} answerable questions, scored on {size:,} of "
        f"`{settings.test}` by SQuAD v1.1's rules; percent, mean and standard deviation over seeds."
        " The paper's figures are those of SQuAD's own development set, after training on about"
        " 87,600 questions.",
        "",
        "| answer module | runs | steps | EM | F1 | paper's EM | paper's F1 |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for answer, found in figures.items():
        title, exact, f1 = TITLES[answer]
        shown = [_mean([run[name] for run in found]) for name in ("exact_match", "f1")]
        steps = "-".join(map(str, sorted({min(r["steps"] for r in found),
                                          max(r["steps"] for r in found)})))  # fmt: skip
        lines.append(
            f"| {title} | {len(found)} | {steps} | {shown[0]} | {shown[1]} | {exact} | {f1} |"
        )
    for name, found in baselines.items():
        lines.append(
            f"| {name} | | | {100 * found['exact_match']:.2f} | {100 * found['f1']:.2f} | | |"
        )
    lines += ["", f"Machine: {facts['machine']}. Answers and words: {facts['alignment']}.", ""]
    return "\n".join(lines)


def _mean(values: Sequence[float]) -> str:
    mean = 100 * statistics.fmean(values)
    return f"{mean:.2f}" + (f" ± {100 * statistics.stdev(values):.2f}" if len(values) > 1 else "")

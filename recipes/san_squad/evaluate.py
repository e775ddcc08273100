"""Answer the test questions with a trained run: exact match, F1, K-best oracle."""

from pathlib import Path
from typing import Any

from recipes.san_squad.settings import Settings, test_examples
from tfmrc import evaluation
from tfmrc.recipe.folder import read_json, write_json

NUM_BEST = 4


def answer_test(settings: Settings, folder: Path, run: Path) -> Path:
    """Writes `answers.json`: for each question its four best answers with their probabilities."""
    path = run / "answers.json"
    if not path.is_file():
        from tfmrc import Reader

        reader = Reader.load(run / "reader")
        examples = test_examples(settings, folder)
        found: dict[str, Any] = {}
        for example, answer in zip(
            examples, reader.predict(examples, num_return=NUM_BEST), strict=True
        ):
            best = (answer, *answer.alternatives)
            found[example.id] = [[one.text, one.start, one.end, one.probability] for one in best]
        write_json(path, found)
    return path


def score_run(settings: Settings, folder: Path, run: Path) -> dict[str, evaluation.Scores]:
    """Official scores and the K-best oracle of a run; `scores.json` holds the figures."""
    answers = read_json(answer_test(settings, folder, run), "evaluate")
    references = {
        example.id: list(example.answers["span"]) for example in test_examples(settings, folder)
    }
    texts = {key: [best[0] for best in several] for key, several in answers.items()}
    scores = {
        "official": evaluation.score_squad({k: v[0] for k, v in texts.items()}, references),
        "oracle": evaluation.score_oracle(texts, references, k=tuple(range(1, NUM_BEST + 1))),
    }
    figures = {row.name: row.value for found in scores.values() for row in found.rows}
    write_json(run / "scores.json", {"questions": len(references), **figures})
    return scores


def by_question_word(
    settings: Settings, folder: Path, scores: dict[str, evaluation.Scores]
) -> dict[str, float]:
    """F1 by question word (Figure 5)."""
    groups = {
        example.id: evaluation.question_word(example.question)
        for example in test_examples(settings, folder)
    }
    parts = evaluation.score_by_group(scores["official"]["f1"], groups)
    return {word: float(part.value or 0.0) for word, part in parts.items()}

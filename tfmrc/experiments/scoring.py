"""Scores of a predictor's texts on the test examples of a source."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Scores
from tfmrc.experiments.settings import Experiment, Source
from tfmrc.experiments.sources import answer_references, question_references

THRESHOLD = 0.5  # least probability of a question that counts as answerable
SHORT = 5  # answers with a median length of at most 5 words are also scored by SQuAD's rules

BASELINES = {
    "first sentence": lambda given, passages: evaluation.first_sentence(passages),
    "most similar sentence": evaluation.most_similar_sentence,
}


@dataclass(frozen=True)
class Written:
    """The predictions of one task on the test examples of a source.

    Attributes:
        source: `Source`. The source.
        target: str. `"answer"` or `"question"`.
        style: str or None. Style of the reference answers; None for all.
        examples: list of `Example`. The examples of the source.
        predictions: dict. Predictions by id.
        prefix: str. Prefix of the names of the scores.
    """

    source: Source
    target: str
    style: str | None
    examples: Sequence[Example]
    predictions: Mapping[str, Prediction]
    prefix: str

    @property
    def texts(self) -> dict[str, str]:
        """The texts by id."""
        return {key: prediction.answer for key, prediction in self.predictions.items()}

    @property
    def references(self) -> dict[str, list[str]]:
        """The reference texts by id."""
        return references(self.examples, self.target, self.style)


def references(examples: Sequence[Example], target: str, style: str | None) -> dict[str, list[str]]:
    """Returns the reference texts of predictions by id; ids without references are left out."""
    if target == "question":
        return question_references(examples)
    return answer_references(examples, style)


def prefix_of(
    experiment: Experiment,
    source: Source,
    target: str,
    style: str | None,
    *,
    only_target: bool = True,
) -> str:
    """Returns the prefix of a task's scores, which keeps the scores of several tasks apart.

    It is that of the settings, or the target of a model that answers and asks, or the style if
    there are several.

    Args:
        experiment: `Experiment`. The experiment, whose settings may name prefixes by
            target.
        source: `Source`. The source.
        target: str. `"answer"` or `"question"`.
        style: str or None. Style of the answers.
        only_target: bool. Whether all tasks of the model have this target. Default: True.
    """
    prefix = experiment.evaluation.prefixes.get(target)
    if prefix is not None:
        return prefix
    if not only_target:
        return target
    by_style = len(source.styles) > 1 or source.format == "msmarco"
    return (style or "") if by_style and target == "answer" else ""


def score(
    written: Written, known: Mapping[str, Sequence[str]], *, meteor: bool
) -> list[tuple[str, Scores]]:
    """Computes the scores of a task's texts, each with the prefix of its names.

    Answers: overlap by the source's rules; exact match and F1 by SQuAD's rules, also by question
    word; the best of K if there are alternatives. Questions: overlap and repeated words.

    Args:
        written: `Written`. The predictions.
        known: dict. References by id.
        meteor: bool. Whether METEOR is computed.
    """
    texts = {key: text for key, text in written.texts.items() if key in known}
    source, prefix = written.source, written.prefix
    if not texts:
        return []
    if written.target == "question":
        overlap = evaluation.score_answers(texts, known, _overlap_rules(source), meteor=meteor)
        return [(prefix, overlap), (prefix, evaluation.score_repetition(texts))]
    if source.rules == "adversarial":
        unchanged = {key: answers for key, answers in known.items() if "-" not in key}
        scores = [(prefix, evaluation.score_adversarial_squad(texts, known))]
        if unchanged:
            answers = {key: texts[key] for key in unchanged}
            scores.append(
                (f"{prefix}_unchanged".strip("_"), evaluation.score_squad(answers, unchanged))
            )
        return scores
    scores = []
    if source.rules != "squad":
        overlap = evaluation.score_answers(texts, known, source.rules, meteor=meteor)
        # Every question here has an answer, so scores of the decision to answer mean nothing.
        rows = tuple(row for row in overlap.rows if not row.name.startswith("answerable"))
        scores.append((prefix, replace(overlap, rows=rows)))
    if by_squad(source, known):
        official = evaluation.score_squad(texts, known)
        scores.append((prefix, official))
        scores.append((prefix, by_question_word(official, written.examples)))
    count = 1 + max(len(p.alternatives) for p in written.predictions.values())
    if count > 1:
        best = {
            k: [p.answer, *p.alternatives] for k, p in written.predictions.items() if k in known
        }
        scores.append((prefix, evaluation.score_oracle(best, known, k=tuple(range(1, count + 1)))))
    return scores


def _overlap_rules(source: Source) -> str:
    return "plain" if source.rules in ("squad", "adversarial") else source.rules


def by_squad(source: Source, known: Mapping[str, Sequence[str]]) -> bool:
    """Returns True if answers are scored by SQuAD's rules; by default short answers are."""
    if source.squad_scores is not None:
        return source.squad_scores
    if source.rules == "squad" or source.format in ("small_squad", "squad", "squad_passages"):
        return True
    lengths = [len(answers[0].split()) for answers in known.values()]
    return bool(lengths) and statistics.median(lengths) <= SHORT


def by_question_word(scores: Scores, examples: Sequence[Example]) -> Scores:
    """Computes exact match and F1 by question word: `f1_what`, ..."""
    groups = {example.id: evaluation.question_word(example.question) for example in examples}
    rows = tuple(
        replace(part, name=f"{row.name}_{word}", label=f"{row.label}, {word}")
        for row in scores.rows
        for word, part in evaluation.score_by_group(row, groups).items()
    )
    return Scores(scores.rules, rows, {}, table="By question word")


def baselines(written: Written) -> dict[str, dict[str, str]]:
    """Returns the texts of two baselines without a model for the same examples, by name and id.

    Baselines of questions need answers to compare sentences with.
    """
    given = {}
    for example in written.examples:
        if written.target == "answer":
            given[example.id] = example.question
        elif example.answers:
            given[example.id] = next(iter(example.answers.values()))[0]
    return {
        name: {
            example.id: write(given[example.id], example.passages)
            for example in written.examples
            if example.id in given
        }
        for name, write in BASELINES.items()
        if given
    }


def score_parts(
    examples: Sequence[Example], predictions: Mapping[str, Prediction]
) -> list[tuple[str, Scores]]:
    """Computes scores of ranker and classifier by system ("" is the model), if there are labels."""
    results: list[tuple[str, Scores]] = []
    scores = {key: prediction.scores for key, prediction in predictions.items()}
    relevance = {e.id: e.relevance for e in examples if e.relevance is not None}
    if relevance and all("relevance" in scores[key] for key in relevance):
        ranked = {
            key: _padded(scores[key]["relevance"], len(labels)) for key, labels in relevance.items()
        }
        given = {key: [0.0] * len(labels) for key, labels in relevance.items()}
        results.append(("", evaluation.score_ranking(ranked, relevance)))
        results.append(("passages in the order given", evaluation.score_ranking(given, relevance)))
    labels, chances = answerability(examples, predictions)
    if labels:
        always = dict.fromkeys(labels, 1.0)
        for name, values in (("", chances), ("always answerable", always)):
            results.append(
                (name, evaluation.score_answerability(values, labels, threshold=THRESHOLD))
            )
    return results


def score_abstention(written: Written) -> list[tuple[str, Scores]]:
    """Computes SQuAD 2.0's scores of answers, if some questions have none and the model says how
    probable an answer is."""
    labels, chances = answerability(written.examples, written.predictions)
    if not labels or not by_squad(written.source, written.references):
        return []
    answers = {key: written.references.get(key, []) for key in labels}
    texts = {key: text for key, text in written.texts.items() if key in labels}
    silence = {key: 1.0 - chance for key, chance in chances.items()}
    scores = evaluation.score_squad(texts, answers, version="2.0", no_answer=silence)
    return [("_".join(filter(None, (written.prefix, "squad_2"))), scores)]


def answerability(
    examples: Sequence[Example], predictions: Mapping[str, Prediction]
) -> tuple[dict[str, bool], dict[str, float]]:
    """Returns labels and probabilities of answerability; empty dicts if one is missing."""
    labels: dict[str, bool] = {e.id: e.answerable for e in examples if e.answerable is not None}
    scores: dict[str, Any] = {key: predictions[key].scores for key in labels}
    mixed = any(labels.values()) and not all(labels.values())
    if not mixed or not all("answerable_probability" in values for values in scores.values()):
        return {}, {}
    return labels, {k: float(values["answerable_probability"]) for k, values in scores.items()}


def _padded(scores: Sequence[float], length: int) -> list[float]:
    """Pads the scores of the passages that the model reads; the others rank last."""
    return [*scores, *[-1.0] * (length - len(scores))][:length]

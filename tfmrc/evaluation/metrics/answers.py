"""ROUGE-L, BLEU and METEOR of generated answers under a dataset's rules."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tfmrc.evaluation.metrics.answerability import decision_scores
from tfmrc.evaluation.metrics.coco import bleu, rouge_l
from tfmrc.evaluation.metrics.meteor import meteor as score_meteor
from tfmrc.evaluation.metrics.pairing import Missing, check_texts, pair
from tfmrc.evaluation.metrics.registry import Submission, register_metric
from tfmrc.evaluation.metrics.rules import NO_ANSWER, RULES, Rules, get_rules
from tfmrc.evaluation.metrics.score import Score, Scores


def score_answers(
    predictions: Mapping[Any, str],
    references: Mapping[Any, Sequence[str]],
    rules: str | Rules = "msmarco",
    *,
    meteor: bool | None = None,
    tokenizer: str | None = None,
    missing: Missing = "error",
) -> Scores:
    """Scores generated answers or questions.

    The rules, by name:

    - `"msmarco"`: lower-cased. A question without reference answers, or with "No Answer Present."
      among them, is not scored, nor is one whose prediction is "No Answer Present." (counted as
      `abstained`). This gives the expected figures of MS MARCO's own samples.
    - `"msmarco-strict"`: as the published script is written: such a prediction is an empty answer.
    - `"narrativeqa"`: lower-cased, words without letter or digit removed; BLEU-1, BLEU-4, METEOR.
    - `"narrativeqa-unicode"`: the same with the tokenizer `"unicode"`; a text that has only
      punctuation keeps it.
    - `"qg"`: question generation as the coco scripts: the text is taken as already tokenized.
    - `"plain"`: tokenized and lower-cased, nothing else.
    - `"unicode"`: the same with the tokenizer `"unicode"`.

    Args:
        predictions: dict. One text by id. An empty string is an answer without words (scored 0).
        references: dict. Reference texts by id. An id with none is not scored (`unanswerable`).
        rules: str or `Rules`. A name from the list above, or `Rules`. Default: "msmarco".
        meteor: bool or None. Whether to compute METEOR (slow to start, needs Java). By default the
            rules decide. Without Java the value of the row is None and its note says so.
        tokenizer: str or None. Tokenizer to use instead of the rules' own. `"spacy"` is that of MS
            MARCO's script, `"unicode"` suits all scripts and compares composed characters.
            Default: None.
        missing: str. Treatment of an id without a prediction: `"error"`, `"empty"` (an empty
            answer) or `"leave_out"`. Default: "error".

    Returns:
        `Scores` with `rouge_l`, `bleu_1` .. `bleu_4` and `meteor`, as far as the rules have them,
        and under MS MARCO's rules `answerable_f1`, `answerable_precision`, `answerable_recall` of
        the decision to answer. `counts` has `unanswerable`, `abstained`, `missing` and `unused`.

    Raises:
        ValueError: If the rules are unknown, or an id has no prediction.
        TypeError: If the references of an id are one string.

    Example:

    >>> from tfmrc.evaluation import score_answers
    >>> scores = score_answers(
    ...     {"q1": "in the old mill", "q2": "No Answer Present."},
    ...     {"q1": ["in the mill"], "q2": ["No Answer Present."]},
    ... )
    >>> print(f"{scores['bleu_1'].value:.2f} {scores['rouge_l'].value:.4f} {scores.counts}")
    0.75 0.8798 {'missing': 0, 'unused': 0, 'unanswerable': 1, 'abstained': 0}
    """
    options = get_rules(rules, tokenizer)
    check_texts(references)
    answerable = [
        key
        for key, texts in references.items()
        if len(texts) and not (options.no_answer and NO_ANSWER in texts)
    ]
    # Where the decision to answer is scored, "No Answer Present." needs a prediction too; an empty
    # list of references needs none, as in MS MARCO's own sample.
    labelled = [key for key, texts in references.items() if texts or key in predictions]
    wanted = labelled if options.no_answer else answerable
    asked, counts = pair(predictions, wanted, missing=missing, known=references.keys())
    to_answer = set(answerable)
    ids = [key for key in asked if key in to_answer]
    abstained = {
        key for key in ids if options.no_answer and predictions.get(key, "").strip() == NO_ANSWER
    }
    scored = [key for key in ids if key not in abstained or options.abstentions == "empty"]
    ready = {
        key: "" if key in abstained else options.prepare(predictions.get(key, "")) for key in scored
    }
    targets = {key: [options.prepare(text) for text in references[key]] for key in scored}
    rows: list[Score] = [rouge_l(ready, targets, options.tokenisation)]
    rows += bleu(ready, targets, options.tokenisation, options.orders)
    if options.meteor if meteor is None else meteor:
        rows.append(score_meteor(ready, targets, options.tokenisation))
    if options.no_answer:
        rows += decision_scores(
            {key: text.strip() not in ("", NO_ANSWER) for key, text in predictions.items()},
            {key: key in to_answer for key in asked},
        )
    counts |= {"unanswerable": len(references) - len(answerable), "abstained": len(abstained)}
    return Scores(f"{options.name} ({options.tokenisation})", tuple(rows), counts)


@register_metric(
    "text",
    lambda given: given.answers and (given.target == "question" or given.rules in RULES),
    order=10,
)
def _text(given: Submission) -> Scores:
    """ROUGE-L, BLEU and METEOR; the decision to answer if no probability decides it."""
    decides = given.answerable and not given.scores("answerable_probability", given.answerable)
    silent = [k for k, possible in given.answerable.items() if not possible] if decides else []
    texts = given.texts | {k: given.predictions[k].answer for k in silent if k in given.predictions}
    by_character = given.rules == "plain" and given.by_character
    scores = score_answers(
        texts,
        given.answers | dict.fromkeys(silent, ()),
        given.rules if given.rules in RULES else "plain",
        meteor=given.meteor,
        tokenizer=given.tokenizer or ("unicode" if by_character else None),
        missing=given.missing,
    )
    if silent:
        return scores
    # Every question here has an answer, so scores of the decision to answer mean nothing.
    rows = (row for row in scores.rows if not row.name.startswith("answerable"))
    return replace(scores, rows=tuple(rows))

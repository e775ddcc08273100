"""Generated answers against references: ROUGE-L, BLEU and METEOR under a dataset's rules."""

from collections.abc import Mapping, Sequence
from typing import Any

from tfmrc.evaluation.files.pairing import Missing, check_references, check_text, pair
from tfmrc.evaluation.metrics.answerability import decision_scores
from tfmrc.evaluation.metrics.coco import bleu, rouge_l
from tfmrc.evaluation.metrics.meteor import meteor as score_meteor
from tfmrc.evaluation.metrics.rules import NO_ANSWER, Rules, get_rules
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
    """Score answers (or questions) that were written, not chosen.

    The rules, by name:

    - `"msmarco"`: lower-cased; a question without reference answers, or with "No Answer Present."
      among them, is not scored, nor is one to which the prediction is "No Answer Present."
      (counted as `abstained`): so come the expected figures of MS MARCO's own samples.
    - `"msmarco-strict"`: as the published script reads: such a prediction is an empty answer.
    - `"narrativeqa"`: lower-cased, words without letter or digit removed; BLEU-1, BLEU-4, METEOR.
    - `"qg"`: question generation as the coco scripts: the text is taken as already tokenised.
    - `"plain"`: tokenised and lower-cased, nothing else.

    Args:
        predictions: one text by id; an empty string is an answer without words (scored 0).
        references: reference texts by id; an id with none is not scored (`unanswerable`).
        rules: a name of the above or `Rules`.
        meteor: whether to compute METEOR (slow to start, needs Java); by default as the rules say.
            Without Java the row's value is None and its note says so.
        tokenizer: another tokeniser than the rules'; `"spacy"` is that of MS MARCO's script.
        missing: an id without a prediction is an `"error"`, an `"empty"` answer, or `"leave_out"`.

    Returns:
        `Scores` with `rouge_l`, `bleu_1` .. `bleu_4`, `meteor` as the rules have them, and under
        MS MARCO's rules `answerable_f1`, `answerable_precision`, `answerable_recall` of the
        decision to answer; `counts` has `unanswerable`, `abstained`, `missing` and `unused`.

    Raises:
        ValueError: unknown rules or tokeniser, or an id without prediction.
        TypeError: a prediction that is not a string, references that are not strings in a sequence.

    Example:

    >>> from tfmrc.evaluation import score_answers
    >>> scores = score_answers(
    ...     {"q1": "in the old mill", "q2": "No Answer Present."},
    ...     {"q1": ["in the mill"], "q2": ["No Answer Present."]},
    ... )
    >>> print(f"{scores['bleu_1'].value:.2f} {scores['rouge_l'].value:.4f} {scores.counts}")
    0.75 0.8798 {'missing': 0, 'unused': 0, 'unanswerable': 1, 'abstained': 0}
    """
    chosen = get_rules(rules, tokenizer)
    check_text(predictions)
    check_references(references)
    answerable = [key for key, texts in references.items() if _has_answer(texts, chosen)]
    pairing = pair(predictions, answerable, missing=missing, known=references.keys())
    abstained = {
        key
        for key in pairing.ids
        if chosen.no_answer and predictions.get(key, "").strip() == NO_ANSWER
    }
    scored = [key for key in pairing.ids if key not in abstained or chosen.abstentions == "empty"]
    ready = {
        key: "" if key in abstained else chosen.prepare(predictions.get(key, "")) for key in scored
    }
    targets = {key: [chosen.prepare(text) for text in references[key]] for key in scored}
    rows: list[Score] = [rouge_l(ready, targets, chosen.tokenisation)]
    rows += bleu(ready, targets, chosen.tokenisation, chosen.orders)
    if chosen.meteor if meteor is None else meteor:
        rows.append(score_meteor(ready, targets, chosen.tokenisation))
    if chosen.no_answer:
        rows += decision_scores(
            {key: text.strip() not in ("", NO_ANSWER) for key, text in predictions.items()},
            {key: bool(texts) and NO_ANSWER not in texts for key, texts in references.items()},
        )
    counts = pairing.counts | {
        "unanswerable": len(references) - len(answerable),
        "abstained": len(abstained),
    }
    return Scores(f"{chosen.name} ({chosen.tokenisation})", tuple(rows), counts)


def _has_answer(texts: Sequence[str], rules: Rules) -> bool:
    return len(texts) > 0 and not (rules.no_answer and NO_ANSWER in texts)

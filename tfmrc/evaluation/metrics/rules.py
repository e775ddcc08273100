"""What a dataset's official script does to text before counting, and which numbers it reports."""

from dataclasses import dataclass, replace
from typing import Literal

from tfmrc.evaluation.metrics.tokenizers import get_tokenizer

NO_ANSWER = "No Answer Present."


@dataclass(frozen=True)
class Rules:
    """How answers are prepared for BLEU, ROUGE-L and METEOR.

    Args:
        name: as in `score_answers(rules=...)`.
        tokenizer: `"english"`, `"whitespace"` or `"spacy"`.
        lower_case: compare in lower case.
        punctuation: keep words that have neither letter nor digit.
        orders: the BLEU orders that the dataset reports.
        meteor: whether the dataset reports METEOR.
        no_answer: whether "No Answer Present." has its MS MARCO meaning.
        abstentions: what a prediction of "No Answer Present." to an answerable question is:
            `"leave_out"` (not scored) or `"empty"` (an empty answer, scored 0).

    Example:

    >>> from tfmrc.evaluation import RULES
    >>> RULES["narrativeqa"].prepare("The King's dog, Rex!")
    "the king 's dog rex"
    """

    name: str
    tokenizer: str = "english"
    lower_case: bool = True
    punctuation: bool = True
    orders: tuple[int, ...] = (1, 2, 3, 4)
    meteor: bool = False
    no_answer: bool = False
    abstentions: Literal["leave_out", "empty"] = "leave_out"

    def prepare(self, text: str) -> str:
        """The text as it is compared: words joined by single spaces."""
        words = get_tokenizer(self.tokenizer)(text)
        if not self.punctuation:
            words = [word for word in words if any(letter.isalnum() for letter in word)]
        joined = " ".join(words)
        return joined.lower() if self.lower_case else joined

    @property
    def tokenisation(self) -> str:
        """What every score of these rules says about its text."""
        parts = [get_tokenizer(self.tokenizer).description]
        parts += ["lower-cased"] if self.lower_case else []
        parts += [] if self.punctuation else ["without punctuation"]
        return ", ".join(parts)


RULES = {
    rules.name: rules
    for rules in (
        Rules("msmarco", no_answer=True),
        Rules("msmarco-strict", no_answer=True, abstentions="empty"),
        Rules("narrativeqa", punctuation=False, orders=(1, 4), meteor=True),
        Rules("qg", tokenizer="whitespace", meteor=True),
        Rules("plain"),
    )
}


def get_rules(rules: str | Rules, tokenizer: str | None = None) -> Rules:
    """Rules by name, with another tokeniser if asked.

    Raises:
        ValueError: the name is unknown.

    Example:

    >>> get_rules("msmarco", tokenizer="whitespace").tokenisation
    'white space, lower-cased'
    """
    if isinstance(rules, str):
        if rules not in RULES:
            raise ValueError(f"`rules` must be one of {sorted(RULES)}. Received: rules={rules!r}")
        rules = RULES[rules]
    return replace(rules, tokenizer=tokenizer) if tokenizer else rules

"""The rules by which a dataset's answers are prepared and scored."""

from dataclasses import dataclass, replace
from typing import Literal

from tfmrc.data.formats.msmarco import NO_ANSWER as NO_ANSWER
from tfmrc.evaluation.metrics.tokenizers import get_tokenizer
from tfmrc.utils.arguments import suggestion


@dataclass(frozen=True)
class Rules:
    """Text preparation and scores for BLEU, ROUGE-L and METEOR.

    Args:
        name: str. The name, as in `score_answers(rules=...)`.
        tokenizer: str. `"english"`, `"unicode"`, `"whitespace"` or `"spacy"`. Default: "english".
        lower_case: bool. Whether text is compared in lower case. Default: True.
        punctuation: bool. Whether words that have neither letter nor digit are kept. Default: True.
        keep_bare_punctuation: bool. Whether a text that has only such words keeps them. Without it,
            two such texts are both empty and score 1 against each other. Default: False.
        orders: tuple of int. The BLEU orders that the dataset reports. Default: (1, 2, 3, 4).
        meteor: bool. Whether the dataset reports METEOR. Default: False.
        no_answer: bool. Whether "No Answer Present." has its MS MARCO meaning. Default: False.
        abstentions: str. The treatment of a prediction of "No Answer Present." to an answerable
            question: `"leave_out"` (not scored) or `"empty"` (an empty answer, scored 0).
            Default: "leave_out".

    Example:

    >>> from tfmrc.evaluation import RULES
    >>> RULES["narrativeqa"].prepare("The King's dog, Rex!")
    "the king 's dog rex"
    """

    name: str
    tokenizer: str = "english"
    lower_case: bool = True
    punctuation: bool = True
    keep_bare_punctuation: bool = False
    orders: tuple[int, ...] = (1, 2, 3, 4)
    meteor: bool = False
    no_answer: bool = False
    abstentions: Literal["leave_out", "empty"] = "leave_out"

    def prepare(self, text: str) -> str:
        """Returns the text as it is compared: words joined by single spaces."""
        words = get_tokenizer(self.tokenizer)(text)
        if not self.punctuation:
            without = [word for word in words if any(letter.isalnum() for letter in word)]
            words = words if self.keep_bare_punctuation and not without else without
        joined = " ".join(words)
        return joined.lower() if self.lower_case else joined

    @property
    def tokenisation(self) -> str:
        """The description of the text preparation that every score carries."""
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
        Rules(
            "narrativeqa-unicode",
            tokenizer="unicode",
            punctuation=False,
            keep_bare_punctuation=True,
            orders=(1, 4),
            meteor=True,
        ),
        Rules("plain"),
        Rules("unicode", tokenizer="unicode"),
    )
}


RULE_NAMES = ("squad", "adversarial", *RULES)
"""What `rules` of a recipe and `--rules` name: also exact match and F1 alone, or worst variants."""


def check_rules(name: str) -> None:
    """Raises a ValueError if no rules have this name."""
    if name not in RULE_NAMES:
        raise ValueError(
            f"There are no rules {name!r}{suggestion(name, RULE_NAMES)} Received: rules={name!r}"
        )


def get_rules(rules: str | Rules, tokenizer: str | None = None) -> Rules:
    """Returns rules by name, with another tokenizer if given.

    Args:
        rules: str or `Rules`. A name of `RULES`, or rules.
        tokenizer: str or None. The tokenizer to use instead of the rules' own. Default: None.

    Raises:
        ValueError: If the name is unknown.

    Example:

    >>> get_rules("msmarco", tokenizer="whitespace").tokenisation
    'white space, lower-cased'
    """
    if isinstance(rules, str):
        check_rules(rules)
        rules = RULES[rules]
    return replace(rules, tokenizer=tokenizer) if tokenizer else rules

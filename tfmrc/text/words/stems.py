"""Light English stemming by graph operations."""

import tensorflow as tf

from tfmrc.text.typing import TensorLike

# A letter but u and s; a character beyond ASCII counts as one.
_BEFORE_S = r"[a-rtv-z]|[^\x00-\x7F]"

# Pattern and replacement, applied one after the other.
_RULES = (
    # The S-stemmer: plurals of nouns and the third person of verbs.
    (r"^(.+[^aeiou])ies$", r"\1y"),
    (r"^(.+[^aeo])es$", r"\1e"),
    (rf"^(.{{2,}}(?:{_BEFORE_S}))s$", r"\1"),
    # -ed and -ing after a vowel: not bed, need, king.
    (r"^(.*[aeiouy].*[^e])ed$", r"\1"),
    (r"^(.*[aeiouy].+|.{2,}[aeiouy])ing$", r"\1"),
    # Spelling: make, making; plan, planned; carry, carried.
    (r"^(.{3,})e$", r"\1"),
    (r"(b)b$|(d)d$|(g)g$|(l)l$|(m)m$|(n)n$|(p)p$|(r)r$|(t)t$", r"\1\2\3\4\5\6\7\8\9"),
    (r"^(.{2,})y$", r"\1i"),
)


def light_stems(words: TensorLike) -> tf.Tensor:
    """Returns words without the endings of English inflection, for the comparison of words.

    Endings are removed by a few rules without a dictionary, so a stem need not be a word, and
    irregular forms have different stems. Time is linear in the number of characters.

    Args:
        words: string `[N]`, lower case, each word without spaces.

    Returns:
        string `[N]`.

    Example:
        >>> from tfmrc.text.words.stems import light_stems
        >>> words = ["planned", "plans", "making", "makes", "cities", "city", "is", "boss"]
        >>> print(light_stems(words).numpy())
        [b'plan' b'plan' b'mak' b'mak' b'citi' b'citi' b'is' b'boss']

    Reference: Harman 1991, "How effective is suffixing?" (the S-stemmer). The rules for -ed and
    -ing follow step 1b of Porter 1980.
    """
    words = tf.convert_to_tensor(words, tf.string)
    for pattern, replacement in _RULES:
        words = tf.strings.regex_replace(words, pattern, replacement, replace_global=False)
    return words

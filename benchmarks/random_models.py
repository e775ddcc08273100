"""The four models with random weights, for benchmarks that need no trained one."""

from typing import Any

PRESETS = {
    "Masque": "masque",
    "SAN": "san",
    "DAANet": "daanet",
    "MaxoutPointerQG": "maxout_pointer_qg",
}
"""The first part of each model's presets, which is also the name of its training settings."""


def build(name: str, size: str, words: int, **sizes: int) -> tuple[Any, Any]:
    """Returns a model and its preprocessor, with a vocabulary of `word0`, `word1` and so on.

    Args:
        name: str. The model's class.
        size: str. "paper" or "demo".
        words: int. Size of the vocabulary.
        **sizes: Arguments of the preprocessor.
    """
    import keras

    from tfmrc import models, preprocessing, text

    keras.utils.set_random_seed(0)
    vocabulary = text.Vocabulary([f"word{number}" for number in range(words)], num_oov_buckets=16)
    preprocessor = getattr(preprocessing, f"{name}Preprocessor")(vocabulary, **sizes)
    model_class = getattr(models, name)
    model = model_class.from_preset(f"{PRESETS[name]}_{size}", **preprocessor.model_kwargs())
    return model, preprocessor


def made_examples(preprocessor: Any, number: int, passages: int, length: int, words: int) -> Any:
    """Returns examples: questions of 20 words, an answer of three in the first passage.

    Args:
        preprocessor: The preprocessor; its first style is that of the answers.
        number: int. Number of examples.
        passages: int. Passages of each question.
        length: int. Words of the longest passage; the shortest has half of them.
        words: int. Size of the vocabulary.
    """
    import numpy as np

    from tfmrc import data

    rng = np.random.default_rng(0)

    def text(length: int) -> str:
        return " ".join(f"word{number}" for number in rng.integers(0, words, length))

    examples = []
    for one in range(number):
        texts = tuple(text(rng.integers(length // 2, length)) for _ in range(passages))
        answer = " ".join(texts[0].split()[5:8])
        start = texts[0].index(answer)
        examples.append(
            data.Example(
                str(one), text(20), texts, {preprocessor.styles[0]: (answer,)}, answerable=True,
                relevance=(True, *[False] * (passages - 1)),
                spans=(data.Span(0, start, start + len(answer)),),
            )
        )  # fmt: skip
    return examples

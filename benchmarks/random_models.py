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

"""From a recipe and its vocabulary to preprocessor and model."""

from typing import Any

from tfmrc import models, preprocessing, text
from tfmrc.experiments.configuration import Recipe


def build_preprocessor(
    recipe: Recipe, vocabulary: text.Vocabulary
) -> preprocessing.MasquePreprocessor:
    """The preprocessor of a recipe; the model's gold ranker asks for the true relevance.

    Raises:
        ValueError: `preprocessor` names what `MasquePreprocessor` does not have.
    """
    gold = {"gold_relevance": True} if recipe.model.get("ranker") == "gold" else {}
    return _call(
        preprocessing.MasquePreprocessor,
        "preprocessor",
        vocabulary,
        styles=recipe.styles,
        **gold,
        **recipe.preprocessor,
    )


def build_model(recipe: Recipe, preprocessor: preprocessing.MasquePreprocessor) -> models.Masque:
    """The model of a recipe, of the preprocessor' sizes.

    Raises:
        ValueError: `model` names what `Masque` does not have, or what the preprocessor settle.
    """
    settled = {
        "vocabulary_size": len(preprocessor.vocabulary),
        "num_styles": len(preprocessor.styles),
        "num_passages": preprocessor.num_passages,
        "generation_vocabulary_size": preprocessor.generation_vocabulary_size,
        "num_oov_buckets": preprocessor.vocabulary.num_oov_buckets,
        "dtype": recipe.training.dtype,
    }
    both = sorted(settled.keys() & recipe.model.keys())
    if both:
        raise ValueError(
            f"The preprocessor settle {both[0]} of the model. Received: model.{both[0]}="
            f"{recipe.model[both[0]]!r}"
        )
    return _call(models.Masque, "model", **settled, **recipe.model)


def _call(make: Any, name: str, *positional: Any, **arguments: Any) -> Any:
    try:
        return make(*positional, **arguments)
    except TypeError as error:
        raise ValueError(f"The recipe's {name}: {error}") from error

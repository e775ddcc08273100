"""From a recipe and its vocabulary to features and model."""

from typing import Any

from tfmrc import models, text
from tfmrc.recipe.settings import Recipe


def build_features(recipe: Recipe, vocabulary: text.Vocabulary) -> text.MasqueFeatures:
    """The features of a recipe; the model's gold ranker asks for the true relevance.

    Raises:
        ValueError: `features` names what `MasqueFeatures` does not have.
    """
    gold = {"gold_relevance": True} if recipe.model.get("ranker") == "gold" else {}
    return _call(
        text.MasqueFeatures, "features", vocabulary, styles=recipe.styles, **gold, **recipe.features
    )


def build_model(recipe: Recipe, features: text.MasqueFeatures) -> models.Masque:
    """The model of a recipe, of the features' sizes.

    Raises:
        ValueError: `model` names what `Masque` does not have, or what the features settle.
    """
    settled = {
        "vocabulary_size": len(features.vocabulary),
        "num_styles": len(features.styles),
        "num_passages": features.num_passages,
        "generation_vocabulary_size": features.generation_vocabulary_size,
        "num_oov_buckets": features.vocabulary.num_oov_buckets,
        "dtype": recipe.training.dtype,
    }
    both = sorted(settled.keys() & recipe.model.keys())
    if both:
        raise ValueError(
            f"The features settle {both[0]} of the model. Received: model.{both[0]}="
            f"{recipe.model[both[0]]!r}"
        )
    return _call(models.Masque, "model", **settled, **recipe.model)


def _call(make: Any, name: str, *positional: Any, **arguments: Any) -> Any:
    try:
        return make(*positional, **arguments)
    except TypeError as error:
        raise ValueError(f"The recipe's {name}: {error}") from error

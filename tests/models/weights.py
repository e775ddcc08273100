"""The weights of a Masque model in the shape that `tests.reference.masque` takes them."""

from typing import Any

import keras
import numpy as np

from tests.layers import weights as of
from tests.reference.basic import Array
from tests.reference.masque import Sizes


def values(model: keras.Model) -> dict[str, Array]:
    return of.values(model, strip=False)


def table(v: dict[str, Array]) -> Array:
    return np.concatenate([v["word_embedding/special"], v["word_embedding/words"]])


def nested(v: dict[str, Array]) -> dict[str, Any]:
    """Path to array, as the reference's nested dictionary."""

    def stack(name: str) -> list[dict[str, Array]]:
        kind = of.decoder_block if name == "decoder" else of.encoder_block
        found, number = [], 1
        while any(path.startswith(f"{name}_{number}/") for path in v):
            found.append(kind(of.below(v, f"{name}_{number}")))
            number += 1
        return found

    def positions(part: str) -> dict[str, Array]:
        return {
            "scale": v[f"{part}_positions/position_scale"],
            "gamma": v[f"{part}_positions/normalization/gamma"],
            "beta": v[f"{part}_positions/normalization/beta"],
        }

    projections = ("reader", "question", "passage", "decoder")
    return {
        **{f"{part}_projection": of.linear(v, f"{part}_projection") for part in projections},
        **{
            f"{part}_highway": of.highway(of.below(v, f"{part}_highway"))
            for part in ("reader", "decoder")
        },
        **{f"{part}_positions": positions(part) for part in ("reader", "decoder")},
        "shared": stack("shared_encoder"),
        "question": stack("question_modelling"),
        "passage": stack("passage_modelling"),
        "decoder": stack("decoder"),
        "similarity": v["dual_attention/similarity"],
        "ranker": v["passage_ranker/score/kernel"][:, 0],
        "classifier": v["answer_possibility/score/kernel"][:, 0],
        "styles": v["style_embedding/embeddings"],
        "pointer_generator": {
            "question": of.additive(of.below(v, "pointer_generator/copy_attention_0")),
            "passages": of.additive(of.below(v, "pointer_generator/copy_attention_1")),
            "generation": of.linear(v, "output_projection"),
            "mixture": of.linear(v, "pointer_generator/mixture"),
        },
    }


def sizes(model: keras.Model) -> Sizes:
    config = model.get_config()
    return Sizes(
        num_generable=config["generation_vocabulary_size"],
        num_words=config["vocabulary_size"] - config["num_oov_buckets"],
        num_heads=config["num_heads"],
        epsilon=of.EPSILON,
    )

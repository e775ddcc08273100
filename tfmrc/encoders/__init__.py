"""Pretrained word vectors and encoders.

Names are imported lazily, so importing this package loads neither TensorFlow nor KerasHub.
"""

from tfmrc.lazy import lazy_imports

_HOMES = {
    "BackboneEncoder": "backbone",
    "CoVe": "cove",
    "ELMo": "elmo",
    "Encoder": "presets",
    "HubELMo": "hub",
    "StateCache": "state_cache",
    "WordPooling": "word_pooling",
    "WordVectors": "word_vectors",
    "elmo_character_ids": "elmo_characters",
    "elmo_generable_characters": "elmo_characters",
    "from_preset": "presets",
    "from_vocabulary": "presets",
    "learning_rate_multipliers": "learning_rates",
    "load_cove": "cove",
    "load_elmo": "elmo_weights",
    "load_word_vectors": "word_vector_files",
    "read_state_dict": "torch_state_dict",
    "rows_from_subwords": "word_vectors",
    "set_vectors": "word_vectors",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_imports(__name__, _HOMES)

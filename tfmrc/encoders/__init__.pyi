from .backbone import BackboneEncoder as BackboneEncoder
from .cove import CoVe as CoVe, load_cove as load_cove
from .elmo import ELMo as ELMo
from .elmo_characters import (
    elmo_character_ids as elmo_character_ids,
    elmo_generable_characters as elmo_generable_characters,
)
from .elmo_weights import load_elmo as load_elmo
from .hub import HubELMo as HubELMo
from .learning_rates import learning_rate_multipliers as learning_rate_multipliers
from .presets import (
    Encoder as Encoder,
    from_preset as from_preset,
    from_vocabulary as from_vocabulary,
)
from .torch_state_dict import read_state_dict as read_state_dict
from .word_pooling import WordPooling as WordPooling
from .word_vector_files import load_word_vectors as load_word_vectors
from .word_vectors import (
    WordVectors as WordVectors,
    rows_from_subwords as rows_from_subwords,
    set_vectors as set_vectors,
)

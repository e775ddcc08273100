from .backbone import BackboneEncoder as BackboneEncoder
from .cove import CoVe as CoVe, load_cove as load_cove
from .elmo.characters import (
    elmo_character_ids as elmo_character_ids,
    elmo_generable_characters as elmo_generable_characters,
)
from .elmo.elmo import ELMo as ELMo
from .elmo.hub import HubELMo as HubELMo
from .elmo.weights import load_elmo as load_elmo
from .learning_rates import learning_rate_multipliers as learning_rate_multipliers
from .presets import (
    Encoder as Encoder,
    from_preset as from_preset,
    from_vocabulary as from_vocabulary,
)
from .torch_state_dict import read_state_dict as read_state_dict
from .vectors.files import load_word_vectors as load_word_vectors
from .vectors.word_vectors import (
    WordVectors as WordVectors,
    rows_from_subwords as rows_from_subwords,
    set_vectors as set_vectors,
)
from .word_pooling import WordPooling as WordPooling

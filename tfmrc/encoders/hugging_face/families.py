"""Families of pretrained encoders and their properties."""

from typing import NamedTuple


class Family(NamedTuple):
    """Properties of a family of encoders.

    Attributes:
        keras_hub: str. Begin of the names of KerasHub's classes, such as `BertBackbone`; for
            ModernBERT and MobileBERT of the classes here.
        transformers: str. Begin of the names of transformers' classes, such as `BertModel`.
        model_type: str. `model_type` in `config.json` of Hugging Face.
        prefix: str. Begin of the names of weights there, such as `bert` of `bert.pooler`.
        pieces: str. Kind of subwords: `word_pieces`, `byte_pairs` or `unigram`.
        cls, sep, pad: str. The special subwords.
        num_separators: int. Number of separators between question and passage.
        segments: bool. Whether sequences have segment ids.
        vocabulary_argument: str. The backbone's argument for the size of its vocabulary.
    """

    keras_hub: str
    transformers: str
    model_type: str
    prefix: str
    pieces: str
    cls: str
    sep: str
    pad: str
    num_separators: int = 1
    segments: bool = True
    vocabulary_argument: str = "vocabulary_size"

    @property
    def backbone(self) -> str:
        """Name of KerasHub's backbone class."""
        return f"{self.keras_hub}Backbone"


_BERT = ("word_pieces", "[CLS]", "[SEP]", "[PAD]")
_ROBERTA = ("<s>", "</s>", "<pad>", 2, False)
_PIECES = ("unigram", "[CLS]", "[SEP]")

# Positions are counted after the padding.
OF_ROBERTA = ("roberta", "xlm_roberta", "camembert", "mpnet")

FAMILIES = {
    "bert": Family("Bert", "Bert", "bert", "bert", *_BERT),
    "distil_bert": Family("DistilBert", "DistilBert", "distilbert", "distilbert", *_BERT, 1, False),
    "electra": Family(
        "Electra", "Electra", "electra", "electra", *_BERT, vocabulary_argument="vocab_size"
    ),
    "mobile_bert": Family("MobileBert", "MobileBert", "mobilebert", "mobilebert", *_BERT),
    "roberta": Family("Roberta", "Roberta", "roberta", "roberta", "byte_pairs", *_ROBERTA),
    "xlm_roberta": Family(
        "XLMRoberta", "XLMRoberta", "xlm-roberta", "roberta", "unigram", *_ROBERTA
    ),
    # After XLM-RoBERTa, whose backbone class is its own too.
    "camembert": Family("XLMRoberta", "Camembert", "camembert", "roberta", "unigram", *_ROBERTA),
    # RoBERTa's layers, with scores of distances (`BackboneEncoder.distance_weights`).
    "mpnet": Family("Roberta", "MPNet", "mpnet", "mpnet", "word_pieces", *_ROBERTA),
    "albert": Family("Albert", "Albert", "albert", "albert", *_PIECES, "<pad>"),
    "deberta_v3": Family(
        "DebertaV3", "DebertaV2", "deberta-v2", "deberta", *_PIECES, "[PAD]", segments=False
    ),
    "modern_bert": Family(
        "ModernBert", "ModernBert", "modernbert", "model", "byte_pairs", *_BERT[1:], segments=False
    ),
}


def family_of_backbone(class_name: str) -> str:
    """Returns the family of a KerasHub backbone class.

    Raises:
        ValueError: If the class belongs to no known family.

    Example:
        >>> from tfmrc.encoders.hugging_face.families import family_of_backbone
        >>> family_of_backbone("DebertaV3Backbone")
        'deberta_v3'
    """
    for name, family in FAMILIES.items():
        if family.backbone == class_name:
            return name
    raise ValueError(
        "An encoder must be one of KerasHub's "
        f"{', '.join(family.backbone for family in FAMILIES.values())}. "
        f"Received: {class_name}"
    )

"""Families of pretrained encoders and their properties."""

from typing import NamedTuple


class Family(NamedTuple):
    """Properties of a family of encoders.

    Attributes:
        backbone: str. Name of KerasHub's backbone class.
        tokenizer: str. Name of KerasHub's tokenizer class.
        model_type: str. `model_type` in `config.json` of Hugging Face.
        pieces: str. Kind of subwords: `word_pieces`, `byte_pairs` or `unigram`.
        cls, sep, pad: str. The special subwords.
        num_separators: int. Number of separators between question and passage.
        segments: bool. Whether sequences have segment ids.
        vocabulary_argument: str. The backbone's argument for the size of its vocabulary.
    """

    backbone: str
    tokenizer: str
    model_type: str
    pieces: str
    cls: str
    sep: str
    pad: str
    num_separators: int = 1
    segments: bool = True
    vocabulary_argument: str = "vocabulary_size"


_BERT = ("word_pieces", "[CLS]", "[SEP]", "[PAD]")
_ROBERTA = ("byte_pairs", "<s>", "</s>", "<pad>", 2, False)
_PIECES = ("unigram", "[CLS]", "[SEP]")

FAMILIES = {
    "bert": Family("BertBackbone", "BertTokenizer", "bert", *_BERT),
    "distil_bert": Family(
        "DistilBertBackbone", "DistilBertTokenizer", "distilbert", *_BERT, segments=False
    ),
    "electra": Family(
        "ElectraBackbone",
        "ElectraTokenizer",
        "electra",
        *_BERT,
        vocabulary_argument="vocab_size",
    ),
    "roberta": Family("RobertaBackbone", "RobertaTokenizer", "roberta", *_ROBERTA),
    "xlm_roberta": Family(
        "XLMRobertaBackbone",
        "XLMRobertaTokenizer",
        "xlm-roberta",
        "unigram",
        *_ROBERTA[1:],
    ),
    "albert": Family("AlbertBackbone", "AlbertTokenizer", "albert", *_PIECES, "<pad>"),
    "deberta_v3": Family(
        "DebertaV3Backbone",
        "DebertaV3Tokenizer",
        "deberta-v2",
        *_PIECES,
        "[PAD]",
        segments=False,
    ),
}


def family_of_backbone(class_name: str) -> str:
    """Returns the family of a KerasHub backbone class.

    Raises:
        ValueError: The class belongs to no known family.

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

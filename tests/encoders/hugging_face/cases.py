"""Small configurations in Hugging Face's form, and models that transformers makes."""

import json
from pathlib import Path

import sentencepiece

from tests.encoders.hugging_face import transformers_process

PROGRAM = Path(__file__).with_name("transformers_models.py")
CHARSMAP = Path(sentencepiece.__file__).parent / "package_data" / "nmt_nfkc.bin"
"""The character map of most SentencePiece models."""
_SIZES = {
    "vocab_size": 30, "num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8,
    "intermediate_size": 12, "hidden_dropout_prob": 0.0, "max_position_embeddings": 10,
    "pad_token_id": 1, "hidden_act": "gelu", "layer_norm_eps": 1e-6,
}  # fmt: skip
CONFIGS = {
    "bert": {"model_type": "bert", **_SIZES, "type_vocab_size": 2},
    "electra": {"model_type": "electra", **_SIZES, "type_vocab_size": 2, "embedding_size": 4},
    "mobilebert": {
        "model_type": "mobilebert", **_SIZES, "type_vocab_size": 2, "embedding_size": 4,
        "intra_bottleneck_size": 4, "num_feedforward_networks": 2, "hidden_act": "relu",
    },
    "distilbert": {
        "model_type": "distilbert", "vocab_size": 30, "n_layers": 2, "n_heads": 2, "dim": 8,
        "hidden_dim": 12, "dropout": 0.0, "max_position_embeddings": 10, "pad_token_id": 1,
        "activation": "gelu",
    },
    "roberta": {"model_type": "roberta", **_SIZES, "type_vocab_size": 1},
    "xlm-roberta": {"model_type": "xlm-roberta", **_SIZES, "type_vocab_size": 1},
    "camembert": {"model_type": "camembert", **_SIZES, "type_vocab_size": 1},
    "mpnet": {"model_type": "mpnet", **_SIZES},
    "albert": {
        "model_type": "albert", **_SIZES, "type_vocab_size": 2, "embedding_size": 4,
        "num_hidden_groups": 1, "inner_group_num": 1,
    },
    "deberta-v2": {
        "model_type": "deberta-v2", **_SIZES, "position_buckets": 4, "relative_attention": True,
        "position_biased_input": False, "share_att_key": True, "norm_rel_ebd": "layer_norm",
        "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0,
    },
    "modernbert": {
        "model_type": "modernbert", "vocab_size": 30, "num_hidden_layers": 4,
        "num_attention_heads": 2, "hidden_size": 8, "intermediate_size": 12, "pad_token_id": 1,
        "max_position_embeddings": 10, "mlp_dropout": 0.0, "hidden_activation": "gelu",
        "norm_eps": 1e-6, "norm_bias": True, "local_attention": 4,
        "global_attn_every_n_layers": 2, "global_rope_theta": 100.0, "local_rope_theta": 10.0,
    },
}  # fmt: skip


def make_readers(folder, texts, *kinds):
    """Writes a small reader of some kinds of `transformers_models.KINDS`, or of each."""
    source = folder / "texts.json"
    source.write_text(json.dumps(texts), encoding="utf-8")
    transformers_process.run(PROGRAM, "make", folder, source, CHARSMAP, *kinds)
    return folder

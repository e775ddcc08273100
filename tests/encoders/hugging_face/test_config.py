"""Sizes of encoders in `config.json`: what may be left out, and what is refused."""

import pytest

from tests.encoders.hugging_face.cases import CONFIGS
from tfmrc.encoders.hugging_face.config import encoder_config


@pytest.mark.parametrize(
    ("kind", "name", "part", "value"),
    [
        ("bert", "type_vocab_size", "num_segments", 2),
        ("electra", "hidden_dropout_prob", "dropout", 0.1),
        ("albert", "hidden_dropout_prob", "dropout", 0.0),
        ("albert", "num_hidden_groups", "num_groups", 1),
        ("albert", "hidden_act", "activation", "gelu_new"),
        ("bert", "layer_norm_eps", "epsilon", 1e-12),
        ("deberta-v2", "layer_norm_eps", "epsilon", 1e-7),
        ("modernbert", "norm_eps", "epsilon", 1e-5),
        ("modernbert", "local_rope_theta", "local_base", 10_000.0),
        ("modernbert", "global_attn_every_n_layers", "global_every", 3),
    ],
)
def test_a_value_that_is_not_stated_is_that_of_the_family(kind, name, part, value):
    result = encoder_config({key: v for key, v in CONFIGS[kind].items() if key != name})
    assert {**result._asdict(), **result.sizes}[part] == value


def test_names_of_transformers_5():
    rotary = {"full_attention": {"rope_theta": 70.0}, "sliding_attention": {"rope_theta": 7.0}}
    types = ["full_attention", "sliding_attention"] * 2
    sizes = encoder_config(
        {**CONFIGS["modernbert"], "rope_parameters": rotary, "layer_types": types}
    ).sizes
    assert (sizes["global_base"], sizes["local_base"], sizes["global_every"]) == (70.0, 7.0, 2)


def test_a_missing_size_is_named_with_its_file():
    config = {key: size for key, size in CONFIGS["bert"].items() if key != "hidden_size"}
    with pytest.raises(ValueError, match="F/config.json must state `hidden_size`"):
        encoder_config(config, "F/config.json")


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("bert", {"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ("bert", {"is_decoder": True}, "is_decoder"),
        ("bert", {"model_type": "longformer"}, "longformer"),
        ("roberta", {"pad_token_id": 3}, "pad_token_id=3"),
        ("mpnet", {"relative_attention_num_buckets": 16}, "relative_attention_num_buckets"),
        ("deberta-v2", {"pos_att_type": ["c2p"]}, "pos_att_type"),
        ("deberta-v2", {"conv_kernel_size": 3}, "conv_kernel_size"),
        ("deberta-v2", {"position_biased_input": True}, "position_biased_input"),
        ("modernbert", {"mlp_bias": True}, "mlp_bias"),
        ("modernbert", {"layer_types": ["sliding_attention", "full_attention"]}, "layer_types"),
        ("modernbert", {"rope_scaling": {"rope_type": "yarn"}}, "yarn"),
    ],
)
def test_other_arithmetic_is_refused(kind, changes, message):
    with pytest.raises(ValueError, match=message):
        encoder_config({**CONFIGS[kind], **changes})

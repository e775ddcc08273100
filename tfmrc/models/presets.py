"""Named configurations of the models: the papers' sizes, the rows of their tables, small ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Preset:
    """Named arguments of a model.

    A preset has no weights and no sizes that depend on the data. These sizes are required
    arguments, which a preprocessor determines (`model_kwargs()`).

    Args:
        description: str. One line for `Model.presets`.
        arguments: dict. Arguments of the constructor. Default: {}.
    """

    description: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


_SMALL = {
    "num_heads": 4,
    "num_shared_blocks": 1,
    "num_question_blocks": 1,
    "num_passage_blocks": 1,
    "similarity_init": 1.0,  # equal words attend to each other from the first step on
    "local_window": 5,  # neighbours distinguish unknown words
    "embeddings_trainable": True,
    "initializer_stddev": 0.05,
}

MASQUE = {
    "masque_paper": Preset("The paper's sizes, ranker and classifier included (MS MARCO)."),
    "masque_paper_lstm": Preset("Table 3, w/o Transformer.", {"block": "lstm"}),
    "masque_paper_no_ranker": Preset("Table 3, w/o ranker.", {"ranker": False}),
    "masque_paper_no_classifier": Preset("Table 3, w/o classifier.", {"classifier": False}),
    "masque_paper_gold_ranker": Preset(
        "Table 3, the true relevance in place of the ranker's.", {"ranker": "gold"}
    ),
    "masque_paper_no_decoder": Preset("Table 4, w/o decoder.", {"decoder": False}),
    "masque_paper_narrativeqa": Preset(
        "The paper's sizes for NarrativeQA, which has neither relevance nor answerability.",
        {"ranker": False, "classifier": False},
    ),
    "masque_demo": Preset(
        "Trains in minutes on two CPU cores, without pre-trained vectors.",
        {
            **_SMALL,
            "word_dim": 64,
            "hidden_dim": 64,
            "intermediate_dim": 128,
            "num_decoder_blocks": 2,
            "dropout": 0.0,
        },
    ),
    "masque_small": Preset(
        "Trains in half an hour on a CPU core, without pre-trained vectors.",
        {
            **_SMALL,
            "word_dim": 100,
            "hidden_dim": 96,
            "intermediate_dim": 192,
            "num_decoder_blocks": 1,
            "dropout": 0.1,
        },
    ),
}

SAN = {
    "san_paper": Preset("The paper's sizes; Table 1, SAN."),
    "san_one_step": Preset("Table 1, standard 1-step.", {"answer": "one_step"}),
    "san_last_step": Preset("Table 1, fixed 5-step, the last step alone.", {"answer": "last_step"}),
    "san_average": Preset(
        "Table 1, the average of all steps without prediction dropout.", {"answer": "average"}
    ),
    "san_reasonet": Preset("Table 1, dynamic steps by ReasoNet.", {"answer": "reasonet"}),
    "san_demo": Preset(
        "Trains on two CPU cores, without pre-trained vectors.",
        {
            "word_dim": 100,
            "units": 48,
            "align_dim": 64,
            "dropout": 0.2,
            "embeddings_trainable": True,
        },
    ),
}

_QG = {"attention": True, "answer_tagging": True, "copy": None, "self_attention": False}

MAXOUT_POINTER_QG = {
    "maxout_pointer_qg_paper": Preset("The paper's sizes; Table 1, s2s-a-at-mp-gsa."),
    "maxout_pointer_qg_s2s": Preset(
        "Table 1, s2s: an encoder and a decoder.",
        {**_QG, "attention": False, "answer_tagging": False},
    ),
    "maxout_pointer_qg_s2s_a": Preset(
        "Table 1, s2s-a: with attention.", {**_QG, "answer_tagging": False}
    ),
    "maxout_pointer_qg_s2s_a_at": Preset("Table 1, s2s-a-at: with answer tagging.", _QG),
    "maxout_pointer_qg_s2s_a_at_cp": Preset(
        "Table 1, s2s-a-at-cp: with the basic copy mechanism.", {**_QG, "copy": "sum"}
    ),
    "maxout_pointer_qg_s2s_a_at_mp": Preset(
        "Table 1, s2s-a-at-mp: with the maxout pointer.", {**_QG, "copy": "max"}
    ),
    "maxout_pointer_qg_s2s_a_at_mp_gsa": Preset(
        "Table 1, s2s-a-at-mp-gsa: with gated self-attention.",
        {**_QG, "copy": "max", "self_attention": True},
    ),
    "maxout_pointer_qg_demo": Preset(
        "Trains on two CPU cores, without pre-trained vectors.",
        {"word_dim": 100, "hidden_dim": 128, "embeddings_trainable": True},
    ),
}

DAANET = {
    "daanet_paper": Preset("The paper's sizes; Table 3, DAANET."),
    "daanet_no_lstm": Preset(
        "Table 3, w/o the LSTM block.", {"blocks": ["feed_forward", "self_attention"]}
    ),
    "daanet_no_self_attention": Preset(
        "Table 3, w/o the self-attention block.", {"blocks": ["feed_forward", "lstm"]}
    ),
    "daanet_no_context_attention": Preset(
        "Table 3, w/o context-* attention.", {"context_attention": False}
    ),
    "daanet_no_copy": Preset("Table 3, w/o copying.", {"copy": False}),
    "daanet_unshared_encoders": Preset(
        "Table 3, question and answer encoders of each task's own.", {"share_encoders": False}
    ),
    "daanet_unshared_context_encoder": Preset(
        "Table 3, a context encoder of each task's own.", {"share_context_encoder": False}
    ),
    "daanet_unshared_output": Preset(
        "Table 3, an output projection of each task's own.", {"share_output": False}
    ),
    "daanet_mono_answer": Preset("Table 2, answering alone.", {"tasks": ["answer"]}),
    "daanet_mono_ask": Preset("Table 2, asking alone.", {"tasks": ["ask"]}),
    "daanet_demo": Preset(
        "Trains on two CPU cores, without pre-trained vectors.",
        {
            "word_dim": 64,
            "character_dim": 24,
            "hidden_dim": 64,
            "num_lstm_layers": 1,
            "inner_dim": 96,
            "embeddings_trainable": True,
        },
    ),
}

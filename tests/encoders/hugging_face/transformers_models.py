"""Makes small models for question answering with transformers; run by a Python that has it.

python transformers_models.py make FOLDER TEXTS MAP [KIND ...]    writes FOLDER/KIND
python transformers_models.py scores FOLDER IN OUT     the scores of a folder's model
python transformers_models.py labels FOLDER IN OUT     those of a token classifier

KIND+tokens is a token classifier with two labels.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers

SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
}  # fmt: skip
WORD_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
POSITIONS = {"max_position_embeddings": 514, "type_vocab_size": 1, "pad_token_id": 1}
DEBERTA = {
    "relative_attention": True, "position_buckets": 256, "norm_rel_ebd": "layer_norm",
    "share_att_key": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False,
    "type_vocab_size": 0, "layer_norm_eps": 1e-7,
}  # fmt: skip
KINDS = {
    "Bert": SIZES,
    "DistilBert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48},
    "Electra": {"embedding_size": 16, **SIZES},
    "MobileBert": {
        **SIZES,
        "embedding_size": 16,
        "intra_bottleneck_size": 16,
        "hidden_act": "relu",
        "num_feedforward_networks": 2,
    },
    "Roberta": {**SIZES, **POSITIONS, "layer_norm_eps": 1e-5},
    "XLMRoberta": {**SIZES, **POSITIONS},
    "Camembert": {**SIZES, **POSITIONS, "layer_norm_eps": 1e-5},
    "MPNet": {**SIZES, "max_position_embeddings": 514, "layer_norm_eps": 1e-5},
    "Albert": {"embedding_size": 16, **SIZES},
    "DebertaV2": {**SIZES, **DEBERTA},
    "ModernBert": {**SIZES, "num_hidden_layers": 4, "local_attention": 32},
    "MmBert": {**SIZES, "num_hidden_layers": 4, "norm_bias": True},
}
MODERN = ("ModernBert", "MmBert")
NAMES = {"start_logits": "begin", "end_logits": "end"}


def tokenizer_of(kind, folder, texts, charsmap):
    """A tokenizer whose vocabulary comes from the texts."""
    import tokenizers

    folder = folder / "vocabulary"
    folder.mkdir(parents=True, exist_ok=True)
    if kind in ("Bert", "DistilBert", "Electra", "MobileBert"):
        trained = tokenizers.BertWordPieceTokenizer(lowercase=True)
        trained.train_from_iterator(texts, vocab_size=900, special_tokens=WORD_PIECES)
        trained.save_model(str(folder))
        return transformers.BertTokenizer.from_pretrained(folder, model_max_length=512)
    if kind == "MPNet":
        trained = tokenizers.BertWordPieceTokenizer(lowercase=True)
        special = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
        trained.train_from_iterator(texts, vocab_size=900, special_tokens=special)
        vocabulary = trained.get_vocab()
        return transformers.MPNetTokenizer(vocab=vocabulary, model_max_length=512)
    if kind == "Roberta":
        trained = tokenizers.ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trained.train_from_iterator(texts, vocab_size=900, special_tokens=special)
        trained.save_model(str(folder))
        return transformers.RobertaTokenizer.from_pretrained(folder, model_max_length=512)
    return modern(kind, texts) if kind in MODERN else unigram(kind, texts, charsmap)


def modern(kind, texts):
    """A tokenizer in the form of ModernBERT's or mmBERT's."""
    import modern_bert_tokenizers

    names = ("[CLS]", "[SEP]", "[PAD]") if kind == "ModernBert" else ("<bos>", "<eos>", "<pad>")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=modern_bert_tokenizers.tokenizer(kind, texts),
        **dict(zip(("cls_token", "sep_token", "pad_token"), names, strict=True)),
        model_max_length=8192, model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip


def unigram(kind, texts, charsmap):
    """A tokenizer with the components of the released models.

    Not of transformers 5's classes, which ignore the components of a folder's `tokenizer.json`.
    """
    import unigram_tokenizers

    deberta = kind == "DebertaV2"
    cls, sep, pad = ("[CLS]", "[SEP]", "[PAD]" if deberta else "<pad>")
    if kind in ("XLMRoberta", "Camembert"):
        cls, sep = "<s>", "</s>"
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=unigram_tokenizers.tokenizer(kind, texts, charsmap),
        cls_token=cls, sep_token=sep, pad_token=pad, unk_token=unigram_tokenizers.unknown(kind),
        mask_token="<mask>" if cls == "<s>" else "[MASK]", model_max_length=512,
        model_input_names=["input_ids", *["token_type_ids"] * (kind == "Albert"), "attention_mask"],
    )  # fmt: skip


def make(folder, texts, charsmap, *kinds):
    torch.manual_seed(0)
    for name in kinds or KINDS:
        kind, _, is_tokens = name.partition("+")
        target, sizes = folder / name, KINDS[kind]
        tokenizer = tokenizer_of(kind, target, texts, charsmap)
        sizes = {**sizes, "vocab_size": len(tokenizer)}
        if kind in MODERN:
            ids = tokenizer.cls_token_id, tokenizer.sep_token_id
            sizes |= {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": ids[0]}
            sizes |= {"cls_token_id": ids[0], "eos_token_id": ids[1], "sep_token_id": ids[1]}
        name = "ModernBert" if kind in MODERN else kind
        config = getattr(transformers, f"{name}Config")(**sizes)
        task = "TokenClassification" if is_tokens else "QuestionAnswering"
        model = getattr(transformers, f"{name}For{task}")(config).eval()
        for name, parameter in model.named_parameters():
            # With 0.3, the kinds of attention in transformers differ by 1e-4 at 3,000 subwords.
            # MobileBERT does not normalize, so that its states would grow.
            others = {"MobileBert": 0.1}.get(kind, 0.2 if kind in MODERN else 0.3)
            deviation = {"qa_outputs": 2.0, "classifier": 0.5}.get(name.split(".")[0], others)
            scale = "norm" in name.lower() and name.endswith("weight")
            torch.nn.init.normal_(parameter, mean=float(scale), std=deviation)
        if kind == "MobileBert":  # whose last subword sees the vector of its padding
            model.mobilebert.embeddings.word_embeddings.weight.data[0] = 0.0
        model.save_pretrained(target)
        tokenizer.save_pretrained(target)


def scores(folder, source, target, kind="QuestionAnswering"):
    model = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(folder).eval()
    with np.load(source) as archive:
        batch = {name: torch.tensor(archive[name]).long() for name in archive.files}
    if model.config.model_type not in ("bert", "electra", "albert", "mobilebert"):
        del batch["token_type_ids"]
    with torch.no_grad():
        result = model(**batch)
    np.savez(target, **{NAMES.get(name, name): value.numpy() for name, value in result.items()})


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    if command == "make":
        texts = json.loads(Path(rest[0]).read_text(encoding="utf-8"))
        make(Path(folder), texts, Path(rest[1]).read_bytes(), *rest[2:])
    else:
        scores(folder, *rest, *["TokenClassification"] * (command == "labels"))

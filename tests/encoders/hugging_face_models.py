"""Makes small models for question answering with transformers; run by a Python that has it.

python hugging_face_models.py make FOLDER TEXTS        writes FOLDER/KIND
python hugging_face_models.py scores FOLDER IN OUT     the scores of a folder's model
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
    "Roberta": {**SIZES, **POSITIONS, "layer_norm_eps": 1e-5},
    "XLMRoberta": {**SIZES, **POSITIONS},
    "Albert": {"embedding_size": 16, **SIZES},
    "DebertaV2": {**SIZES, **DEBERTA},
}


def tokenizer_of(kind, folder, texts):
    """A tokenizer whose vocabulary comes from the texts."""
    import tokenizers

    folder = folder / "vocabulary"
    folder.mkdir(parents=True, exist_ok=True)
    if kind in ("Bert", "DistilBert", "Electra"):
        trained = tokenizers.BertWordPieceTokenizer(lowercase=True)
        trained.train_from_iterator(texts, vocab_size=900, special_tokens=WORD_PIECES)
        trained.save_model(str(folder))
        return transformers.BertTokenizer.from_pretrained(folder, model_max_length=512)
    if kind == "Roberta":
        trained = tokenizers.ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trained.train_from_iterator(texts, vocab_size=900, special_tokens=special)
        trained.save_model(str(folder))
        return transformers.RobertaTokenizer.from_pretrained(folder, model_max_length=512)
    return unigram(kind, texts)


def unigram(kind, texts):
    """A tokenizer with the components of the released models.

    Not of transformers 5's classes, which ignore the components of a folder's `tokenizer.json`.
    """
    import sentencepiece
    from tokenizers import AddedToken, Regex, Tokenizer, models, processors, trainers
    from tokenizers import normalizers as n
    from tokenizers import pre_tokenizers as p

    data = Path(sentencepiece.__file__).parent / "package_data"
    precompiled = n.Precompiled((data / "nmt_nfkc.bin").read_bytes())
    spaces, split = n.Replace(Regex(" {2,}"), " "), p.Sequence([p.WhitespaceSplit(), p.Metaspace()])
    quotes = [n.Replace("``", '"'), n.Replace("''", '"')]
    plain = [n.NFKD(), n.StripAccents(), n.Lowercase()]
    special, normalizer, words = {
        "XLMRoberta": (["<s>", "<pad>", "</s>", "<unk>"], [precompiled], split),
        "DebertaV2": (["[PAD]", "[CLS]", "[SEP]", "[UNK]"], [n.Strip(), precompiled, spaces],
                      p.Sequence([p.Metaspace()])),
        "Albert": (["<pad>", "<unk>", "[CLS]", "[SEP]"], [*quotes, *plain, precompiled, spaces],
                   split),
    }[kind]  # fmt: skip
    xlm, deberta = kind == "XLMRoberta", kind == "DebertaV2"
    unknown = "[UNK]" if deberta else "<unk>"
    cls, sep = ("<s>", "</s>") if xlm else ("[CLS]", "[SEP]")
    pad = "[PAD]" if deberta else "<pad>"
    result = Tokenizer(models.Unigram())
    result.normalizer, result.pre_tokenizer = n.Sequence(normalizer), words
    trainer = trainers.UnigramTrainer(
        vocab_size=900, special_tokens=special, unk_token=unknown, show_progress=False
    )
    result.train_from_iterator(texts, trainer)
    if deberta:
        # As in the released files, it is found in the normalized text.
        result.add_special_tokens([AddedToken("[UNK]", normalized=True, special=True)])
    mask = AddedToken("<mask>" if xlm else "[MASK]", lstrip=not deberta, special=True)
    result.add_special_tokens([mask])
    ids = [(name, result.token_to_id(name)) for name in (cls, sep)]
    middle = " ".join([sep] * (2 if xlm else 1))
    second = 0 if xlm else 1
    result.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}", pair=f"{cls} $A {middle} $B:{second} {sep}:{second}",
        special_tokens=ids,
    )  # fmt: skip
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=result, cls_token=cls, sep_token=sep, pad_token=pad, unk_token=unknown,
        mask_token=mask, model_max_length=512,
        model_input_names=["input_ids", *["token_type_ids"] * (kind == "Albert"), "attention_mask"],
    )  # fmt: skip


def make(folder, texts):
    torch.manual_seed(0)
    for kind, sizes in KINDS.items():
        tokenizer = tokenizer_of(kind, folder / kind, texts)
        size = len(tokenizer)
        config = getattr(transformers, f"{kind}Config")(vocab_size=size, **sizes)
        model = getattr(transformers, f"{kind}ForQuestionAnswering")(config).eval()
        for name, parameter in model.named_parameters():
            deviation = 2.0 if name.startswith("qa_outputs") else 0.3
            scale = "norm" in name.lower() and name.endswith("weight")
            torch.nn.init.normal_(parameter, mean=float(scale), std=deviation)
        model.save_pretrained(folder / kind)
        tokenizer.save_pretrained(folder / kind)


def scores(folder, source, target):
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    with np.load(source) as archive:
        batch = {name: torch.tensor(archive[name]).long() for name in archive.files}
    if model.config.model_type not in ("bert", "electra", "albert"):
        del batch["token_type_ids"]
    with torch.no_grad():
        result = model(**batch)
    np.savez(target, begin=result.start_logits.numpy(), end=result.end_logits.numpy())


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    if command == "make":
        make(Path(folder), json.loads(Path(rest[0]).read_text(encoding="utf-8")))
    else:
        scores(folder, *rest)

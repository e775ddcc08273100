"""Tokenizers in the form of ModernBERT's and mmBERT's; used by programs with another Python too."""

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers as n,
    pre_tokenizers as p,
    processors,
    trainers,
)

SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]


def tokenizer(kind, texts, size=700):
    """Returns a tokenizer of "ModernBert" or "MmBert" whose vocabulary comes from the texts."""
    return (_of_modern_bert if kind == "ModernBert" else _of_mm_bert)(texts, size)


def _of_modern_bert(texts, size):
    result = Tokenizer(models.BPE())
    result.normalizer = n.NFC()
    result.pre_tokenizer = p.ByteLevel(add_prefix_space=False)
    result.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=p.ByteLevel.alphabet(), show_progress=False,
        special_tokens=["<|padding|>", "<|endoftext|>"],
    )  # fmt: skip
    result.train_from_iterator(texts, trainer)
    added = [" " * count for count in range(24, 1, -1)]
    result.add_tokens(["|||IP_ADDRESS|||", *added, "|||EMAIL_ADDRESS|||"])
    result.add_special_tokens(SPECIAL)
    result.add_special_tokens([AddedToken("[MASK]", lstrip=True)])
    result.add_tokens([f"[unused{number}]" for number in range(12)])
    result.post_processor = _template(result, "[CLS]", "[SEP]")
    return result


def _of_mm_bert(texts, size):
    result = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    result.normalizer = n.Replace(" ", "▁")
    result.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "[multimodal]"]
    runs = [*("\n" * count for count in range(1, 9)), *("▁" * count for count in range(2, 9))]
    trainer = trainers.BpeTrainer(
        vocab_size=size, show_progress=False, max_token_length=16, limit_alphabet=90,
        special_tokens=[*special, *(f"<0x{byte:02X}>" for byte in range(256)), *runs],
    )  # fmt: skip
    # Merges are learned within words, which begin with their space, as SentencePiece does it.
    result.pre_tokenizer = p.Metaspace(prepend_scheme="never")
    result.train_from_iterator(texts, trainer)
    result = _with_added_tokens(result, {*special, *runs})
    result.pre_tokenizer = p.Split(" ", "merged_with_previous")
    result.post_processor = _template(result, "<bos>", "<eos>")
    return result


def _with_added_tokens(trained, names):
    """The same tokenizer with these added tokens only, of which those of runs are not special."""
    import json

    written = json.loads(trained.to_str())
    written["added_tokens"] = [
        {**token, "special": token["content"][0] in "<[", "lstrip": token["content"] == "<mask>"}
        for token in written["added_tokens"]
        if token["content"] in names
    ]
    return Tokenizer.from_str(json.dumps(written))


def _template(tokenizer, cls, sep):
    return processors.TemplateProcessing(
        single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} $B {sep}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in (cls, sep)],
    )  # fmt: skip

"""Tokenizers with the components of released models; used by programs with another Python too."""

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers as n,
    pre_tokenizers as p,
    processors,
    trainers,
)

SPLIT = p.Sequence([p.WhitespaceSplit(), p.Metaspace()])
SPACES = n.Replace(Regex(" {2,}"), " ")
QUOTES = [n.Replace("``", '"'), n.Replace("''", '"')]
PLAIN = [n.NFKD(), n.StripAccents(), n.Lowercase()]
KINDS = ("XLMRoberta", "Camembert", "DebertaV2", "Albert")
UNUSED = ["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>"]


def tokenizer(kind, texts, charsmap, size=900):
    """Returns a `tokenizers.Tokenizer` whose vocabulary comes from the texts.

    Its components are those of the family's released files.
    """
    precompiled = n.Precompiled(charsmap)
    special, normalizer, words = {
        "XLMRoberta": (["<s>", "<pad>", "</s>", "<unk>"], [precompiled, SPACES], SPLIT),
        "Camembert": (UNUSED, [precompiled, SPACES], SPLIT),
        "DebertaV2": (["[PAD]", "[CLS]", "[SEP]", "[UNK]"], [n.Strip(), precompiled, SPACES],
                      p.Sequence([p.Metaspace()])),
        "Albert": (["<pad>", "<unk>", "[CLS]", "[SEP]"], [*QUOTES, *PLAIN, precompiled, SPACES],
                   SPLIT),
    }[kind]  # fmt: skip
    xlm, deberta = kind in ("XLMRoberta", "Camembert"), kind == "DebertaV2"
    cls, sep = ("<s>", "</s>") if xlm else ("[CLS]", "[SEP]")
    result = Tokenizer(models.Unigram())
    result.normalizer, result.pre_tokenizer = n.Sequence(normalizer), words
    trainer = trainers.UnigramTrainer(
        vocab_size=size, special_tokens=special, unk_token=unknown(kind), show_progress=False
    )
    result.train_from_iterator(texts, trainer)
    if deberta:
        # As in the released files, it is found in the normalized text.
        result.add_special_tokens([AddedToken("[UNK]", normalized=True, special=True)])
    mask = AddedToken("<mask>" if xlm else "[MASK]", lstrip=not deberta, special=True)
    result.add_special_tokens([mask])
    ids = [(name, result.token_to_id(name)) for name in (cls, sep)]
    middle, second = " ".join([sep] * (2 if xlm else 1)), 0 if xlm else 1
    result.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}", pair=f"{cls} $A {middle} $B:{second} {sep}:{second}",
        special_tokens=ids,
    )  # fmt: skip
    return result


def unknown(kind):
    """Returns the name of the unknown token."""
    return "[UNK]" if kind == "DebertaV2" else "<unk>"

"""Pretrained encoders by name or folder."""

import inspect
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.encoders.backbone import BackboneEncoder
from tfmrc.encoders.hugging_face.config import family_of_config, is_transformers
from tfmrc.encoders.hugging_face.families import FAMILIES, Family, family_of_backbone
from tfmrc.encoders.hugging_face.folder import load_layer, read_weights
from tfmrc.encoders.hugging_face.tokenizer import default_special_tokens, load_tokenizer
from tfmrc.encoders.keras_hub_backbone import (
    Backbone,
    embedding_layers,
    final_layers,
    import_keras_hub,
    sizes_of,
    subword_rows,
    transformer_layers,
)
from tfmrc.encoders.vectors.word_vectors import WordVectors, rows_from_subwords
from tfmrc.text.subwords.byte_pairs import BytePairs
from tfmrc.text.subwords.pieces import Pieces
from tfmrc.text.subwords.tokenizer import SubwordTokenizer
from tfmrc.text.subwords.unigram_pieces import UnigramPieces
from tfmrc.text.subwords.word_pieces import WordPieces
from tfmrc.utils.arguments import nearest
from tfmrc.utils.files import read_json, user_path

MINILM = Path(__file__).with_name("minilm_files")
_SHIPPED = {
    "minilm": (MINILM, {"name": "sentence-transformers/all-MiniLM-L6-v2", "license": "Apache-2.0"})
}
_TOKENIZER_OPTIONS = ("length", "overlap")


class Encoder:
    """A pretrained encoder: the layer for a model and the tokenizer for its preprocessor.

    Args:
        layer: `BackboneEncoder`.
        subwords: `tfmrc.text.SubwordTokenizer`.
    """

    def __init__(self, layer: BackboneEncoder, subwords: SubwordTokenizer):
        self.layer = layer
        self.subwords = subwords

    def word_vectors(self, words: Sequence[str]) -> WordVectors:
        """Vectors of words from the encoder's subword embeddings: the mean of their rows.

        Args:
            words: distinct words; special ones, `[UNK]` and so on, have no vector of a word.

        Returns:
            `WordVectors` of the width of the encoder's embeddings, for `set_vectors`. A word of
            which the tokenizer leaves nothing has none.

        Example:
            >>> from tfmrc import encoders
            >>> encoder = encoders.from_vocabulary(["owl", "##s"], hidden_dim=8)
            >>> encoder.word_vectors(["owl", "owls"])
            <WordVectors 2 words on 2 rows of 8>
        """

        def cut(texts: Sequence[str]) -> tf.RaggedTensor:
            # As one text after another word: words as they are after a space.
            ids, counts = self.subwords.cut([["a", *texts]])
            return tf.RaggedTensor.from_row_lengths(ids[0], counts[0])[1:]

        return rows_from_subwords(words, cut, subword_rows(self.layer.backbone))

    def __repr__(self) -> str:
        name = self.layer.preset.get("name", self.layer.family)
        return (
            f"<Encoder {name}: {self.layer.num_layers} layers of {self.layer.dim}, "
            f"{self.layer.num_trainable_layers} trained, {self.subwords!r}>"
        )


def from_preset(
    preset: str | os.PathLike[str] | Backbone,
    tokenizer: Any = None,
    random: bool = False,
    keep_layers: Sequence[int] | None = None,
    **options: Any,
) -> Encoder:
    """Loads an encoder with its tokenizer.

    Args:
        preset: One of

            - "minilm" (all-MiniLM-L6-v2, which comes with tfmrc);
            - str or path: a folder in the format of Hugging Face (`config.json`,
              `model.safetensors`, tokenizer files) or KerasHub;
            - str: a preset of KerasHub's `from_preset`, which may download files;
            - a KerasHub backbone, with its `tokenizer`, whose weights are copied;
            - a predictor, whose encoder is copied as it was trained (`tfmrc.load(FOLDER)`), its
              mix of layers too unless `keep_layers` leaves some out.

        tokenizer: KerasHub tokenizer of a backbone, such as `keras_hub.models.BertTokenizer`.
            Default: None.
        random: bool. Whether to keep random weights instead of loading them. Default: False.
        keep_layers: list of int or None. The transformer layers to keep, from 0 for the lowest;
            None for all. Default: None.
        **options: `length` and `overlap` of `SubwordTokenizer`; all others are arguments of
            `BackboneEncoder`: `pooling`, `layers`, `trainable_layers`, `remat`, `name`, `dtype`.

    Returns:
        An `Encoder`.

    Raises:
        ImportError: If a package is not installed.
        ValueError: If the encoder belongs to no known family, or its files or its tokenizer are
            missing.

    Example:
        >>> from tfmrc import encoders
        >>> encoders.from_preset("minilm", random=True, trainable_layers=2)
        <Encoder sentence-transformers/all-MiniLM-L6-v2: 6 layers of 384, 2 trained,
         <SubwordTokenizer word_pieces of 30522, windows of 512 that overlap by 128>>
    """
    windows = {name: options.pop(name) for name in _TOKENIZER_OPTIONS if name in options}
    if hasattr(preset, "preprocessor"):
        encoder = _copied(preset, random, windows, options)
    else:
        layer, facts, pieces, special = _read(preset, tokenizer, random, options)
        positions = layer.backbone.max_sequence_length
        encoder = Encoder(layer, build_subwords(facts, pieces, positions, windows, special))
    if keep_layers is not None:
        encoder.layer = _with_layers(encoder.layer, keep_layers)
    return encoder


class _EncoderParts(NamedTuple):
    layer: BackboneEncoder
    facts: Family
    pieces: Pieces
    special_tokens: list[dict[str, Any]] | None = None


def _read(
    preset: str | os.PathLike[str] | Backbone, tokenizer: Any, random: bool, options: dict[str, Any]
) -> _EncoderParts:
    if not isinstance(preset, str | os.PathLike):
        if tokenizer is None:
            raise ValueError(f"A backbone needs its `tokenizer`. Received: preset={preset!r:.80}")
        options = {"preset": {"name": preset.name}, **options}
        return _of_keras_hub(preset, tokenizer, random, options)
    name = os.fspath(preset)
    path, card = _SHIPPED.get(name) or (user_path(name), {"name": name})
    options = {"preset": card, **options}
    is_folder = (path / "config.json").is_file()
    if is_folder and is_transformers(config := read_json(path / "config.json")):
        facts, pieces, special = load_tokenizer(path, FAMILIES[family_of_config(config)])
        weights = None if random else read_weights(path)
        layer = load_layer(path, config, pieces.id_of(facts.pad), weights, **options)
        return _EncoderParts(layer, facts, pieces, special)
    if not is_folder:
        check_preset(name)
    name, models = str(path) if is_folder else name, import_keras_hub().models
    dtype = options.get("dtype")
    backbone = models.Backbone.from_preset(name, load_weights=not random, dtype=dtype)
    facts = FAMILIES[family_of_backbone(type(backbone).__name__)]
    tokenizer = getattr(models, f"{facts.keras_hub}Tokenizer").from_preset(name)
    return _of_keras_hub(backbone, tokenizer, random, options)


def _of_keras_hub(
    backbone: Backbone, tokenizer: Any, random: bool, options: dict[str, Any]
) -> _EncoderParts:
    family = family_of_backbone(type(backbone).__name__)
    facts = FAMILIES[family]
    pieces: Pieces
    if facts.pieces == WordPieces.kind:
        pieces = WordPieces(
            tokenizer.get_vocabulary(),
            lowercase=tokenizer.lowercase,
            strip_accents=tokenizer.strip_accents,
            split_ideographs=tokenizer.split_on_cjk,
        )
    elif facts.pieces == BytePairs.kind:
        pieces = BytePairs(tokenizer.vocabulary, tokenizer.merges)
    else:
        fairseq = family == "xlm_roberta"
        pieces = UnigramPieces.from_sentencepiece(tokenizer.proto, fairseq_ids=fairseq)
    pad_id = pieces.id_of(facts.pad)
    layer = BackboneEncoder(family, sizes_of(backbone), pad_id=pad_id, **options)
    if not random:
        layer.backbone.set_weights(backbone.get_weights())
    return _EncoderParts(layer, facts, pieces)


def _with_layers(encoder: BackboneEncoder, kept: Sequence[int]) -> BackboneEncoder:
    """Builds an encoder of some transformer layers of another, with their weights.

    It is where the student of a distillation begins (Sanh et al. 2019, section 3).
    """
    config = encoder.get_config()
    sizes = {**config["backbone"], "num_layers": len(kept)}
    smaller = BackboneEncoder.from_config({**config, "backbone": sizes})
    ours, theirs = smaller.backbone, encoder.backbone
    layers = transformer_layers(theirs)
    pairs = [*zip(embedding_layers(ours), embedding_layers(theirs), strict=True)]
    pairs += zip(transformer_layers(ours), (layers[index] for index in kept), strict=True)
    pairs += zip(final_layers(ours), final_layers(theirs), strict=True)
    for one, other in pairs:
        if getattr(one, "kind", None) != getattr(other, "kind", None):
            raise ValueError(
                "The kept layers of ModernBERT must begin with the first layer; local and global "
                f"layers must alternate as before. Received: keep_layers={list(kept)}"
            )
        one.set_weights(other.get_weights())
    _copy_distances(smaller, encoder)
    return smaller


def _copy_distances(layer: BackboneEncoder, other: BackboneEncoder) -> None:
    if layer.distance_weights is not None:  # of MPNet
        layer.distance_weights.assign(other.distance_weights)


def check_preset(preset: str) -> None:
    """Raises an error if no encoder can have this name, or its package is missing; loads nothing.

    A name with a slash may be a folder or an address and is not looked at.

    Args:
        preset: str. As in `from_preset`.

    Raises:
        ImportError: If a package is not installed.
        ValueError: If the name is unknown.
    """
    if preset not in _SHIPPED and "/" not in preset and not user_path(preset).is_dir():
        if preset not in import_keras_hub().models.Backbone.presets:
            similar = nearest(preset, [*_SHIPPED])
            hint = f"; did you mean {similar!r}? " if similar else ". "
            raise ValueError(
                f"There is no encoder of this name{hint}An encoder is "
                f"{', '.join(map(repr, _SHIPPED))}, a folder with a config.json, a preset of "
                f"KerasHub, or in a recipe the folder of a trained run. Received: {preset!r}"
            )


def _copied(
    predictor: Any, random: bool, windows: dict[str, int], options: dict[str, Any]
) -> Encoder:
    """Copies the encoder of a predictor, with other options."""
    trained, subwords = getattr(predictor.model, "encoder", None), predictor.preprocessor.subwords
    if trained is None or subwords is None:
        raise ValueError(f"The model of the predictor has no encoder. Received: {predictor!r:.80}")
    layer = BackboneEncoder.from_config({**trained.get_config(), **options})
    if not random:
        layer.backbone.set_weights(trained.backbone.get_weights())
        _copy_distances(layer, trained)
        if layer.output_layers == trained.output_layers == "mix":
            layer.mix_weights.assign(trained.mix_weights)
            layer.mix_gamma.assign(trained.mix_gamma)
    return Encoder(layer, SubwordTokenizer(subwords.pieces, **{**subwords.get_config(), **windows}))


def from_vocabulary(
    words: list[str], family: str = "bert", length: int = 512, overlap: int = 128, **options: Any
) -> Encoder:
    """Builds a WordPiece encoder with random weights, for tests and experiments.

    Args:
        words: list of str. Pieces of the vocabulary, without the special ones.
        family: str. "bert", "distil_bert" or "electra". Default: "bert".
        length: int. Number of positions of the encoder and of a window. Default: 512.
        overlap: int. Number of subwords that consecutive windows share. Default: 128.
        **options: Sizes of the backbone (`num_layers`, `num_heads`, `hidden_dim`,
            `intermediate_dim`, ...; small by default), and arguments of `BackboneEncoder`.

    Example:
        >>> from tfmrc import encoders
        >>> encoder = encoders.from_vocabulary(["who", "owl"], hidden_dim=8, name="small")
        >>> encoder.layer.name, encoder.layer.dim, len(encoder.subwords.pieces)
        ('small', 8, 6)
    """
    facts = FAMILIES[family]
    vocabulary = [facts.pad, "[UNK]", facts.cls, facts.sep, *words]
    sizes = {"num_layers": 2, "num_heads": 2, "hidden_dim": 16, "intermediate_dim": 32}
    if family == "electra":
        sizes["embedding_dim"] = 8
    of_layer = {"name", "dtype", *inspect.signature(BackboneEncoder.__init__).parameters}
    layer_options = {name: options.pop(name) for name in of_layer & options.keys()}
    sizes = {**sizes, facts.vocabulary_argument: len(vocabulary), "max_sequence_length": length}
    pieces = WordPieces(vocabulary)
    layer = BackboneEncoder(
        family, {**sizes, **options}, pad_id=0, preset={"name": f"new {family}"}, **layer_options
    )
    return Encoder(layer, build_subwords(facts, pieces, length, {"overlap": overlap}))


def build_subwords(
    facts: Family,
    pieces: Pieces,
    positions: int,
    windows: dict,
    special_tokens: list[dict[str, Any]] | None = None,
) -> SubwordTokenizer:
    """Builds the tokenizer of an encoder.

    Args:
        facts: `Family`. The encoder's family.
        pieces: Its subword pieces.
        positions: int. Number of its positions.
        windows: dict. `length` and `overlap` of `SubwordTokenizer`.
        special_tokens: list of dict. The special tokens in texts; None for those of the family.
            Default: None.

    Raises:
        ValueError: If a window is longer than the encoder's positions.
    """
    length = windows.get("length", min(positions, 512))
    if length > positions:
        raise ValueError(f"The encoder has {positions} positions. Received: length={length}")
    return SubwordTokenizer(
        pieces,
        cls_id=pieces.id_of(facts.cls),
        sep_id=pieces.id_of(facts.sep),
        pad_id=pieces.id_of(facts.pad),
        num_separators=facts.num_separators,
        segments=facts.segments,
        special_tokens=special_tokens or default_special_tokens(facts, pieces),
        **{**windows, "length": length},
    )

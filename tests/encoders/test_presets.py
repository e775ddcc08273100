import shutil
from pathlib import Path

import keras
import keras_hub
import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import BertWordPieceTokenizer

from tfmrc import Predictor, encoders, models, preprocessing
from tfmrc.encoders import keras_hub_backbone, presets
from tfmrc.encoders.hugging_face import tokenizer as hugging_face_tokenizer
from tfmrc.encoders.hugging_face.folder import read_weights
from tfmrc.encoders.presets import MINILM
from tfmrc.text import Tokenizer


def read(encoder, question, passage):
    def cut(text):
        return encoder.subwords.cut(Tokenizer().tokenize([text]).surface.to_tensor())

    return encoder.subwords.joint(cut(question), cut(passage))


def states(encoder, batch):
    return np.array(encoder.layer(batch["encoder_ids"], batch["segment_ids"]))


def in_float32(folder: Path) -> Path:
    """Writes MiniLM as KerasHub reads it: without the scales of its rows, with a pooler."""
    shutil.copytree(MINILM, folder)
    pooler = {"weight": np.zeros([384, 384], "float32"), "bias": np.zeros(384, "float32")}
    pooler = {f"pooler.dense.{name}": values for name, values in pooler.items()}
    save_file(read_weights(folder) | pooler, folder / "model.safetensors")
    return folder


def test_a_matrix_in_int8_is_multiplied_by_the_scales_of_its_rows(tmp_path) -> None:
    values = {"m": np.array([[2, -3], [100, 127]], "int8"), "v": np.array([0.5], "float32")}
    save_file(
        values | {"m.scale": np.array([[0.5], [2.0]], "float32")}, tmp_path / "model.safetensors"
    )
    read = read_weights(tmp_path)
    assert read["m"].tolist() == [[1.0, -1.5], [200.0, 254.0]]
    assert sorted(read) == ["m", "v"]


@pytest.fixture(scope="module")
def minilm():
    return encoders.from_preset("minilm", trainable_layers="none")


def test_minilm(minilm) -> None:
    assert (minilm.layer.family, minilm.layer.dim, minilm.layer.num_layers) == ("bert", 384, 6)
    assert minilm.layer.activation == "gelu" and minilm.layer.epsilon == 1e-12
    assert minilm.layer.preset["license"] == "Apache-2.0"
    batch = read(minilm, "Who flew?", "The unaffable owl flew.")
    expected = [101, 2040, 5520, 1029, 102, 1996, 14477, 20961, 3468, 13547, 5520, 1012, 102]
    assert batch["encoder_ids"].numpy().tolist() == [[expected]]
    assert batch["passage_pieces"].numpy()[0].tolist() == [[5, 1], [6, 3], [9, 1], [10, 1], [11, 1]]
    assert states(minilm, batch).shape == (1, 13, 384)


@pytest.mark.parametrize("form", ["folder", "memory"])
def test_keras_hub_and_hugging_face_forms_agree(minilm, tmp_path, form) -> None:
    given = str(in_float32(tmp_path / "hugging_face"))
    model = keras_hub.models.BertBackbone.from_preset(given)
    tokenizer = keras_hub.models.BertTokenizer.from_preset(given, strip_accents=True)
    preset = [model, tokenizer]
    if form == "folder":
        for part in (model, tokenizer):
            part.save_to_preset(str(tmp_path / "keras_hub"))
        preset = [tmp_path / "keras_hub"]
    other = encoders.from_preset(*preset, activation="gelu", epsilon=1e-12, overlap=7)
    assert other.subwords.overlap == 7
    batch = read(minilm, "Who flew over Zürich?", "The unaffable CAFÉ owl did.")
    again = read(other, "Who flew over Zürich?", "The unaffable CAFÉ owl did.")
    assert batch["encoder_ids"].numpy().tolist() == again["encoder_ids"].numpy().tolist()
    np.testing.assert_allclose(states(minilm, batch), states(other, again), atol=1e-5)


def test_a_backbone_needs_its_tokenizer(minilm) -> None:
    with pytest.raises(ValueError, match="needs its `tokenizer`"):
        encoders.from_preset(minilm.layer.backbone)


def test_vocabulary_from_tokenizer_json(minilm, tmp_path) -> None:
    for name in ("config.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copyfile(MINILM / name, tmp_path / name)
    BertWordPieceTokenizer(str(MINILM / "vocab.txt")).save(str(tmp_path / "tokenizer.json"))
    # KerasHub looks at the weights' header even where it does not load them.
    encoder = hugging_face_tokenizer.pieces_of(tmp_path, presets.FAMILIES["bert"])
    (tmp_path / "vocab.txt").unlink()
    again = hugging_face_tokenizer.pieces_of(tmp_path, presets.FAMILIES["bert"])
    assert again.cut(["unaffable"]).to_list() == encoder.cut(["unaffable"]).to_list()
    assert len(again) == 30522


def test_some_layers_of_an_encoder(minilm) -> None:
    """Two of the layers, applied by hand to the same embeddings."""
    smaller = encoders.from_preset("minilm", keep_layers=[1, 4], trainable_layers=1)
    assert smaller.layer.num_layers == 2 and smaller.layer.preset == minilm.layer.preset
    batch = read(minilm, "Who flew?", "The unaffable owl flew.")
    whole = minilm.layer.backbone
    ids = batch["encoder_ids"][:, 0]
    x, _ = keras_hub_backbone.embed(
        whole, ids, batch["segment_ids"][:, 0], ids != 0, training=False
    )
    for number in (1, 4):
        x = whole.transformer_layers[number](x, padding_mask=ids != 0)
    np.testing.assert_allclose(states(smaller, batch)[0], x[0], atol=1e-5)


def test_the_encoder_of_a_predictor() -> None:
    words = ["who", "flew", "the", "owl"]
    encoder = encoders.from_vocabulary(words, num_layers=3, length=24, overlap=4, layers="mix")
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(
        encoder=encoder, window_length=20, overlap=4, question_length=8
    )
    predictor = Predictor(models.ExtractiveReader(encoder=encoder), preprocessor)
    encoder.layer.mix_weights.assign([1.0, -2.0, 3.0, 0.5])
    encoder.layer.mix_gamma.assign(2.0)
    copy = encoders.from_preset(predictor)
    batch = read(encoder, "Who flew?", "The owl flew.")
    np.testing.assert_allclose(states(copy, batch), states(encoder, batch), atol=1e-6)
    assert copy.layer is not encoder.layer and copy.layer.output_layers == "mix"
    assert copy.subwords.get_config() == encoder.subwords.get_config()
    copy.layer.backbone.weights[0].assign(copy.layer.backbone.weights[0] + 1)
    smaller = encoders.from_preset(
        predictor, keep_layers=[0, 2], trainable_layers=1, layers="last", length=16
    )
    assert smaller.layer.num_layers == 2 and smaller.layer.num_trainable_layers == 1
    assert (smaller.subwords.length, smaller.subwords.overlap) == (16, 4)
    for mine, theirs in ((0, 0), (1, 2)):
        for one, two in zip(
            smaller.layer.backbone.transformer_layers[mine].get_weights(),
            encoder.layer.backbone.transformer_layers[theirs].get_weights(),
            strict=True,
        ):
            np.testing.assert_array_equal(one, two)
    random = encoders.from_preset(predictor, random=True)
    assert np.abs(states(random, batch) - states(encoder, batch)).max() > 1e-3


@pytest.mark.parametrize("family", ["bert", "electra"])
def test_from_vocabulary(family) -> None:
    encoder = encoders.from_vocabulary(["owl", "##s"], family, length=16, pooling="mean")
    batch = read(encoder, "owl", "owls owl " * 12)
    assert batch["encoder_ids"].shape[2] == 16
    states = encoder.layer(batch["encoder_ids"], batch["segment_ids"])
    assert np.isfinite(np.array(states)).all()
    assert encoder.layer.words.pooling == "mean"


def test_word_vectors_are_the_means_of_subword_embeddings() -> None:
    encoder = encoders.from_vocabulary(["owl", "##s", "the", "##r"], "electra", hidden_dim=8)
    vectors = encoder.word_vectors(["Owls", "the", "cat", "owlsr", "\u200b"])
    embeddings = encoder.layer.backbone.token_embedding.embeddings
    table = keras.ops.convert_to_numpy(embeddings).astype("float64")
    of = encoder.subwords.pieces.id_of
    assert "\u200b" not in vectors and len(vectors) == 4
    expected = {"Owls": ["owl", "##s"], "the": ["the"], "cat": ["[UNK]"],
                "owlsr": ["owl", "##s", "##r"]}  # fmt: skip
    for word, pieces in expected.items():
        right = table[[of(piece) for piece in pieces]].mean(axis=0)
        np.testing.assert_allclose(vectors[word], right, atol=1e-7)

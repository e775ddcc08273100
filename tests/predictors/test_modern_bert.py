"""Readers of ModernBERT and mmBERT: their form, their answers, and the scores of transformers."""

import json

import keras
import numpy as np
import pytest

from tests.encoders.hugging_face import cases, modern_bert_tokenizers, transformers_process
from tests.predictors.small import LONG, PIECES
from tests.text.subwords.odd_strings import real_strings
from tfmrc import Predictor, encoders, models, preprocessing, training
from tfmrc.data import Example, Span
from tfmrc.predictors import ExportedPredictor
from tfmrc.predictors.hugging_face.folder import load_hugging_face

KINDS = ("ModernBert", "MmBert")
REQUEST = {
    "question": ["How high  is it?", "Who named the mill?", "Who"],
    "passages": [[LONG, "A hill."], ["Mills,  owls.", ""], ["", ""]],
}


def reader_of(kind, folder):
    """A reader with random weights and a tokenizer of the kind's form, and the tokenizer."""
    reference = modern_bert_tokenizers.tokenizer(kind, [LONG, *PIECES] * 3, size=400)
    reference.save(str(folder / "tokenizer.json"))
    pad = "[PAD]" if kind == "ModernBert" else "<pad>"
    config = {**cases.CONFIGS["modernbert"], "vocab_size": 500, "max_position_embeddings": 256}
    for name, value in {
        "config.json": config | {"pad_token_id": reference.token_to_id(pad)},
        "tokenizer_config.json": {"pad_token": pad},
    }.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    keras.utils.set_random_seed(1)
    encoder = encoders.from_preset(folder, random=True)
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(
        encoder=encoder, window_length=48, overlap=12, question_length=16
    )
    reader = Predictor(models.ExtractiveReader(encoder=encoder), preprocessor)
    draw = np.random.default_rng(2)
    for weight in reader.model.trainable_weights:  # clear probabilities
        weight.assign(weight.numpy() + draw.normal(scale=0.5, size=weight.shape))
    return reader, reference


@pytest.fixture(scope="module", params=KINDS)
def reader_and_tokenizer(request, tmp_path_factory):
    return reader_of(request.param, tmp_path_factory.mktemp(request.param))


def test_windows_are_pairs_of_the_tokenizer_and_characters_have_no_spaces(reader_and_tokenizer):
    reader, reference = reader_and_tokenizer
    question, passage = "Who  flew?", "An owl  of 1,111 m\nflew."
    read = reader.preprocessor.source([question], [passage])
    expected = reference.encode(question, passage)
    assert read["encoder_ids"].numpy().tolist() == [expected.ids]
    starts, ends = (read[name].numpy()[0] for name in ("starts", "ends"))
    inside = starts >= 0
    pieces = [passage[first:last] for first, last in zip(starts[inside], ends[inside], strict=True)]
    whole = [
        passage[first:last]
        for (first, last), part in zip(expected.offsets, expected.sequence_ids, strict=True)
        if part == 1
    ]
    assert pieces == [text.strip() or text for text in whole] and pieces != whole


def test_saved_loaded_and_exported(reader_and_tokenizer, tmp_path, without_graphs):
    reader, _ = reader_and_tokenizer
    sizes = {"window_length": 48, "overlap": 12, "question_length": 16}
    again = load_hugging_face(reader.save_hugging_face(tmp_path / "reader"), **sizes)
    exported = ExportedPredictor(again.export(tmp_path / "export" / "1"))
    expected, *others = (
        predictor.run("serving_default", REQUEST) for predictor in (reader, again, exported)
    )
    assert all(text == text.strip() and text for text in expected["answer"][:2])
    for other in others:
        assert other["answer"].tolist() == expected["answer"].tolist()
        np.testing.assert_allclose(other["probability"], expected["probability"], atol=1e-5)


def test_a_reader_is_fine_tuned(tmp_path):
    reader, _ = reader_of("ModernBert", tmp_path)
    texts = ["An owl flew.", "The mill was high.", "A hill is it.", "Owls named the mill."]
    examples = [
        Example(text, "Who?", (text,), {"span": (text[:6],)}, spans=(Span(0, 0, 6),), group=text)
        for text in texts
    ]
    batches = reader.preprocessor.dataset(examples, batch_size=4, repeat=True)
    model = reader.model
    model.compile(**training.extractive_reader(model=model, steps=20, encoder_learning_rate=0.002))
    before = [weight.numpy() for weight in model.trainable_weights]
    losses = model.fit(batches, epochs=20, steps_per_epoch=1, verbose=0).history["loss"]
    assert losses[-1] < 0.8 * losses[0]
    changed = [np.any(w.numpy() != b) for w, b in zip(model.trainable_weights, before, strict=True)]
    assert all(changed)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_transformers_before_and_after_saving(kind, tmp_path):
    """On sequences of 20 to 8,000 subwords, one of two padded."""
    cases.make_readers(tmp_path, real_strings(300), kind)
    reader = load_hugging_face(tmp_path / kind)
    saved = reader.save_hugging_face(tmp_path / "saved")
    pad = reader.preprocessor.subwords.pad_id
    generator = np.random.default_rng(0)
    for length, real in ((20, 13), (700, 431), (8000, 7001)):
        ids = generator.integers(300, 600, (2, length))
        ids[1, real:] = pad
        mask = ids != pad
        batch = {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids}
        np.savez(tmp_path / "in.npz", **{n: v.astype("int64") for n, v in batch.items()})
        result = np.array(reader.model.scores({"encoder_ids": ids, "segment_ids": 0 * ids}))
        alone = {"encoder_ids": ids[1:, :real], "segment_ids": 0 * ids[1:, :real]}
        np.testing.assert_allclose(reader.model.scores(alone)[0], result[1, :real], atol=1e-4)
        for folder in (tmp_path / kind, saved) if length == 700 else (tmp_path / kind,):
            out = tmp_path / "out.npz"
            transformers_process.run(cases.PROGRAM, "scores", folder, tmp_path / "in.npz", out)
            with np.load(out) as archive:
                for column, name in enumerate(("begin", "end")):
                    difference = np.abs(result[..., column] - archive[name])[mask]
                    assert difference.max() < 1e-4, (length, folder.name, name)
                    assert np.ptp(archive[name][mask]) > 1

"""Extractive readers: spans against plain Python, saving, export, Hugging Face's form."""

import json

import huggingface_hub
import keras
import numpy as np
import pytest
from safetensors.numpy import load_file

import tfmrc
from tests.encoders import torch_files
from tests.encoders.hugging_face import cases, unigram_tokenizers
from tests.encoders.torch_files import Tensor
from tests.predictors.reader_reference import best_answers
from tests.predictors.small import LONG, PIECES, extractive_reader, windows_of
from tfmrc import Predictor, cli, encoders, models, preprocessing
from tfmrc.experiments import open_model
from tfmrc.predictors import ExportedPredictor, ensemble_predictor
from tfmrc.predictors.hugging_face.folder import load_hugging_face
from tfmrc.predictors.spans import reader_windows

REQUEST = {
    "question": ["How high is it?", "Who named the mill?", "Who"],
    "passages": [[LONG, "A hill."], ["Mills, owls.", ""], ["", ""]],
}
REQUEST_OF_LONG = (REQUEST["question"][0], REQUEST["passages"][0])


@pytest.fixture(scope="module")
def predictor():
    return extractive_reader()


@pytest.mark.parametrize("align", [True, False])
def test_spans_of_all_windows_and_passages(predictor, align, without_graphs):
    options = {"num_return_sequences": 6, "align_to_words": align}
    outputs = predictor.run("serving_default", REQUEST, **options)
    for row, (question, passages) in enumerate(zip(*REQUEST.values(), strict=True)):
        windows = windows_of(predictor, question, passages)
        expected, none = best_answers(windows, passages, 6, 5, align)
        count = len(expected)
        names = ("probabilities", "answer_passages", "starts", "ends")
        result = list(zip(*(outputs[name][row, :count].tolist() for name in names), strict=True))
        assert [r[1:] for r in result] == [e[1:] for e in expected]
        np.testing.assert_allclose([r[0] for r in result], [e[0] for e in expected], rtol=1e-4)
        np.testing.assert_allclose(outputs["answerable_probability"][row], 1 - none, atol=1e-5)
        for text, (_, passage, start, end) in zip(outputs["answers"][row], result, strict=False):
            assert text.decode() == passages[passage][start:end]
        assert (outputs["starts"][row, count:] == -1).all()
        assert (outputs["probabilities"][row, count:] == 0).all()
    assert len(windows_of(predictor, REQUEST["question"][0], [LONG])) > 2


def test_the_size_of_chunks_changes_no_score(predictor, monkeypatch):
    questions = np.repeat(REQUEST["question"], 2)
    windows = predictor.preprocessor.source(questions, np.ravel(REQUEST["passages"]))
    order, lengths = windows["row"].numpy(), windows["lengths"].numpy()
    assert len(order) > 6 and len(set(lengths)) > 3
    results = []
    for size in (1, 48, 10_000):
        monkeypatch.setattr(reader_windows, "CHUNK_SUBWORDS", size)
        results.append(reader_windows.window_scores(predictor.model, windows).numpy())
    for row, length in enumerate(lengths):
        names = ("encoder_ids", "segment_ids")
        one = {name: windows[name][row : row + 1, :length] for name in names}
        for result in results:
            expected = np.array(predictor.model.scores(one))[0]
            np.testing.assert_allclose(result[row, :length], expected, atol=1e-5)


def test_the_shares_of_equal_answers_add_up(predictor, without_graphs):
    """In one passage, and in passages that repeat it or a part of it."""
    question, passage = "Who named the mill?", "Mills, owls. It is the hill."
    options = {"num_return_sequences": 50}
    one, three = (
        predictor.answer(question=question, passages=[passage, *others], **options)
        for others in ((), ("MILLS,  owls. It is the hill.", "a", passage))
    )
    assert three.text.lower() == one.text.lower() and three.passage in (0, 3)
    several = predictor.run(
        "serving_default", {"question": [question], "passages": [[passage] * 3]}, **options
    )
    alone = predictor.run("serving_default", {"question": [question], "passages": [[passage]]})
    odds = [
        found["probability"][0] / (1 - found["answerable_probability"][0])
        for found in (alone, several)
    ]
    assert odds[1] == pytest.approx(3 * odds[0], rel=1e-3)
    texts = [" ".join(each.text.lower().split()) for each in (three, *three.alternatives)]
    assert len(texts) > 5 and len(set(texts)) == len(texts)


def test_what_is_less_probable_than_no_answer_is_refused(predictor, without_graphs):
    examples = [
        {"question": word, "passages": passages}
        for word in ("Who", "How high is it?", "the mill", "owl")
        for passages in ([LONG, "A hill."], ["Mills, owls."], ["hill"], ["owl", "mill"])
    ]
    found = list(predictor.predict(examples))
    for one in found:
        assert one.is_confident == (one.probability >= 1 - one.answerable_probability)
    assert {one.is_confident for one in found} == {True, False}
    always = predictor.predict(examples, min_probability=0)
    assert [(a.text, a.is_confident) for a in always] == [(one.text, True) for one in found]


def test_a_least_probability(predictor, without_graphs):
    question, passages = REQUEST["question"][0], REQUEST["passages"][0]
    plain = predictor.answer(question=question, passages=passages)
    empty = predictor.answer(question="Who", passages=[])
    assert (empty.text, empty.start, empty.probability) == ("", -1, 0.0)
    for least, is_confident in ((0.99, True), (1.01, False)):
        answer = predictor.answer(
            question=question, passages=passages, min_probability=plain.probability * least
        )
        assert (answer.text, answer.is_confident) == (plain.text, is_confident)
    with pytest.raises(ValueError, match=r"from 0 to 1. Received: min_probability=1.5"):
        predictor.answer(question=question, passages=passages, min_probability=1.5)


def test_an_ensemble_reads_by_the_mean_of_its_members_scores(predictor, tmp_path, without_graphs):
    other = extractive_reader(seed=2)
    together = ensemble_predictor([predictor, other])
    assert isinstance(together, type(predictor)) and together.model.encoder.num_layers == 2
    with pytest.raises(ValueError, match="member of an ensemble. Received: model=ReaderEnsemble"):
        together.save_hugging_face(tmp_path / "together")
    windows = [windows_of(each, *REQUEST_OF_LONG) for each in (predictor, other)]
    mean = [
        first | {name: (first[name] + second[name]) / 2 for name in ("begin", "end")}
        for first, second in zip(*windows, strict=True)
    ]
    expected, none = best_answers(mean, REQUEST_OF_LONG[1], 3, 5)
    outputs = together.run("serving_default", REQUEST, num_return_sequences=3)
    np.testing.assert_allclose(outputs["probabilities"][0], [e[0] for e in expected], rtol=1e-4)
    assert outputs["starts"][0].tolist() == [e[2] for e in expected]
    np.testing.assert_allclose(outputs["answerable_probability"][0], 1 - none, atol=1e-5)
    batch = {"encoder_ids": np.array([[2, 5, 3, 7, 3]]), "segment_ids": np.zeros((1, 5), "int32"),
             "answer_mask": np.array([[True, False, False, True, True]])}  # fmt: skip
    scores = np.array(together.model.scores(batch))[0, [0, 3, 4]]
    scores = np.exp(scores) / np.exp(scores).sum(axis=0)
    begin = np.exp(np.array(together.model(batch)["begin"]))[0]
    np.testing.assert_allclose(begin, [scores[0, 0], 0, 0, *scores[1:, 0]], rtol=1e-5)
    again = tfmrc.load(together.save(tmp_path / "together"))
    for name, values in again.run("serving_default", REQUEST, num_return_sequences=3).items():
        np.testing.assert_array_equal(values, outputs[name])


def test_form_of_hugging_face(predictor, tmp_path):
    folder = predictor.save_hugging_face(tmp_path / "reader")
    sizes = {"window_length": 24, "overlap": 6, "question_length": 8, "answer_length": 5}
    again = load_hugging_face(folder, **sizes)
    one = {"encoder_ids": np.array([[2, 5, 3, 7, 3]]), "segment_ids": np.zeros((1, 5), "int32")}
    first, second = (np.array(each.model.scores(one)) for each in (predictor, again))
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert tfmrc.load(folder).preprocessor.window_length == 64
    stated = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert stated["model_input_names"] == ["input_ids", "token_type_ids", "attention_mask"]
    (folder / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="config.json"):
        load_hugging_face(folder)


def test_bfloat16_rounds_the_scores(predictor, tmp_path, without_graphs):
    reader = load_hugging_face(predictor.save_hugging_face(tmp_path / "x"), dtype="bfloat16")
    assert {v.dtype for v in reader.model.trainable_variables} == {"bfloat16"}
    draw = np.random.default_rng(0)
    ids = {"encoder_ids": draw.integers(5, 20, (2, 24)), "segment_ids": np.zeros((2, 24), int)}
    ids["encoder_ids"][1, 20:] = 0
    expected, result = (np.array(each.model.scores(ids)) for each in (predictor, reader))
    assert result.dtype == np.float32
    difference = (result - expected)[:, :20]
    assert 0 < np.sqrt((difference**2).mean()) < 0.03 * np.sqrt((expected**2).mean())
    answer = reader.answer(question="Who?", passages=LONG)
    assert LONG[answer.start : answer.end] == answer.text


def test_precision_is_an_option_of_the_commands(predictor, tmp_path, without_graphs):
    """And part of what a prediction depends on: those in another precision are not taken over."""
    folder = predictor.save_hugging_face(tmp_path / "reader")
    opened = open_model(folder, {"dtype": "bfloat16", "min_probability": 0.3})
    assert opened.predictor.model.encoder.compute_dtype == "bfloat16"
    assert opened.options == {"min_probability": 0.3}
    assert opened.digest != open_model(folder).digest
    saved = tmp_path / "saved"
    predictor.save(saved)
    opened = open_model(saved, {"dtype": "bfloat16"})
    with pytest.raises(ValueError, match="for readers of Hugging Face.*Received: dtype='bfloat16'"):
        assert opened.predictor


def test_a_reader_with_a_unigram_tokenizer(tmp_path, without_graphs):
    """Of a folder with `tokenizer.json`, saved, loaded and exported; its windows cut long texts."""
    config = {**cases.CONFIGS["xlm-roberta"], "vocab_size": 200}
    config |= {"max_position_embeddings": 66, "hidden_size": 16}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    charsmap = cases.CHARSMAP.read_bytes()
    reference = unigram_tokenizers.tokenizer("XLMRoberta", [LONG, *PIECES], charsmap, size=100)
    reference.save(str(tmp_path / "tokenizer.json"))
    keras.utils.set_random_seed(1)
    encoder = encoders.from_preset(tmp_path, random=True)
    sizes = {"window_length": 48, "overlap": 12, "question_length": 16}
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(encoder=encoder, **sizes)
    first = Predictor(models.ExtractiveReader(encoder=encoder), preprocessor)
    read = preprocessor.source(["Ｗho <s>?"], ["ﬁne owls  high"])
    expected = reference.encode("Ｗho <s>?", "ﬁne owls  high")
    assert read["encoder_ids"].numpy().tolist() == [expected.ids]
    inside = [
        offsets
        for offsets, part in zip(expected.offsets, expected.sequence_ids, strict=True)
        if part == 1
    ]
    assert [*zip(*(read[n].numpy()[0, -1 - len(inside) : -1].tolist() for n in ("starts", "ends")),
                 strict=True)] == inside  # fmt: skip
    saved = first.save_hugging_face(tmp_path / "reader")
    again = load_hugging_face(saved, **sizes)
    exported = ExportedPredictor(again.export(tmp_path / "export" / "1"))
    outputs = [predictor.run("serving_default", REQUEST) for predictor in (first, again, exported)]
    for other in outputs[1:]:
        assert other["answer"].tolist() == outputs[0]["answer"].tolist()
        np.testing.assert_allclose(other["probability"], outputs[0]["probability"], atol=1e-6)
    for name in ("tokenizer.json", "manifest.json"):
        (saved / name).unlink()
    with pytest.raises(ValueError, match=r"needs tokenizer.json: .*'xlm-roberta'"):
        load_hugging_face(saved)


def test_a_name_of_the_hub(predictor, tmp_path, monkeypatch, capsys, without_graphs):
    """The hub's cache: the files of a version are links to those of all versions."""
    written = predictor.save_hugging_face(tmp_path / "reader")
    cache = tmp_path / "models--owner--name"
    version = cache / "snapshots" / "0123"
    version.mkdir(parents=True)
    (cache / "blobs").mkdir()
    for number, path in enumerate(sorted(written.iterdir())):
        if path.name != "manifest.json":
            path.rename(cache / "blobs" / str(number))
            (version / path.name).symlink_to(f"../../blobs/{number}")
    asked = []

    def snapshot_download(name, **options):
        asked.append((name, options["revision"], "*.safetensors" in options["allow_patterns"]))
        return str(version)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    one = {"encoder_ids": np.array([[2, 5, 3, 7, 3]]), "segment_ids": np.zeros((1, 5), "int32")}
    scores = [np.array(each.model.scores(one)) for each in (predictor, tfmrc.load("hf://a/b@v2"))]
    np.testing.assert_allclose(*scores, atol=1e-6)
    assert asked == [("a/b", "v2", True)]
    question = ["--question", "Who named it?", "--passage", "The owl named it."]
    question += ["--option", "min_probability=0"]
    assert cli.main(["answer", "hf://a/b", *question]) == 0
    assert capsys.readouterr().out.split("\n")[0] in "The owl named it."
    assert asked[1:] == [("a/b", None, True)]
    monkeypatch.setenv("HOME", str(tmp_path))  # the cache as a folder, its weights a pickle
    weights = load_file(version / "model.safetensors")
    torch_files.write(version / "pytorch_model.bin", {n: Tensor(a) for n, a in weights.items()})
    for name in ("model.safetensors", "tokenizer.json"):
        (version / name).unlink()
    for name, content in (
        ("vocab.txt", b"\xef\xbb\xbf" + (version / "vocab.txt").read_bytes()),
        ("config.json", (version / "config.json").read_bytes().replace(b"model_type", b"type")),
    ):
        (version / name).write_bytes(content)
    for place in (f"~/{version.relative_to(tmp_path)}", "hf://a/b"):
        old = tfmrc.load(place)
        np.testing.assert_allclose(old.model.scores(one), scores[0], atol=1e-6)
        assert old.preprocessor.subwords.pieces.id_of("the") == 4
    assert asked[2:] == [("a/b", None, True)] * 2
    (version / "vocab.txt").unlink()
    (version / "vocab.txt").symlink_to(written / "manifest.json")
    with pytest.raises(ValueError, match="leads out of the folder"):
        tfmrc.load("hf://a/b")


def test_without_a_connection_a_folder_is_suggested(monkeypatch):
    def snapshot_download(name, **options):
        raise huggingface_hub.errors.LocalEntryNotFoundError("offline")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    with pytest.raises(FileNotFoundError, match="hf://a/b cannot .* give a folder.*offline"):
        tfmrc.load("hf://a/b")


def test_folders_of_other_kinds_are_refused(predictor, tmp_path):
    folder = predictor.save_hugging_face(tmp_path / "reader")
    (folder / "manifest.json").unlink()
    with pytest.raises(FileExistsError, match="which was not written"):
        predictor.save_hugging_face(folder)

    def changed(name, **changes):
        path = folder / name
        before = path.read_text(encoding="utf-8")
        path.write_text(json.dumps(json.loads(before) | changes), encoding="utf-8")
        try:
            load_hugging_face(folder)
        finally:
            path.write_text(before, encoding="utf-8")

    with pytest.raises(ValueError, match="normalizer.type='BertNormalizer'"):
        changed("tokenizer.json", normalizer={"type": "NFC"})
    (folder / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="model.safetensors"):
        load_hugging_face(folder)

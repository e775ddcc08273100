"""Evidence readers: spans against plain Python, refusal, saving, export, Hugging Face's form."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import tfmrc
from tests.encoders.hugging_face import cases, transformers_process
from tests.predictors.small import LONG, extractive_reader
from tests.running import eagerly
from tests.text.subwords.odd_strings import real_strings
from tfmrc import data, documents, evaluation
from tfmrc.data.transforms.sentences import sentences
from tfmrc.experiments.answering import predictions_of
from tfmrc.experiments.tables.writing import row_of
from tfmrc.predictors import Calibration, ExportedPredictor
from tfmrc.predictors.hugging_face.folder import load_hugging_face

REQUEST = {
    "question": ["How high is it?", "Who named the mill?", "Who"],
    "passages": [[LONG, "A hill."], ["Mills, owls. It is high.", ""], ["", ""]],
}
SIZES = {"window_length": 24, "overlap": 6, "question_length": 8}
TOKENS = ("Bert", "XLMRoberta", "DebertaV2", "ModernBert")


@pytest.fixture(scope="module")
def predictor():
    made = extractive_reader(kind="EvidenceReader")
    made.model.answer_module.scores.bias.assign([0.0])
    return made


def words_of(predictor, question, passages):
    """The words of passages with the mean probability of their subwords in all windows."""
    words = {}
    for number, passage in enumerate(passages):
        read = predictor.preprocessor.source([question], [passage])
        read = {name: value.numpy() for name, value in read.items()}
        for row, size in enumerate(read["lengths"]):
            one = {n: read[n][row : row + 1, :size] for n in ("encoder_ids", "segment_ids")}
            scores = np.array(predictor.model.scores(one), "float64")[0, :, 0]
            for place in np.flatnonzero(read["starts"][row, :size] >= 0):
                word = number, read["word_starts"][row, place], read["word_ends"][row, place]
                words.setdefault(word, []).append(1 / (1 + np.exp(-scores[place])))
    return [(*map(int, word), np.mean(values)) for word, values in sorted(words.items())]


def expected_spans(words, passages, unit, threshold):
    """Runs of words above a threshold, or sentences whose mean reaches it."""
    groups = []
    if unit == "sentence":
        for number, passage in enumerate(passages):
            for start, end in sentences(passage):
                groups.append([w for w in words if w[0] == number and start <= w[1] < end])
    else:
        before = None
        for word in words:
            if word[3] >= threshold:
                is_next = before is not None and before[3] >= threshold and before[0] == word[0]
                groups = [*groups[:-1], [*groups[-1], word]] if is_next else [*groups, [word]]
            before = word
    spans = [(np.mean([w[3] for w in g]), g[0][0], g[0][1], g[-1][2]) for g in groups if g]
    return sorted((span for span in spans if span[0] >= threshold), key=lambda span: -span[0])


@pytest.mark.parametrize("unit", ["span", "sentence"])
def test_spans_of_all_windows_and_passages(predictor, unit, without_graphs):
    every = [words_of(predictor, *pair) for pair in zip(*REQUEST.values(), strict=True)]
    chances = sorted(word[3] for words in every for word in words)
    threshold = float(np.mean(chances[len(chances) // 2 :][:2]))  # of no word
    outputs = predictor.run("serving_default", REQUEST, unit=unit, threshold=threshold)
    counts = []
    for row, (words, passages) in enumerate(zip(every, REQUEST["passages"], strict=True)):
        expected = expected_spans(words, passages, unit, threshold)
        counts.append(len(expected))
        names = ("answer_passages", "starts", "ends")
        found = list(zip(*(outputs[n][row, : counts[-1]].tolist() for n in names), strict=True))
        assert found == [span[1:] for span in expected]
        chances = outputs["probabilities"][row]
        np.testing.assert_allclose(chances[: counts[-1]], [span[0] for span in expected], rtol=1e-4)
        assert (outputs["starts"][row, counts[-1] :] == -1).all() and (
            chances[counts[-1] :] == 0
        ).all()
        for text, (passage, start, end) in zip(outputs["answers"][row], found, strict=False):
            assert text.decode() == passages[passage][start:end]
    assert max(counts) > 2 and counts[-1] == 0 and outputs["starts"].shape[1] == max(counts)
    assert outputs["is_confident"].tolist() == [count > 0 for count in counts]


def test_none_is_an_answer(predictor, without_graphs):
    asked = {"question": "Who named the mill?", "passages": [LONG]}
    found = predictor.answer(**asked, threshold=1.0)
    assert (found.text, found.start, found.is_confident, found.alternatives) == ("", -1, False, ())
    assert 0 < found.answerable_probability < 1
    assert found.headline == "No answer in these passages."


@pytest.mark.parametrize(
    ("options", "message"), [({"unit": "word"}, "unit='word'"), ({"threshold": 2}, "threshold=2")]
)
def test_errors_of_options(predictor, options, message):
    with pytest.raises(ValueError, match=message):
        predictor.answer(question="Who?", passages=["An owl."], **options)


def test_each_probability_is_mapped_alone(predictor):
    with eagerly():
        raw = predictor.run("serving_default", REQUEST, threshold=0.2)["probabilities"]
        predictor.calibration = Calibration(slope=0.5, intercept=0.25, threshold=0.6)
        try:
            outputs = predictor.run("serving_default", REQUEST, threshold=0.2)
        finally:
            predictor.calibration = None
    chance = np.where(raw > 0, raw, 0.5)
    odds = np.log(chance) - np.log1p(-chance)
    expected = np.where(raw > 0, 1 / (1 + np.exp(-0.5 * odds - 0.25)), 0)
    np.testing.assert_allclose(outputs["probabilities"], expected, rtol=1e-4)
    assert outputs["is_confident"].tolist() == (expected[:, 0] >= 0.6).tolist()


def test_saved_loaded_and_exported(predictor, tmp_path, without_graphs):
    again = tfmrc.load(predictor.save(tmp_path / "saved"))
    folder = predictor.save_hugging_face(tmp_path / "reader")
    exported = ExportedPredictor(predictor.export(tmp_path / "export" / "1"))
    expected = predictor.run("serving_default", REQUEST)
    for other in (again, load_hugging_face(folder, **SIZES), exported):
        outputs = other.run("serving_default", REQUEST)
        for name, values in expected.items():
            if values.dtype == np.float32:
                np.testing.assert_allclose(outputs[name], values, atol=1e-5)
            else:
                assert outputs[name].tolist() == values.tolist()


@pytest.mark.parametrize(
    ("labels", "names", "sign"),
    [
        (1, None, 1),
        (2, None, 1),
        (2, {"0": "supported", "1": "hallucinated"}, 1),
        (2, {"0": "Relevant", "1": "other"}, -1),
        (3, {"0": "O", "1": "B", "2": "I"}, None),
    ],
)
def test_labels_of_token_classifiers(predictor, labels, names, sign, tmp_path):
    folder = predictor.save_hugging_face(tmp_path / "reader")
    (folder / "manifest.json").unlink()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = names
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    arrays = load_file(folder / "model.safetensors")
    drawn = np.random.default_rng(0).normal(size=(labels, 1)).astype("float32")
    arrays["classifier.weight"] = drawn * np.ones_like(arrays["classifier.weight"][:1])
    arrays["classifier.bias"] = drawn[:, 0]
    save_file(arrays, folder / "model.safetensors")
    if sign is None:
        with pytest.raises(ValueError, match=r"labels=O, B, I"):
            load_hugging_face(folder, **SIZES)
        return
    bias = load_hugging_face(folder, **SIZES).model.answer_module.scores.bias.numpy()
    expected = drawn[0, 0] if labels == 1 else sign * (drawn[1, 0] - drawn[0, 0])
    np.testing.assert_allclose(bias, [expected], rtol=1e-6)


def test_documents_return_all_spans(predictor, tmp_path, without_graphs):
    (tmp_path / "mills").mkdir()
    (tmp_path / "mills" / "mill.md").write_text("The hill is high. Who named a mill? Owls.")
    documents.index(tmp_path / "mills", tmp_path / "mills.index")
    with documents.load(tmp_path / "mills.index", model=predictor) as collection:
        answer = collection.answer(question="mill", unit="sentence", threshold=0.0)
    texts = {each.text for each in (answer, *answer.alternatives)}
    assert texts == {"The hill is high.", "Who named a mill?", "Owls."}
    assert answer.is_confident and answer.document == "mill.md"


def test_scores_of_spans(predictor, without_graphs):
    passage = "The hill is high. Who named a mill?"
    example = data.Example("q", "Who?", (passage,), spans=(data.Span(0, 0, 17),))
    one = predictor.answer(question="Who?", passages=[passage], unit="sentence", threshold=0.0)
    scores = evaluation.score_evidence({"q": [one, *one.alternatives]}, [example])
    assert scores["sentence_f1"].value == pytest.approx(2 / 3)


def test_predictions_have_all_spans_and_are_scored(predictor, without_graphs):
    passage = "The hill is high. Who named a mill?"
    example = data.Example("q", "Who?", (passage,), spans=(data.Span(0, 0, 17),))
    options = {"unit": "sentence", "threshold": 0.0}
    (prediction,) = predictions_of(predictor, [example], "answer", options, 1)
    assert sorted(prediction.scores["spans"]) == [[0, 0, 17], [0, 18, 35]]
    assert sorted(row_of(prediction, example, {})["spans"]) == [[0, 0, 17], [0, 18, 35]]
    references = {"q": evaluation.Reference.of(example)}
    found = evaluation.score(evaluation.Submission({"q": prediction}, references))
    (scores,) = [one for one in found if one.rules == "evidence"]
    assert scores["sentence_f1"].value == pytest.approx(2 / 3)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", TOKENS)
def test_scores_of_transformers_before_and_after_saving(kind, tmp_path):
    cases.make_readers(tmp_path, real_strings(300), f"{kind}+tokens")
    reader = load_hugging_face(tmp_path / f"{kind}+tokens")
    saved = reader.save_hugging_face(tmp_path / "saved")
    pad = reader.preprocessor.subwords.pad_id
    ids = np.random.default_rng(0).integers(300, 600, (2, 200))
    ids[1, 120:] = pad
    mask = ids != pad
    batch = {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids}
    np.savez(tmp_path / "in.npz", **{n: v.astype("int64") for n, v in batch.items()})
    result = np.array(reader.model.scores({"encoder_ids": ids, "segment_ids": 0 * ids}))[..., 0]
    for folder in (tmp_path / f"{kind}+tokens", saved):
        out = tmp_path / "out.npz"
        transformers_process.run(cases.PROGRAM, "labels", folder, tmp_path / "in.npz", out)
        with np.load(out) as archive:
            odds = archive["logits"][..., 1] - archive["logits"][..., 0]
        assert np.abs(result - odds)[mask].max() < 1e-4
        assert np.ptp(odds[mask]) > 1

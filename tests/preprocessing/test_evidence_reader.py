"""Training batches of evidence readers."""

import numpy as np
import pytest

from tests.running import eagerly
from tfmrc import encoders, models, preprocessing, training
from tfmrc.data import Example, Span

PIECES = ["who", "flew", "the", "owl", "##s", "a", "hill", ".", "?"]
LONG = "The owls flew. " * 5  # 25 subwords, in windows of 12


@pytest.fixture(scope="module")
def encoder():
    return encoders.from_vocabulary(PIECES, length=32)


@pytest.fixture(scope="module")
def preprocessor(encoder):
    return preprocessing.EvidenceReaderPreprocessor(
        encoder=encoder, window_length=16, overlap=4, question_length=4
    )


def example(passages, *spans, **labels):
    answers = {"span": [passages[n][start:end] for n, start, end in spans]} if spans else {}
    return Example("1", "Who?", passages, answers, spans=[Span(*s) for s in spans], **labels)


EXAMPLES = {
    "two spans": (example(("A hill. Owls flew.",), (0, 2, 6), (0, 8, 12)), "hill owl ##s"),
    "none": (example(("A hill.",), answerable=False), ""),
    "not known": (example(("A hill.",)), None),
    "another passage": (example(("A hill.", "Owls."), (1, 0, 4)), "owl ##s"),
    "a later window": (example((LONG,), (0, 60, 64)), "the"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_labels_are_all_spans_of_an_example(preprocessor, name):
    given, expected = EXAMPLES[name]
    records = {
        "question": [given.question.encode()],
        "passages": [[p.encode() for p in given.passages]],
        "spans": np.array([[[s.passage, s.start, s.end] for s in given.spans] or [[-1, -1, -1]]]),
        "answerable": [-1 if given.answerable is None else int(given.answerable)],
    }
    with eagerly():
        x, y, weight = preprocessor.batch(records)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *PIECES]
    ids = x["encoder_ids"].numpy()[0]
    found = [words[i] for i, label in zip(ids, y["evidence"].numpy()[0], strict=True) if label]
    assert " ".join(found) == (expected or "")
    counted = weight["evidence"].numpy()[0] > 0
    passage = (x["answer_mask"].numpy()[0] == 1) & (np.arange(len(ids)) > 0)
    assert counted.tolist() == (passage & (expected is not None)).tolist()


def test_the_loss_is_the_mean_over_the_subwords_of_passages(encoder, preprocessor):
    model = models.EvidenceReader(encoder=encoder, dropout=0.0)
    model.compile(**training.extractive_reader(model=model, steps=2))
    examples = [EXAMPLES[name][0] for name in ("two spans", "none", "not known")]
    x, y, weight = next(iter(preprocessor.dataset(examples, batch_size=3)))
    with eagerly():
        scores = np.array(model(x)["evidence"], "float64")
        loss = float(model.compute_loss(x, y, {"evidence": model(x)["evidence"]}, weight))
    counted = weight["evidence"].numpy() > 0
    sign = np.where(y["evidence"].numpy() > 0, -1, 1)
    expected = np.log1p(np.exp(sign * scores))[counted]
    assert loss == pytest.approx(expected.mean(), rel=1e-4)
    assert len(expected) == 7 + 3

"""The public SAN code is trained with a recipe's settings, resumed exactly, scored as ours is."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import public_san
from tfmrc import data, preprocessing, text


def test_the_learning_rate_is_halved_as_in_the_recipe():
    settings = public_san.Settings(32, per_epoch=10, learning_rate=0.002, epochs_per_halving=4)
    rates = [settings.rate(step) for step in (0, 39, 40, 79, 80)]
    np.testing.assert_allclose(rates, [0.002, 0.002, 0.001, 0.001, 0.0005])
    assert settings.kinds == ("trained",)


def test_fixed_word_vectors_are_ours_and_padding_is_zero():
    words = np.arange(6, dtype="float32").reshape(3, 2)
    table = public_san.word_rows(words, seed=1)
    assert table.dtype == np.float32
    np.testing.assert_array_equal(table[4:], words)
    np.testing.assert_array_equal(table[0], [0, 0])
    assert (table[1:4] != 0).all()
    np.testing.assert_array_equal(table, public_san.word_rows(words, seed=1))


def test_the_epoch_of_the_lowest_validation_loss_is_scored():
    epochs = [{"trained": 5.0, "averaged": 9.0}, {"trained": 4.0, "averaged": 6.0}]
    epochs.append({"trained": 4.5, "averaged": 5.0})
    assert public_san.best_epoch(epochs, "trained") == 2
    assert public_san.best_epoch(epochs, "averaged") == 3


def test_answers_are_read_in_our_windows(monkeypatch):
    """A network that finds the word of id 5 (`owl`), also in a passage's second window."""

    def find(self, arrays):
        ids = arrays["passage_ids"]
        scores = np.log(np.where(ids == 5, 0.9, 0.01)).astype("float32")
        return np.where(ids == 0, np.float32(-1e9), scores), scores

    monkeypatch.setattr(public_san.PublicModel, "_find", find)
    preprocessor = preprocessing.SANPreprocessor(
        text.Vocabulary(["the", "Owl".lower(), "flew"]), passage_length=4, question_length=4,
        answer_length=1, lemmas=True,
    )  # fmt: skip
    lemmas = {"question_lemmas": ["who"] * 2, "passage_lemmas": ["the owl", "a a a a the owl"]}
    predictor = SimpleNamespace(
        preprocessor=preprocessor, complete=lambda inputs: {**inputs, **lemmas}
    )
    examples = [
        data.Example("1", "Who", ("The Owl",), {}),
        data.Example("2", "Who", ("A a a a the OWL",), {}),
    ]
    network = SimpleNamespace(eval=lambda: None)
    assert public_san.answer(network, predictor, examples) == {"1": "Owl", "2": "OWL"}


@pytest.mark.slow
@pytest.mark.torch
def test_a_resumed_training_is_the_same_and_averages_follow_the_weights(tmp_path):
    torch = pytest.importorskip("torch", reason="needs PyTorch in the Python of the tests")

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.opt = {"num_features": 2}
            self.scores = torch.nn.Linear(2, 2)
            self.dropout = torch.nn.Dropout(0.5)

        def forward(self, batch):
            scores = self.scores(self.dropout(batch["doc_fea"]))
            scores = scores.masked_fill(batch["doc_mask"][..., None], -1e9)
            return scores[..., 0], scores[..., 1], None

    words = ["who", "flew", "an", "owl", "bat"]
    preprocessor = preprocessing.SANPreprocessor(text.Vocabulary(words), word_features=True)
    spans = [data.Example(
        str(n), "Who flew ?", (f"An {name} flew .",), {"span": (name,)},
        spans=(data.Span(0, 3, 6),),
    ) for n, name in enumerate(["owl", "bat"] * 4)]  # fmt: skip
    found = list(data.records(spans, ("span",)))
    inputs = {"examples": found, "validation": found[:3], "preprocessor": preprocessor}
    inputs["annotate"] = None
    settings = public_san.Settings(
        4, per_epoch=2, learning_rate=0.1, epochs_per_halving=1, ema=0.75, seed=3
    )

    def trained(folder, *ends):
        torch.manual_seed(1)
        for steps in ends:
            network = Network()
            progress = public_san.train(network, settings, steps, inputs, folder)
        return network, progress

    whole, progress = trained(tmp_path / "whole", 4)
    torch.manual_seed(1)
    parts, resumed = trained(tmp_path / "parts", 2, 4)
    assert progress.steps == resumed.steps == 4
    assert progress.epochs == resumed.epochs
    assert progress.epochs[0].keys() == {"loss", "trained", "averaged"}
    for one, other in zip(whole.parameters(), parts.parameters(), strict=True):
        assert torch.equal(one, other)
    public_san.load_epoch(parts, tmp_path / "whole", 1, "averaged")
    first = torch.load(tmp_path / "whole" / "epoch-1.pt")
    assert torch.equal(parts.scores.weight, first["averaged"]["scores.weight"])
    assert not torch.equal(first["trained"]["scores.weight"], first["averaged"]["scores.weight"])

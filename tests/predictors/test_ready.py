"""The ready reader: its files, how they are made, and its answers without a name."""

import json

import numpy as np
import pytest

import tfmrc
from recipes.ready_models import main as recipe
from tfmrc import cli, encoders, models
from tfmrc.predictors.ready import reader as ready
from tfmrc.utils.files import sha256_of

PASSAGE = (
    "The Farrow Mill stands on the river Tern. It was built in 1822 by Anna Holt, and ground oats "
    "until a flood destroyed its wheel in 1911."
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache folder of one's own."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


def test_the_files_are_those_of_the_recipe():
    card = json.loads((ready.FILES / ready.CARD).read_text())
    assert card["sha256"]["recipe"] == sha256_of(recipe.RECIPE)
    assert card["sha256"]["difference"] == sha256_of(ready.FILES / ready.DIFFERENCE)
    assert (ready.FILES / ready.DIFFERENCE).stat().st_size < recipe.BYTES + 100_000


def test_it_answers_without_a_name(cache, without_graphs):
    answer = tfmrc.pipeline("question-answering")
    assert answer(question="Who built the mill?", context=PASSAGE)["answer"] == "Anna Holt"
    [folder] = cache.glob("tfmrc/*/ready")
    made = (folder / "config.json").stat().st_mtime_ns
    found = tfmrc.load("ready").answer(
        question="What destroyed the wheel?", passages=["Owls sleep by day.", PASSAGE]
    )
    assert (found.text, found.passage) == ("a flood", 1)
    assert (folder / "config.json").stat().st_mtime_ns == made  # the second call reads it


def test_the_commands_know_it(cache, capsys, without_graphs):
    assert cli.main(["answer", "--question", "Who built it?", "--passage", PASSAGE]) == 0
    assert capsys.readouterr().out.startswith("Anna Holt")


@pytest.mark.slow
def test_its_export_answers(cache):
    exported = tfmrc.load(ready.ready_exports() / "ready")
    assert exported.answer(question="Who built it?", passages=[PASSAGE]).text == "Anna Holt"


def test_a_difference_restores_the_weights():
    def reader(seed):
        encoder = encoders.from_vocabulary(["owl"], hidden_dim=64, num_layers=1)
        model = models.ExtractiveReader(encoder=encoder)
        draw = np.random.default_rng(seed)
        for weight in model.weights:
            weight.assign(draw.normal(size=weight.shape))
        return model

    start, trained = reader(1), reader(1)
    left, right = np.random.default_rng(2).normal(size=(2, 64))
    kernel = next(w for w in trained.weights if w.path.endswith("query/kernel"))
    kernel.assign(kernel.numpy() + np.outer(left, right).reshape(kernel.shape))  # of rank 1
    difference = recipe.difference_of(trained, start, 600)
    assert sum(array.nbytes for array in difference.values()) <= 600
    assert difference[kernel.path + ready.LEFT].shape == (64, 1)
    ready.add_difference(start, difference)
    for after, before in zip(trained.weights, start.weights, strict=True):
        np.testing.assert_allclose(before.numpy(), after.numpy(), rtol=2e-3, atol=4e-3)

"""The ready models: their files, how they are made, and answers without a name."""

import json

import numpy as np
import pytest

import tfmrc
from recipes.ready_models import compress, main as recipe
from tfmrc import cli, encoders, models
from tfmrc.encoders.hugging_face.folder import scaled
from tfmrc.predictors.ready import shipped as ready
from tfmrc.text import Vocabulary
from tfmrc.utils.files import sha256_of

PASSAGE = (
    "The Farrow Mill stands on the river Tern. It was built in 1822 by Anna Holt, and ground oats "
    "until a flood destroyed its wheel in 1911."
)
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache folder of one's own."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.mark.parametrize("name", ready.NAMES)
def test_the_files_are_those_of_the_recipe(name):
    card = json.loads((ready.FILES / name / ready.CARD).read_text())
    assert card["recipe"] == sha256_of(recipe.RECIPES[name])
    assert card["difference"] == sha256_of(ready.FILES / name / ready.DIFFERENCE)
    encoder = sha256_of(ready.FILES / ready.READY / ready.DIFFERENCE)
    assert card.get("encoder") == (encoder if name == "ready-masque" else None)


def test_they_are_small():
    sizes = [(ready.FILES / name / ready.DIFFERENCE).stat().st_size for name in ready.NAMES]
    assert sum(sizes) < 6 * MEGABYTE * len(ready.ALL)
    assert max(sizes) < 10 * MEGABYTE


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


def test_it_refuses_what_the_passage_does_not_say(cache, without_graphs):
    asked = {"question": "What is the capital of Peru?", "passages": [PASSAGE]}
    reader = tfmrc.load("ready")
    refused, always = reader.answer(**asked), reader.answer(**asked, min_probability=0)
    assert (refused.is_confident, always.is_confident) == (False, True)
    assert refused.text == always.text != ""
    guess = f"No confident answer. Best guess: {refused.text} ({refused.probability:.2f})"
    assert refused.headline == guess


def test_the_commands_know_it(cache, capsys, without_graphs):
    assert cli.main(["answer", "--question", "Who built it?", "--passage", PASSAGE]) == 0
    assert capsys.readouterr().out.startswith("Anna Holt")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ready.NAMES if name != "ready-qg"])
def test_its_export_answers(name, cache):
    exported = tfmrc.load(ready.ready_exports(name) / name)
    answer = exported.answer(question="Who built it?", passages=[PASSAGE])
    sentence = PASSAGE[PASSAGE.index("It was built") :]
    assert answer.text == (sentence if name == "ready-evidence" else "Anna Holt")


def test_a_model_with_words_starts_from_the_means_of_their_subwords(tmp_path):
    words = Vocabulary(["owl", "flew"], num_oov_buckets=2)
    (tmp_path / "assets").mkdir()
    words.save(tmp_path / "assets" / "vocabulary.txt")
    model = models.MaxoutPointerQG(
        vocabulary_size=words.size, num_oov_buckets=2, generation_vocabulary_size=6, word_dim=384,
        hidden_dim=4, num_layers=1, encoder=encoders.from_preset("minilm"),
    )  # fmt: skip
    start = ready.start_of(model, tmp_path)
    rows = next(value for path, value in start.items() if path.endswith("word_embedding/words"))
    assert rows.any(axis=1).sum() == 2  # the words; 0 in special rows and buckets
    others = [value for path, value in start.items() if path.startswith("decoder/")]
    assert others and not any(value.any() for value in others)


def test_a_difference_restores_the_weights():
    draw = np.random.default_rng(1)
    encoder = encoders.from_vocabulary([*"abcdef"], hidden_dim=64, num_layers=1)
    model = models.ExtractiveReader(encoder=encoder)
    start = {w.path: draw.normal(size=w.shape).astype("float32") for w in model.weights}
    kernel = next(path for path in start if path.endswith("query/kernel"))
    words = next(path for path in start if "token" in path and path.endswith("embeddings"))
    trained = {path: value.copy() for path, value in start.items()}
    trained[kernel] += np.outer(*draw.normal(size=(2, 64))).reshape(start[kernel].shape)  # rank 1
    trained[words][3] += 1
    difference = compress.difference_of(trained, start, 200)
    assert difference[kernel + ready.LEFT].shape == (64, 1)
    assert difference[words + ready.ROWS].tolist() == [3]
    ready.add_difference(model, start, scaled(difference))
    for weight in model.weights:
        np.testing.assert_allclose(weight.numpy(), trained[weight.path], atol=0.06)

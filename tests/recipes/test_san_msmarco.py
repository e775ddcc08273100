"""SAN on MS MARCO: spans for free answers, their bound, and passages weighted by a ranker."""

import json

import pytest
import yaml

from recipes.san_msmarco import main, spans
from recipes.san_squad.settings import Settings
from tests.recipes.test_san_squad import SETTINGS
from tests.running import eagerly
from tfmrc import Predictor, data
from tfmrc.predictors import TfIdfRanker

SIZES = {"passage_length": 12, "question_length": 8, "answer_length": 4, "stride": 6}
PLACES = ("mill", "tarn", "weir", "lock", "ford", "quay", "moor", "dell", "isle", "cave")


def query(number, place):
    """A query of v1.1's form: its answer is not word for word in the second passage."""
    texts = ("Nobody lives here.", f"Old Tamsin built the {place} of Dorrow.", f"A {place}.")
    return {
        "query_id": number,
        "query": f"who built the {place} of Dorrow",
        "query_type": "person",
        "passages": [
            {"passage_text": text, "url": "", "is_selected": int(n == 1)}
            for n, text in enumerate(texts)
        ],
        "answers": ["It was old Tamsin ."],
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = tmp_path_factory.mktemp("san_msmarco")
    train = [query(number, name) for number, name in enumerate(PLACES)]
    train.append({**query(99, "mill"), "answers": ["Zoe"]})  # of which no passage has a word
    train.append({**query(98, "mill"), "answers": []})
    for name, rows in (("train", train), ("dev", [query(100, "mill"), query(101, "brook")])):
        (made / f"{name}.json").write_text("\n".join(map(json.dumps, rows)))
    settings = {**SETTINGS, "name": "san_msmarco", "dataset": "MS MARCO 1.1", "preprocessor": SIZES}
    settings |= {"train": "train.json", "test": "dev.json", "test_limit": None}
    settings["training"] = {**SETTINGS["training"], "epochs": 1}
    (made / "tiny.yaml").write_text(yaml.safe_dump(settings))
    with eagerly():
        yield made


def run(place, command, *more):
    places = ["--config", place / "tiny.yaml", "--data", place, "--runs", place / "runs"]
    return main.main([command, *map(str, places), *more])


def test_spans_stand_for_answers(place, capsys):
    assert run(place, "spans") == 0
    said = capsys.readouterr().out
    assert "10 of 11 training answers" in said
    # "Old Tamsin" against "It was old Tamsin .": both words of 2 and of 5, beta 1.2.
    score = (1 + 1.44) * 1 * 0.4 / (0.4 + 1.44 * 1)
    assert f"ROUGE-L {100 * score:.2f}" in said
    examples = list(data.read_examples(place / "runs" / spans.FILE))
    assert [e.answers["span"] for e in examples] == [("Old Tamsin",)] * 10
    assert all(e.span_text(e.spans[0]) == "Old Tamsin" for e in examples)
    assert len(examples[0].passages) == 1
    made = (place / "runs" / spans.FILE).stat().st_mtime_ns
    assert run(place, "spans") == 0
    assert (place / "runs" / spans.FILE).stat().st_mtime_ns == made


def test_the_best_span_of_all_passages_by_probability_and_relevance(place, capsys):
    assert run(place, "evaluate") == 0
    folder = place / "runs" / "evaluation" / "stochastic-1-tfidf"
    found = json.loads((folder / "answers.json").read_text())
    settings = Settings.load(place / "tiny.yaml")
    examples = spans.test_examples(settings, place)
    training, validation = spans.training_examples(settings, place / "runs")
    assert len(training) + len(validation) == 10
    ranker = TfIdfRanker(example.passages[0] for example in training)
    predictor = Predictor.load(place / "runs" / "stochastic-1" / "predictor")
    for example in examples:
        relevance = ranker(example.question, example.passages)
        assert relevance[0] == 0 < relevance[2] < relevance[1]
        inputs = {"question": [example.question] * 3, "passage": list(example.passages)}
        read = predictor.run("serving_default", inputs)
        score = [p * r for p, r in zip(read["probability"].tolist(), relevance, strict=True)]
        assert found[example.id] == read["answer"][score.index(max(score))].decode()
    report = json.loads((folder / "metrics.json").read_text())
    assert report["dataset"] == "MS MARCO 1.1"
    bound = report["systems"]["the nearest span (upper bound)"]["scores"]["rouge_l"]
    ours = report["systems"]["san_msmarco_stochastic"]["scores"]["rouge_l"]
    assert ours["value"] <= bound["value"] < 1 and bound["size"] == 2
    assert "46.14" in capsys.readouterr().out


def test_shipped_settings_load():
    assert Settings.load(main.HERE / "config.yaml").dataset.startswith("MS MARCO")

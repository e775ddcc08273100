"""The round trip, small: questions, answers, agreement, and SAN's data with and without them."""

import io
import json
from contextlib import redirect_stdout
from dataclasses import replace
from types import SimpleNamespace

import keras
import pytest
import yaml

from recipes.round_trip import compare, main, questions, settings
from tests.recipes.small_squad import NAMES, squad
from tests.running import eagerly
from tfmrc import Predictor, data, models, preprocessing, text
from tfmrc.experiments import run_folder
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.plan import Plan, members

WORDS = "who met an owl near the mill . ? what she".split()


SAN = {
    "name": "san",
    "sources": [
        {"format": "squad", "train": "squad/train.json", "test": "squad/dev.json",
         "answerable_only": True, "rules": "squad"}
    ],
    "model": {"name": "SAN"},
    "split": {"validation_share": 0.3},
    "training": {"epochs": 2, "batch_size": 8},
    "evaluation": {"limit": 5},
    "grid": {"variants": {"stochastic": {"model.answer": "stochastic"}}},
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Data, and two predictors that have learned nothing: one asks, one answers."""
    place = tmp_path_factory.mktemp("round_trip")
    (place / "squad").mkdir()
    (place / "squad" / "train.json").write_text(json.dumps(squad(NAMES)))
    (place / "squad" / "dev.json").write_text(json.dumps(squad(("Gus", "Hal"))))
    (place / "san.yaml").write_text(yaml.safe_dump(SAN))
    keras.utils.set_random_seed(1)
    asking = preprocessing.MaxoutPointerQGPreprocessor(text.Vocabulary(WORDS), question_length=6)
    model = models.MaxoutPointerQG(**asking.model_kwargs(), word_dim=4, hidden_dim=4, num_layers=1)
    bias = model.generator.bias.numpy()
    bias[3] = 20.0  # a question ends as soon as it may
    model.generator.bias.assign(bias)
    Predictor(model, asking).save(place / "asks")
    answering().save(place / "answers")
    return place


def answering():
    reading = preprocessing.SANPreprocessor(text.Vocabulary(WORDS), answer_length=3)
    model = models.SAN(
        **reading.model_kwargs(), word_dim=4, units=2, align_dim=2, num_layers=1, num_steps=2
    )
    return Predictor(model, reading)


def arguments_of(place, folder):
    chosen = {
        "question_predictor": place / "asks", "answer_predictor": place / "answers",
        "san": place / "san.yaml", "without": folder / "without", "threshold": 0,
        "seeds": "[1]", "num_beams": 1, "max_answers": 2,
    }  # fmt: skip
    places = ["--data", str(place), "--run", str(folder / "run")]
    return [*places, "--set", *(f"{name}={value}" for name, value in chosen.items())]


def test_from_passages_to_squads_form(place, tmp_path):
    with eagerly():
        assert main.main(["make", *arguments_of(place, tmp_path)]) == 0
    run = tmp_path / "run"
    kept = list(data.read_squad(run / "kept.json"))  # which checks that each answer stands there
    assert kept and {e.passages[0] for e in kept} <= {
        f"{name}-Lee met an owl near the mill." for name in NAMES
    }
    assert {e.group for e in kept} <= set(NAMES)
    counts = json.loads((run / "counts.json").read_text(encoding="utf-8"))
    assert counts["passages"] == len(NAMES) and 0 < counts["kept"] <= counts["questions"]
    assert 0 <= counts["exact_match"] <= counts["f1"] <= 1


def test_what_was_stopped_goes_on(tmp_path):
    items = [questions.Passage("a", f"text {number}") for number in range(4)]
    seen = []

    def make(left):
        for item in left:
            seen.append(item.text)
            yield [{"question": f"about {item.text}"}]

    path = questions.continued(tmp_path / "run" / "asked.jsonl", items, make)
    whole = path.read_bytes()
    assert json.loads(whole.splitlines()[3])["questions"] == [{"question": "about text 3"}]
    lines = whole.splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + lines[2][:20])  # killed in the middle of a line
    questions.continued(path, items, make)
    assert path.read_bytes() == whole and seen[4:] == ["text 2", "text 3"]
    questions.continued(path, items, make)
    assert path.read_bytes() == whole and len(seen) == 6


def test_only_what_agrees_is_kept_once_a_passage(tmp_path):
    def one(question, answer, found, probability):
        start = "Ada met Bo.".index(answer)
        asked = {"question": question, "answer": answer, "answer_start": start}
        agrees = questions.agreement(found, answer)
        return {**asked, "probability": probability, "found": found, **agrees}

    several = [  # one line of the file, whatever stands in its texts
        one("Who met Bo?", "Ada", "Ada", 0.2),
        one("who met Bo?", "Ada met", "Ada met", 0.3),  # the same question, likelier
        one("Whom?", "Bo", "Ada", 0.9),
        one("Who?", "Bo.", "met Bo", 0.4),  # half of it
        one("Why?", "met", "met", 0.01),
    ]
    line = {"group": "a", "text": "Ada met Bo.\u2028", "questions": several}
    line = json.dumps(line, ensure_ascii=False)
    (tmp_path / "answered.jsonl").write_text(line + "\n", encoding="utf-8")
    made = settings.load(main.HERE / "config.yaml", "least_probability=0.1")
    [article] = json.loads(questions.keep(made, tmp_path).read_text())["data"]
    [paragraph] = article["paragraphs"]
    assert [qa["question"] for qa in paragraph["qas"]] == ["who met Bo?"]
    assert [qa["agreement"] for qa in paragraph["qas"]] == [1.0]
    half = settings.load(main.HERE / "config.yaml", "least_probability=0.1", "threshold=0.6")
    [article] = json.loads(questions.keep(half, tmp_path).read_text())["data"]
    assert [qa["question"] for qa in article["paragraphs"][0]["qas"]] == ["Who?", "who met Bo?"]
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert counts["questions"] == 5 and counts["kept"] == 2
    assert counts["exact_match"] == pytest.approx(3 / 5)
    with pytest.raises(ValueError, match="agreement='em'"):
        settings.load(main.HERE / "config.yaml", "agreement=em")


@pytest.fixture(scope="module")
def compared(place, tmp_path_factory):
    """The run, the experiments that it asked for, its metrics, and what it printed."""
    folder = tmp_path_factory.mktemp("compared")
    run = folder / "run"
    (run / "comparison").mkdir(parents=True)
    articles = squad(NAMES)["data"]
    for article in articles:
        [paragraph] = article["paragraphs"]
        paragraph["qas"] = [{**paragraph["qas"][0], "id": f"ours-{article['title']}"}]
    (run / "kept.json").write_text(json.dumps({"version": "1.1", "data": articles}))
    counts = dict.fromkeys(("questions", "passages", "kept", "f1", "exact_match"), 6)
    counts |= {"agreement": "f1", "threshold": 0.8}
    (run / "counts.json").write_text(json.dumps(counts))
    right = {
        e.id: e.answers["span"][0] for e in data.read_squad(place / "squad/dev.json") if e.spans
    }
    wrong = dict.fromkeys(right, "nobody")
    for name, answers in (("with-1", right), ("with-2", right), ("without-2", wrong)):
        (run / "comparison" / f"{name}.json").write_text(json.dumps(answers))
    asked = []

    def train(experiment, data, runs, variants, seeds):
        """As `experiments.train`, but that nothing is learned."""
        [member] = members(experiment, runs, variants, seeds)
        asked.append(member.experiment)
        with run_folder.open_run(member.experiment, member.folder):
            answering().save(member.folder / "predictor")
            [part] = splits(replace(member, data=data))
            facts = {"steps": 32, "examples": len(list(part.train))}
            run_folder.write_json(member.folder / "training.json", facts)

    arguments = [*arguments_of(place, folder), "seeds=[1,2]"]
    with pytest.MonkeyPatch.context() as patch, eagerly():
        patch.setattr(compare.experiments, "train", train)
        with redirect_stdout(io.StringIO()) as printed:
            assert main.main(["compare", *arguments]) == 0
        assert main.main(["compare", *arguments]) == 0 and len(asked) == 6  # nothing anew
    metrics = json.loads((run / "comparison" / "metrics.json").read_text())
    return SimpleNamespace(run=run, asked=asked, metrics=metrics, printed=printed.getvalue())


def test_the_comparison_has_systems_seeds_means_and_a_difference(compared):
    scores = {name: system["scores"] for name, system in compared.metrics["systems"].items()}
    assert scores["round_trip, with, seed 1"]["f1"]["value"] == 1.0
    assert set(scores) == {
        f"round_trip, {name}, {of}"
        for name in ("without", "with", "with, in as many steps as without")
        for of in ("seed 1", "seed 2", "mean of 2")
    }
    mean = scores["round_trip, without, mean of 2"]["f1"]
    first = scores["round_trip, without, seed 1"]["f1"]["value"]
    assert mean["value"] == pytest.approx(first / 2) and len(mean["values"]) == 2
    difference = compared.metrics["details"]["F1, (with) - without"]
    assert f"+{100 * (1 - first / 2):.2f}" in difference and "(with) - without" in compared.printed


def test_the_comparison_trains_with_and_without_our_questions(compared, place):
    """The validation examples are the same, and no passage of them is trained on."""
    (plain, validated), (more, again) = (
        (list(part.train), list(part.validation))
        for experiment in compared.asked[:2]
        for part in splits(Plan(experiment, compared.run, data=place))[:1]
    )
    assert [e.id for e in validated] == [e.id for e in again] and validated
    ours = [e for e in more if e.id not in {e.id for e in plain}]
    assert ours and len(more) == len(plain) + len(ours)
    assert not {e.passages for e in more} & {e.passages for e in validated}


def test_the_third_run_has_our_questions_and_takes_the_steps_of_the_first(compared):
    _, second, third = compared.asked[:3]
    assert third.sources[0].train == second.sources[0].train
    assert third.training.eval_every_steps * third.training.epochs == 32

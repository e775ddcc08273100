import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tfmrc.data import Example, write_examples
from tfmrc.evaluation.files.references import answer_references, question_references
from tfmrc.experiments.examples.files import data_folder, input_files
from tfmrc.experiments.examples.sources import Mixed, Splits, as_sequence, limited, splits
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.settings import Evaluation, Experiment, Source, Split
from tfmrc.experiments.tables.reading import with_table_options


def examples(count: int, groups: int = 10) -> list[Example]:
    return [
        Example(f"q{n}", "Why?", ("So.",), {"span": ("So.",)}, group=f"g{n % groups}")
        for n in range(count)
    ]


def recipe(*sources: Source, share: float = 0.3, **split: Any) -> Experiment:
    chosen = Split(validation_share=share, **split)
    return Experiment("x", sources, {"name": "SAN"}, split=chosen)


def parts_of(experiment: Experiment, data: Path) -> list[Splits]:
    return splits(Plan(experiment, data / "run", data=data))


def test_data_folder_comes_from_argument_then_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("TFMRC_DATA", raising=False)
    with pytest.raises(ValueError, match="TFMRC_DATA"):
        data_folder(None)
    monkeypatch.setenv("TFMRC_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    monkeypatch.delenv("TFMRC_DATA")
    shipped = recipe(Source("corpus", ("concise",), train="train"))
    absolute = recipe(Source("squad", train=str(tmp_path / "a.json")))
    assert data_folder(None, shipped) == data_folder(None, absolute) == Path()
    with pytest.raises(ValueError, match="TFMRC_DATA"):
        data_folder(None, recipe(Source("squad", train="a.json")))


def test_splits_keep_groups_apart_and_hold_everything(tmp_path):
    write_examples(tmp_path / "train.jsonl", examples(200, groups=40))
    write_examples(tmp_path / "test.jsonl", examples(7))
    source = Source("examples", ("span",), train="train.jsonl", test="test.jsonl")
    [part] = parts_of(recipe(source), tmp_path)
    train, validation = list(part.train), list(part.validation)
    assert len(train) + len(validation) == 200
    assert 0 < len(validation) < 200
    assert not {e.group for e in train} & {e.group for e in validation}
    assert [e.id for e in part.test or ()] == [f"q{n}" for n in range(7)]
    assert [e.id for e in part.train] == [e.id for e in train], "a stream can be read again"


def test_shares_cut_by_group_and_unanswerable_ones_are_left_out(tmp_path):
    unanswerable = [Example("u", "Why?", ("So.",), answerable=False, group="g0")]
    write_examples(tmp_path / "a.jsonl", examples(200, groups=40) + unanswerable)
    whole = Source("examples", ("span",), train="a.jsonl")
    part = Source("examples", ("span",), train="a.jsonl", train_share=0.5, answerable_only=True)
    [all_of_it] = parts_of(recipe(whole, share=0.0), tmp_path)
    [some] = parts_of(recipe(part, share=0.0), tmp_path)
    assert len(list(all_of_it.train)) == 201
    kept = list(some.train)
    assert 0 < len(kept) < 201
    assert all(example.answers for example in kept)
    assert all(sum(e.group == group for e in kept) == 5 for group in {e.group for e in kept})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"format": "examples", "train": "none.jsonl"}, "does not exist. Received: .*none.jsonl"),
        ({"format": "squad", "styles": ("a", "b")}, r"styles=\['a', 'b'\]"),
        ({"format": "examples", "spans": "best", "sequence": "answer"}, "not both"),
    ],
)
def test_wrong_sources_are_named(tmp_path, settings, said):
    with pytest.raises((TypeError, ValueError), match=said):
        input_files(recipe(Source(**settings)), tmp_path)


def test_limited_draws_by_id_alone():
    many = examples(100)
    chosen = limited(many, 10)
    assert len(chosen) == 10
    assert chosen == sorted(chosen, key=lambda e: int(e.id[1:]))
    assert {e.id for e in limited(reversed(many), 10)} == {e.id for e in chosen}
    assert limited(many, None) == many
    assert limited(many[:3], 10) == many[:3]


def test_mixed_is_even_all_along():
    mixed = list(Mixed((range(300), range(1000, 1100)), (300, 100)))
    assert sorted(mixed) == [*range(300), *range(1000, 1100)]
    for begin in range(0, 400, 40):
        assert sum(item >= 1000 for item in mixed[begin : begin + 40]) == 10


def test_every_model_validates_on_the_same_groups_whatever_its_seed(tmp_path):
    write_examples(tmp_path / "a.jsonl", examples(200, groups=40))
    chosen = recipe(Source("examples", ("span",), train="a.jsonl"), validation_limit=7)
    [one] = parts_of(chosen, tmp_path)
    [two] = parts_of(replace(chosen, seed=2), tmp_path)
    assert len(list(one.validation)) == 7 and list(one.validation) == list(two.validation)


def squad(tmp_path: Path, count: int) -> Path:
    """A file of articles, each with sentences that hold one answer each."""
    data = []
    for number in range(count):
        context = f"Ada{number} sat. Bo{number} ran. Cy{number} hid."
        questions = [
            {
                "id": f"{number}-{name}",
                "question": f"Who of {number}, {name}?",
                "answers": [{"text": f"{name}{number}", "answer_start": context.index(name)}],
            }
            for name in ("Ada", "Bo", "Cy")
        ]
        data.append({"title": str(number), "paragraphs": [{"context": context, "qas": questions}]})
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"version": "1.1", "data": data}))
    return path


def test_the_test_file_is_divided_by_sentence(tmp_path):
    squad(tmp_path, 30)
    source = Source("squad", train="squad.json", test="squad.json")
    chosen = recipe(source, by="sentence", validation_limit=None)
    [part] = parts_of(chosen, tmp_path)
    dev, test = list(part.validation), list(part.tested)
    assert len(list(part.train)) == 90 == len(dev) + len(test)
    assert not {e.id for e in dev} & {e.id for e in test}
    assert 30 < len(dev) < 60
    assert {e.group.split("\t")[1] for e in dev if e.group} == {
        f"{e.answers['span'][0]} {verb}." for e in dev for verb in ("sat", "ran", "hid")
        if f"{e.answers['span'][0]} {verb}." in e.passages[0]
    }  # fmt: skip
    assert input_files(chosen, tmp_path) == [tmp_path / "squad.json"]


def test_lists_of_ids_are_taken_as_they_are(tmp_path):
    squad(tmp_path, 4)
    ids = {"train": ["0-Ada", "1-Bo"], "validation": ["2-Cy"], "test": ["3-Ada", "3-Bo"]}
    for name, several in ids.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{one}\n" for one in several))
    source = Source("squad", train="squad.json", test="squad.json")
    chosen = replace(recipe(source, ids=str(tmp_path)), evaluation=Evaluation(limit=1))
    [part] = parts_of(chosen, tmp_path)
    assert [e.id for e in part.train] == ids["train"]
    assert [e.id for e in part.validation] == ids["validation"]
    assert [e.id for e in part.tested] == ids["test"]
    lists = [tmp_path / f"{name}.txt" for name in ids]
    assert input_files(chosen, tmp_path) == [tmp_path / "squad.json", *lists]
    (tmp_path / "test.txt").write_text("nobody\n")
    with pytest.raises(ValueError, match="'nobody'"):
        parts_of(chosen, tmp_path)


def test_examples_as_sequences():
    example = Example("1", "Who flew?", ("An owl flew.", "It slept."), {"s": ("An owl", "owl")})
    answered, asked = (as_sequence(example, target) for target in ("answer", "question"))
    assert (answered.question, answered.passages) == (
        "An owl",
        ("Who flew? . An owl flew. . It slept.",),
    )
    assert (asked.question, asked.passages) == ("Who flew?", ("An owl . An owl flew. . It slept.",))


def test_free_answers_become_spans(tmp_path):
    free = [
        Example("1", "who?", ("It was late.", "An owl flew."), {"qa": ("an owl",)}, group="a"),
        Example("2", "who?", ("An owl flew off.",), {"qa": ("the owl flew",)}, group="b"),
    ]
    write_examples(tmp_path / "a.jsonl", free)
    files = {"train": "a.jsonl", "test": "a.jsonl"}
    exact = recipe(Source("examples", ("qa",), spans="exact", **files), share=0.0)
    [part] = parts_of(exact, tmp_path)
    [found] = part.train
    assert (found.passages, found.answers) == (("An owl flew.",), {"qa": ("An owl",)})
    assert list(part.tested) == free  # a model that answers reads all passages
    for name, tested in (("MaxoutPointerQG", [found]), ("DAANet", free)):  # which answers, too
        asks = replace(exact, model={"name": name})
        [part] = parts_of(asks, tmp_path)
        assert list(part.tested) == tested
    by_sentence = replace(exact, split=Split(by="sentence", validation_share=0.0))
    [part] = parts_of(by_sentence, tmp_path)
    assert [e.id for e in (*part.validation, *(part.test or ()))] == ["1"]
    best = recipe(Source("examples", ("qa",), spans="best", **files), share=0.0)
    [part] = parts_of(best, tmp_path)
    assert [e.answers["qa"] for e in part.train] == [("An owl",), ("owl flew",)]
    assert [e.passages for e in part.train] == [("An owl flew.",), ("An owl flew off.",)]
    assert [e.answers for e in part.tested] == [e.answers for e in free]


def test_two_examples_with_one_id_are_refused(tmp_path):
    twice = [*examples(3), replace(examples(2)[1], question="Another?")]
    write_examples(tmp_path / "a.jsonl", twice)
    chosen = recipe(Source("examples", ("span",), train="a.jsonl", test="a.jsonl"))
    [part] = parts_of(chosen, tmp_path)
    with pytest.raises(ValueError, match="occurs twice.*q1"):
        list(part.tested)


def test_references_of_answers_and_questions(tmp_path):
    (tmp_path / "src-a.txt").write_text("an owl flew .\nan owl flew .\nit slept .\n")
    (tmp_path / "tgt-a.txt").write_text("what flew ?\nwho flew ?\nwho slept ?\n")
    source = Source("pairs", train="src-a.txt", test="src-a.txt")
    [part] = parts_of(recipe(source), tmp_path)
    every = list(part.test or ())
    assert question_references(every)["src-a-1"] == ["what flew ?", "who flew ?"]
    assert [e.id for e in part.tested] == ["src-a-1", "src-a-3"]
    both = Example("1", "Who?", ("An owl.",), {"a": ("owl",), "b": ("an owl", "it")})
    assert answer_references([both, Example("2", "Why?", ())], None) == {
        "1": ["owl", "an owl", "it"]
    }
    assert answer_references([both], "b") == {"1": ["an owl", "it"]}
    assert question_references([both]) == {"1": ["Who?"]}


def test_a_command_replaces_what_a_recipe_does_at_broken_records(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "question": "Why?", "passages": ["So."]}\n{}\n')
    chosen = recipe(Source("examples", test="a.jsonl"), Source("corpus", ("concise",), test="test"))
    [part, _] = parts_of(with_table_options(chosen, on_error="skip"), tmp_path)
    assert [example.id for example in part.test or ()] == ["1"]
    assert with_table_options(chosen, on_error=None) is chosen

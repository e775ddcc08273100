import json
from pathlib import Path

import pytest

from tfmrc.data import Example, write_examples
from tfmrc.experiments import configuration as settings
from tfmrc.experiments.configuration import Recipe, Source, Training
from tfmrc.experiments.sources import Mixed, data_folder, limited, read, splits


def examples(count: int, groups: int = 10) -> list[Example]:
    return [
        Example(f"q{n}", "Why?", ("So.",), {"span": ("So.",)}, group=f"g{n % groups}")
        for n in range(count)
    ]


def recipe(*sources: Source, share: float = 0.3) -> Recipe:
    return Recipe("x", sources, training=Training(validation_share=share))


def test_data_folder_comes_from_argument_then_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TFMRC_DATA", raising=False)
    with pytest.raises(ValueError, match="TFMRC_DATA"):
        data_folder(None)
    monkeypatch.setenv("TFMRC_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    with pytest.raises(ValueError, match="not there"):
        data_folder(tmp_path / "none")


def test_splits_keep_groups_apart_and_hold_everything(tmp_path: Path) -> None:
    write_examples(tmp_path / "train.jsonl", examples(200, groups=40))
    write_examples(tmp_path / "test.jsonl", examples(7))
    source = Source("examples", ("span",), train="train.jsonl", test="test.jsonl")
    [part] = splits(recipe(source), tmp_path)
    train, validation = list(part.train), list(part.validation)
    assert len(train) + len(validation) == 200
    assert 0 < len(validation) < 200
    assert not {e.group for e in train} & {e.group for e in validation}
    assert [e.id for e in part.test or ()] == [f"q{n}" for n in range(7)]
    assert [e.id for e in part.train] == [e.id for e in train], "a stream can be read again"


def test_shares_cut_by_group_and_unanswerable_ones_are_left_out(tmp_path: Path) -> None:
    unanswerable = [Example("u", "Why?", ("So.",), answerable=False, group="g0")]
    write_examples(tmp_path / "a.jsonl", examples(200, groups=40) + unanswerable)
    whole = Source("examples", ("span",), train="a.jsonl")
    part = Source("examples", ("span",), train="a.jsonl", train_share=0.5, answerable_only=True)
    [all_of_it] = splits(recipe(whole, share=0.0), tmp_path)
    [some] = splits(recipe(part, share=0.0), tmp_path)
    assert len(list(all_of_it.train)) == 201
    kept = list(some.train)
    assert 0 < len(kept) < 201
    assert all(example.answers for example in kept)
    assert all(sum(e.group == group for e in kept) == 5 for group in {e.group for e in kept})


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Source("examples", ("span",), train="none.jsonl"), "none.jsonl"),
        (Source("squad", ("a", "b"), train="a.jsonl"), "styles=['a', 'b']"),
        (Source("examples", ("span",), train="a.jsonl", options={"speed": 9}), "speed"),
        (Source("examples", ("span",)), "at least one source"),
    ],
)
def test_wrong_sources_are_named(tmp_path: Path, source: Source, said: str) -> None:
    write_examples(tmp_path / "a.jsonl", examples(3))
    with pytest.raises(ValueError) as raised:
        splits(recipe(source), tmp_path)
    assert said in str(raised.value)


def test_all_formats_are_read(tmp_path: Path) -> None:
    answer = {"text": "An owl", "answer_start": 0}
    question = {"id": "q1", "question": "Who flew?", "answers": [answer]}
    article = {"title": "Owls", "paragraphs": [{"context": "An owl flew.", "qas": [question]}]}
    (tmp_path / "squad.json").write_text(json.dumps({"version": "1.1", "data": [article]}))
    dialogue = [["M: Who?"], [{"question": "Q?", "choice": ["An owl."], "answer": "An owl."}], "1"]
    (tmp_path / "dream.json").write_text(json.dumps([dialogue]))
    (tmp_path / "qaps.csv").write_text(
        "document_id,set,question,answer1,answer2\nd,train,Who flew?,An owl,the owl\n"
    )
    (tmp_path / "summaries.csv").write_text('document_id,set,summary\nd,train,"An owl flew."\n')
    passage = {"is_selected": 1, "passage_text": "An owl flew.", "url": ""}
    row = {
        "query_id": 7,
        "query": "who flew",
        "query_type": "PERSON",
        "passages": [passage],
        "answers": ["An owl"],
        "wellFormedAnswers": ["An owl flew."],
    }
    (tmp_path / "marco.json").write_text(json.dumps(row) + "\n")
    write_examples(tmp_path / "own.jsonl", examples(1))
    expected = {
        ("squad", "squad.json", ("s",)): {"s": ("An owl",)},
        ("dream", "dream.json", ("s",)): {"s": ("An owl.",)},
        ("narrativeqa", "qaps.csv", ("s",)): {"s": ("An owl", "the owl")},
        ("msmarco", "marco.json", ("qa", "nlg")): {"qa": ("An owl",), "nlg": ("An owl flew.",)},
        ("examples", "own.jsonl", ("span",)): {"span": ("So.",)},
    }
    for (kind, path, styles), answers in expected.items():
        found = list(read(Source(kind, styles), path, tmp_path, {}))
        assert [example.answers for example in found] == [answers], kind


def test_limited_draws_by_id_alone() -> None:
    many = examples(100)
    chosen = limited(many, 10)
    assert len(chosen) == 10
    assert chosen == sorted(chosen, key=lambda e: int(e.id[1:]))
    assert {e.id for e in limited(reversed(many), 10)} == {e.id for e in chosen}
    assert limited(many, None) == many
    assert limited(many[:3], 10) == many[:3]


def test_mixed_is_even_all_along() -> None:
    mixed = list(Mixed((range(300), range(1000, 1100)), (300, 100)))
    assert sorted(mixed) == [*range(300), *range(1000, 1100)]
    for begin in range(0, 400, 40):
        assert sum(item >= 1000 for item in mixed[begin : begin + 40]) == 10


def test_flat_names_every_setting() -> None:
    names = settings.flat(Recipe("x", (Source("dream", ("a", "b")),), model={"hidden_dim": 8}))
    assert names["sources.0.styles.1"] == "b"
    assert names["model.hidden_dim"] == 8
    assert names["training.batch_size"] == Training().batch_size

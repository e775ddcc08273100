"""Datasets in SQuAD's form: what is read again is what was written."""

import json

import pytest

from recipes.dataset_sizes.squad_writer import write_squad
from recipes.dataset_sizes.to_squad import main
from tests.data.builders import marco_lines, squad, write
from tfmrc.data import Example, Span, read_msmarco, read_squad, write_examples


def again(path, examples, **options):
    write_squad(path, examples, **options)
    return list(read_squad(path))


def test_squad_stays_as_it_is(tmp_path):
    examples = list(read_squad(write(tmp_path / "a.json", squad())))
    assert again(tmp_path / "b.json.gz", examples) == examples
    assert write_squad(tmp_path / "c.json", examples) == 4
    content = json.loads((tmp_path / "c.json").read_text())
    assert [len(article["paragraphs"]) for article in content["data"]] == [2, 1]
    assert len(content["data"][0]["paragraphs"][0]["qas"]) == 2


def test_passages_become_one_context_and_spans_move_with_them(tmp_path):
    example = Example(
        "1", "Who flew?", ("An owl.", "", "An owl and Ada."),
        {"qa": ("owl", "Ada", "It was Bo.", "wl")}, spans=(Span(2, 3, 6), Span(2, 11, 14)),
    )  # fmt: skip
    unknown = Example("2", "Why?", ("So.",))
    result, left = again(tmp_path / "a.json", [example, unknown])
    assert result.passages == ("An owl.  An owl and Ada.",) and result.group == "1"
    assert result.answers == {"span": ("owl", "Ada", "It was Bo.", "wl")}
    # With a span, with a span, free-form, and a part of a word, which is not an occurrence.
    assert [(s.start, result.span_text(s)) for s in result.spans] == [(12, "owl"), (20, "Ada")]
    assert (left.answers, left.answerable) == ({}, None)


def test_marco_keeps_one_style_and_what_has_no_answer(tmp_path):
    examples = read_msmarco(write(tmp_path / "marco.jsonl", marco_lines()))
    result = again(tmp_path / "a.json", examples, style="qa")
    assert [e.answerable for e in result] == [e.answerable for e in examples]
    assert result[0].answers == {"span": ("Small fish", "Fish")} and result[0].spans == ()
    assert result[0].passages[0].startswith("Passage 0 on herons. Passage 1 on herons.")
    nlg = again(tmp_path / "b.json", examples, style="nlg")
    assert [e.id for e in nlg if e.answers] == ["11"] and "12" not in [e.id for e in nlg]


def test_by_command(tmp_path):
    write_examples(tmp_path / "many.jsonl", (Example(f"{n}", "?", ("So.",)) for n in range(50)))
    drawn = []
    for limit in ("5", "9"):
        main([str(tmp_path / "many.jsonl"), str(tmp_path / "few.json"), "--limit", limit])
        drawn.append([example.id for example in read_squad(tmp_path / "few.json")])
    small, large = drawn
    assert len(small) == 5 and len(large) == 9 and set(small) < set(large)
    assert large == sorted(large, key=int)


def test_a_style_that_no_example_has_is_an_error_and_leaves_the_file(tmp_path):
    examples = [
        Example("1", "Who flew?", ("An owl flew.",), {"qa": ("An owl",), "nlg": ("It was.",)}),
        Example("2", "Who slept?", ("An owl flew.",), answerable=False),
    ]
    path = write(tmp_path / "a.json", "before")
    message = "No example has an answer of this style; there are nlg, qa. Received: style='short'"
    with pytest.raises(ValueError, match=message):
        write_squad(path, examples, style="short")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_an_error_while_writing_leaves_the_file(tmp_path):
    def broken():
        yield Example("1", "Who flew?", ("An owl flew.",), {"qa": ("An owl",)})
        raise RuntimeError("cut")

    for name in ("a.json", "a.json.gz"):
        path = write(tmp_path / name, "before")
        with pytest.raises(RuntimeError, match="cut"):
            write_squad(path, broken())
        with pytest.raises(RuntimeError, match="cut"):
            write_examples(path, broken())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "a.json.gz"]
    assert (tmp_path / "a.json").read_text() == "before"

"""The recipe of question generation: splits, a tiny run from end to end, and its report."""

import json
from dataclasses import replace

import numpy as np
import pytest

from recipes.maxout_pointer_qg_squad import main, report, run, self_attention, settings, splits
from tfmrc.evaluation import find_runs, read_rows, states
from tfmrc.models.maxout_pointer_qg import VARIANTS


def squad(path, articles):
    """A SQuAD file: each article one paragraph of two sentences, a question about each."""
    found = []
    for number in range(articles):
        name, other = f"Bo{number}", f"Ada{number}"
        context = f"The king met {name} in 19{number:02}. The queen met {other}."
        questions = [
            {
                "id": f"{path.stem}-{number}-{answer}",
                "question": f"Who met {answer}?",
                "answers": [{"text": answer, "answer_start": context.index(answer)}],
            }
            for answer in (name, other)
        ]
        paragraphs = [{"context": context, "qas": questions}]
        found.append({"title": f"{path.stem} {number}", "paragraphs": paragraphs})
    path.write_text(json.dumps({"version": "1.1", "data": found}), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    squad(folder / "train.json", 12)
    squad(folder / "dev.json", 8)
    return folder


@pytest.fixture(scope="module")
def config(folder):
    path = folder / "config.yaml"
    path.write_text(
        "{name: maxout_pointer_qg_squad, train: train.json, test: dev.json, contexts: [sentence], "
        "variants: [s2s-a-at-mp-gsa], model: {word_dim: 8, hidden_dim: 8, num_layers: 1}, "
        "vocabulary_size: 40, generation_vocabulary_size: 12, num_oov_buckets: 2, batch_size: 4, "
        "passage_length: 30, question_length: 6, epochs: 1, validation_share: 0.3, num_beams: 2}",
        encoding="utf-8",
    )
    return path


def test_the_shipped_settings_name_known_variants_and_their_rows():
    known = {name for row in read_rows(report.ROWS) for p in row.parts for name in (p.run, *p.also)}
    for name in ("config.yaml", "paper_size.yaml", "nqg.yaml", "msmarco.yaml"):
        made = settings.load(main.HERE / name)
        assert set(made.variants) <= set(VARIANTS)
        assert made.variants if made.format != "squad" else set(made.variants) == set(VARIANTS)
        for variant in made.variants:
            for context in made.contexts:
                assert report.system(made, variant, context, beams=10) in known
    with pytest.raises(ValueError, match="cannot be read"):
        settings.load(main.HERE / "config.yaml", ["--no_such_thing=1"])


def test_split1_by_article_and_split2_by_sentence(folder, config):
    parts = splits.make(settings.load(config), folder)
    articles = [{example.group for example in part} for part in (parts.train, parts.dev)]
    assert not articles[0] & articles[1] and articles[1]
    assert len(parts.train) + len(parts.dev) == 24 and len(parts.test) == 16
    other = splits.make(settings.load(config, ["--split=split2"]), folder)
    groups = [{example.group for example in part} for part in (other.dev, other.test)]
    assert not groups[0] & groups[1]
    assert len(other.dev) + len(other.test) == 16 and len(other.train) == 24
    # Some article has a sentence on either side.
    titles = [{group.split("\t")[0] for group in part} for part in groups]
    assert titles[0] & titles[1]
    with pytest.raises(ValueError, match="split='split3'"):
        splits.make(settings.load(config, ["--split=split3"]), folder)


def test_stored_ids_are_the_split(folder, config, tmp_path, capsys):
    places = ["--config", str(config), "--data", str(folder), "--runs", str(tmp_path)]
    assert main.main([*places, "--ids_only", "--split=split2", "--limit=5"]) == 0
    assert "test 5" in capsys.readouterr().out
    made = settings.load(config, [f"--ids={tmp_path / 'ids'}"])
    parts = splits.make(made, folder)
    for name in splits.PARTS:
        stored = (tmp_path / "ids" / f"{name}.txt").read_text(encoding="utf-8").split()
        assert [example.id for example in getattr(parts, name)] == stored
    assert len(parts.test) == 5 and parts.test[0].id in parts.references
    (tmp_path / "ids" / "dev.txt").write_text("elsewhere\n", encoding="utf-8")
    with pytest.raises(ValueError, match="elsewhere"):
        splits.make(made, folder)


def test_from_a_file_to_the_reports_and_again(folder, config, tmp_path, capsys):
    arguments = ["--config", str(config), "--data", str(folder), "--runs", str(tmp_path)]
    assert main.main(arguments) == 0
    place = tmp_path / "s2s-a-at-mp-gsa-sentence"
    table = (tmp_path / "report.md").read_text(encoding="utf-8")
    name = "maxout_pointer_qg_squad_s2s-a-at-mp-gsa_sentence"
    assert f"| {name} | 16 |" in table and f"| {name}_greedy | 16 |" in table
    assert "43.47" in table and "42.25" in table  # of the paper's tables 1 and 2
    lines = (place / "questions-beam-2.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 16 and 0 <= json.loads(lines[0])["probability"] <= 1
    for picture in ("learning_curves.png", "self_attention.svg"):
        assert (place / picture).is_file()
    asked = [
        str(place / "predictor"),
        "--passage",
        "An owl flew. A cat slept.",
        "--to",
        str(place / "own"),
    ]
    assert self_attention.main([*asked, "--answer", "cat"]) == 0
    assert (place / "own.png").is_file()
    assert self_attention.main([*asked, "--answer", "dog"]) == 1
    assert "does not stand in the passage" in capsys.readouterr().err
    metrics = json.loads((place / "metrics.json").read_text(encoding="utf-8"))
    scores = metrics["systems"][name]["scores"]
    assert scores["bleu_4"]["size"] == 16 and "low" in scores["rouge_l"]["interval"]
    assert metrics["paper"][name]["rouge_l"] == 43.91
    # The list of tables and figures finds them, as figures of less data than the paper's.
    found = {row.row.id: row for row in states(read_rows(report.ROWS), find_runs([tmp_path]))}
    for row in ("qg-t1", "qg-t2", "qg-t3", "qg-f4"):
        assert found[row].state == "run on less data", row
    assert {result.part.label for result in found["qg-t2"].results} == {
        "beam of 10, sentence", "greedy, sentence"
    }  # fmt: skip
    assert [
        result.figures for result in found["qg-f4"].results if "human" in result.part.label
    ] == [{"duplication_rate": 0.0}]
    # Again, from a run of an earlier day: nothing is trained or asked anew.
    old = [json.loads(line) for line in lines]
    for line in old:
        [line["reference"]] = line.pop("references")
    (place / "questions-beam-2.jsonl").write_text("\n".join(map(json.dumps, old)), encoding="utf-8")
    times = [
        (place / kept).stat().st_mtime_ns for kept in ("training.json", "predictor/config.json")
    ]
    (place / "metrics.json").unlink()
    report.scoring.scored.cache_clear()
    assert main.main(arguments) == 0
    assert times == [
        (place / n).stat().st_mtime_ns for n in ("training.json", "predictor/config.json")
    ]
    again = json.loads((place / "metrics.json").read_text(encoding="utf-8"))
    assert again["systems"][name]["scores"] == scores


PAIRS = [
    ("an owl flew .", "what flew ?"),
    ("an owl flew .", "who flew ?"),
    ("a cat slept .", "what slept ?"),
]


def test_pairs_have_no_answer_and_all_questions_of_a_text_as_references(config, tmp_path):
    for part in ("train", "dev"):
        for place, name in enumerate(("src", "tgt")):
            numbers = range(8) if part == "train" else [""]
            lines = [f"{pair[place]} {number}".strip() for number in numbers for pair in PAIRS]
            (tmp_path / f"{name}-{part}.txt").write_text("\n".join(lines), encoding="utf-8")
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(f"owl{' 2' * 8}\nsea{' 3' * 8}\n", encoding="utf-8")
    given = ["--format=pairs", "--train=src-train.txt", "--test=src-dev.txt", "--name=pairs"]
    given += [f"--vectors={vectors}", "--model.embeddings_trainable=false"]
    made = settings.load(config, given)
    parts = splits.make(made, tmp_path)
    assert [example.id for example in parts.test] == ["src-dev-1", "src-dev-3"]
    assert parts.references["src-dev-1"] == ["what flew ?", "who flew ?"]
    assert not {e.passages for e in parts.train} & {e.passages for e in parts.dev}
    place = tmp_path / "run" / "s2s-sentence"
    place.mkdir(parents=True)
    predictor = run.untrained(made, "s2s", "sentence", parts, place)
    owl = predictor.model.word_embedding(predictor.preprocessor.vocabulary.lookup(["owl"]))
    assert (
        np.array_equal(owl, np.full((1, 8), 2.0))
        and 0 < predictor.metrics["words_with_a_vector"] < 1
    )
    run.ask(predictor, parts, made, 1, place)
    lines = (place / "questions-beam-1.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    assert first["references"] == ["what flew ?", "who flew ?"] and first["answer"] == ""
    table = report.write_all(replace(made, variants=("s2s",)), tmp_path / "run", parts)
    assert "| pairs_s2s_sentence_greedy | 2 |" in table and "all questions about its text" in table


def test_msmarco_keeps_questions_whose_answer_stands_in_a_passage(config, tmp_path):
    def line(number, answers, *texts):
        passages = [
            {"passage_text": text, "is_selected": int(place == len(texts) - 1), "url": ""}
            for place, text in enumerate(texts)
        ]
        record = {"query_id": number, "query": "who flew", "query_type": "person"}
        return json.dumps({**record, "answers": answers, "passages": passages})

    lines = [
        line(1, ["An owl."], "It was late. an owl flew.", "In May an Owl flew away. It was dark."),
        line(2, ["Nobody knows"], "It was late."),
        line(3, [], "It was late."),
    ]
    for name in ("train.json", "dev.json"):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    made = settings.load(config, ["--format=msmarco", "--dataset=MS MARCO"])
    parts = splits.make(made, tmp_path)
    [example] = parts.test
    assert (
        example.answers == {"span": ("an Owl",)} and example.span_text(example.spans[0]) == "an Owl"
    )
    assert len(parts.train) + len(parts.dev) == 1
    from tfmrc.data import make_dataset
    from tfmrc.preprocessing import MaxoutPointerQGPreprocessor
    from tfmrc.text import Vocabulary

    preprocessor = MaxoutPointerQGPreprocessor(
        Vocabulary.from_examples([example]), context="sentence"
    )
    x, _, _ = next(iter(make_dataset([example], preprocessor, 1)))
    assert np.array_equal(x["answer_tags"], [[0, 0, 1, 1, 0, 0, 0]])


def test_data_that_is_not_there_is_said(config, tmp_path, capsys):
    arguments = ["--config", str(config), "--data", str(tmp_path), "--runs", str(tmp_path / "r")]
    assert main.main(arguments) == 1
    assert "The recipe failed" in capsys.readouterr().err

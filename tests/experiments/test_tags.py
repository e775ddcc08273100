"""Tags of an experiment: the file names the tagger."""

import json

import pytest
import spacy

from tfmrc.experiments.examples.tags import Tags


@pytest.fixture
def pipeline(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "pipeline")
    return str(tmp_path / "pipeline")


def test_an_empty_file_is_a_new_one(pipeline, tmp_path):
    path = tmp_path / "tags.jsonl"
    path.touch()
    tags = Tags.open(pipeline, path)
    assert pipeline in tags.name
    assert json.loads(path.read_text()) == {"tagger": tags.name}
    assert Tags.open(pipeline, path).name == tags.name


@pytest.mark.parametrize("content", ["{}\n", "\x80"])
def test_a_file_that_names_no_tagger(pipeline, tmp_path, content):
    path = tmp_path / "tags.jsonl"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match="tags.jsonl, line 1: damaged. Remove the file"):
        Tags.open(pipeline, path)
    assert path.read_bytes() == content.encode("latin-1")

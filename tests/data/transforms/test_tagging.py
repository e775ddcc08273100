"""Tags of words by spaCy (rules, no trained pipeline), cached in a file."""

import json
import resource

import numpy as np
import pytest
import spacy

from tfmrc.data import Example, Span, TagCache, make_dataset, words_tagger
from tfmrc.preprocessing import SANPreprocessor
from tfmrc.text import Vocabulary

QUESTION, PASSAGE = "Who met Ada?", "Don't forget: Ada Lee met an owl."


@pytest.fixture(scope="module")
def tag():
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": [{"LOWER": "ada"}, {"LOWER": "lee"}]}])
    rules = pipeline.add_pipe("attribute_ruler")
    rules.add([[{"LOWER": "met"}]], {"TAG": "VBD", "LEMMA": "meet"})
    rules.add([[{"LOWER": "owl"}]], {"TAG": "NN"})
    return words_tagger(pipeline)


def test_tags_stand_beside_our_words(tag, tmp_path):
    cache = TagCache(tmp_path / "tags.jsonl", "rules 1", tag)
    cache.add([QUESTION, PASSAGE, QUESTION])
    assert cache.of(PASSAGE, "ner") == "- - - - PERSON PERSON - - - -"
    assert cache.of(PASSAGE, "pos").split()[6:9] == ["VBD", "-", "NN"]
    assert cache.of(QUESTION, "lemmas").split()[1] == "meet"
    assert cache.names("ner") == ["PERSON"] and cache.names("pos") == ["VBD", "NN"]


def test_a_text_with_separators_of_lines_in_it(tag, tmp_path):
    text = "Ada met\u2028an owl.\x85\n\r\nAda."
    cache = TagCache(tmp_path / "tags.jsonl", "rules 1", tag)
    cache.add([text, QUESTION])
    again = TagCache(tmp_path / "tags.jsonl", "rules 1")
    assert again.of(text, "pos") == cache.of(text, "pos")
    assert again.of(QUESTION, "pos") == cache.of(QUESTION, "pos")


def test_a_stopped_run_goes_on_and_tags_nothing_twice(tag, tmp_path):
    path = tmp_path / "tags.jsonl"
    asked = []

    def counted(texts):
        asked.extend(texts)
        return tag(texts)

    TagCache(path, "rules 1", counted).add([QUESTION])
    with open(path, "ab") as file:
        file.write('{"text": "half a lié'.encode()[:-1])
    again = TagCache(path, "rules 1", counted)
    again.add([QUESTION, PASSAGE])
    assert len(asked) == 2
    header, *lines = path.read_bytes().splitlines()
    assert json.loads(header) == {"tagger": "rules 1"}
    assert [json.loads(lines[number])["text"] for number in (0, 2)] == [QUESTION, PASSAGE]
    readonly = TagCache(path, "rules 1")
    assert readonly.of(PASSAGE, "pos") == again.of(PASSAGE, "pos")
    with pytest.raises(ValueError, match="1 texts have no tags"):
        readonly.add(["Another text."])
    with pytest.raises(ValueError, match="'rules 1'"):
        TagCache(path, "rules 2")


def test_several_add_to_one_file(tag, tmp_path):
    """The second one opens the file and adds to it while the first one tags a batch."""
    path = tmp_path / "tags.jsonl"
    texts = ["Ada met Bob.", PASSAGE]

    def slow(rows):
        for number, tags in enumerate(tag(rows)):
            if number == 1:
                TagCache(path, "rules 1", tag).add([QUESTION])
            yield tags

    cache = TagCache(path, "rules 1", slow)
    cache.add(texts)
    again = TagCache(path, "rules 1")
    assert [again.of(text, "pos") for text in texts] == [cache.of(text, "pos") for text in texts]
    assert again.of(QUESTION, "lemmas").split()[1] == "meet"
    lines = path.read_text().splitlines()[1:]
    assert [json.loads(line)["text"] for line in lines] == [QUESTION, *texts], "one write per batch"


def test_lines_of_which_a_part_was_written_are_an_error(tag, tmp_path):
    path = tmp_path / "tags.jsonl"
    cache = TagCache(path, "rules 1", tag)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, before[1]))
    try:
        with pytest.raises(OSError):
            cache.add([QUESTION])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    cache.add([PASSAGE, QUESTION])
    again = TagCache(path, "rules 1")
    assert all(again.of(text, "pos") == cache.of(text, "pos") for text in (QUESTION, PASSAGE))


def test_training_batches_and_serving_get_the_same_tags(tag, tmp_path):
    cache = TagCache(tmp_path / "tags.jsonl", "rules 1", tag)
    example = Example(
        "1", QUESTION, ("Nobody.", PASSAGE), {"span": ("Ada Lee",)}, spans=(Span(1, 14, 21),)
    )
    cache.add([QUESTION, *example.passages])
    preprocessor = SANPreprocessor(
        Vocabulary(["ada"]), lemmas=True, pos_tags=cache.names("pos"), ner_tags=cache.names("ner")
    )
    annotate = cache.annotate(preprocessor.annotations)
    x, y, _ = next(iter(make_dataset([example], preprocessor, 1, annotate=annotate)))
    np.testing.assert_array_equal(x["ner_ids"], [[0, 0, 0, 0, 1, 1, 0, 0, 0, 0]])
    np.testing.assert_array_equal(x["pos_ids"], [[0, 0, 0, 0, 0, 0, 1, 0, 2, 0]])
    assert (y["begin"].numpy(), y["end"].numpy()) == ([4], [5])
    served = preprocessor.source(
        [QUESTION], [PASSAGE], **cache.tagger_of(preprocessor.annotations)([QUESTION], [PASSAGE])
    )
    for name in preprocessor.model_inputs:
        np.testing.assert_array_equal(x[name], served[name])


def test_one_tag_a_word(tmp_path):
    def short(texts):
        for _ in texts:
            yield {"lemmas": ["x"], "pos": ["x"], "ner": ["x"]}

    with pytest.raises(ValueError, match="1 lemmas for 4 words"):
        TagCache(tmp_path / "t", "short", short).add([QUESTION])

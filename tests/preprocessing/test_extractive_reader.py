"""Windows of an extractive reader beside those of the package `tokenizers`; training batches."""

import unicodedata
from functools import partial

import numpy as np
import pytest
import tensorflow as tf
from tokenizers import Tokenizer

from tfmrc import encoders, preprocessing
from tfmrc.data import Example, Span
from tfmrc.encoders.hugging_face.families import FAMILIES
from tfmrc.encoders.hugging_face.tokenizer_files import tokenizer_files
from tfmrc.text.code_points import ends_with_marks

PIECES = ["who", "flew", "the", "owl", "##s", "a", "hill", ".", "?", "'", "mill", "##er"]
QUESTIONS = ["Who flew?", "", "The owls' mill?"]
PASSAGES = ["The owls flew. " * 9, "a hill", "Miller, the owl 's a hill. " * 5]


@pytest.fixture(scope="module")
def encoder():
    return encoders.from_vocabulary(PIECES, length=64)


@pytest.fixture(scope="module")
def reference(encoder):
    files = tokenizer_files(encoder.subwords, FAMILIES["bert"], "BertTokenizer")
    return Tokenizer.from_str(files["tokenizer.json"])


def make(encoder, **options):
    sizes = {"window_length": 20, "overlap": 5, "question_length": 8, **options}
    return preprocessing.ExtractiveReaderPreprocessor(encoder=encoder, **sizes)


def test_windows_are_those_of_tokenizers(encoder, reference):
    result = make(encoder).source(QUESTIONS, PASSAGES)
    result = {name: value.numpy() for name, value in result.items()}
    reference.enable_truncation(20, stride=5, strategy="only_second")
    window = 0
    for row, (question, passage) in enumerate(zip(QUESTIONS, PASSAGES, strict=True)):
        whole = reference.encode(question, passage)
        for each in [whole, *whole.overflowing]:
            size = len(each.ids)
            assert result["row"][window] == row and result["lengths"][window] == size
            assert result["encoder_ids"][window].tolist()[:size] == each.ids
            assert not result["encoder_ids"][window, size:].any()
            assert result["segment_ids"][window].tolist()[:size] == each.type_ids
            inside = np.array([part == 1 for part in each.sequence_ids])
            mask = inside | (np.arange(size) == 0)
            assert result["answer_mask"][window].tolist()[:size] == mask.tolist()
            for name, values in (
                ("starts", [start for start, _ in each.offsets]),
                ("ends", [end for _, end in each.offsets]),
                ("words", each.word_ids),
            ):
                expected = np.where(inside, np.array(values, object), -1)
                assert result[name][window, :size].tolist() == expected.tolist(), name
            window += 1
    assert window == len(result["row"]) > 5
    assert not result["truncated"].any()


@pytest.mark.parametrize(
    ("length", "given", "window", "overlap"),
    [
        (512, {}, 384, 128),
        (128, {}, 128, 30),  # 61 subwords of the passage beside a question of 64
        (512, {"window_length": 80, "question_length": 8}, 80, 34),
        (128, {"overlap": 20}, 128, 20),
    ],
)
def test_sizes_follow_from_the_encoder(length, given, window, overlap, tmp_path):
    encoder = encoders.from_vocabulary(PIECES, length=length)
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(encoder=encoder, **given)
    assert (preprocessor.window_length, preprocessor.overlap) == (window, overlap)
    config = preprocessor.get_config()
    assert (config["window_length"], config["overlap"]) == (window, overlap)
    preprocessor.save_assets(tmp_path)
    again = type(preprocessor).from_config(config, tmp_path)
    assert again.get_config() == config


def test_windows_without_room_are_refused(encoder):
    with pytest.raises(ValueError, match="window_length=20, question_length=8, overlap=9"):
        make(encoder, overlap=9)
    with pytest.raises(ValueError, match="reads 64 subwords at once.*window_length=99"):
        make(encoder, window_length=99)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have room"):
        make(encoder).source(["who who who"], ["a"], overlap=14)


def test_words_are_whole_at_the_edge_of_a_window(encoder):
    result = make(encoder, window_length=14, overlap=1).source(
        ["Who?"], ["owls owls owls owls owls"]
    )
    words = result["words"].numpy()
    assert words[0].max() == words[1][words[1] >= 0].min()  # a word in two windows
    for number in (0, 1):
        known = words[number] >= 0
        starts = result["word_starts"].numpy()[number][known]
        ends = result["word_ends"].numpy()[number][known]
        assert starts.tolist() == (5 * words[number][known]).tolist()
        assert (ends - starts).tolist() == [4] * len(starts)


def test_long_questions_and_passages_are_cut(encoder):
    read = make(encoder, longest_passage=7).source(["who " * 9, "who"], ["a", "a " * 8])
    assert read["truncated"].numpy().tolist() == [True, True]
    assert read["encoder_ids"].numpy()[0].tolist().count(4) == 8
    assert (read["starts"].numpy()[1] >= 0).sum() == 7


def test_styles_are_those_of_the_examples(encoder):
    build = partial(
        preprocessing.ExtractiveReaderPreprocessor.from_examples,
        encoder=encoder, window_length=20, overlap=5, question_length=8,
    )  # fmt: skip
    answered = Example("1", "Who?", ("An owl.",), {"qa": ("owl",)}, spans=(Span(0, 3, 6),))
    examples = [Example("0", "Why?", ("An owl.",), answerable=False), answered]
    assert build(examples).styles == ("qa",)
    assert build(lambda: iter(examples)).styles == ("qa",)
    assert build(examples[:1]).styles == ("span",)
    given = build(examples, styles=("nlg",))
    assert given.styles == ("nlg",)
    with pytest.raises(ValueError, match=r"pass `styles=\('qa',\)`"):
        given.dataset(examples, 2)


def test_training_reads_the_window_of_the_answer(encoder):
    passage = "the owls flew. " * 8 + "a miller flew."
    records = {
        "question": tf.constant(["Who?"] * 3),
        "passages": tf.constant([[passage], [passage], ["a"]]),
        "span": tf.constant([[0, 122, 128], [0, 4, 8], [0, -1, -1]]),
    }
    x, y, weight = make(encoder).batch(records)
    begin, end = (y[name].numpy() for name in ("begin", "end"))
    ids = x["encoder_ids"].numpy()
    names = {name: encoder.subwords.pieces.id_of(name) for name in PIECES}
    assert ids[0, begin[0] : end[0] + 1].tolist() == [names["mill"], names["##er"]]
    assert ids[1, begin[1] : end[1] + 1].tolist() == [names["owl"], names["##s"]]
    assert (begin[2], end[2]) == (-1, -1)
    assert weight["begin"].numpy().tolist() == [1.5, 1.5, 0.0]
    _, y, weight = make(encoder, unanswerable=True).batch(records)
    assert y["begin"].numpy()[2] == 0 and weight["begin"].numpy().tolist() == [1.0] * 3
    # An answer that no passage contains is not the lack of an answer.
    records["answer"] = tf.constant(["miller", "owls", "a moth"])
    _, y, weight = make(encoder, unanswerable=True).batch(records)
    assert y["begin"].numpy()[2] == -1 and weight["begin"].numpy().tolist() == [1.5, 1.5, 0.0]


def test_spaces_around_an_answer_cost_no_label(encoder):
    passage = "the owls flew. " * 8 + "a miller flew."
    spans = [[0, 122, 128], [0, 121, 129], [0, 15, 23], [0, 119, 129]]
    records = {
        "question": tf.constant(["Who?"] * 4),
        "passages": tf.constant([[passage]] * 4),
        "span": tf.constant(spans),
    }
    assert [passage[start:end] for _, start, end in spans[1:3]] == [" miller ", "the owls"]
    x, y, _ = make(encoder).batch(records)
    names = dict(zip(encoder.subwords.pieces.vocabulary, range(99), strict=False))
    labelled = [
        x["encoder_ids"][row, y["begin"][row] : y["end"][row] + 1].numpy().tolist()
        for row in range(4)
    ]
    miller = [names["mill"], names["##er"]]
    owls = [names["the"], names["owl"], names["##s"]]
    assert labelled == [miller, miller, owls, [names["a"], *miller]]
    # A passage that ends within the answer has no label of it.
    cut = make(encoder, longest_passage=2).batch(records)[1]
    assert cut["begin"].numpy().tolist() == [-1] * 4


def test_only_labelled_questions_are_trained_to_have_no_answer(encoder):
    examples = [
        Example(str(label), "Who?", ("a",), answerable=label) for label in (True, False, None)
    ]
    reader = make(encoder, unanswerable=True)
    _, y, weight = next(iter(reader.dataset(examples, batch_size=3)))
    assert y["begin"].numpy().tolist() == y["end"].numpy().tolist() == [-1, 0, -1]
    assert weight["begin"].numpy().tolist() == [0.0, 3.0, 0.0]


UNSPACED = {  # texts and answers of ../shared/cases/unspaced_texts.jsonl
    "Japanese": ("古い水車小屋は1817年に青木花子が建てた。", "青木花子"),
    "kana": ("ソラはコーヒーがすきです。", "コーヒー"),
    "Chinese": ("旧磨坊由阿达霍姆于一八一七年建造。", "阿达霍姆"),
    "Thai": ("โรงสีเก่าสร้างโดยนายสมชายใจดีในปีพุทธศักราช", "นายสมชายใจดี"),
    "Burmese": ("စက်ရုံဟောင်းကိုမောင်မောင်ကဆောက်ခဲ့သည်။", "မောင်မောင်"),
    "Latin": ("An owlet flew.", "owlet"),
}


@pytest.mark.parametrize("language", UNSPACED)
def test_words_end_at_subwords_in_scripts_without_spaces(language):
    passage, answer = UNSPACED[language]
    letters = sorted({*unicodedata.normalize("NFD", passage.lower())} - {" "})
    encoder = encoders.from_vocabulary([*letters, *(f"##{letter}" for letter in letters)])
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(encoder=encoder)
    read = preprocessor.source(["?"], [passage])
    starts, ends = (read[f"word_{name}"].numpy()[0] for name in ("starts", "ends"))
    ends = ends_with_marks([passage], read["row"], tf.constant([ends]))[0].numpy()
    start = passage.index(answer)
    assert start in starts and start + len(answer) in ends
    assert len(set(starts)) > 4 if language != "Latin" else set(starts) == {-1, 0, 3, 9, 13}
    for last in ends:  # never within a letter with its marks
        assert last == len(passage) or last < 0 or unicodedata.category(passage[last])[0] != "M"

"""The base of all preprocessors: sizes for the model, examples to batches, captured arguments."""

import copy
import dataclasses
import json
import pickle
import warnings

import keras
import numpy as np
import pytest

from tfmrc import encoders, models, preprocessing
from tfmrc.data import Example, Span, with_exact_spans
from tfmrc.text import Vocabulary

EXAMPLES = [
    Example("1", "Who met the king?", ("Ada met the king.", "It rained."), {"span": ("Ada",)},
            answerable=True, relevance=(True, False), spans=(Span(0, 0, 3),)),
    Example("2", "When did Bo see it?", ("Bo saw it in 1912.",), {"span": ("in 1912",)},
            answerable=True, relevance=(True,), spans=(Span(0, 10, 17),)),
]  # fmt: skip


def words():
    return Vocabulary(["a"])


SMALL = {
    "Masque": dict(word_dim=4, hidden_dim=4, num_heads=2, intermediate_dim=4, num_shared_blocks=1,
                   num_question_blocks=1, num_passage_blocks=1, num_decoder_blocks=1),
    "SAN": dict(word_dim=4, units=4, align_dim=4, num_layers=1),
    "MaxoutPointerQG": dict(word_dim=4, hidden_dim=4, num_layers=1),
    "DAANet": dict(word_dim=4, character_dim=4, hidden_dim=4, num_lstm_layers=1, num_heads=2,
                   inner_dim=4),
}  # fmt: skip


@keras.saving.register_keras_serializable(package="tests")
class Toy(preprocessing.Preprocessor):
    """A preprocessor of a user's own."""

    def __init__(self, vocabulary, *, passage_length=5, marks=(".", "?"), **sizes):
        super().__init__(vocabulary, passage_length=passage_length, **sizes)
        self.marks = tuple(marks)


@pytest.mark.parametrize("name", SMALL)
def test_a_preprocessor_settles_the_sizes_of_its_model(name):
    kind = getattr(preprocessing, f"{name}Preprocessor")
    options = {"num_passages": 2} if name == "Masque" else {}
    preprocessor = kind.from_examples(EXAMPLES, num_oov_buckets=3, **options)
    model = getattr(models, name)(**preprocessor.model_kwargs(), **SMALL[name])
    x, y, _ = next(iter(preprocessor.dataset(EXAMPLES, batch_size=2, randomize_oov_buckets=True)))
    outputs = model(x)
    for value in outputs.values() if isinstance(outputs, dict) else outputs:
        assert np.isfinite(keras.ops.convert_to_numpy(value)).all()
    assert preprocessor.styles == ("span",) and preprocessor.annotations == ()


def test_from_examples_counts_words_and_takes_the_styles_that_occur():
    examples = [
        Example("1", "a a b", ("a b c",), {"nlg": ("c",)}),
        Example("2", "a", ("d",), {"qa": ("d",), "nlg": ("d",)}),
    ]
    built = preprocessing.MasquePreprocessor.from_examples(
        lambda: iter(examples), vocabulary_size=7, min_count=2, num_oov_buckets=1, num_passages=1
    )
    assert built.vocabulary.words[4:] == ("a", "d", "b") and len(built.vocabulary) == 8
    assert built.styles == ("nlg", "qa") and built.num_passages == 1
    chosen = preprocessing.MasquePreprocessor.from_examples(examples, styles=("qa",))
    assert chosen.styles == ("qa",)
    unanswered = [Example("3", "a", ("b",))]
    assert preprocessing.MasquePreprocessor.from_examples(unanswered).styles == ("qa",)
    assert Toy.from_examples(examples[:1]).styles == ("nlg",)  # passed on as `**sizes`


def test_answers_without_a_span_are_said_before_training():
    """Their loss would be 0 without a word."""
    examples = [dataclasses.replace(example, spans=()) for example in EXAMPLES]
    preprocessor = preprocessing.SANPreprocessor.from_examples(examples)
    with pytest.raises(ValueError, match=r"with_exact_spans\(examples, 'span'\).*: 2 answers with"):
        preprocessor.dataset(examples, 2)
    with pytest.warns(UserWarning, match="1 of 2 answers have no span"):
        preprocessor.dataset([examples[0], EXAMPLES[1]], 2)
    unlabelled = [dataclasses.replace(example, answers={}, spans=()) for example in EXAMPLES]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(with_exact_spans(examples, "span"))
        assert [example.spans for example in found] == [example.spans for example in EXAMPLES]
        preprocessor.dataset(found, 2)
        preprocessor.dataset(unlabelled, 2)  # for a teacher
        preprocessing.MasquePreprocessor.from_examples(examples).dataset(examples, 2)


def test_dicts_with_the_columns_of_a_table():
    rows = [
        {"question": "Who?", "passages": ["A cat ate.", "Then a cat"], "answer": "a cat"},
        {"query": "Who?", "context": "A cat. An owl flew.", "answer": "an owl"},
    ]
    preprocessor = preprocessing.SANPreprocessor.from_examples(rows, passage_length=4)
    with pytest.warns(UserWarning, match="1 of the first 2 answers are not within"):
        [(x, y, weight)] = preprocessor.dataset(rows, 2)
    assert preprocessor.vocabulary.words[4] == "a"
    assert y["begin"].numpy().tolist() == [0, -1] and weight["end"].numpy().tolist() == [2, 0]
    masque = preprocessing.MasquePreprocessor.from_examples(rows, styles=("qa",), num_passages=2)
    [(x, y, weight)] = masque.dataset(rows, 2)
    assert x["passage_ids"].shape[1] == 2 and np.all(weight["decoder"] == 1)


def test_answers_of_other_styles_are_said_before_training():
    """A reader would learn from the questions without an answer alone."""
    preprocessor = preprocessing.SANPreprocessor(words(), styles=("qa",))
    unanswerable = Example("0", "Who?", ("A cat.",), answerable=False)
    with pytest.raises(ValueError, match=r"`styles=\('span',\)`. Received: styles=\('qa',\)"):
        preprocessor.dataset([unanswerable, *EXAMPLES], 2)
    preprocessor.dataset([unanswerable], 2)


WRONG = [
    (TypeError, "MasquePreprocessor .*did you mean `question_length`.*question_lenght=3",
     lambda: preprocessing.MasquePreprocessor(words(), question_lenght=3)),
    (ValueError, "stride=500", lambda: preprocessing.SANPreprocessor(words(), stride=500)),
    (ValueError, "Styles must be", lambda: preprocessing.SANPreprocessor(words(), styles="span")),
    (ValueError, "Styles must be", lambda: preprocessing.SANPreprocessor(words(), styles=())),
    (ValueError, "`context` is one of",
     lambda: preprocessing.MaxoutPointerQGPreprocessor(words(), context="sentense")),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "build"), WRONG)
def test_wrong_arguments_are_named(error, message, build):
    with pytest.raises(error, match=message):
        build()


def test_arguments_are_captured_with_their_defaults(tmp_path):
    built = Toy(Vocabulary(["a"], num_oov_buckets=2), marks=("!",), passage_width=3)
    assert built.get_config() == {
        "passage_length": 5, "marks": ["!"], "passage_width": 3, "num_oov_buckets": 2
    }  # fmt: skip
    assert built.passage_width == 3 and built.marks == ("!",)
    built.save_assets(tmp_path)
    config = json.loads(json.dumps(built.get_config()))
    kind = keras.saving.get_registered_object(keras.saving.get_registered_name(Toy))
    again = kind.from_config(config, tmp_path)
    assert type(again) is Toy and again.get_config() == built.get_config()
    assert len(again.vocabulary) == len(built.vocabulary) == 7


@pytest.mark.parametrize("with_encoder", [False, True])
def test_a_pickled_preprocessor_makes_the_same_inputs(with_encoder):
    options = {"encoder": encoders.from_vocabulary(["king", "##s"])} if with_encoder else {}
    preprocessor = preprocessing.SANPreprocessor.from_examples(
        EXAMPLES, passage_length=9, ner_tags=("PER",) * (not with_encoder), **options
    )
    texts = ["Who met kings?"], ["Ada met kings."]
    expected = preprocessor.source(*texts) if with_encoder else None
    for again in (
        pickle.loads(pickle.dumps(preprocessor)),
        copy.deepcopy(preprocessor),
        copy.copy(preprocessor),
    ):
        assert again.get_config() == preprocessor.get_config()
        assert repr(again) == repr(preprocessor)
        if with_encoder:
            for name, value in again.source(*texts).items():
                np.testing.assert_array_equal(value, expected[name])
        else:
            assert again._tags["ner"].lookup(["PER", "?"]).numpy().tolist() == [1, 0]

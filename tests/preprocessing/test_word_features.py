"""Features of words by hand, for the three papers that read them."""

import numpy as np

from tests.text.helpers import preprocessor, text_of
from tfmrc.preprocessing import DAANetPreprocessor, SANPreprocessor
from tfmrc.preprocessing.word_features import NUM_WORD_FEATURES, shape_features
from tfmrc.text import Vocabulary

QUESTIONS = ["Who moved ÉMILE's 2 owls?", "The IBM"]
PASSAGES = [["The owl MOVES émile ½ ...", "Émile owls K2"], ["IBM the", ""]]


def features(code):
    """A row of features: m written, c compared, s stem; C capital, A capitals, D digit, P mark."""
    return [float(letter in code) for letter in "mcsCADP"]


def rows(codes):
    return np.array([features(code) for code in codes])


# The words of each text, and what is true of them. "-" is nothing.
ASKED = [
    # Who moved ÉMILE 's 2 owls ?
    ["C", "s", "csCA", "-", "D", "mcs", "P"],
    ["csC", "mcsCA"],
]
TOLD = [
    # The owl MOVES émile ½ ...          Émile owls K2
    [["C", "s", "sCA", "cs", "-", "P"], ["csC", "mcs", "CD"]],
    [["mcsCA", "cs"], []],
]


def masque(**options):
    return preprocessor(styles=("qa",), word_features=True, **options)


def test_masque_has_the_features_of_question_and_passages():
    source = masque().source(QUESTIONS, PASSAGES, ["qa"] * 2)
    asked, told = source["question_features"].numpy(), source["passage_features"].numpy()
    assert text_of(source["words"])[0][:7] == ["Who", "moved", "ÉMILE", "'s", "2", "owls", "?"]
    assert asked.shape == (2, 7, NUM_WORD_FEATURES) and told.shape == (2, 2, 7, NUM_WORD_FEATURES)
    assert asked.dtype == told.dtype == np.float32
    for b in range(2):
        size = len(ASKED[b])
        np.testing.assert_array_equal(asked[b, :size], rows(ASKED[b]))
        assert not asked[b, size:].any()
        for k in range(2):
            size = len(TOLD[b][k])
            assert not told[b, k, 0].any()  # BOS, or no passage
            np.testing.assert_array_equal(
                told[b, k, 1 : 1 + size], rows(TOLD[b][k]).reshape(-1, NUM_WORD_FEATURES)
            )
            assert not told[b, k, 1 + size :].any()


def test_an_example_alone_and_the_training_batch_have_the_same_features():
    built = masque()
    together = built.source(QUESTIONS, PASSAGES, ["qa"] * 2)
    alone = built.source(QUESTIONS[1:], PASSAGES[1:], ["qa"])
    np.testing.assert_array_equal(
        alone["question_features"][0], together["question_features"][1, :2]
    )
    np.testing.assert_array_equal(
        alone["passage_features"][0], together["passage_features"][1, :, :3]
    )
    x, _, _ = built.batch(
        {"question": QUESTIONS, "passages": PASSAGES, "style": ["qa"] * 2, "answer": ["owl", "IBM"]}
    )
    for name in ("question_features", "passage_features"):
        np.testing.assert_array_equal(x[name], together[name])
    nothing = built.source([""], [["", ""]], ["qa"])
    assert not nothing["question_features"].numpy().any()


def test_daanet_compares_the_passage_with_what_each_task_is_given():
    built = DAANetPreprocessor(Vocabulary(["the"]), word_features=True)
    passages = ["The owl MOVES émile", "IBM"]
    source = built.source(passages)
    given = built.given(["Who moved Émile?", "x"], "question", source)
    right = [rows(["C", "-", "sCA", "cs"]), rows(["CA", "-", "-", "-"])]
    right[1][1:] = 0.0
    np.testing.assert_array_equal(given["question_passage_features"], right)
    x, _, _ = built.batch(
        {
            "question": ["Who moved Émile?", "x"],
            "answer": ["owl", "IBM"],
            "passages": [[text] for text in passages],
        }
    )
    # Each task knows its own input alone, not what it shall write.
    np.testing.assert_array_equal(x["question_passage_features"], right)
    np.testing.assert_array_equal(x["answer_passage_features"][0, :, 1], [0, 1, 0, 0])
    np.testing.assert_array_equal(x["answer_passage_features"][1, :, 1], [1, 0, 0, 0])


def test_san_has_them_after_its_own_matches_and_in_windows():
    built = SANPreprocessor(Vocabulary(["the"]), word_features=True, passage_length=4, stride=2)
    source = built.source(QUESTIONS[:1], ["The owl MOVES émile ½ ..."], limit=9)
    right = rows(TOLD[0][0])
    np.testing.assert_array_equal(source["exact_match"][0], right)
    windows = built.windows(source)
    np.testing.assert_array_equal(windows["exact_match"], [right[:4], right[2:]])
    assert built.model_kwargs()["num_exact_match"] == 2
    assert built.model_kwargs()["num_word_features"] == 5


def test_shapes_of_other_scripts_and_marks():
    words = ["Ωμέγα", "ΩΜ", "٣", "x²", "鳥", "U.S.", "--", "👍🏽", "ǅ", "A", "iOS", "\ufffd"]
    codes = ["C", "CA", "D", "-", "-", "CA", "P", "P", "C", "C", "-", "P"]
    np.testing.assert_array_equal(shape_features(words), rows(codes)[:, 3:])

"""The shipped corpus: equal to the generator's output, consistent, of no use to a blind model."""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tfmrc.data import corpus as corpus_module
from tfmrc.data.corpus import SPLITS, STYLES, WORDS, generate_corpus, load_corpus, main
from tfmrc.data.formats.examples import read_examples

FOLDER = Path(corpus_module.__file__).parent / "corpus_files"
WORLD = json.loads((FOLDER / "world.json").read_text(encoding="utf-8"))
KNOWN_WORDS = set(re.findall(r"[a-z]+", json.dumps(WORLD).lower()))


@pytest.fixture(scope="module")
def corpus():
    return {split: list(load_corpus(split)) for split in SPLITS}


@pytest.fixture(scope="module")
def counts(corpus):
    """Counts each word in each split."""
    return {
        split: Counter(w for e in examples for w in words_of(e))
        for split, examples in corpus.items()
    }


@pytest.fixture(scope="module")
def every_example(corpus):
    return [example for examples in corpus.values() for example in examples]


def words_of(example):
    references = [text for answers in example.answers.values() for text in answers]
    return re.findall(r"\w+", " ".join([example.question, *example.passages, *references]).lower())


def is_name(word):
    return word not in KNOWN_WORDS and not word.isdigit()


def holds(text, phrase):
    return re.search(rf"\b{re.escape(phrase.lower())}\b", text.lower()) is not None


# === Files ===


def test_the_generator_makes_the_shipped_files(corpus, tmp_path, capsys):
    main(["--out", str(tmp_path)])
    printed = capsys.readouterr().out
    for split, examples in corpus.items():
        assert list(read_examples(tmp_path / f"{split}.jsonl.gz")) == examples
        assert f"{split}: {len(examples):,} examples" in printed


def test_another_seed_makes_another_world():
    one = generate_corpus(seed=1, sizes={"test": 2})["test"]
    assert one == generate_corpus(seed=1, sizes={"test": 2})["test"]
    assert one != generate_corpus(seed=2, sizes={"test": 2})["test"]


def test_test_does_not_depend_on_the_size_of_train(corpus):
    smaller = generate_corpus(sizes={"test": SPLITS["test"], "train": 1})
    assert smaller["test"] == corpus["test"]


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2**20


def test_an_unknown_split_is_named():
    with pytest.raises(ValueError, match="Received: split='valid'"):
        load_corpus("valid")


# === What an example is ===


def test_every_example_is_complete(every_example):
    assert len({example.id for example in every_example}) == len(every_example)
    for example in every_example:
        assert len(example.passages) in (3, 4)
        assert len(set(example.passages)) == len(example.passages)
        assert all(WORDS[0] <= len(text.split()) <= WORDS[1] for text in example.passages)
        assert example.answerable == any(example.relevance)
        assert set(example.answers) == (set(STYLES) if example.answerable else set())
        assert example.question.endswith("?")
        assert "{" not in " ".join([example.question, *example.passages])


def test_the_concise_answer_stands_in_the_relevant_passages_alone(every_example):
    for example in every_example:
        if example.answerable:
            (answer,) = example.answers["concise"]
            assert tuple(holds(text, answer) for text in example.passages) == example.relevance
            spans = [example.span_text(span).lower() for span in example.spans]
            assert spans == [answer.lower()] * sum(example.relevance)


def test_the_sentence_can_be_read_without_the_question(every_example):
    for example in every_example:
        for sentence in example.answers.get("sentence", ()):
            result = re.search(rf"[Tt]he ({'|'.join(WORLD['kinds'])}) of (\w+)", sentence)
            assert result is not None
            kind, name = result.groups()
            assert holds(example.question, kind) and holds(example.question, name)
            assert holds(sentence, example.answers["concise"][0])
            assert sentence[0] == sentence[0].upper() and sentence.endswith(".")


def test_some_questions_have_two_relevant_passages(every_example):
    counts = Counter(sum(e.relevance) for e in every_example if e.answerable)
    assert set(counts) == {1, 2}
    assert 0.02 < counts[2] / (counts[1] + counts[2]) < 0.2


def test_a_passage_tells_three_facts_so_its_answer_is_not_the_only_value(corpus):
    for example in corpus["test"]:
        for text in example.passages:
            assert sum(tells(text, relation) for relation in WORLD["relations"]) >= 3


# === Splits ===


def test_no_name_of_one_split_is_a_name_of_another(counts):
    names = {split: set(filter(is_name, words)) for split, words in counts.items()}
    assert all(len(result) > 500 for result in names.values())
    for split in ("dev", "test"):
        assert not names[split] & names["train"]
    assert not names["dev"] & names["test"]


def test_names_are_rare_and_other_words_are_not(counts):
    train = counts["train"]
    assert max(train[word] for word in train if is_name(word)) < 60
    assert min(train[word] for word in train if word in KNOWN_WORDS) > 60


def test_the_splits_share_their_wordings(corpus):
    def wordings(examples):
        return {
            " ".join("N" if is_name(word) else word for word in words_of_question(example))
            for example in examples
        }

    train = wordings(corpus["train"])
    assert wordings(corpus["test"]) <= train and wordings(corpus["dev"]) <= train


# === Blind guesses ===


def test_half_of_the_questions_of_each_group_have_an_answer(every_example):
    groups = defaultdict(list)
    for example in every_example:
        groups[example.group].append(example.answerable)
    assert all(sorted(flags) == [False] * 3 + [True] * 3 for flags in groups.values())


def test_relevant_passages_stand_anywhere(corpus):
    train = [e for e in corpus["train"] if e.answerable and len(e.passages) == 4]
    shares = [sum(e.relevance[position] for e in train) / len(train) for position in range(4)]
    assert max(shares) - min(shares) < 0.04


def question_features(example):
    """Returns the input of a model without the passages, without the names."""
    kind = next(kind for kind in WORLD["kinds"] if holds(example.question, kind))
    form = "of" if re.search(rf"{kind} of", example.question.lower()) else "before"
    opening = " ".join(example.question.lower().split()[:3])
    return [example.query_type, kind, (kind, example.query_type), opening, form]


def passage_features(example):
    """Returns the input of a model without the question: the facts, their things and counts."""
    kinds = [kind for kind in WORLD["kinds"] for text in example.passages if holds(text, kind)]
    length = sum(len(text) for text in example.passages)
    return [len(example.passages), tuple(sorted(Counter(kinds).items())), length // 50]


@pytest.mark.parametrize("preprocessor", [question_features, passage_features])
def test_blind_guesses_of_answerability_are_weak(corpus, preprocessor):
    seen = defaultdict(Counter)
    for example in corpus["train"]:
        for position, feature in enumerate(preprocessor(example)):
            seen[position, feature][example.answerable] += 1
    for position in range(len(preprocessor(corpus["test"][0]))):
        right = 0
        for example in corpus["test"]:
            counts = seen[position, preprocessor(example)[position]]
            right += (counts[True] >= counts[False]) == example.answerable
        assert right / len(corpus["test"]) < 0.6


def test_the_commonest_answer_to_a_kind_of_question_is_seldom_right(corpus):
    answers = defaultdict(Counter)
    for example in corpus["train"]:
        if example.answerable:
            answers[example.query_type][example.answers["concise"][0]] += 1
    test = [example for example in corpus["test"] if example.answerable]
    right = sum(answers[e.query_type].most_common(1)[0][0] == e.answers["concise"][0] for e in test)
    assert right / len(test) < 0.05


def test_the_name_of_the_thing_alone_does_not_give_the_passage(corpus):
    """Passages of the thing asked about are irrelevant about as often as relevant."""
    relevant = total = 0
    for example in corpus["train"]:
        name = next(word for word in words_of_question(example) if word not in KNOWN_WORDS)
        for text, flag in zip(example.passages, example.relevance, strict=True):
            if holds(text, name):
                relevant += flag
                total += 1
    assert 0.2 < relevant / total < 0.6


def test_the_fact_alone_does_not_give_the_passage(corpus):
    """Without an answer, mostly another thing's passage tells its own value of the fact."""
    told = total = 0
    for example in corpus["train"]:
        if not example.answerable:
            total += 1
            told += any(tells(text, example.query_type) for text in example.passages)
    assert told / total > 0.7


def words_of_question(example):
    return re.findall(r"\w+", example.question.lower())


PATTERNS = {
    relation: re.compile("|".join(re.sub("{[sv]}", "[^.]+", wording) for wording in told["facts"]))
    for relation, told in WORLD["relations"].items()
}


def tells(text, relation):
    return PATTERNS[relation].search(text.lower()) is not None

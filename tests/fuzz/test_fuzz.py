"""A part of `make fuzz`, with other seeds."""

from tests.fuzz import files, texts


def test_mutated_files_are_read_rightly_or_refused_by_name(tmp_path):
    outcomes, wrong = files.attack(400, seed=7, folder=tmp_path)
    assert wrong == []
    read = sum(number for name, number in outcomes.items() if name.endswith(": read"))
    assert 50 < read < 350  # the mutations neither miss nor destroy everything


def test_odd_texts_have_right_offsets_in_every_preprocessor():
    words, wrong = texts.attack(2_000, seed=7)
    assert wrong == []
    assert words["Masque"] > words["SAN"] == words["DAANet"] == words["MaxoutPointerQG"] > 10_000


def test_a_wrong_outcome_is_seen(tmp_path, monkeypatch):
    def fails(path):
        raise KeyError(path)

    def shifts(path):
        raise ValueError("no name")

    for read, words in ((fails, "KeyError"), (shifts, "does not name the file")):
        monkeypatch.setattr(files, "FORMATS", {"one": ("a.json", "{}", read)})
        outcomes, wrong = files.attack(3, seed=1, folder=tmp_path)
        assert len(wrong) == 3 and words in wrong[0] and sum(outcomes.values()) == 3
    counts = texts.Counter()
    moved = {"starts": [[1]], "ends": [[3]], "words": [[b"mi"]], "question_ids": [[1]]}
    arrays = {name: texts.np.array(value) for name, value in moved.items()}
    problems = texts._offsets("DAANet", arrays, [b"mill"], [b"mill"], counts)
    assert problems == ["the word 'mi' at 'il' in b'mill'"]
    assert texts._alone(arrays, {"question_ids": texts.np.array([[2]])}, 0)

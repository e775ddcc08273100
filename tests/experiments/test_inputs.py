"""A run goes on with the files that it was begun with, and with no others."""

import pytest

from tfmrc.experiments.inputs import check_unchanged, describe_inputs


def test_a_changed_or_missing_file_is_named(tmp_path):
    (tmp_path / "b").mkdir()
    one, two = tmp_path / "train.json", tmp_path / "b" / "train.json"
    one.write_text("abc")
    two.write_text("abcd")
    noted = describe_inputs([one, two])
    assert noted["train.json"]["bytes"] == 3 and noted["b/train.json"]["bytes"] == 4
    assert noted["train.json"]["sha256"].startswith("ba7816bf8f01cfea")
    check_unchanged(noted, describe_inputs([one, two]), tmp_path)
    two.write_text("abce")
    with pytest.raises(ValueError, match=r"b/train.json: 4 bytes, sha256 \w{12}, there: 4 bytes"):
        check_unchanged(noted, describe_inputs([one, two]), tmp_path)
    with pytest.raises(ValueError, match="b/train.json: no such file, there: 4 bytes"):
        check_unchanged(noted, describe_inputs([one]), tmp_path)


def test_files_of_equal_names_in_folders_of_equal_names(tmp_path):
    files = [tmp_path / language / "v2" / "train.json" for language in ("de", "en", "fr")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(str(file))
    noted = describe_inputs(files)
    assert list(noted) == ["train.json", "v2/train.json", "fr/v2/train.json"]
    for file, name in zip(files, noted, strict=True):
        before = file.read_text()
        file.write_text("other questions")
        with pytest.raises(ValueError, match=f"Received: {name}: 15 bytes"):
            check_unchanged(noted, describe_inputs(files), tmp_path)
        file.write_text(before)

"""Files and folders are replaced as a whole or not at all."""

from pathlib import Path

import pytest

from tfmrc.utils.files import replacing, restore, write_text


def test_a_file_is_replaced_when_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    (tmp_path / ".file.part").mkdir()  # left by a killed process
    with replacing(path) as part:
        assert not part.exists()
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as part:
        part.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_folder_is_replaced_with_its_content(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    with replacing(path) as part:
        part.mkdir()
        (part / "new").touch()
    assert [each.name for each in path.iterdir()] == ["new"]


def test_an_interrupted_replacement_of_a_folder_is_ended(tmp_path: Path) -> None:
    path, old = tmp_path / "folder", tmp_path / ".folder.old"
    old.mkdir()
    (old / "old").touch()
    with pytest.raises(RuntimeError), replacing(path):  # killed before the new folder had its name
        raise RuntimeError
    assert [each.name for each in path.iterdir()] == ["old"] and not old.exists()
    old.mkdir()
    restore(path)  # killed after it
    assert [each.name for each in path.iterdir()] == ["old"] and not old.exists()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    old.symlink_to(elsewhere)
    restore(path)
    assert elsewhere.is_dir()


def test_a_folder_that_cannot_be_renamed_gets_its_name_back(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()

    def fail(*paths):
        raise OSError("no")

    with pytest.raises(OSError, match="no"), replacing(path) as part:
        part.mkdir()
        monkeypatch.setattr("os.replace", fail)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
    assert [each.name for each in path.iterdir()] == ["old"]


def test_text_is_written_into_new_folders(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.txt"
    write_text(path, "ü\n")
    assert path.read_bytes() == b"\xc3\xbc\n"
    assert [each.name for each in path.parent.iterdir()] == ["file.txt"]

"""Files and folders are replaced as a whole or not at all."""

from pathlib import Path

import pytest

from tfmrc.files import replacing, write_text


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


def test_text_is_written_into_new_folders(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.txt"
    write_text(path, "ü\n")
    assert path.read_bytes() == b"\xc3\xbc\n"
    assert [each.name for each in path.parent.iterdir()] == ["file.txt"]

"""The index of a folder: what is read, what is found, and what happens to files that change."""

import os
import sqlite3

import numpy as np
import pytest

from tests.documents.files import pdf
from tfmrc.documents import (
    SQLiteStore,
    collection,
    index,
    indexing,
    load,
    open_store,
    read_document,
    store,
)

every_store = pytest.mark.parametrize("to", ["pages.index", "pages.lance"], indirect=True)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pages"
    (folder / "deep").mkdir(parents=True)
    (folder / "owls.md").write_text("# Owls\n\nAn owl flew over the mill.\n\n## Food\n\nMice.")
    (folder / "deep" / "mills.txt").write_text("The mills were built in 1822.")
    (folder / ".hidden.txt").write_text("An owl that is hidden.")
    return folder


@pytest.fixture
def to(tmp_path, request):
    return tmp_path / getattr(request, "param", "pages.index")


def found(to, question, k=10):
    opened = open_store(to)
    passages = opened.search(question, k)
    opened.close()
    return [(passage.document, passage.text) for passage in passages]


MILL = ("owls.md", "An owl flew over the mill.")
BUILT = ("deep/mills.txt", "The mills were built in 1822.")


@every_store
@pytest.mark.parametrize(
    "question, expected",
    [
        ("Which mill was built?", [BUILT, MILL]),
        ("milling", [BUILT, MILL]),
        ("Owls and food?", [("owls.md", "Mice."), MILL]),
        ("is it", []),
        ("What were", [BUILT]),
        ('"); DROP TABLE texts; -- NEAR(* ^', []),
        ("", []),
        ("\0 _ ?", []),
        ("mill " + " ".join(f"word{number}" for number in range(5_000)), [BUILT, MILL]),
    ],
)
def test_search_finds_words_of_texts_and_headings(folder, to, question, expected):
    index(folder, to)
    assert sorted(found(to, question)) == sorted(expected)
    assert found(to, question, k=1) == found(to, question)[:1]


@every_store
def test_passages_have_their_place(folder, to):
    (folder / "a.pdf").write_bytes(pdf([[("One", 10, 700)], [("An eagle.", 10, 700)]]))
    index(folder, to)
    opened = open_store(to)
    [passage] = opened.search("eagle")
    assert (passage.document, passage.page, passage.page_at(passage.end - 1)) == ("a.pdf", 1, 2)
    [food] = opened.search("food")
    assert food.heading == ("Owls", "Food") and food.page is None and food.score > 0
    for each in (passage, food):
        text = opened.document_text(each.document)
        assert text[each.start : each.end] == each.text
    with pytest.raises(KeyError, match="nowhere"):
        opened.document_text("nowhere")
    opened.close()


@every_store
def test_only_what_has_changed_is_read(folder, to, monkeypatch):
    read = []

    def counting(content, name):
        read.append(name)
        return read_document(content, name)

    monkeypatch.setattr(indexing, "read_document", counting)
    assert index(folder, to).read == 2
    (folder / "owls.md").write_text("An owl swam.")
    (folder / "new.txt").write_text("An eagle.")
    (folder / "deep" / "mills.txt").rename(folder / "moved.txt")
    read.clear()
    report = index(folder, to)
    assert sorted(read) == ["moved.txt", "new.txt", "owls.md"]
    assert (report.documents, report.read, report.removed) == (3, 3, 1)
    assert sorted(found(to, "owl mill swam eagle mice")) == [
        ("moved.txt", "The mills were built in 1822."),
        ("new.txt", "An eagle."),
        ("owls.md", "An owl swam."),
    ]
    read.clear()
    assert index(folder, to).read == 0 and read == []
    assert index(folder, to, passage_length=20).read == 3


@every_store
def test_a_repeated_passage_is_found_once_while_it_occurs(folder, to):
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("Eagles are not owls.\n\n" + "Filler text. " * 60)
    assert index(folder, to).documents == 4
    assert [name for name, _ in found(to, "eagles")] == ["a.txt"]
    (folder / "a.txt").unlink()
    index(folder, to)
    assert [name for name, _ in found(to, "eagles")] == ["b.txt"]
    (folder / "b.txt").unlink()
    index(folder, to)
    assert found(to, "eagles") == []


WORDS = [{"owl", "owls", "bird"}, {"mice", "food"}, {"mill", "mills", "water"}]


def encoded(texts):
    """Vectors of meanings, as of an encoder."""
    vectors = np.zeros([len(texts), 384], np.float16)
    for row, text in enumerate(texts):
        words = set(text.lower().strip(".?").split())
        vectors[row, : len(WORDS)] = [bool(words & each) for each in WORDS]
        vectors[row, len(WORDS)] = 0.25  # a text without any of them
    return vectors / np.linalg.norm(vectors.astype(np.float32), axis=1, keepdims=True)


@pytest.fixture
def best(monkeypatch):
    """A function that returns the document that fits a question best."""
    for module in (indexing, collection):
        monkeypatch.setattr(module, "encode", encoded)

    def search(to, question):
        with load(to) as opened:
            return next((passage.document for passage in opened.search(question)), None)

    return search


@every_store
def test_vectors_find_what_has_no_word_of_the_question(folder, to, best):
    index(folder, to)
    assert best(to, "bird?") is None
    assert index(folder, to, dense=True).read == 2
    assert (best(to, "bird?"), best(to, "water?")) == ("owls.md", "deep/mills.txt")
    (folder / "owls.md").write_text("Nothing.")
    (folder / "new.txt").write_text("Owls.")
    assert index(folder, to).read == 2  # which have vectors, too
    assert best(to, "bird?") == "new.txt"
    (folder / "new.txt").unlink()
    index(folder, to)
    assert best(to, "bird?") != "new.txt"


def test_an_open_index_finds_what_another_process_has_added(folder, to, best):
    index(folder, to, dense=True)
    with load(to) as opened:
        assert opened.search("bird?")[0].document == "owls.md"
        (folder / "a.txt").write_text("Bird.")
        index(folder, to)
        assert opened.search("bird?")[0].document == "a.txt"


def test_a_report_has_a_line_for_each_file_that_is_left_out(folder, to, tmp_path, monkeypatch):
    (tmp_path / "secret.txt").write_text("An eagle.")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "scan.pdf").write_bytes(pdf([[]]))
    (folder / "empty.txt").touch()
    (folder / "picture.png").touch()
    (folder / "LICENSE").touch()
    (folder / "large.md").write_text("x" * 2_000)
    os.mkfifo(folder / "pipe.txt")
    monkeypatch.setattr(indexing, "LARGEST", 1_000)
    report = index(folder, to)
    assert report.left_out == {
        "link.txt": "is a link, which is not followed",
        "linked": "is a link, which is not followed",
        "scan.pdf": "has no text (a scan?): add its text first, for example with OCRmyPDF",
        "empty.txt": "has no text",
        "large.md": "has 2,000 bytes, and at most 1,000 are read: divide it",
        "pipe.txt": "is not a file",
    }
    assert report.others == {".png": 1, "without an ending": 1}
    assert "Left out: empty.txt: has no text" in str(report).splitlines()
    assert found(to, "eagle") == []


def test_a_name_in_another_encoding_is_readable(folder, to):
    with open(os.path.join(os.fsencode(folder), b"caf\xe9 <b>.txt"), "w") as file:
        file.write("An eagle.")
    index(folder, to)
    assert found(to, "eagle") == [("caf\\udce9 <b>.txt", "An eagle.")]


@pytest.mark.parametrize("change", [os.unlink, lambda path: os.truncate(path, 0)])
def test_a_file_that_changes_meanwhile_leaves_the_index(folder, to, monkeypatch, change):
    index(folder, to)
    (folder / "owls.md").write_text("An owl swam.")
    files = indexing._files

    def listed(*arguments):
        yield from files(*arguments)
        change(folder / "owls.md")

    monkeypatch.setattr(indexing, "_files", listed)
    assert list(index(folder, to).left_out) == ["owls.md"]
    assert found(to, "owl") == []


def test_a_kill_loses_nothing_that_was_stored(folder, to, monkeypatch):
    put = SQLiteStore.put

    def killed(self, name, *arguments):
        if name == "owls.md":
            self._connection.execute("DELETE FROM documents")  # in a transaction that never ends
            raise KeyboardInterrupt
        put(self, name, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            index(folder, to)
    assert index(folder, to).read == 1


def test_a_table_of_lance_may_be_in_the_folder(folder):
    index(folder, folder / "own.lance")
    assert index(folder, folder / "own.lance").read == 0
    assert sorted(os.listdir(folder)) == [".hidden.txt", "deep", "owls.md", "own.lance"]


@every_store
def test_all_passages_are_listed(folder, to):
    index(folder, to)
    opened = open_store(to)
    assert sorted(passage.text for passage in opened.passages()) == sorted(
        ["An owl flew over the mill.", "Mice.", "The mills were built in 1822."]
    )
    opened.close()


def test_the_index_may_be_in_the_folder_and_is_one_file(folder):
    index(folder, folder / "own.txt")
    assert index(folder, folder / "own.txt").documents == 2
    assert sorted(os.listdir(folder)) == [".hidden.txt", "deep", "owls.md", "own.txt"]


def test_an_index_can_be_searched_while_it_is_written(folder, to):
    index(folder, to)
    reader, writer = open_store(to), SQLiteStore(to, folder=folder)
    writer._connection.execute("DELETE FROM documents WHERE name = 'owls.md'")
    assert len(reader.search("mill")) == 2
    writer._connection.commit()
    assert len(reader.search("mill")) == 1
    reader.close()
    writer.close()


def broken(to, statement):
    connection = sqlite3.connect(to)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "change, error, match",
    [
        (lambda to: to.unlink(), FileNotFoundError, "There is no index"),
        (lambda to: os.truncate(to, 0), ValueError, "not an index of this version"),
        (lambda to: os.truncate(to, to.stat().st_size // 2), OSError, "delete it"),
        (lambda to: to.write_text("An owl flew." * 99), OSError, "no index of documents"),
        (
            lambda to: broken(to, "PRAGMA application_id = 9"),
            ValueError,
            "not an index of this version",
        ),
    ],
)
def test_what_is_no_index_is_named(folder, to, change, error, match):
    index(folder, to)
    change(to)
    with pytest.raises(error, match=match):
        open_store(to).search("owl")


def test_a_locked_index_is_named(folder, to, monkeypatch):
    index(folder, to)
    monkeypatch.setattr("tfmrc.documents.sqlite_store.SECONDS", 0)
    other = sqlite3.connect(to, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(OSError, match="is in use, .*locked"):
        index(folder, to)
    other.close()


@pytest.mark.parametrize(
    "change, error, match",
    [
        (
            lambda folder: folder.rename(folder.with_name("other")),
            NotADirectoryError,
            "not a folder",
        ),
        (lambda folder: [path.unlink() for path in folder.rglob("*.*")], ValueError, "keeps its 2"),
    ],
)
def test_an_index_is_not_emptied_by_a_folder_without_files(folder, to, change, error, match):
    index(folder, to)
    change(folder)
    with pytest.raises(error, match=match):
        index(folder, to)
    assert len(found(to, "mill")) == 2


@every_store
def test_an_index_is_of_one_folder(folder, to):
    index(folder, to)
    with pytest.raises(ValueError, match="is the index of .*pages; choose another name"):
        index(folder / "deep", to)


def test_a_store_of_another_package_is_opened_by_its_name(monkeypatch):
    class Point:
        name = "memory"

        def load(self):
            return lambda location, folder: (location, folder)

    monkeypatch.setattr(store, "entry_points", lambda group: [Point()])
    assert open_store("memory://x", folder="a") == ("memory://x", "a")

"""Saved phrases: none is ever lost."""

from pathlib import Path

import pytest

from app.phrases import PHRASES_NAME, PhraseBook, clean


def test_phrases_when_changed_then_the_next_start_has_them(tmp_path: Path) -> None:
    book = PhraseBook(tmp_path / "new")
    for text in ("One", "Two", "Three", "Four"):
        book.add(text)
    assert book.move(3, 0) == 0
    assert book.change(1, "First")
    assert book.remove(2) == "Two"
    assert tuple(book.phrases) == ("Four", "First", "Three")
    assert tuple(PhraseBook(tmp_path / "new").phrases) == ("Four", "First", "Three")


@pytest.mark.parametrize(
    "text",
    [
        "🦊 and 👩‍👩‍👧‍👦",
        "شكرا جزيلا",
        "x" * 5000,
        'quotes " and \\ and \'\'\' and """',
        "phrases = []",
    ],
)
def test_phrase_when_it_is_unusual_then_it_comes_back_whole(tmp_path: Path, text: str) -> None:
    PhraseBook(tmp_path).add(text)
    assert tuple(PhraseBook(tmp_path).phrases) == (text,)


def test_phrase_when_it_cannot_be_a_line_then_it_is_made_one() -> None:
    assert clean(" a\nb\x00c\x7fd\u2028e\x85 ") == "a b c d e"
    assert clean("\ud83e") == "?"


def test_phrase_when_it_is_empty_then_it_is_not_taken(tmp_path: Path) -> None:
    book = PhraseBook(tmp_path)
    assert book.add(" \n") is None
    book.add("Yes")
    assert not book.change(0, "  ")
    assert tuple(book.phrases) == ("Yes",)


def test_phrase_when_it_is_there_already_then_it_is_found(tmp_path: Path) -> None:
    book = PhraseBook(tmp_path)
    assert [book.add(text) for text in ("Yes", "No", "Yes ")] == [0, 1, 0]


def test_phrase_when_it_is_moved_beyond_the_ends_then_it_stays_there(tmp_path: Path) -> None:
    book = PhraseBook(tmp_path)
    for text in ("One", "Two"):
        book.add(text)
    assert (book.move(0, -1), book.move(1, 2)) == (0, 1)
    assert tuple(book.phrases) == ("One", "Two")


def test_phrases_when_there_are_hundreds_then_all_come_back(tmp_path: Path) -> None:
    texts = tuple(f"Phrase {number}" for number in range(500))
    (tmp_path / PHRASES_NAME).write_text(f"phrases = {list(texts)!r}")
    assert tuple(PhraseBook(tmp_path).phrases) == texts


@pytest.mark.parametrize(
    ("data", "rescued"),
    [
        (b"phrases = [", ()),
        (b"\xff\xfe", ()),
        (b'phrases = "one"', ()),
        (b'texts = ["one"]', ()),
        (b'phrases = ["one", 2, "three"]', ("one", "three")),
        (b'phrases = ["one", " "]', ("one",)),
        (b'phrases = ["one"]\nmore = 1', ("one",)),
    ],
)
def test_phrases_when_the_file_is_damaged_then_it_is_kept_aside(
    tmp_path: Path, data: bytes, rescued: tuple[str, ...]
) -> None:
    (tmp_path / PHRASES_NAME).write_bytes(data)
    book = PhraseBook(tmp_path)
    aside = tmp_path / f"{PHRASES_NAME}.broken-1"
    assert tuple(book.phrases) == rescued
    assert aside.read_bytes() == data
    assert str(aside) in book.problem
    book.add("new")
    again = PhraseBook(tmp_path)
    assert tuple(again.phrases) == (*rescued, "new")
    assert not again.problem


def test_phrases_when_files_are_damaged_twice_then_both_are_kept(tmp_path: Path) -> None:
    for number, data in enumerate((b"first [", b"second ["), start=1):
        (tmp_path / PHRASES_NAME).write_bytes(data)
        PhraseBook(tmp_path)
        assert (tmp_path / f"{PHRASES_NAME}.broken-{number}").read_bytes() == data


def test_phrases_when_the_file_cannot_be_read_then_it_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / PHRASES_NAME).mkdir()
    book = PhraseBook(tmp_path)
    assert "cannot be read" in book.problem
    book.add("Yes")
    assert tuple(book.phrases) == ("Yes",)
    assert (tmp_path / PHRASES_NAME).is_dir()


def test_phrases_when_they_cannot_be_written_then_it_is_said(tmp_path: Path) -> None:
    book = PhraseBook(tmp_path)
    (tmp_path / PHRASES_NAME).mkdir()
    book.add("Yes")
    assert tuple(book.phrases) == ("Yes",)
    assert "cannot be saved" in book.problem
    assert [path.name for path in tmp_path.iterdir()] == [PHRASES_NAME]

"""Kept recordings are found by their words, and exported under their names."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from engine.core.events import SpeakerRenamed, WordsEdited
from engine.store.library import SessionLibrary
from tests.helpers.recordings import OLD, OLDER, list_anew, open_entry, store
from tests.helpers.window import WindowParts, conversation

pytestmark = pytest.mark.gui


def _found(parts: WindowParts) -> list[Sequence[str]]:
    entries = parts.window.sessions_panel.list
    return [entries.item(row).text().splitlines() for row in range(entries.count())]


def test_filter_finds_recordings_by_their_words_and_goes_to_the_first_place(
    parts: WindowParts, qtbot: QtBot
) -> None:
    window, panel = parts.window, parts.window.sessions_panel
    store(parts, OLD, "nothing of it but Wönderful weather and a wonderful day", "Walk")
    store(parts, OLDER, "not a word of it")
    list_anew(parts, qtbot, OLD, OLDER)
    panel.filter.setText("WONDERFUL")
    assert _found(parts) == [["Searching…"]]
    qtbot.waitUntil(lambda: _found(parts)[0][-1] == "2 × WONDERFUL")
    assert [lines[0] for lines in _found(parts)] == ["Walk"]
    open_entry(parts, qtbot, OLD)
    assert window.search_bar.isVisible()
    assert window.search_bar.field.text() == "WONDERFUL"
    assert window.search_bar.count.text() == "1 of 2"
    panel.filter.setText("nowhere to be heard")
    qtbot.waitUntil(lambda: _found(parts) == [["None matches."]])
    panel.filter.setText("walk day")
    qtbot.waitUntil(lambda: _found(parts)[0][-1] == "1 × day")


def test_filter_finds_names_of_speakers_and_corrected_words(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.sessions_panel
    for session_id in (OLD, OLDER):
        store(parts, session_id, "one two")
    library = SessionLibrary(parts.shelf.sessions_dir)
    library.append_edits(OLD, [SpeakerRenamed(0, 1, "María-José")])
    library.append_edits(OLDER, [WordsEdited((1,), (" tomato",))])
    list_anew(parts, qtbot, OLD, OLDER)
    panel.filter.setText("jose")
    qtbot.waitUntil(lambda: _found(parts)[0][-1] == "María-José")
    assert len(_found(parts)) == 1
    panel.filter.setText("tomato")
    qtbot.waitUntil(lambda: _found(parts)[0][-1] == "1 × tomato")
    panel.filter.setText("two")  # as it was heard in one, and not in the other any more
    qtbot.waitUntil(lambda: _found(parts)[0][-1] == "1 × two")
    qtbot.waitUntil(lambda: not panel._is_searching)
    assert len(_found(parts)) == 1


def test_what_was_looked_for_before_is_not_told_any_more(parts: WindowParts, qtbot: QtBot) -> None:
    search, found = parts.shelf.search, list[str]()
    search.found.connect(lambda session_id, _: found.append(session_id))
    store(parts, OLD, "apples and pears")
    search.begin("apples", {OLD: ""})
    with qtbot.waitSignal(search.ended):
        search.begin("plums", {OLD: ""})
    # What lacks plums lacks plums and pears, until it changes.
    with qtbot.waitSignal(search.ended):
        search.begin("plums pears", {OLD: ""})
    assert found == []
    library = SessionLibrary(parts.shelf.sessions_dir)
    library.append_edits(OLD, [WordsEdited((1,), (" plums",))])
    with qtbot.waitSignal(search.ended):
        search.begin("plums pears", {OLD: ""})
    assert found == [OLD]


def test_export_begins_in_the_documents_and_then_where_it_was_last(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents, other = tmp_path / "Documents", tmp_path / "other"
    for folder in (documents, other):
        folder.mkdir()
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _: str(documents))
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: len(parts.state.document.lines) > 0)

    def ask() -> QFileDialog:
        qtbot.waitUntil(lambda: not parts.window.findChildren(QFileDialog))
        parts.window.dialogs.export_shown()
        (dialog,) = parts.window.findChildren(QFileDialog)
        return dialog

    dialog = ask()
    assert Path(dialog.selectedFiles()[0]) == documents / "2026-01-02 03.04.txt"
    dialog.fileSelected.emit(str(other / "mine.txt"))
    dialog.reject()
    qtbot.waitUntil(lambda: (other / "mine.txt").is_file())
    dialog = ask()
    assert Path(dialog.directory().path()) == other
    dialog.reject()
    (other / "mine.txt").unlink()
    other.rmdir()
    dialog = ask()
    assert Path(dialog.directory().path()) == documents
    dialog.reject()
    qtbot.waitUntil(lambda: not parts.window.findChildren(QFileDialog))

"""Kept recordings are listed, opened, exported and deleted."""

import shutil
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from engine.core.config import KeepPolicy
from engine.core.events import (
    FinalWords,
)
from engine.store.exporters.options import ExportFormat
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from engine.store.library import SessionLibrary
from tests.helpers.window import (
    RATE,
    WindowParts,
    conversation,
    started,
    words,
)

pytestmark = pytest.mark.gui


def _store_session(folder: Path, session_id: str = "2026-01-01_01-01-01") -> None:
    header = SessionHeader(
        id=session_id,
        started_at="2026-01-01T01:01:01+00:00",
        sample_rate=RATE,
        device="mic",
        keep=KeepPolicy.TEXT,
        recognizer="fake",
        diarizer="fake",
    )
    journal = Journal.create(folder, header)
    journal.events.append(FinalWords(words("kept words", 0.5, 1.5)))
    journal.close()


def _wait_for_jobs(parts: WindowParts, qtbot: QtBot) -> None:
    """Wait until every job so far is done."""
    num_workers, done = 3, list[int]()
    together = threading.Barrier(num_workers)
    for _ in range(num_workers):
        parts.jobs.run(together.wait, done.append)
    qtbot.waitUntil(lambda: len(done) == num_workers)


def test_a_kept_recording_is_listed_opened_exported_and_deleted(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path
) -> None:
    panel = parts.window.sessions_panel
    _store_session(parts.shelf.sessions_dir)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "2 words" in panel.list.item(0).text())
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: len(parts.state.live_document.lines) > 0)
    panel.list.itemActivated.emit(panel.list.item(0))
    qtbot.waitUntil(lambda: not parts.state.is_live_shown)
    assert parts.state.document.text() == "kept words"
    assert parts.window.reading.banner.isVisible()
    # A live recording goes on behind it.
    parts.session.post(FinalWords(words("more", 27.0, 28.0)))
    qtbot.waitUntil(lambda: "more" in parts.state.live_document.text())
    assert len(parts.window.transcript.rows.rows) == 1
    out = tmp_path / "out.srt"
    parts.shelf.exports.save_shown(out)
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    assert "Saved as" in parts.state.open_notices[-1].notice.message
    assert "kept words" in out.read_text("utf-8")
    panel.delete_asked.emit("2026-01-01_01-01-01")
    qtbot.waitUntil(lambda: "listed here" in panel.list.item(0).text())
    assert parts.state.is_live_shown
    assert "more" in parts.state.document.text()


def test_a_recording_that_broke_off_is_named_so_and_shows_its_text(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.sessions_panel
    header = SessionHeader(
        id="2026-01-02_03-04-05",
        started_at="2026-01-02T03:04:05+00:00",
        sample_rate=RATE,
        device="mic",
        keep=KeepPolicy.AUDIO_AND_TEXT,
        recognizer="fake",
        diarizer="fake",
    )
    journal = Journal.create(parts.shelf.sessions_dir, header)
    journal.events.append(FinalWords(words("what was said before the crash", 0.5, 1.5)))
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "listed here" in panel.list.item(0).text())  # it is still being made
    copy = parts.shelf.sessions_dir / "2026-01-02_09-09-09"
    shutil.copytree(parts.shelf.sessions_dir / header.id, copy)
    journal.close()
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: panel.list.count() == 2)
    broken = next(
        item for item in (panel.list.item(row) for row in range(2)) if "broke off" in item.text()
    )
    assert "6 words" in broken.text()
    panel.list.itemActivated.emit(broken)
    qtbot.waitUntil(lambda: not parts.state.is_live_shown)
    assert parts.state.document.text() == "what was said before the crash"
    qtbot.waitUntil(lambda: "broke off" not in "".join(_listed(parts)))
    assert sum("· recovered" in text for text in _listed(parts)) == 1
    (finished,) = (shown.notice.message for shown in parts.state.history)
    assert "6 words are kept" in finished
    assert panel.list.count() == 2


def test_an_empty_recording_that_broke_off_is_gone_once_it_is_opened(
    parts: WindowParts, qtbot: QtBot
) -> None:
    header = SessionHeader("empty", "2026-01-02T03:04:05+00:00", RATE)
    journal = Journal.create(parts.shelf.sessions_dir, header)
    copy = shutil.copytree(journal.folder, parts.shelf.sessions_dir / "copy")
    journal.close(KeepPolicy.NOTHING)
    copy.rename(journal.folder)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "broke off" in "".join(_listed(parts)))
    parts.shelf.open_session("empty")
    qtbot.waitUntil(lambda: "listed here" in "".join(_listed(parts)))
    assert "before anything was recorded" in parts.state.history[-1].notice.message
    assert parts.state.is_live_shown


def _listed(parts: WindowParts) -> list[str]:
    items = parts.window.sessions_panel.list
    return [items.item(row).text() for row in range(items.count())]


def test_a_recording_is_deleted_only_after_a_confirmation(parts: WindowParts, qtbot: QtBot) -> None:
    panel = parts.window.sessions_panel
    _store_session(parts.shelf.sessions_dir)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "2 words" in panel.list.item(0).text())
    assert not panel.delete_button.isEnabled()
    panel.list.setCurrentRow(0)
    for answer in ("Cancel", "Delete"):
        assert list(parts.shelf.sessions_dir.iterdir())
        qtbot.mouseClick(panel.delete_button, Qt.MouseButton.LeftButton)
        (box,) = panel.findChildren(QMessageBox)
        assert box.defaultButton().text() == "Cancel"
        (button,) = [button for button in box.buttons() if button.text() == answer]
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not panel.findChildren(QMessageBox))
    qtbot.waitUntil(lambda: "listed here" in panel.list.item(0).text())
    assert not list(parts.shelf.sessions_dir.iterdir())
    assert not panel.delete_button.isEnabled()


@pytest.mark.parametrize("kind", list(ExportFormat))
def test_a_kept_recording_is_exported_by_the_name_of_the_file(
    parts: WindowParts, qtbot: QtBot, tmp_path: Path, kind: ExportFormat
) -> None:
    panel, path = parts.window.sessions_panel, tmp_path / f"out.{kind}"
    _store_session(parts.shelf.sessions_dir)
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: "2 words" in panel.list.item(0).text())
    panel.list.setCurrentRow(0)
    qtbot.mouseClick(panel.export_button, Qt.MouseButton.LeftButton)
    (dialog,) = parts.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.reject()
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    assert "Saved as" in parts.state.open_notices[-1].notice.message
    assert path.is_file()


def test_a_kept_recording_is_shown_from_its_beginning(parts: WindowParts, qtbot: QtBot) -> None:
    header = SessionHeader("long", "2026-01-02T03:04:05+00:00", RATE, keep=KeepPolicy.TEXT)
    journal = Journal.create(parts.shelf.sessions_dir, header)
    for minute in range(60):
        journal.events.append(FinalWords(words("one more minute", 60.0 * minute, 60 * minute + 1)))
    journal.close()
    parts.shelf.open_session("long")
    qtbot.waitUntil(lambda: not parts.state.is_live_shown)
    view = parts.window.transcript
    assert view.content_height() > view.viewport().height()
    assert view.offset == 0
    assert not view.is_following


def test_the_recording_of_this_run_is_shown_itself_when_it_is_opened(
    parts: WindowParts, qtbot: QtBot
) -> None:
    live, other = started().recording_id, "2026-01-01_01-01-01"
    _store_session(parts.shelf.sessions_dir, live)
    _store_session(parts.shelf.sessions_dir, other)
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: len(parts.state.live_document.lines) > 0)
    parts.shelf.open_session(other)
    qtbot.waitUntil(lambda: parts.state.stored_id == other)
    parts.shelf.open_session(live)
    assert parts.state.is_live_shown
    assert not parts.window.reading.banner.isVisible()


def test_a_double_click_opens_one_recording_and_moves_nothing_under_the_pointer(
    parts: WindowParts, qtbot: QtBot
) -> None:
    ids = [f"2026-01-01_0{number}-00-00" for number in range(1, 5)]
    for session_id in ids:
        _store_session(parts.shelf.sessions_dir, session_id)
    view, replaced = parts.window.sessions_panel.list, []
    parts.shelf.list_sessions()
    qtbot.waitUntil(lambda: view.count() >= len(ids))
    point = view.visualItemRect(view.item(2)).center()
    before = view.viewport().mapToGlobal(point)
    parts.state.document_replaced.connect(lambda: replaced.append(parts.state.stored_id))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    qtbot.waitUntil(parts.window.reading.banner.isVisible)
    assert view.viewport().mapToGlobal(view.visualItemRect(view.item(2)).center()) == before
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    _wait_for_jobs(parts, qtbot)
    assert replaced == [parts.state.stored_id]


def test_a_recording_asked_for_twice_at_once_is_opened_once(
    parts: WindowParts, qtbot: QtBot
) -> None:
    _store_session(parts.shelf.sessions_dir)
    (folder,) = parts.shelf.sessions_dir.iterdir()
    replaced: list[int] = []
    parts.state.document_replaced.connect(lambda: replaced.append(1))
    parts.shelf.open_session(folder.name)
    parts.shelf.open_session(folder.name)
    qtbot.waitUntil(lambda: parts.state.stored_id == folder.name)
    _wait_for_jobs(parts, qtbot)
    assert replaced == [1]


def test_a_recording_of_this_run_that_is_deleted_is_not_shown_any_more(
    parts: WindowParts, qtbot: QtBot
) -> None:
    _store_session(parts.shelf.sessions_dir, started().recording_id)
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: len(parts.state.live_document.lines) > 0)
    parts.shelf.delete_session(started().recording_id)
    assert parts.window.transcript.row_count() == 0
    assert parts.window.reading.stack.currentWidget() is parts.window.welcome
    qtbot.waitUntil(lambda: not list(parts.shelf.sessions_dir.iterdir()))


def test_changes_of_a_kept_recording_are_there_when_it_is_opened_again(
    parts: WindowParts, qtbot: QtBot
) -> None:
    first, second, editing = "2026-01-01_01-01-01", "2026-01-01_02-02-02", parts.context.editing
    for session_id in (first, second):
        _store_session(parts.shelf.sessions_dir, session_id)

    def show(session_id: str) -> None:
        parts.shelf.open_session(session_id)
        qtbot.waitUntil(lambda: parts.state.stored_id == session_id)

    show(first)
    editing.edit([1], "sentences")
    editing.assign([0, 1], None)
    speaker = parts.state.document.words[0].speakers[0]
    editing.rename(speaker, "Maria")
    editing.color(speaker, 5)
    editing.undo()
    show(second)
    assert parts.state.document.text() == "kept words"
    show(first)
    document = parts.state.document
    assert document.text() == "kept sentences"
    assert document.words[1].heard == " words"
    assert document.speaker_name(speaker) == "Maria"
    assert document.speaker_color(speaker) == speaker.slot


def test_a_correction_of_a_kept_recording_is_kept_when_the_window_closes_over_it(
    parts: WindowParts, qtbot: QtBot
) -> None:
    _store_session(parts.shelf.sessions_dir)
    (folder,) = parts.shelf.sessions_dir.iterdir()
    parts.shelf.open_session(folder.name)
    qtbot.waitUntil(lambda: parts.state.stored_id == folder.name)
    parts.window.transcript.edit_row(0)
    parts.window.transcript.editors.line.setPlainText("kept sentences")
    parts.window.close()
    qtbot.waitUntil(lambda: parts.lifecycle.is_finished)
    document = SessionLibrary(parts.shelf.sessions_dir).open(folder.name).document()
    assert document.text() == "kept sentences"

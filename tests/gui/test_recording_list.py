"""The list of recordings: what is shown is marked, and titles are written in place."""

import stat
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from engine.core.events import (
    RecordingStarted,
    SessionState,
)
from engine.store.library import SessionInfo, SessionLibrary
from tests.helpers.recordings import LIVE, OLD, OLDER, list_anew, open_entry, store
from tests.helpers.window import RATE, WindowParts, conversation, enter, record

pytestmark = pytest.mark.gui


def _assert_marked(parts: WindowParts, session_id: str) -> None:
    panel = parts.window.sessions_panel
    assert panel.list.marked_id == session_id
    for control in (
        panel.export_button,
        panel.delete_button,
        parts.window.menu_actions.action("rename"),
    ):
        assert control.isEnabled() is bool(session_id)


# --- the mark ---


def test_recording_that_has_ended_is_the_one_that_is_marked_exported_and_deleted(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.sessions_panel
    store(parts, OLD)
    list_anew(parts, qtbot, OLD)
    open_entry(parts, qtbot, OLD)
    _assert_marked(parts, OLD)
    record(parts, qtbot)
    _assert_marked(parts, "")
    store(parts, LIVE)
    enter(parts, SessionState.STOPPING, qtbot)
    enter(parts, SessionState.IDLE, qtbot)
    qtbot.waitUntil(lambda: panel.list.entry(LIVE) is not None)
    _assert_marked(parts, LIVE)
    qtbot.mouseClick(panel.export_button, Qt.MouseButton.LeftButton)
    (dialog,) = parts.window.findChildren(QFileDialog)
    assert Path(dialog.selectedFiles()[0]).name == "2026-01-02 03.04.txt"
    dialog.reject()
    qtbot.mouseClick(panel.delete_button, Qt.MouseButton.LeftButton)
    (box,) = panel.findChildren(QMessageBox)
    assert "02 Jan 2026, 03:04" in box.informativeText() + box.text()
    box.reject()
    qtbot.waitUntil(lambda: not panel.findChildren(QMessageBox))


def test_what_is_not_in_the_list_marks_nothing_also_when_the_list_gets_the_focus(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.sessions_panel
    store(parts, OLD)
    list_anew(parts, qtbot, OLD)
    open_entry(parts, qtbot, OLD)
    demo = RecordingStarted("demo", RATE, "2026-01-02T03:04:05+00:00", "demo", is_kept=False)
    parts.session.post(demo)
    qtbot.waitUntil(lambda: parts.state.shown_id == "demo")
    _assert_marked(parts, "")
    panel.filter.setFocus()
    panel.list.setFocus(Qt.FocusReason.TabFocusReason)
    _assert_marked(parts, "")
    list_anew(parts, qtbot, OLD)
    _assert_marked(parts, "")


def test_a_kept_recording_that_is_left_gives_its_mark_to_the_present_one(
    parts: WindowParts, qtbot: QtBot
) -> None:
    for session_id in (LIVE, OLD):
        store(parts, session_id)
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: parts.state.shown_id == LIVE)
    list_anew(parts, qtbot, LIVE, OLD)
    _assert_marked(parts, LIVE)
    open_entry(parts, qtbot, OLD)
    _assert_marked(parts, OLD)
    parts.window.show_live()
    _assert_marked(parts, LIVE)


def test_recording_that_cannot_be_opened_gets_no_mark(parts: WindowParts, qtbot: QtBot) -> None:
    for session_id in (OLD, OLDER):
        store(parts, session_id)
    list_anew(parts, qtbot, OLD, OLDER)
    open_entry(parts, qtbot, OLD)
    (parts.shelf.sessions_dir / OLDER).rename(parts.shelf.sessions_dir / "elsewhere")
    entries = parts.window.sessions_panel.list
    entry = entries.entry(OLDER)
    assert entry is not None
    with qtbot.waitSignal(parts.shelf.open_failed):
        entries.setCurrentItem(entry)
        entries.itemActivated.emit(entry)
    _assert_marked(parts, OLD)


def test_recording_that_the_filter_hides_is_marked_again_when_it_is_back(
    parts: WindowParts, qtbot: QtBot
) -> None:
    for session_id, title in ((OLD, "Stand-up"), (OLDER, "Interview")):
        store(parts, session_id, title=title)
    list_anew(parts, qtbot, OLD, OLDER)
    open_entry(parts, qtbot, OLDER)
    panel = parts.window.sessions_panel
    panel.filter.setText("stand")
    assert panel.list.marked_id == ""
    assert not panel.delete_button.isEnabled()
    panel.filter.clear()
    _assert_marked(parts, OLDER)


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
@pytest.mark.parametrize("reason", list(QContextMenuEvent.Reason)[:2])
def test_context_menu_acts_on_what_it_was_asked_for(
    parts: WindowParts, qtbot: QtBot, reason: QContextMenuEvent.Reason
) -> None:
    for session_id, title in ((OLD, "Shown"), (OLDER, "Asked for")):
        store(parts, session_id, title=title)
    list_anew(parts, qtbot, OLD, OLDER)
    open_entry(parts, qtbot, OLD)
    panel = parts.window.sessions_panel
    entry = panel.list.entry(OLDER)
    assert entry is not None
    place, target = panel.list.visualItemRect(entry).center(), panel.list.viewport()
    if reason is QContextMenuEvent.Reason.Keyboard:
        panel.list.setCurrentItem(entry)
        # Qt says some place, wherever the entry is.
        place, target = panel.list.visualItemRect(panel.list.item(0)).center(), panel.list
    event = QContextMenuEvent(reason, place, target.mapToGlobal(place))
    QApplication.sendEvent(target, event)
    (menu,) = panel.findChildren(QMenu)
    delete = menu.actions()[-1]
    menu.close()
    delete.trigger()
    (box,) = panel.findChildren(QMessageBox)
    assert "Asked for" in box.informativeText() + box.text()
    box.reject()
    qtbot.waitUntil(lambda: not panel.findChildren(QMessageBox))
    _assert_marked(parts, OLD)


def test_context_menu_is_not_there_where_no_recording_is(parts: WindowParts, qtbot: QtBot) -> None:
    store(parts, OLD)
    list_anew(parts, qtbot, OLD)
    open_entry(parts, qtbot, OLD)
    panel = parts.window.sessions_panel
    below = QPoint(5, panel.list.viewport().height() - 2)
    assert panel.list.itemAt(below) is None
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, below, below)
    QApplication.sendEvent(panel.list.viewport(), event)
    assert not panel.findChildren(QMenu)


# --- titles ---


def test_title_that_is_written_with_f2_is_kept_and_shown_everywhere(
    parts: WindowParts, qtbot: QtBot
) -> None:
    window, panel = parts.window, parts.window.sessions_panel
    store(parts, OLD)
    list_anew(parts, qtbot, OLD)
    open_entry(parts, qtbot, OLD)
    assert window.windowTitle() == "01 Jan 2026, 01:01"
    panel.list.setFocus()
    qtbot.keyClick(panel.list, Qt.Key.Key_F2)
    field = panel.list.title
    assert field.isVisible()
    assert field.hasFocus()
    assert field.placeholderText() == "01 Jan 2026, 01:01"
    field.insert("Tea: Zoë / Ana")  # QTest has keys for plain letters alone
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert not field.isVisible()
    qtbot.waitUntil(lambda: "Tea" in panel.list.item(0).text())
    assert panel.list.item(0).text().splitlines()[0] == "Tea: Zoë / Ana"
    assert "Tea: Zoë / Ana · 01 Jan 2026, 01:01" in window.reading.banner.text.text()
    assert window.windowTitle() == "Tea: Zoë / Ana"
    header = parts.shelf.sessions_dir / OLD / "session.json"
    assert "Tea: Zoë / Ana" in header.read_text("utf-8")
    assert stat.S_IMODE(header.stat().st_mode) == 0o600
    window.dialogs.export_shown()
    (dialog,) = window.findChildren(QFileDialog)
    assert Path(dialog.selectedFiles()[0]).name == "Tea- Zoë - Ana.txt"
    dialog.reject()

    # Escape leaves it; an empty title gives the date back.
    window.menu_actions.action("rename").trigger()
    assert field.text() == "Tea: Zoë / Ana"
    qtbot.keyClicks(field, "Coffee")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not field.is_open
    window.menu_actions.action("rename").trigger()
    field.clear()
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.windowTitle() == "01 Jan 2026, 01:01")
    assert panel.list.item(0).text().startswith("01 Jan 2026, 01:01\n")
    assert "Tea" not in window.reading.banner.text.text()


def test_title_that_is_being_written_outlives_news_of_the_list(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.sessions_panel
    for session_id in (OLD, OLDER):
        store(parts, session_id)
    list_anew(parts, qtbot, OLD, OLDER)
    panel.rename(OLDER)
    field = panel.list.title
    qtbot.keyClicks(field, "Half a ti")
    place = field.y()
    store(parts, LIVE)
    list_anew(parts, qtbot, LIVE, OLD, OLDER)
    assert field.text() == "Half a ti"
    assert field.y() > place  # with its entry
    SessionLibrary(parts.shelf.sessions_dir).delete(OLDER)
    list_anew(parts, qtbot, LIVE, OLD)
    assert not field.is_open
    assert not field.isVisible()


def test_the_present_recording_is_named_from_the_menu_also_while_the_list_is_hidden(
    parts: WindowParts, qtbot: QtBot
) -> None:
    window = parts.window
    store(parts, LIVE, title="talk")
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: window.windowTitle() == "talk")
    window.show_sessions(False)
    assert not window.sessions_panel.isVisible()
    window.menu_actions.action("rename").trigger()
    field = window.sessions_panel.list.title
    assert field.isVisible()
    qtbot.keyClicks(field, "Talk of three")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.windowTitle() == "Talk of three")
    assert not window.reading.banner.isVisible()


def test_list_that_is_asked_for_twice_tells_what_there_is_at_last(
    parts: WindowParts, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_all, is_first, go_on = SessionLibrary.list, threading.Event(), threading.Event()

    def list_slowly(library: SessionLibrary) -> tuple[SessionInfo, ...]:
        found = list_all(library)
        if not is_first.is_set():
            is_first.set()
            assert go_on.wait(10)
        return found

    monkeypatch.setattr(SessionLibrary, "list", list_slowly)
    with qtbot.waitSignal(parts.shelf.sessions_listed):
        parts.shelf.list_sessions()
        qtbot.waitUntil(is_first.is_set)
        store(parts, OLD)
        parts.shelf.list_sessions()
        go_on.set()
    assert parts.window.sessions_panel.list.entry(OLD) is not None

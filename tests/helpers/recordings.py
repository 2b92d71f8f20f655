"""Kept recordings in a window's list."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.core.config import KeepPolicy
from engine.core.events import FinalWords
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from tests.helpers.window import RATE, WindowParts, started, words

OLD, OLDER = "20260101-010101-aaaa", "20251231-010101-bbbb"
LIVE = started().recording_id


def store(
    parts: WindowParts, session_id: str, text: str = "kept words", title: str = ""
) -> Journal:
    """Keep a recording of a day that its id tells."""
    day = f"{session_id[:4]}-{session_id[4:6]}-{session_id[6:8]}T01:01:01+00:00"
    moment = started().started_at if session_id == LIVE else day
    header = SessionHeader(session_id, moment, RATE, title, keep=KeepPolicy.TEXT)
    journal = Journal.create(parts.shelf.sessions_dir, header)
    journal.events.append(FinalWords(words(text, 0.5, 1.5)))
    journal.close()
    return journal


def list_anew(parts: WindowParts, qtbot: QtBot, *session_ids: str) -> None:
    """Bring the list up to date."""
    with qtbot.waitSignal(parts.shelf.sessions_listed):
        parts.shelf.list_sessions()
    assert [parts.window.sessions_panel.list.entry(i) is not None for i in session_ids] == [
        True
    ] * len(session_ids)


def open_entry(parts: WindowParts, qtbot: QtBot, session_id: str) -> None:
    entries = parts.window.sessions_panel.list
    entry = entries.entry(session_id)
    assert entry is not None
    middle = entries.visualItemRect(entry).center()
    qtbot.mouseClick(entries.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: parts.state.shown_id == session_id)

"""The menu bar: every command reachable, no key given twice."""

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from engine.core.types import SpeakerId
from tests.helpers.window import conversation

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts

pytestmark = pytest.mark.gui


def all_actions(menu: QMenu) -> list[QAction]:
    """Return the entries of a menu and its submenus."""
    found = []
    for action in menu.actions():
        submenu = action.menu()
        if isinstance(submenu, QMenu):
            found += all_actions(submenu)
        elif not action.isSeparator():
            found.append(action)
    return found


def bar_actions(parts: "WindowParts") -> list[QAction]:
    """Return every entry of the menu bar."""
    return [
        entry
        for action in parts.window.menuBar().actions()
        if isinstance(menu := action.menu(), QMenu)
        for entry in all_actions(menu)
    ]


def test_keys_when_all_menus_are_looked_at_then_none_is_given_twice(parts: "WindowParts"):
    keys = Counter(
        key.toString(QKeySequence.SequenceFormat.PortableText)
        for action in bar_actions(parts)
        for key in action.shortcuts()
    )
    assert [key for key, count in keys.items() if count > 1] == []
    for key in ("Ctrl+R", "Ctrl+P", "Ctrl+L", "Ctrl+F", "F11", "F2", "Ctrl+Z", "Ctrl+Y", "Esc"):
        assert key in keys


def test_menus_when_all_are_looked_at_then_letters_and_titles_are_their_own(parts: "WindowParts"):
    titles = [action.text() for action in parts.window.menuBar().actions()]
    letters = [title.partition("&")[2][:1].lower() for title in titles]
    assert len(set(letters)) == len(titles)
    assert all(action.text().strip() for action in bar_actions(parts))


def test_undo_when_a_speaker_was_named_then_the_entry_says_what_and_takes_it_back(
    parts: "WindowParts", qtbot: "QtBot"
):
    parts.state.take(conversation())
    speaker = SpeakerId(0, 0)
    undo = next(a for a in bar_actions(parts) if a.text().startswith("Undo"))
    assert not undo.isEnabled()
    parts.context.editing.rename(speaker, "Maria")
    document = parts.state.document
    qtbot.waitUntil(lambda: document.speaker_name(speaker) == "Maria")
    assert "Maria" in undo.text()
    undo.trigger()
    qtbot.waitUntil(lambda: document.speaker_name(speaker) == "Speaker A")


def test_export_of_a_selection_when_nothing_is_chosen_then_it_is_off(parts: "WindowParts"):
    action = parts.window.menu_actions.action("excerpt")
    parts.state.take(conversation())
    assert not action.isEnabled()
    parts.context.marks.select(0, 16_000)
    assert action.isEnabled()
    parts.context.marks.clear_selection()
    assert not action.isEnabled()

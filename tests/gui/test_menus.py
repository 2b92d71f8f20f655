"""The menu bar: every command reachable, no key given twice."""

import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QMenu

from engine.core.types import SpeakerId
from tests.helpers.window import conversation, record

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


def close_dialogs() -> None:
    """Close what an entry has opened."""
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog) and widget.isVisible():
            widget.reject()


def test_every_entry_and_control_when_used_twice_then_nothing_fails_and_switches_follow(
    parts: "WindowParts", qtbot: "QtBot", monkeypatch: pytest.MonkeyPatch
):
    raised: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: raised.append(error))
    record(parts, qtbot)
    parts.session.post(*conversation()[1:])
    qtbot.waitUntil(lambda: bool(parts.state.document.lines))
    parts.context.marks.select(0, 16_000)
    actions = [action for action in bar_actions(parts) if action.text() != "Quit"]
    assert len(actions) > 40
    assert sum(action.isCheckable() for action in actions) > 10
    for action in actions:
        for _ in range(2):
            was_on = action.isChecked()
            action.trigger()
            close_dialogs()
            if action.isCheckable() and action.actionGroup() is None and action.isEnabled():
                assert action.isChecked() is not was_on, action.text()
    buttons = parts.window.toolbar.findChildren(QAbstractButton)
    assert len(buttons) >= 3
    for button in buttons * 2:
        button.click()
    qtbot.waitUntil(lambda: not parts.window.findChildren(QDialog))
    assert raised == []


@pytest.mark.parametrize(("key", "panel_name"), [("F9", "sessions_panel"), ("F10", "speak_panel")])
def test_panel_when_its_key_is_pressed_then_it_goes_and_comes_back(
    parts: "WindowParts", qtbot: "QtBot", key: str, panel_name: str
):
    panel = getattr(parts.window, panel_name)
    parts.window.activateWindow()
    for is_shown in (False, True, False):
        qtbot.keyClick(parts.window, Qt.Key[f"Key_{key}"])
        assert panel.isVisible() == is_shown
        (action,) = [a for a in bar_actions(parts) if a.shortcut() == QKeySequence(key)]
        assert action.isChecked() == is_shown

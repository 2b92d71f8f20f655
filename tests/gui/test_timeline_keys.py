"""The speaker timeline by keys alone, its menus and its controls."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.views.speaker_menu import SpeakerMenu
from engine.core.events import RecordingStopped, SpanMarked
from engine.core.types import SpanKind
from tests.helpers.timeline import A, B, TimelineParts, open_timeline, rows
from tests.helpers.window import RATE, started

pytestmark = pytest.mark.gui
LEFT, NONE, SHIFT, CONTROL = (
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)
Key = Qt.Key
opens_menu = pytest.mark.qt_log_ignore("plugin does not support", extend=True)


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[TimelineParts]:
    yield from open_timeline(qtbot)


def _menu(parts: TimelineParts) -> QMenu:
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def _choose(menu: QMenu, text: str) -> None:
    action = next(action for action in menu.actions() if action.text() == text)
    action.trigger()
    menu.close()


def test_left_and_right_move_the_cursor_by_a_second(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.marks.set_cursor(10 * RATE)
    qtbot.keyClick(parts.view, Key.Key_Right)
    assert parts.marks.cursor == 11 * RATE
    qtbot.keyClick(parts.view, Key.Key_Left, CONTROL)
    assert parts.marks.cursor == 1 * RATE
    qtbot.keyClick(parts.view, Key.Key_Left, CONTROL)
    assert parts.marks.cursor == 0


def test_steps_follow_the_zoom(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.marks.set_cursor(10 * RATE)
    while parts.view.model.span_s > 2.0:
        qtbot.keyClick(parts.view, Key.Key_Plus)
    qtbot.keyClick(parts.view, Key.Key_Right)
    assert parts.marks.cursor == 10 * RATE + RATE // 10
    assert parts.view.model.start_s < 10.1 < parts.view.model.end_s


def test_shift_selects_from_the_cursor_and_back(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.marks.set_cursor(10 * RATE)
    for _ in range(3):
        qtbot.keyClick(parts.view, Key.Key_Right, SHIFT)
    assert parts.marks.selection == (10 * RATE, 13 * RATE)
    for _ in range(5):
        qtbot.keyClick(parts.view, Key.Key_Left, SHIFT)
    assert parts.marks.selection == (8 * RATE, 10 * RATE)
    qtbot.keyClick(parts.view, Key.Key_End, SHIFT)
    start, end = parts.marks.selection or (0, 0)
    assert start == 10 * RATE
    assert end == pytest.approx(26.4 * RATE, abs=RATE / 10)
    qtbot.keyClick(parts.view, Key.Key_Home, SHIFT)
    assert parts.marks.selection == (0, 10 * RATE)
    qtbot.keyClick(parts.view, Key.Key_Escape)
    assert parts.marks.selection is None


def test_keys_without_meaning_here_are_left_to_the_window(parts: TimelineParts) -> None:
    def is_taken(key: Qt.Key) -> bool:
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, NONE)
        event.ignore()
        QApplication.sendEvent(parts.view, event)
        return event.isAccepted()

    assert not is_taken(Key.Key_Escape)
    parts.marks.select(0, RATE)
    assert is_taken(Key.Key_Escape)
    assert not is_taken(Key.Key_F2)
    parts.view.choose_row(0)
    assert is_taken(Key.Key_F2)
    assert is_taken(Key.Key_Space)
    assert not is_taken(Key.Key_F11)
    assert not is_taken(Key.Key_1)


def test_space_and_enter_play_or_pause(parts: TimelineParts, qtbot: QtBot) -> None:
    for key in (Key.Key_Space, Key.Key_Return):
        qtbot.keyClick(parts.view, key)
    assert parts.playback.calls == [("toggle",), ("toggle",)]


def test_keys_zoom_scroll_and_follow(parts: TimelineParts, qtbot: QtBot) -> None:
    view = parts.view
    button = view.controls.follow_button
    span_s = view.model.span_s
    assert (button.isChecked(), button.text()) == (True, "Follow")
    for _ in range(6):
        qtbot.keyClick(view, Key.Key_Plus)
    assert view.model.span_s < span_s
    qtbot.keyClick(view, Key.Key_Home)
    assert view.model.start_s == 0.0
    assert parts.marks.cursor == 0
    assert (button.isChecked(), button.text()) == (False, "Paused")
    qtbot.keyClick(view, Key.Key_PageDown)
    assert view.model.start_s > 0.0
    qtbot.keyClick(view, Key.Key_End)
    assert view.model.is_following
    assert button.isChecked()
    qtbot.keyClick(view, Key.Key_0)
    assert (view.model.start_s, view.model.end_s >= 26.4) == (0.0, True)


def test_up_and_down_choose_a_row_and_f2_names_it(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.state.take([SpanMarked(5, SpanKind.OWN_VOICE, 18 * RATE, 20 * RATE)])
    told: list[int | None] = []
    parts.view.current_row_changed.connect(lambda: told.append(parts.view.current_row))
    for key in (Key.Key_Down, Key.Key_Down, Key.Key_Up, Key.Key_Up):
        qtbot.keyClick(parts.view, key)
    assert told == [0, 1, 0]
    qtbot.keyClick(parts.view, Key.Key_F2)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    qtbot.keyClick(editor, Key.Key_Escape)
    assert parts.view.hasFocus()
    assert parts.state.document.speaker_name(A) == "Speaker A"
    for _ in range(5):
        qtbot.keyClick(parts.view, Key.Key_Down)
    assert told[-1] == 3  # the program's own voice has no name to be written
    assert parts.view.current_speaker is None
    qtbot.keyClick(parts.view, Key.Key_F2)
    assert parts.view.hasFocus()


def test_a_row_stays_the_current_one_when_rows_come_before_it(parts: TimelineParts) -> None:
    parts.view.choose_row(2)
    chosen = parts.view.current_speaker
    parts.editing.merge(B, A)
    assert parts.view.current_row == 1
    assert parts.view.current_speaker == chosen


@opens_menu
def test_the_menu_key_opens_the_menu_of_the_row(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.view.choose_row(1)
    qtbot.keyClick(parts.view, Key.Key_F10, SHIFT)
    menu = _menu(parts)
    assert isinstance(menu, SpeakerMenu)
    _choose(menu, "Rename…")
    assert isinstance(QApplication.focusWidget(), QLineEdit)


@opens_menu
def test_the_menu_of_the_selection_hears_copies_and_exports(
    parts: TimelineParts, qtbot: QtBot
) -> None:
    told: list[tuple[str, int, int]] = []
    parts.view.copy_asked.connect(lambda a, b: told.append(("copy", a, b)))
    parts.view.export_asked.connect(lambda a, b: told.append(("export", a, b)))
    for text in ("Hear the selection", "Copy its text", "Export it…"):
        parts.marks.select(4 * RATE, 7 * RATE)
        qtbot.keyClick(parts.view, Key.Key_Menu)
        _choose(_menu(parts), text)
    assert parts.playback.calls == [("play", 4 * RATE, 7 * RATE)]
    assert told == [("copy", 4 * RATE, 7 * RATE), ("export", 4 * RATE, 7 * RATE)]


@opens_menu
def test_without_a_selection_its_entries_are_left_out(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.marks.set_cursor(5 * RATE)
    qtbot.keyClick(parts.view, Key.Key_Menu)
    menu = _menu(parts)
    texts = [action.text() for action in menu.actions()]
    assert "Copy its text" not in texts
    _choose(menu, "Hear from here")
    assert parts.playback.calls == [("play", 5 * RATE, None)]


def test_the_threshold_is_chosen_by_the_slider_and_reset(
    parts: TimelineParts, qtbot: QtBot
) -> None:
    slider = parts.view.controls.slider
    slider.setFocus()
    qtbot.keyClick(slider, Key.Key_Right)
    assert parts.view.threshold == pytest.approx(0.55)
    assert slider.accessibleDescription() == "55 %"
    slider.setValue(500)
    assert parts.view.threshold == pytest.approx(0.95)
    qtbot.mouseDClick(slider, LEFT, pos=slider.rect().center())
    assert parts.view.threshold == pytest.approx(0.5)


def test_the_threshold_stays_when_another_document_is_shown(parts: TimelineParts) -> None:
    parts.view.set_threshold(0.3)
    parts.state.take([started(), rows([(0, 0.0, 2.0)], 4.0, probability=0.4)])
    assert parts.view.threshold == pytest.approx(0.3)
    assert parts.view.speaker_rows() == (A,)


def test_there_is_nothing_to_follow_once_a_recording_has_ended(parts: TimelineParts) -> None:
    assert parts.view.controls.follow_button.isVisible()
    parts.state.take([RecordingStopped("r", round(26.4 * RATE))])
    parts.view.show_all()
    assert not parts.view.controls.follow_button.isVisible()


def test_with_reduced_motion_the_view_stands_still_most_of_the_time(parts: TimelineParts) -> None:
    parts.view.reduced_motion = True
    starts_s = set()
    for step in range(300):
        parts.view.set_duration(26.4 + step / 10)
        starts_s.add(parts.view.model.start_px)
    assert len(starts_s) <= 6
    parts.state.take([started()])
    assert parts.view.model.reduced_motion

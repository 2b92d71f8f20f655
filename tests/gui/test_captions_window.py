"""The captions' window: modes, keys, choices, and what it says of the session."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QLabel, QWidget

from app.captions import CaptionsFile, SmallPlace
from app.views import captions_bar, captions_controls
from app.views.captions_accessible import AccessibleCaptions
from app.views.captions_frame import reachable
from app.views.captions_shell import CaptionsMode
from app.views.captions_state import quiet_line
from engine.core.events import (
    BackendChanged,
    BackendState,
    FinalWords,
    SessionState,
    SpanMarked,
    StateChanged,
    UtteranceState,
)
from engine.core.types import BackendKind, SpanKind
from engine.session.health import Health
from tests.helpers.captions import CaptionParts, close_captions, make_captions, talk, wait_active
from tests.helpers.window import RATE, started, words

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

Key = Qt.Key
CONTROL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
USUAL = QRect(0, 0, 1600, 900)


@pytest.fixture
def captions(qtbot: "QtBot", tmp_path: Path) -> Iterator[CaptionParts]:
    parts = make_captions(tmp_path)
    parts.window.show_full()
    wait_active(parts, qtbot)
    parts.window.view.setFocus()
    yield parts
    close_captions(parts, qtbot)


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key where the focus is."""
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, key, modifiers)


# --- modes ---


def test_f11_when_captions_fill_the_screen_then_they_go_and_come(captions: CaptionParts) -> None:
    window = captions.window
    assert window.isFullScreen()
    press(Key.Key_F11)
    assert window.mode is CaptionsMode.HIDDEN
    assert not window.isVisible()
    window.toggle()
    assert window.isFullScreen()


def test_escape_when_nothing_is_open_then_captions_are_left(captions: CaptionParts) -> None:
    press(Key.Key_Escape)
    assert not captions.window.isVisible()


def test_small_window_when_it_is_asked_for_then_it_has_no_frame_and_stays_on_top(
    captions: CaptionParts,
) -> None:
    window = captions.window
    press(Key.Key_F11, SHIFT)
    flags = window.windowFlags()
    assert flags & Qt.WindowType.FramelessWindowHint
    assert flags & Qt.WindowType.WindowStaysOnTopHint
    assert not window.isFullScreen()
    window.show_full()
    assert not window.windowFlags() & Qt.WindowType.WindowStaysOnTopHint
    assert window.isFullScreen()


def test_small_window_when_it_is_left_then_the_next_start_has_its_place(
    captions: CaptionParts,
) -> None:
    window = captions.window
    window.show_small()
    window.setGeometry(30, 200, 620, 150)
    window.leave()
    look = CaptionsFile(captions.folder).look
    assert look.small == SmallPlace(30, 200, 620, 150)
    window.show_small()
    assert window.geometry() == QRect(30, 200, 620, 150)


def test_small_window_when_it_is_dragged_then_it_moves(captions: CaptionParts) -> None:
    window = captions.window
    window.show_small()
    window.setGeometry(100, 300, 500, 150)
    _drag(window.view, QPoint(200, 60), QPoint(40, -30))
    assert window.geometry() == QRect(140, 270, 500, 150)
    assert CaptionsFile(captions.folder).look.small is None
    window.leave()
    assert CaptionsFile(captions.folder).look.small == SmallPlace(140, 270, 500, 150)


@pytest.mark.parametrize(
    ("start", "step", "rect"),
    [
        (QPoint(2, 60), QPoint(-30, 0), QRect(70, 300, 530, 150)),
        (QPoint(497, 60), QPoint(30, 9), QRect(100, 300, 530, 150)),
        (QPoint(200, 2), QPoint(0, -30), QRect(100, 270, 500, 180)),
        (QPoint(2, 2), QPoint(-10, -20), QRect(90, 280, 510, 170)),
    ],
)
def test_small_window_when_an_edge_is_dragged_then_it_is_resized(
    captions: CaptionParts, start: QPoint, step: QPoint, rect: QRect
) -> None:
    captions.window.show_small()
    captions.window.setGeometry(100, 300, 500, 150)
    _drag(captions.window.view, start, step)
    assert captions.window.geometry() == rect


def test_small_window_when_arrows_are_pressed_then_it_moves_and_grows(
    captions: CaptionParts,
) -> None:
    window = captions.window
    window.show_small()
    window.setGeometry(100, 300, 500, 150)
    QTest.keyClick(window.view, Key.Key_Left, CONTROL)
    QTest.keyClick(window.view, Key.Key_Down, CONTROL)
    QTest.keyClick(window.view, Key.Key_Right, CONTROL | SHIFT)
    assert window.geometry() == QRect(76, 324, 524, 150)


def test_full_screen_when_it_is_dragged_then_it_stays(captions: CaptionParts) -> None:
    before = captions.window.geometry()
    _drag(captions.window.view, QPoint(200, 60), QPoint(40, 30))
    press(Key.Key_Left, CONTROL)
    assert captions.window.geometry() == before


def test_small_window_when_the_desktop_forbids_it_then_the_bar_says_so(
    captions: CaptionParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = captions.window
    window.show_small()
    assert not window.bar.message.isVisibleTo(window.bar)
    monkeypatch.setattr(QGuiApplication, "platformName", staticmethod(lambda: "wayland"))
    window.show_full()
    assert not window.bar.message.isVisibleTo(window.bar)
    window.show_small()
    assert "no program keep its window on top" in window.bar.message.text()
    assert window.bar.message.isVisibleTo(window.bar)


def test_place_when_its_screen_is_gone_then_the_window_is_shown_where_it_can_be_seen() -> None:
    lost = SmallPlace(5000, 10, 600, 150)
    assert USUAL.contains(reachable(lost, [USUAL], USUAL))
    assert USUAL.contains(reachable(None, [USUAL], USUAL))
    partly = SmallPlace(1500, 10, 600, 150)
    assert reachable(partly, [USUAL], USUAL) == QRect(1500, 10, 600, 150)
    huge = SmallPlace(-10, -10, 9000, 9000)
    assert reachable(huge, [USUAL], USUAL) == USUAL


def test_small_window_when_a_line_is_typed_in_then_words_keep_their_room(
    captions: CaptionParts,
) -> None:
    window = captions.window
    window.show_small()
    window.setGeometry(100, 400, 620, 160)
    height = window.view.height()
    window.show_box(True)
    QTest.qWait(1)
    assert window.view.height() >= height
    assert window.geometry().bottom() == QRect(100, 400, 620, 160).bottom()
    window.show_box(False)
    QTest.qWait(1)
    assert window.geometry() == QRect(100, 400, 620, 160)


# --- choices ---


def test_keys_when_pressed_then_the_look_changes_and_is_kept(captions: CaptionParts) -> None:
    window, choices = captions.window, captions.window.choices
    before = choices.look
    press(Key.Key_Plus, CONTROL)
    press(Key.Key_Up, ALT)
    press(Key.Key_F3)
    press(Key.Key_F4)
    assert choices.size_pt == before.size_pt + 4
    assert choices.num_lines == before.num_lines + 1
    assert not choices.look.shows_names
    assert choices.look.scheme == "black-on-white"
    press(Key.Key_0, CONTROL)
    assert choices.size_pt == before.size_pt
    window.leave()
    assert CaptionsFile(captions.folder).look == choices.look


def test_sizes_when_changed_in_the_small_window_then_the_large_one_keeps_its_own(
    captions: CaptionParts,
) -> None:
    window = captions.window
    large = window.choices.size_pt, window.choices.num_lines
    window.show_small()
    window.choices.change_size(-1)
    window.choices.change_lines(+1)
    small = window.choices.size_pt, window.choices.num_lines
    assert small != large
    assert window.bar.controls.size_pt.value() == small[0]
    window.show_full()
    assert (window.choices.size_pt, window.choices.num_lines) == large
    assert window.bar.controls.size_pt.value() == large[0]


def test_keys_when_held_then_they_stop_at_the_ends(captions: CaptionParts) -> None:
    for _ in range(40):
        press(Key.Key_Plus, CONTROL)
        press(Key.Key_Up, ALT)
    assert (captions.window.choices.size_pt, captions.window.choices.num_lines) == (160, 8)
    for _ in range(40):
        press(Key.Key_Minus, CONTROL)
        press(Key.Key_Down, ALT)
    assert (captions.window.choices.size_pt, captions.window.choices.num_lines) == (24, 1)


def test_bar_when_choices_are_made_then_the_words_follow(captions: CaptionParts) -> None:
    window, bar = captions.window, captions.window.bar.controls
    captions.state.take(talk())
    window.bar.reveal()
    bar.lines.setValue(1)
    bar.size_pt.setValue(30)
    bar.width_percent.setValue(50)
    bar.scheme.setCurrentIndex(bar.scheme.findData("yellow-on-black"))
    bar.place.setCurrentIndex(bar.place.findData("right"))
    bar.family.setCurrentIndex(bar.family.findData("DejaVu Serif"))
    bar.names.setChecked(False)
    look = window.choices.look
    assert (look.num_lines, look.size_pt, look.width_percent) == (1, 30, 50)
    assert (look.scheme, look.place, look.shows_names) == ("yellow-on-black", "right", False)
    assert look.family == "DejaVu Serif"
    metrics = window.view.metrics
    assert len(window.view.rows) == 1
    assert metrics.font.families()[0] == "DejaVu Serif"
    assert metrics.column_left + metrics.column_width > window.width() * 0.9


def test_bar_when_the_font_is_not_on_this_machine_then_it_stays_chosen(
    captions: CaptionParts,
) -> None:
    captions.window.choices.choose({"family": "No Such Font"})
    captions.window.bar.reveal()
    assert captions.window.bar.controls.family.currentData() == "No Such Font"
    captions.window.choices.choose({"size_pt": 60})
    assert captions.window.choices.look.family == "No Such Font"


def test_bar_when_nobody_uses_it_then_it_hides_and_comes_back_by_mouse(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    window = captions.window
    window.bar.hide_after(20)
    window.bar.reveal()
    qtbot.waitUntil(lambda: not window.bar.isVisible())
    assert window.view.cursor().shape() == Qt.CursorShape.BlankCursor
    QTest.mouseMove(window.view, QPoint(300, 300))
    qtbot.waitUntil(window.bar.isVisible)
    assert window.view.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_bar_when_it_has_the_focus_then_it_stays_until_escape(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    window = captions.window
    window.bar.hide_after(10)
    press(Key.Key_F10)
    qtbot.wait(60)
    assert window.bar.isVisible()
    press(Key.Key_Escape)
    assert not window.bar.isVisible()
    assert window.isVisible()
    assert window.view.hasFocus()


def test_every_control_when_tab_is_pressed_then_it_is_reached_and_has_a_name(
    captions: CaptionParts,
) -> None:
    window = captions.window
    window.box.phrases.add("Yes")
    window.bar.put_away()
    window.toggle_phrases()
    window.box.line.setText("Something")
    reached: list[QWidget] = []
    while (focused := QApplication.focusWidget()) not in reached:
        assert focused is not None
        reached.append(focused)
        press(Key.Key_Tab)
    wanted = [
        part
        for part in window.findChildren(QWidget)
        if part.isVisibleTo(window)
        and part.isEnabled()
        and part.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not isinstance(part.parent(), QAbstractSpinBox | QComboBox)
        and part is not window.box.phrases.tree.viewport()
    ]
    assert {type(part).__name__ for part in wanted} >= {"CaptionsView", "QSpinBox", "QLineEdit"}
    missing = [part for part in wanted if part not in reached]
    assert not missing
    for part in reached:
        interface = QAccessible.queryAccessibleInterface(part)
        assert interface.text(QAccessible.Text.Name), part


def test_view_when_it_is_reached_by_tab_then_its_focus_is_visible(captions: CaptionParts) -> None:
    window = captions.window
    window.bar.put_away()
    plain = window.view.grab().toImage()
    window.bar.reveal()
    press(Key.Key_Backtab, SHIFT)
    press(Key.Key_Tab)
    assert window.view.hasFocus()
    assert window.view.grab().toImage() != plain
    window.bar.put_away()
    assert window.view.grab().toImage() == plain


def test_bar_when_the_pointer_crosses_the_small_window_then_words_stay_free(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    window = captions.window
    window.show_small()
    window.resize(700, 170)
    window.bar.put_away()
    QTest.mouseMove(window.view, QPoint(300, 120))
    qtbot.waitUntil(window.bar.isVisible)
    assert not window.bar.controls.lines.isVisible()
    assert window.bar.height() < window.view.height() / 2
    window.bar.more_button.click()
    assert window.bar.controls.lines.isVisible()
    assert not window.bar.more_button.isVisible()
    window.bar.put_away()
    window.focus_bar()
    assert window.bar.controls.lines.isVisible()


def test_texts_when_they_are_twice_as_long_then_the_bar_goes_on_in_further_rows(
    captions: CaptionParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def long(text: str, /, **values: object) -> str:
        return f"{text} {'ö' * len(text)}".format(**values)

    monkeypatch.setattr(captions_bar, "tr", long)
    monkeypatch.setattr(captions_controls, "tr", long)
    bar = captions_bar.CaptionsBar(captions.window)
    bar.reveal()
    bar.grab()
    labels = [part for part in bar.findChildren(QWidget) if part.isVisibleTo(bar)]
    assert len(labels) > 10
    for part in labels:
        place = QRect(part.mapTo(bar, QPoint(0, 0)), part.size())
        assert bar.rect().contains(place), part
        if isinstance(part, QLabel):
            assert part.width() >= part.sizeHint().width()
    bar.deleteLater()


# --- states ---


def test_quiet_line_when_nothing_was_recorded_then_it_says_how_to_begin(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    assert "press Ctrl+R" in captions.window.view.placeholder
    with qtbot.waitSignal(captions.window.record_asked):
        press(Key.Key_R, CONTROL)
    with qtbot.waitSignal(captions.window.pause_asked):
        press(Key.Key_P, CONTROL)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (SessionState.STARTING, "Opening the microphone"),
        (SessionState.PAUSED, "Paused"),
        (SessionState.STOPPING, "last words"),
        (SessionState.IDLE, "has ended"),
        (SessionState.RECORDING, ""),
    ],
)
def test_quiet_line_when_the_state_changes_then_it_says_so(
    captions: CaptionParts, state: SessionState, text: str
) -> None:
    captions.state.take([*talk(), StateChanged(state)])
    line = captions.window.quiet.text()
    assert text in line
    assert bool(line) == bool(text)


def test_quiet_line_when_words_are_behind_then_it_says_how_far(captions: CaptionParts) -> None:
    captions.state.take(talk())
    captions.window.set_health(Health(recorded_s=60, recognizer_backlog_s=7.4))
    assert "7 s behind" in captions.window.quiet.text()
    captions.window.set_health(Health(recorded_s=60, recognizer_backlog_s=1.0))
    assert captions.window.quiet.text() == ""


def test_quiet_line_when_the_microphone_is_silent_then_it_says_so(captions: CaptionParts) -> None:
    captions.state.take(talk())
    captions.window.set_alarm("No sound reaches me.")
    assert captions.window.quiet.text() == "No sound reaches me."


def test_quiet_line_when_the_program_speaks_then_it_says_so(captions: CaptionParts) -> None:
    captions.state.take(talk())
    captions.utter(UtteranceState.SPEAKING, 0, 4)
    assert "own voice" in captions.window.quiet.text()
    captions.utter(UtteranceState.DONE)
    assert captions.window.quiet.text() == ""


@pytest.mark.parametrize(
    ("state", "text"),
    [(BackendState.LOADING, "as soon as the model"), (BackendState.FAILED, "could not be loaded")],
)
def test_quiet_line_when_there_is_no_recognizer_then_it_says_so(
    captions: CaptionParts, state: BackendState, text: str
) -> None:
    loading = BackendChanged(BackendKind.RECOGNIZER, "whisper", state)
    captions.state.take([StateChanged(SessionState.RECORDING), started(), loading])
    assert text in captions.window.view.placeholder


def test_quiet_line_when_weights_are_untrained_then_it_says_so(captions: CaptionParts) -> None:
    kind = BackendKind.RECOGNIZER
    captions.state.take([*talk(), BackendChanged(kind, "x", BackendState.READY, is_trained=False)])
    assert "Untrained" in captions.window.quiet.text()


def test_quiet_line_when_sound_was_skipped_then_it_says_so(captions: CaptionParts) -> None:
    skipped = SpanMarked(1, SpanKind.UNTRANSCRIBED, 5 * RATE, 8 * RATE)
    captions.state.take([*talk(), skipped])
    line = quiet_line(captions.state, shown_from=0, backlog_s=0.0, alarm="")
    assert "3.0 s were not written down" in line
    assert quiet_line(captions.state, shown_from=9 * RATE, backlog_s=0.0, alarm="") == ""


def test_quiet_line_when_words_come_then_it_goes(captions: CaptionParts) -> None:
    captions.state.take([StateChanged(SessionState.RECORDING), started()])
    assert captions.window.view.placeholder == "Listening. Words appear here."
    captions.state.take([FinalWords(words("Here", 0.1, 0.5))])
    assert captions.window.view.placeholder == captions.window.quiet.text() == ""


def test_captions_when_a_screen_reader_asks_then_it_hears_the_words(
    captions: CaptionParts,
) -> None:
    interface = AccessibleCaptions(captions.window.view)
    assert "Ctrl+R" in interface.text(QAccessible.Text.Value)
    captions.state.take(talk())
    assert interface.role() is QAccessible.Role.StaticText
    assert interface.text(QAccessible.Text.Name) == "Captions"
    assert interface.text(QAccessible.Text.Value).endswith("Nobody seems to miss")


def test_theme_when_it_changes_then_captions_that_follow_it_do(captions: CaptionParts) -> None:
    window = captions.window
    window.choices.choose({"scheme": "theme"})
    light = window.scheme.ground
    window.appearance.force("dark")
    assert window.scheme.ground != light
    image = window.view.grab().toImage()
    assert image.pixelColor(4, 4).name().upper() == window.scheme.ground.upper()
    window.appearance.force("light")


def _drag(widget: QWidget, start: QPoint, step: QPoint) -> None:
    """Press, move and let go; places are of the screen, for the widget moves along."""
    origin = widget.mapToGlobal(QPoint(0, 0))
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=start)
    for part in (step / 2, step):
        target = origin + start + part
        QTest.mouseMove(widget, widget.mapFromGlobal(target))
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=widget.mapFromGlobal(target))

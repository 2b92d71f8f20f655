"""How the captions' window stands on the desktop: whole screen, small, or not at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.captions import CaptionsFile, SmallPlace
from app.views.captions.frame import reachable
from app.views.captions.shell import CaptionsMode
from tests.helpers.captions import (
    CaptionParts,
    close_captions,
    make_captions,
    press,
    wait_active,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
USUAL = QRect(0, 0, 1600, 900)


@pytest.fixture
def captions(qtbot: "QtBot", tmp_path: Path) -> Iterator[CaptionParts]:
    parts = make_captions(tmp_path)
    parts.window.show_full()
    wait_active(parts, qtbot)
    parts.window.view.setFocus()
    yield parts
    close_captions(parts, qtbot)


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


def _drag(widget: QWidget, start: QPoint, step: QPoint) -> None:
    """Press, move and let go; places are of the screen, for the widget moves along."""
    origin = widget.mapToGlobal(QPoint(0, 0))
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=start)
    for part in (step / 2, step):
        target = origin + start + part
        QTest.mouseMove(widget, widget.mapFromGlobal(target))
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=widget.mapFromGlobal(target))

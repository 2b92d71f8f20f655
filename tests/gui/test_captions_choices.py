"""How captions are made to look otherwise: by keys, and by the bar that comes and goes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QLabel, QWidget

from app.captions import CaptionsFile
from app.views.captions import bar as captions_bar
from app.views.captions import controls as captions_controls
from tests.helpers.captions import (
    CaptionParts,
    close_captions,
    make_captions,
    press,
    talk,
    wait_active,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def captions(qtbot: "QtBot", tmp_path: Path) -> Iterator[CaptionParts]:
    parts = make_captions(tmp_path)
    parts.window.show_full()
    wait_active(parts, qtbot)
    parts.window.view.setFocus()
    yield parts
    close_captions(parts, qtbot)


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

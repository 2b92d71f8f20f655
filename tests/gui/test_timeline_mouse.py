"""The speaker timeline by mouse."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.views.name_editor import NameEditor
from engine.text.document import TranscriptDocument
from tests.helpers.timeline import A, B, TimelineParts, open_timeline
from tests.helpers.window import RATE, conversation

pytestmark = pytest.mark.gui
LEFT, NONE, SHIFT = (
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
Key = Qt.Key


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[TimelineParts]:
    yield from open_timeline(qtbot)


def _drag(
    parts: TimelineParts, qtbot: QtBot, start: QPoint, end: QPoint, modifier: Qt.KeyboardModifier
) -> None:
    qtbot.mousePress(parts.view, LEFT, modifier, start)
    qtbot.mouseMove(parts.view, QPoint((start.x() + end.x()) // 2, start.y()))
    qtbot.mouseMove(parts.view, end)
    qtbot.mouseRelease(parts.view, LEFT, modifier, end)


def _wheel(
    parts: TimelineParts, place: QPointF, delta: int, modifier: Qt.KeyboardModifier = NONE
) -> None:
    event = QWheelEvent(
        place,
        parts.view.mapToGlobal(place),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        modifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(parts.view, event)


def test_a_click_puts_the_cursor_there_and_tells_it(parts: TimelineParts, qtbot: QtBot) -> None:
    with qtbot.waitSignal(parts.view.time_chosen) as told:
        qtbot.mouseClick(parts.view, LEFT, pos=parts.point(10.0))
    assert told.args == [pytest.approx(10 * RATE, abs=RATE / 10)]
    assert parts.marks.cursor == told.args[0]


def test_a_double_click_plays_from_there(parts: TimelineParts, qtbot: QtBot) -> None:
    qtbot.mouseDClick(parts.view, LEFT, pos=parts.point(10.0))
    assert parts.playback.calls == [("play", pytest.approx(10 * RATE, abs=RATE / 10), None)]


def test_the_wheel_zooms_about_the_pointer(parts: TimelineParts) -> None:
    view = parts.view
    view.set_following(False)
    x = view.sizes.header + 300.0
    before, span_s = view.sample_at(x), view.model.span_s
    _wheel(parts, QPointF(x, 80.0), 240)
    assert view.model.span_s < span_s
    assert view.sample_at(x) == pytest.approx(before, abs=2 * RATE * view.model.px_s)


def test_a_drag_scrolls_and_shift_with_the_wheel_does_too(
    parts: TimelineParts, qtbot: QtBot
) -> None:
    view = parts.view
    view.model.go_to_start()
    for _ in range(3):
        view.zoom(True)
    view.model.go_to_start()
    y = view.sizes.top + 10
    _drag(parts, qtbot, QPoint(700, y), QPoint(500, y), NONE)
    start_s = view.model.start_s
    assert start_s == pytest.approx(200 * view.model.px_s, rel=0.1)
    assert parts.marks.cursor is None
    _wheel(parts, QPointF(600, y), -240, SHIFT)
    assert view.model.start_s > start_s
    assert parts.marks.selection is None


@pytest.mark.parametrize("place", ["rows with Shift", "ruler", "level strip"])
def test_a_drag_selects_with_shift_and_in_the_strips(
    parts: TimelineParts, qtbot: QtBot, place: str
) -> None:
    sizes = parts.view.sizes
    y = {"ruler": 5, "level strip": sizes.ruler + 5}.get(place, sizes.top + 20)
    modifier = SHIFT if place.startswith("rows") else NONE
    _drag(parts, qtbot, parts.point(4.0, y), parts.point(7.0, y), modifier)
    assert parts.marks.selection == (
        pytest.approx(4 * RATE, abs=RATE / 10),
        pytest.approx(7 * RATE, abs=RATE / 10),
    )


def test_the_edges_of_the_selection_can_be_dragged(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.marks.select(4 * RATE, 7 * RATE)
    _drag(parts, qtbot, parts.point(7.0), parts.point(9.0), NONE)
    assert parts.marks.selection == (4 * RATE, pytest.approx(9 * RATE, abs=RATE / 10))
    _drag(parts, qtbot, parts.point(4.0), parts.point(11.0), NONE)
    start, end = parts.marks.selection or (0, 0)
    assert (start, end) == (
        pytest.approx(9 * RATE, abs=RATE / 10),
        pytest.approx(11 * RATE, abs=RATE / 10),
    )


def test_a_click_elsewhere_ends_the_selection(parts: TimelineParts, qtbot: QtBot) -> None:
    parts.marks.select(4 * RATE, 7 * RATE)
    qtbot.mouseClick(parts.view, LEFT, pos=parts.point(12.0))
    assert parts.marks.selection is None


def test_a_double_click_on_a_name_lets_it_be_written(parts: TimelineParts, qtbot: QtBot) -> None:
    place = parts.view.name_rect(1).center()
    qtbot.mouseDClick(parts.view, LEFT, pos=place)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    assert editor.text() == "Speaker B"
    qtbot.keyClicks(editor, "Ida")
    qtbot.keyClick(editor, Key.Key_Return)
    assert parts.state.document.speaker_name(B) == "Ida"
    assert not editor.isVisible()
    assert parts.view.hasFocus()
    parts.editing.undo()
    assert parts.state.document.speaker_name(B) == "Speaker B"


def test_the_pointer_draws_a_line_that_goes_with_it(parts: TimelineParts, qtbot: QtBot) -> None:
    plain = parts.picture()
    qtbot.mouseMove(parts.view, parts.point(15.5))
    pointed = parts.picture()
    assert pointed != plain
    QApplication.sendEvent(parts.view, QEvent(QEvent.Type.Leave))
    assert parts.picture() == plain


def test_a_name_being_written_is_given_up_when_another_document_is_shown(
    parts: TimelineParts, qtbot: QtBot
) -> None:
    parts.view.choose_row(0)
    parts.view.commands.rename_current()
    (editor,) = [e for e in parts.view.findChildren(NameEditor) if e.is_open]
    editor.setText("Maria")
    other = TranscriptDocument()
    for event in conversation():
        other.apply(event)
    parts.state.show_stored(other, "Other", "other")
    assert not editor.isVisible()
    assert other.speaker_name(A) == "Speaker A"

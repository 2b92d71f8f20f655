"""The speaker timeline on documents built by scripts."""

import time

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.views.speaker_timeline import SpeakerTimeline
from app.views.timeline_sizes import TimelineSizes
from engine.core.events import ActivityRevised, SpanMarked, SpeakerRenamed
from engine.core.types import MAX_SPEAKERS, SpanKind
from tests.helpers.window import RATE, WindowParts, activity, conversation, started

HEADER_WIDTH, ROW_HEIGHT = TimelineSizes().header, TimelineSizes().row
pytestmark = pytest.mark.gui


@pytest.fixture
def timeline(parts: WindowParts, qtbot: QtBot) -> SpeakerTimeline:
    parts.state.take(list(conversation()))
    timeline = parts.window.timeline
    qtbot.waitUntil(timeline.isVisible)
    parts.window.resize(1240, 800)
    qtbot.waitUntil(lambda: timeline.height() == timeline.sizeHint().height())
    timeline.set_duration(26.4)
    return timeline


def _color(timeline: SpeakerTimeline, time_s: float, row: int) -> QColor:
    """Return the color in the middle of a row at a moment."""
    image: QImage = timeline.grab().toImage()
    x = round(HEADER_WIDTH + timeline.model.x_of(time_s))
    return image.pixelColor(x, 8 + row * ROW_HEIGHT + ROW_HEIGHT // 2)


def test_rows_come_with_the_speakers(parts: WindowParts) -> None:
    timeline = parts.window.timeline
    parts.state.take([started()])
    assert timeline.rows.slots == ()
    parts.state.take([activity(((0, 0.5, 2.0),), 3.0, 1.0)])
    assert timeline.rows.slots == (0,)
    height = timeline.sizeHint().height()
    parts.state.take([activity(((0, 0.5, 2.0), (2, 1.0, 2.5), (3, 0.1, 2.0)), 3.0, 1.0)])
    assert timeline.rows.slots == (0, 2, 3)
    assert timeline.sizeHint().height() > height


def test_a_bar_stands_where_somebody_speaks_and_nowhere_else(
    parts: WindowParts, timeline: SpeakerTimeline
) -> None:
    theme = parts.window.appearance.theme
    assert _color(timeline, 3.0, 0) == theme.speaker(0)
    assert _color(timeline, 7.0, 0) == theme.color("ground")
    assert _color(timeline, 7.0, 1) == theme.speaker(1)


def test_an_overlap_shows_both_speakers(parts: WindowParts, timeline: SpeakerTimeline) -> None:
    theme = parts.window.appearance.theme
    assert _color(timeline, 9.1, 0) == theme.speaker(0)
    assert _color(timeline, 9.1, 1) == theme.speaker(1)


def test_what_may_still_change_is_hatched(parts: WindowParts, timeline: SpeakerTimeline) -> None:
    seen = {_color(timeline, 23.6 + i / 40, 1).name() for i in range(40)}
    assert len(seen) > 1
    final = {_color(timeline, 22.2 + i / 40, 1).name() for i in range(20)}
    assert final == {parts.window.appearance.theme.speaker(1).name()}


def test_wheel_zooms_at_the_pointer_and_drag_scrolls(
    timeline: SpeakerTimeline, qtbot: QtBot
) -> None:
    timeline.model.set_following(False)
    point = QPointF(HEADER_WIDTH + 300.0, 30.0)
    before_s, span_s = timeline.model.time_at(300.0), timeline.model.span_s
    wheel = QWheelEvent(
        point,
        timeline.mapToGlobal(point),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(timeline, wheel)
    assert timeline.model.span_s < span_s
    assert timeline.model.time_at(300.0) == pytest.approx(before_s, abs=0.01)
    timeline.model.go_to_start()
    start_s = timeline.model.start_s
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=QPoint(600, 30))
    qtbot.mouseMove(timeline, QPoint(500, 30))
    qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=QPoint(500, 30))
    assert timeline.model.start_s > start_s


def test_keys_zoom_scroll_and_follow(timeline: SpeakerTimeline, qtbot: QtBot) -> None:
    timeline.setFocus()
    span_s = timeline.model.span_s
    qtbot.keyClick(timeline, Qt.Key.Key_Plus)
    assert timeline.model.span_s < span_s
    qtbot.keyClick(timeline, Qt.Key.Key_Home)
    assert timeline.model.start_s == 0.0
    assert not timeline.follow_button.isChecked()
    qtbot.keyClick(timeline, Qt.Key.Key_Right)
    assert timeline.model.start_s > 0.0
    qtbot.keyClick(timeline, Qt.Key.Key_End)
    assert timeline.model.is_following
    assert timeline.follow_button.isChecked()
    qtbot.keyClick(timeline, Qt.Key.Key_0)
    assert timeline.model.start_s == 0.0
    assert timeline.model.end_s >= 26.4


def test_hover_tells_time_speakers_and_probabilities(
    parts: WindowParts, timeline: SpeakerTimeline
) -> None:
    parts.state.take([SpeakerRenamed(0, 0, "Maria")])
    lines = timeline.describe(9.2).splitlines()
    assert lines[0] == "00:00:09.2"
    assert lines[1].startswith("Maria: 9")
    assert lines[2].startswith("Speaker B: ")
    assert "may still change" in timeline.describe(25.0)
    assert "sound lost" in timeline.describe(15.5)


def test_own_voice_gets_a_row_of_its_own(parts: WindowParts, timeline: SpeakerTimeline) -> None:
    assert not timeline.rows.has_own_voice
    parts.state.take([SpanMarked(5, SpanKind.OWN_VOICE, 18 * RATE, 20 * RATE)])
    assert timeline.rows.has_own_voice
    timeline.grab()


def test_a_click_tells_its_moment(timeline: SpeakerTimeline, qtbot: QtBot) -> None:
    with qtbot.waitSignal(timeline.time_chosen) as told:
        point = QPoint(round(HEADER_WIDTH + timeline.model.x_of(10.0)), 30)
        qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=point)
    assert told.args == [pytest.approx(10 * RATE, abs=RATE / 10)]


def test_four_hours_cost_no_more_to_paint_than_four_minutes(parts: WindowParts) -> None:
    timeline = parts.window.timeline
    parts.state.take([started()])
    costs_s = []
    for minutes in (4, 240):
        num_frames = minutes * 60 * 1000 // 80
        rows = (np.random.default_rng(1).random((num_frames // 10, MAX_SPEAKERS)) > 0.6) * 0.9
        rows = np.repeat(rows, 10, axis=0).astype(np.float32)
        parts.state.take([ActivityRevised(0, 80, rows, num_frames)])
        timeline.model.show_all()
        timeline.grab()
        best_s = 9.0
        for _ in range(5):
            start_s = time.perf_counter()
            timeline.grab()
            best_s = min(best_s, time.perf_counter() - start_s)
        costs_s.append(best_s)
    # The number of rows drawn is bounded by the width; a factor of 60 in length must not show.
    assert costs_s[1] < 4 * costs_s[0] + 0.02

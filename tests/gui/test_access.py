"""What a screen reader is told of what the window paints itself."""

from collections.abc import Iterator
from typing import cast

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from app.access.install import make_interface
from app.access.meter import MeterInterface
from app.access.rows import RowInterface, RowsInterface
from app.access.views import timeline_interface, transcript_interface
from app.editing import Editing
from app.marks import Marks
from app.playback import Playback
from app.state import AppState
from app.theme import Appearance
from app.views.context import ViewContext
from app.views.health.level_meter import LevelMeter
from app.views.timeline.speaker_timeline import SpeakerTimeline
from engine.audio.levels import Levels
from engine.core.events import SpeakerRenamed
from tests.helpers.transcript import NotedPlayback, TranscriptParts, make_transcript
from tests.helpers.window import RATE, conversation

pytestmark = pytest.mark.gui
Text = QAccessible.Text


@pytest.fixture
def events() -> list[QAccessibleEvent]:
    return []


@pytest.fixture
def transcript(qtbot: QtBot) -> Iterator[TranscriptParts]:
    made = make_transcript()
    qtbot.addWidget(made.view)
    made.state.take(conversation())
    made.state.take([SpeakerRenamed(0, 0, "Maria")])
    yield made
    made.view.close()


@pytest.fixture
def timeline(qtbot: QtBot) -> SpeakerTimeline:
    state, marks = AppState(), Marks()
    playback = cast("Playback", NotedPlayback())
    editing = Editing(state, lambda events: state.take(events))
    view = SpeakerTimeline(ViewContext(state, Appearance("light"), marks, editing, playback))
    qtbot.addWidget(view)
    view.resize(900, 240)
    view.show()
    state.take(conversation())
    state.take([SpeakerRenamed(0, 0, "Maria")])
    return view


def rows_of(interface: RowsInterface) -> list[RowInterface]:
    children = [interface.child(index) for index in range(interface.childCount())]
    return [child for child in children if isinstance(child, RowInterface)]


def focus(view: object, qtbot: QtBot) -> None:
    view.activateWindow()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.hasFocus)


def said(events: list[QAccessibleEvent]) -> list[str]:
    """Return what was announced."""
    found = [event for event in events if isinstance(event, QAccessibleAnnouncementEvent)]
    return [event.message() for event in found]


def focused(events: list[QAccessibleEvent]) -> list[int]:
    """Return the rows that were said to have the focus."""
    return [event.child() for event in events if event.type() == QAccessible.Event.Focus]


def test_the_transcript_is_a_list_whose_rows_say_time_speaker_and_words(
    transcript: TranscriptParts,
) -> None:
    interface = transcript_interface(transcript.view)
    rows = rows_of(interface)
    assert interface.role() == QAccessible.Role.List
    assert interface.text(Text.Name) == "Transcript"
    assert len(rows) == transcript.view.row_count()
    assert {row.role() for row in rows} == {QAccessible.Role.ListItem}
    names = [row.text(Text.Name) for row in rows]
    assert "Maria" in names[0]
    assert "We should ship the small one first" in names[0]
    assert names[0].startswith("[00:00:00]")
    assert any("lost" in name for name in names)
    assert "Please do, I would like to" in names[-1]


def test_a_row_is_where_it_is_painted_and_found_there(transcript: TranscriptParts) -> None:
    interface, view = transcript_interface(transcript.view), transcript.view
    for index, row in enumerate(rows_of(interface)):
        place = view.row_rect(index)
        assert row.rect().size() == place.size()
        assert row.rect().topLeft() == view.viewport().mapToGlobal(place.topLeft())
        middle = row.rect().center()
        assert interface.childAt(middle.x(), middle.y()) is row
        assert interface.indexOfChild(row) == index
    below = view.viewport().mapToGlobal(QPoint(10, view.viewport().height() - 2))
    assert interface.childAt(below.x(), below.y()) is None
    assert interface.childAt(-500, -500) is None


def test_a_row_out_of_view_says_so(transcript: TranscriptParts) -> None:
    transcript.view.resize(700, 130)
    transcript.view.jump_to_latest()
    rows = rows_of(transcript_interface(transcript.view))
    assert rows[0].state().offscreen
    assert not rows[-1].state().offscreen


def test_the_row_of_the_keyboard_is_focused_and_chosen(
    transcript: TranscriptParts, qtbot: QtBot
) -> None:
    interface, view = transcript_interface(transcript.view), transcript.view
    focus(view, qtbot)
    view.choose_row(1)
    states = [row.state() for row in rows_of(interface)]
    assert [bool(state.focused) for state in states].index(True) == 1
    assert [bool(state.selected) for state in states].count(True) == 1
    assert states[1].selected
    assert interface.focusChild() is rows_of(interface)[1]
    view.select_all()
    assert all(row.state().selected for row in rows_of(interface))


def test_moving_by_keyboard_tells_each_row_once_and_words_within_it(
    transcript: TranscriptParts, qtbot: QtBot, events: list[QAccessibleEvent]
) -> None:
    view = transcript.view
    view.clearFocus()
    interface = transcript_interface(view, events.append)
    view.choose_row(0)
    assert events == []  # it has not the focus
    focus(view, qtbot)
    assert focused(events) == [0]
    view.choose_row(1)
    assert focused(events) == [0, 1]
    assert said(events) == []
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert focused(events) == [0, 1]
    assert said(events) == [transcript.current_text()]
    assert interface.isValid()


def test_rows_that_are_gone_are_invalid_and_say_nothing(transcript: TranscriptParts) -> None:
    rows = rows_of(transcript_interface(transcript.view))
    transcript.state.take(conversation()[:1])
    assert transcript.view.row_count() == 0
    for row in rows:
        assert not row.isValid()
        assert row.text(Text.Name) == ""
        assert row.rect().isEmpty()
        assert row.state().invalid


def test_the_button_over_the_transcript_is_reached_behind_the_rows(
    transcript: TranscriptParts,
) -> None:
    view, interface = transcript.view, transcript_interface(transcript.view)
    num_rows = view.row_count()
    assert interface.childCount() == num_rows
    view.resize(700, 130)
    view.verticalScrollBar().setValue(0)
    assert view.jump_button.isVisible()
    assert interface.childCount() == num_rows + 1
    button = interface.child(num_rows)
    assert button.object() is view.jump_button
    assert interface.indexOfChild(button) == num_rows
    middle = view.jump_button.mapToGlobal(view.jump_button.rect().center())
    assert interface.childAt(middle.x(), middle.y()).object() is view.jump_button


def test_interfaces_of_rows_go_with_their_view(qtbot: QtBot) -> None:
    made = make_transcript()
    made.state.take(conversation())
    interface = transcript_interface(made.view)
    rows = rows_of(interface)
    identities = [QAccessible.uniqueId(row) for row in rows]
    assert all(QAccessible.accessibleInterface(identity) is not None for identity in identities)
    Shiboken.delete(made.view)
    assert not any(Shiboken.isValid(row) for row in rows)
    assert all(QAccessible.accessibleInterface(identity) is None for identity in identities)


def test_the_timeline_is_a_list_of_speakers_with_what_is_said_now(
    timeline: SpeakerTimeline,
) -> None:
    interface = timeline_interface(timeline)
    rows = rows_of(interface)
    assert interface.text(Text.Name) == "Speaker timeline"
    assert [row.text(Text.Name).split(":")[0] for row in rows] == [
        "Maria",
        "Speaker B",
        "Speaker C",
    ]
    assert "of the time shown" in rows[0].text(Text.Name)
    assert rows[0].text(Text.Description) == timeline.describe_now()
    assert timeline.describe_now() in interface.text(Text.Description)
    for index, row in enumerate(rows):
        place = timeline.row_rect_on_widget(index)
        assert row.rect().topLeft() == timeline.mapToGlobal(place.topLeft())
        assert interface.childAt(row.rect().center().x(), row.rect().center().y()) is row


def test_going_to_a_moment_in_the_timeline_tells_what_is_said_there(
    timeline: SpeakerTimeline, qtbot: QtBot, events: list[QAccessibleEvent]
) -> None:
    interface = timeline_interface(timeline, events.append)
    focus(timeline, qtbot)
    timeline.choose_row(0)
    timeline.time_chosen.emit(2 * RATE)
    assert focused(events) == [0]
    (moment,) = said(events)
    assert moment == timeline.describe(2.0)
    assert "Maria: 9" in moment
    timeline.choose_row(2)
    assert focused(events) == [0, 2]
    assert interface.isValid()


def test_a_timeline_without_speakers_has_no_row(qtbot: QtBot) -> None:
    state = AppState()
    playback = cast("Playback", NotedPlayback())
    editing = Editing(state, lambda _: None)
    view = SpeakerTimeline(ViewContext(state, Appearance("dark"), Marks(), editing, playback))
    qtbot.addWidget(view)
    view.show()
    assert rows_of(timeline_interface(view)) == []


def test_the_level_meter_has_a_value_between_its_ends(qtbot: QtBot) -> None:
    meter = LevelMeter(Appearance("light"))
    qtbot.addWidget(meter)
    interface = MeterInterface(meter)
    value = interface.valueInterface()
    assert interface.text(Text.Name) == "Input level"
    assert interface.text(Text.Value) == "silence"
    assert value.currentValue() == value.minimumValue() == -60.0
    assert interface.textInterface() is None  # what it has not must not crash
    assert interface.actionInterface() is not None
    meter.set_levels(Levels(-9.0, -21.0, is_clipped=False))
    assert interface.text(Text.Value) == "-21 decibels"
    assert value.currentValue() == -21.0
    meter.set_levels(Levels(0.0, 3.0, is_clipped=True))
    assert interface.text(Text.Value) == "3 decibels, clipping"
    assert value.currentValue() == value.maximumValue() == 0.0


def test_only_what_paints_itself_gets_an_interface_of_ours(
    transcript: TranscriptParts, timeline: SpeakerTimeline
) -> None:
    assert isinstance(make_interface("", transcript.view), RowsInterface)
    assert isinstance(make_interface("", timeline), RowsInterface)
    assert make_interface("", transcript.view.viewport()) is None
    assert make_interface("", QApplication.instance()) is None

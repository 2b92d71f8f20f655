"""Hearing what was recorded, from the window: where it begins, where it is, what goes wrong."""

from typing import TYPE_CHECKING

import pytest

from app.playback import Playback
from engine.core.events import Event, PlayChanged, PlayState
from engine.text.document import TranscriptDocument
from tests.helpers.window import conversation

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts

pytestmark = pytest.mark.gui

PLAYING = PlayChanged(PlayState.PLAYING, 1000, 9000)
PAUSED = PlayChanged(PlayState.PAUSED, 1000, 9000)
ENDED = PlayChanged(PlayState.ENDED, 1000, 9000)


@pytest.fixture
def playback(parts: "WindowParts") -> Playback:
    return parts.context.playback


def tell(parts: "WindowParts", qtbot: "QtBot", *events: Event) -> None:
    """Let the session say something, and wait until the window has heard it."""
    parts.session.post(*events)
    qtbot.waitUntil(lambda: parts.state.play == events[-1])


def test_play_when_asked_then_the_shown_recording_is_asked_for(
    parts: "WindowParts", playback: Playback
) -> None:
    playback.play(1000, 9000)
    assert parts.session.calls[-1] == "play 1000 9000"
    assert playback.is_playing
    parts.state.show_stored(TranscriptDocument(), "Interview", "2026-01-02")
    assert parts.session.calls[-1] == "stop playing"
    assert not playback.is_playing
    playback.play(7)
    assert parts.session.calls[-1] == "play 7 None 2026-01-02"


def test_place_when_playing_then_is_followed_and_rests_when_paused(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    marks = parts.context.marks
    playback.play(1000, 9000)
    assert marks.playing is None
    tell(parts, qtbot, PLAYING)
    for place in (1500, 2500):
        parts.session.heard = place
        qtbot.waitUntil(lambda place=place: marks.playing == place)
    tell(parts, qtbot, PAUSED)
    assert playback.is_paused
    parts.session.heard = 2600
    qtbot.wait(100)
    assert marks.playing == 2500
    tell(parts, qtbot, PLAYING)
    qtbot.waitUntil(lambda: marks.playing == 2600)
    parts.session.is_playing = False
    tell(parts, qtbot, ENDED)
    assert marks.playing is None
    assert not playback.is_playing
    assert not playback.is_paused


def test_timer_when_nothing_plays_then_stands_still(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    moved = []
    parts.context.marks.playing_changed.connect(lambda: moved.append(1))
    parts.session.heard = 5
    qtbot.wait(100)
    assert moved == []
    playback.play(0)
    qtbot.waitUntil(lambda: bool(moved))
    playback.stop()
    moved.clear()
    parts.session.heard = 6
    qtbot.wait(100)
    assert moved == []


def test_toggle_when_something_plays_then_pauses_and_goes_on(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    playback.toggle()
    assert parts.session.calls[-1] == "play 0 None"
    tell(parts, qtbot, PLAYING)
    playback.toggle()
    assert parts.session.calls[-1] == "pause playing"
    tell(parts, qtbot, PAUSED)
    playback.toggle()
    assert parts.session.calls[-1] == "resume playing"


def test_toggle_when_nothing_plays_then_begins_at_selection_or_cursor(
    parts: "WindowParts", playback: Playback
) -> None:
    marks = parts.context.marks
    marks.set_cursor(4000)
    playback.toggle()
    assert parts.session.calls[-1] == "play 4000 None"
    playback.stop()
    assert parts.session.calls[-1] == "stop playing"
    marks.select(5000, 6000)
    playback.toggle()
    assert parts.session.calls[-1] == "play 5000 6000"


def test_changed_when_the_state_changes_then_is_told(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    told: list[tuple[bool, bool]] = []
    playback.changed.connect(lambda: told.append((playback.is_playing, playback.is_paused)))
    playback.play(0)
    tell(parts, qtbot, PAUSED)
    parts.session.is_playing = False
    tell(parts, qtbot, ENDED)
    assert told == [(True, False), (False, True), (False, False)]


def test_play_when_another_place_is_asked_for_meanwhile_then_the_end_of_the_old_is_no_end(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    playback.play(1000, 9000)
    tell(parts, qtbot, PLAYING)
    playback.play(20_000)
    tell(parts, qtbot, ENDED)
    assert playback.is_playing
    playback.stop()
    # Told before it was stopped, heard by the window after.
    tell(parts, qtbot, PlayChanged(PlayState.PLAYING, 20_000, 30_000))
    assert not playback.is_playing


def test_play_when_it_fails_then_a_notice_says_why(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    tell_text = "Nothing of this recording is kept, so this moment cannot be heard any more."
    playback.play(1000)
    parts.session.is_playing = False
    tell(parts, qtbot, PlayChanged(PlayState.FAILED, 1000, 1000, tell_text))
    assert parts.state.open_notices[-1].notice.message == tell_text
    assert not playback.is_playing
    assert parts.context.marks.playing is None


def test_play_when_a_recording_begins_then_ends(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    playback.play(1000)
    parts.session.post(*conversation())
    qtbot.waitUntil(lambda: not playback.is_playing)
    assert "stop playing" in parts.session.calls


def test_play_when_the_engine_is_not_there_yet_then_says_so(
    parts: "WindowParts", playback: Playback
) -> None:
    parts.controller.session, session = None, parts.controller.session
    playback.play(0)
    playback.toggle()
    playback.stop()
    parts.controller.session = session
    assert not playback.is_playing
    assert "still starting" in parts.state.open_notices[-1].notice.message


def test_play_when_clicks_fail_again_and_again_then_why_is_told_once(
    parts: "WindowParts", qtbot: "QtBot", playback: Playback
) -> None:
    def fail(start: int, *, is_aside: bool) -> None:
        playback.play(start, is_aside=is_aside)
        parts.session.is_playing = False
        tell(parts, qtbot, PlayChanged(PlayState.FAILED, start, start, "No sound was kept."))

    for number in range(3):
        fail(number, is_aside=True)
    assert len(parts.state.history) == 1
    fail(4, is_aside=False)
    assert len(parts.state.history) == 2
    parts.state.show_stored(TranscriptDocument(), "Interview", "2026-01-02")
    fail(5, is_aside=True)
    assert len(parts.state.history) == 3

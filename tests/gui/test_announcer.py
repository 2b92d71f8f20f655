"""What is said aloud without being asked for: lines if wanted, recording and losses always."""

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.access.announcer import INTERVAL_MS, MAX_WORDS, Announcer
from app.state import AppState
from engine.core.events import (
    FinalWords,
    Notice,
    SessionState,
    Severity,
    SpanMarked,
    SpeakerRenamed,
    StateChanged,
)
from engine.core.types import SpanKind
from engine.text.document import TranscriptDocument
from tests.helpers.window import RATE, activity, started, words

pytestmark = pytest.mark.gui


class Ears:
    """An announcer, what it said, and its clock, which stands still unless told."""

    def __init__(self) -> None:
        self.state = AppState()
        self.said: list[tuple[str, bool]] = []
        self.announcer = Announcer(self.state, lambda text, now: self.said.append((text, now)))
        self.timer = self.announcer.findChild(QTimer)
        self.state.take([started()])

    def take_said(self) -> list[str]:
        """Return the texts since the last time."""
        texts, self.said = [text for text, _ in self.said], []
        return texts

    def pass_interval(self) -> None:
        """Let the time between two announcements go by, if anything waits for it."""
        if self.timer.isActive():
            self.timer.stop()
            self.timer.timeout.emit()


@pytest.fixture
def ears(qtbot: QtBot) -> Ears:
    assert qtbot
    return Ears()


def say(ears: Ears, text: str, start_s: float) -> None:
    ears.state.take([FinalWords(words(text, start_s, start_s + 1.0))])


def test_lines_are_silent_unless_they_are_wanted(ears: Ears) -> None:
    say(ears, "Nobody asked for this.", 0.0)
    ears.pass_interval()
    assert ears.said == []
    ears.announcer.set_enabled(True)
    ears.pass_interval()
    assert ears.said == []  # nor for what came before
    say(ears, "But for this.", 1.0)
    ears.pass_interval()
    assert ears.said == [("But for this.", False)]
    ears.announcer.set_enabled(False)
    say(ears, "And not for this.", 2.0)
    ears.pass_interval()
    assert len(ears.said) == 1


def test_lines_of_one_interval_are_joined_and_come_once(ears: Ears) -> None:
    ears.announcer.set_enabled(True)
    for second, text in enumerate(("One,", "two,", "three.")):
        say(ears, text, float(second))
        assert ears.said == []
    assert ears.timer.interval() == INTERVAL_MS >= 2000
    ears.pass_interval()
    assert ears.take_said() == ["One, two, three."]
    ears.pass_interval()
    assert ears.said == []


def test_a_speaker_is_named_when_it_is_another_one(ears: Ears) -> None:
    ears.announcer.set_enabled(True)
    ears.state.take(
        [activity(((0, 0.0, 4.0), (1, 4.0, 8.0)), 8.0, 8.0), SpeakerRenamed(0, 0, "Maria")]
    )
    say(ears, "First I speak.", 0.5)
    say(ears, "Now I do.", 5.0)
    ears.pass_interval()
    assert ears.take_said() == ["Maria: First I speak.\nSpeaker B: Now I do."]
    say(ears, "And I go on.", 6.5)
    ears.pass_interval()
    assert ears.take_said() == ["And I go on."]


def test_if_too_much_came_only_the_newest_is_said(ears: Ears) -> None:
    ears.announcer.set_enabled(True)
    numbers = [str(n) for n in range(5 * MAX_WORDS)]
    say(ears, " ".join(numbers), 0.0)
    ears.pass_interval()
    assert ears.take_said() == [" ".join(numbers[-MAX_WORDS:])]
    ears.pass_interval()
    assert ears.said == []


def test_if_too_much_came_the_newest_begins_with_a_sentence(ears: Ears) -> None:
    ears.announcer.set_enabled(True)
    say(ears, "word " * MAX_WORDS + "end. " + "New sentence. " * (MAX_WORDS // 2 - 4), 0.0)
    ears.pass_interval()
    (text,) = ears.take_said()
    assert text.startswith("New sentence. New")


def test_a_new_recording_begins_anew(ears: Ears) -> None:
    ears.announcer.set_enabled(True)
    say(ears, "Of the first recording.", 0.0)
    ears.pass_interval()
    ears.state.take([started()])
    say(ears, "Second.", 0.0)
    ears.pass_interval()
    assert ears.take_said() == ["Of the first recording.", "Second."]


def test_a_stored_session_is_not_read_out(ears: Ears) -> None:
    ears.announcer.set_enabled(True)
    stored = TranscriptDocument()
    stored.apply(started())
    stored.apply(FinalWords(words("Long ago.", 0.0, 1.0)))
    ears.state.show_stored(stored, "Monday", "an-id")
    ears.pass_interval()
    assert ears.said == []


def test_recording_is_told_at_once_with_and_without_lines(ears: Ears) -> None:
    for state in (
        SessionState.STARTING,
        SessionState.RECORDING,
        SessionState.PAUSED,
        SessionState.RECORDING,
        SessionState.STOPPING,
        SessionState.IDLE,
    ):
        ears.state.take([StateChanged(state)])
    assert ears.said == [
        ("Recording", True),
        ("Recording is paused", True),
        ("Recording goes on", True),
        ("The recording has ended", True),
    ]


def test_a_state_told_twice_is_said_once(ears: Ears) -> None:
    ears.state.take([StateChanged(SessionState.RECORDING)])
    ears.state.take([StateChanged(SessionState.RECORDING, "again")])
    assert ears.take_said() == ["Recording"]


def test_each_loss_of_sound_is_told_once(ears: Ears) -> None:
    ears.state.take([SpanMarked(1, SpanKind.OWN_VOICE, 0, RATE)])
    assert ears.said == []
    ears.state.take([SpanMarked(2, SpanKind.GAP, RATE, round(2.5 * RATE), "late")])
    assert ears.said == [("1.5 seconds of sound were lost", True)]
    ears.state.take([SpanMarked(3, SpanKind.UNTRANSCRIBED, 4 * RATE, 5 * RATE)])
    assert len(ears.said) == 1


@pytest.mark.parametrize(
    ("severity", "is_urgent"),
    [(Severity.INFO, False), (Severity.WARNING, True), (Severity.ERROR, True)],
)
def test_notices_are_told_with_what_to_do(ears: Ears, severity: Severity, is_urgent: bool) -> None:
    ears.state.add_notice(Notice(severity, "The microphone is gone.", "Plug it in."))
    ears.state.dismiss_notice()
    assert ears.said == [("The microphone is gone. Plug it in.", is_urgent)]

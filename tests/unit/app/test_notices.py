"""Which notice is read first, and which go by themselves."""

import pytest

from app.notices import DatedNotice, OpenNotices, leaves_at_s
from app.state import AppState
from engine.core.events import (
    BackendChanged,
    BackendState,
    Event,
    Notice,
    SessionState,
    Severity,
    StateChanged,
)
from engine.core.types import BackendKind

pytestmark = pytest.mark.unit

NO_RECOGNIZER = Notice(
    Severity.ERROR, "There is no recognizer.", "Fetch it.", "recognizer", ends_with_recording=True
)
NO_DIARIZER = Notice(
    Severity.ERROR, "There is no diarizer.", "Fetch it.", "diarizer", ends_with_recording=True
)
FULL = Notice(Severity.ERROR, "The disk is full.")
SLOW = Notice(Severity.WARNING, "It is slow.")
SAVED = Notice(Severity.INFO, "Saved as talk.txt.")


class Clock:
    """A clock that stands until it is set."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> AppState:
    return AppState(now_s=clock)


def shown(state: AppState) -> list[Notice]:
    """Return what is open, the first to be read first."""
    return [dated.notice for dated in reversed(state.open_notices)]


@pytest.mark.parametrize("came", [(NO_RECOGNIZER, NO_DIARIZER), (NO_DIARIZER, NO_RECOGNIZER)])
def test_order_when_words_and_speakers_are_missing_then_words_come_first(
    state: AppState, came: tuple[Notice, ...]
) -> None:
    state.take(came)
    assert shown(state) == [NO_RECOGNIZER, NO_DIARIZER]


def test_order_when_a_warning_follows_an_error_then_the_error_stays_first(state: AppState) -> None:
    state.take([NO_DIARIZER, FULL, SLOW])
    assert shown(state) == [FULL, NO_DIARIZER, SLOW]


def test_order_when_information_has_just_come_then_it_is_first_until_it_leaves(
    state: AppState, clock: Clock
) -> None:
    state.take([SAVED, FULL])
    assert shown(state) == [FULL, SAVED]
    state.add_notice(SAVED)
    assert shown(state) == [SAVED, FULL]
    clock.now_s += 5
    assert state.expire_notices() == pytest.approx(1.9)
    assert shown(state) == [SAVED, FULL]
    clock.now_s += 2
    assert state.expire_notices() is None
    assert shown(state) == [FULL]
    assert [dated.notice for dated in state.history] == [SAVED, FULL, SAVED]


def test_time_when_information_is_longer_then_it_stays_longer() -> None:
    brief, long = Notice(Severity.INFO, "Saved."), Notice(Severity.INFO, "x" * 200, "y" * 100)
    assert leaves_at_s(FULL, 0.0) is None
    assert leaves_at_s(brief, 3.0) == pytest.approx(9.3)
    assert leaves_at_s(long, 0.0) == pytest.approx(21.0)


def test_model_when_it_is_there_then_what_was_told_of_its_lack_goes(state: AppState) -> None:
    state.take([NO_RECOGNIZER, NO_DIARIZER, FULL])
    state.take([BackendChanged(BackendKind.RECOGNIZER, "whisper", BackendState.LOADING)])
    assert NO_RECOGNIZER in shown(state)
    told: list[int] = []
    state.notices_changed.connect(lambda: told.append(1))
    state.take([BackendChanged(BackendKind.RECOGNIZER, "whisper", BackendState.READY)])
    assert shown(state) == [FULL, NO_DIARIZER]
    assert told == [1]


def test_recording_when_it_has_ended_then_only_what_speaks_of_its_going_on_goes(
    state: AppState,
) -> None:
    state.take([StateChanged(SessionState.RECORDING), NO_DIARIZER, FULL])
    state.take([StateChanged(SessionState.STOPPING)])
    assert len(shown(state)) == 2
    state.take([StateChanged(SessionState.IDLE)])
    assert shown(state) == [FULL]


def test_topic_when_more_is_told_of_it_then_only_the_newest_is_open() -> None:
    lost = Notice(Severity.WARNING, "The microphone was lost.", topic="input")
    back = Notice(Severity.INFO, "The microphone is back.", topic="input")
    notices = OpenNotices()
    for notice in (lost, SLOW, back):
        notices.add(DatedNotice("", notice))
    assert [dated.notice for dated in notices.in_order] == [back, SLOW]


def test_dismissing_when_several_are_open_then_the_first_goes_or_all_at_once(
    state: AppState,
) -> None:
    state.take([NO_RECOGNIZER, NO_DIARIZER, SLOW])
    state.dismiss_notice()
    assert shown(state) == [NO_DIARIZER, SLOW]
    state.dismiss_notices()
    assert shown(state) == []
    assert len(state.history) == 3


@pytest.mark.parametrize("is_first", [True, False])
def test_words_when_the_recording_began_without_a_recognizer_then_it_has_none_to_its_end(
    state: AppState, is_first: bool
) -> None:
    missing = BackendChanged(BackendKind.RECOGNIZER, "whisper", BackendState.FAILED)
    ready = BackendChanged(BackendKind.RECOGNIZER, "whisper", BackendState.READY)
    began: list[Event] = [StateChanged(SessionState.STARTING), missing, NO_RECOGNIZER]
    state.take(began if is_first else [StateChanged(SessionState.STARTING), ready])
    state.take([StateChanged(SessionState.RECORDING), ready, StateChanged(SessionState.IDLE)])
    assert state.is_wordless == is_first
    state.take([StateChanged(SessionState.STARTING)])
    assert not state.is_wordless

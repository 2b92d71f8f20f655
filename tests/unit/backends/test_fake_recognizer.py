import numpy as np
import pytest

from engine.backends import registry
from engine.backends.fake_recognizer import (
    SAMPLE_RATE,
    FakeRecognizer,
    FakeRecognizerStream,
    RecognizerScript,
    words_from_text,
)
from engine.core.errors import BackendError, CancelledError, ModelMissingError
from engine.core.events import FinalWords, PartialWords, StreamEvent
from engine.core.sync import CancelToken
from engine.core.timebase import VirtualClock
from engine.core.types import BackendKind, Word, join_words
from tests.helpers.backends import load, make_context

pytestmark = pytest.mark.unit


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE), dtype=np.float32)


def open_stream(
    script: RecognizerScript, clock: VirtualClock | None = None
) -> FakeRecognizerStream:
    backend = FakeRecognizer(script, (clock or VirtualClock()).sleep)
    load(backend)
    return backend.open_stream()


def finals(events: list[StreamEvent]) -> list[Word]:
    return [word for event in events if isinstance(event, FinalWords) for word in event.words]


def test_push_when_a_word_ends_shows_it_before_it_is_final() -> None:
    script = RecognizerScript(words_from_text("good morning"), partial_delay=1600, final_delay=8000)
    stream = open_stream(script)
    assert stream.push(silence(0.39)) == []
    (shown,) = stream.push(silence(0.02))
    assert isinstance(shown, PartialWords)
    assert shown.heard_until == 6400
    assert " good".startswith(shown.words[0].text)
    events = list(stream.push(silence(1.0)))
    assert finals(events) == list(words_from_text("good morning"))
    assert events[-1] == PartialWords((), 11_200 + 8000)


def test_flush_when_words_wait_makes_the_ended_ones_final() -> None:
    stream = open_stream(RecognizerScript(words_from_text("one two three")))
    stream.push(silence(0.75))
    assert finals(list(stream.flush())) == list(words_from_text("one two three"))[:2]
    stream.push(silence(0.4))
    assert join_words(finals(list(stream.flush()))) == "three"


def test_push_when_no_script_is_given_says_a_word_each_400_ms_for_ever() -> None:
    stream = open_stream(RecognizerScript(seed=3))
    words = finals([*stream.push(silence(60)), *stream.flush()])
    assert len(words) == 150
    assert words[1].start == 6400
    other = open_stream(RecognizerScript(seed=4))
    assert finals([*other.push(silence(60))])[:100] != words[:100]


def test_push_when_scripted_to_fail_fails_once_and_loses_no_word() -> None:
    words = words_from_text("one two three four five")
    stream = open_stream(RecognizerScript(words, fail_at=16_000))
    stream.push(silence(0.9))
    with pytest.raises(BackendError) as caught:
        stream.push(silence(0.9))
    assert caught.value.recoverable
    assert finals([*stream.push(silence(1.0)), *stream.flush()]) == list(words)


def test_push_when_scripted_to_fail_for_good_fails_every_time() -> None:
    stream = open_stream(RecognizerScript(fail_at=0, is_recoverable=False))
    for _ in range(2):
        with pytest.raises(BackendError) as caught:
            stream.push(silence(0.1))
        assert not caught.value.recoverable


def test_push_when_scripted_to_cost_sleeps_in_proportion() -> None:
    clock = VirtualClock()
    stream = open_stream(RecognizerScript(cost_s=0.5), clock)
    stream.push(silence(4.0))
    assert clock.now_s() == pytest.approx(2.0)


def test_load_when_scripted_to_fail_or_cancelled_raises() -> None:
    failing = FakeRecognizer(RecognizerScript(load_error=ModelMissingError("gone")))
    with pytest.raises(ModelMissingError, match="gone"):
        load(failing)
    cancel = CancelToken()
    slow = FakeRecognizer(RecognizerScript(load_s=10), lambda seconds: cancel.cancel())
    with pytest.raises(CancelledError):
        slow.load(lambda fraction, text: None, cancel)


def test_script_when_delays_are_out_of_order_is_refused() -> None:
    with pytest.raises(ValueError, match="partial_delay"):
        RecognizerScript(partial_delay=2, final_delay=1)


def test_create_when_given_a_text_says_it_once() -> None:
    backend = registry.create(BackendKind.RECOGNIZER, "fake:hello world", make_context())
    load(backend)
    stream = backend.open_stream()
    assert join_words(finals([*stream.push(silence(20)), *stream.flush()])) == "hello world"

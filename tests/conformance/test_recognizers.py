"""What every recognizer of the registry keeps, the ones with real weights included."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.backends import registry
from engine.backends.protocols import Recognizer
from engine.core.events import FinalWords, PartialWords, StreamEvent
from engine.core.types import BackendKind, Pcm, Word
from tests.conformance.common import check_life, check_spec, run, run_two
from tests.helpers.backends import blocks, demo_speech, load, make_context, registered

KIND = BackendKind.RECOGNIZER


@dataclass
class Told:
    """What a listener makes of the events; checks each as it comes."""

    rate: int
    finals: list[Word] = field(default_factory=list)
    partials: tuple[Word, ...] = ()
    num_partials: int = 0
    heard_until: int = 0

    def take(self, events: Sequence[StreamEvent], position: int) -> None:
        for event in events:
            if isinstance(event, FinalWords):
                assert event.words
                for word in event.words:
                    self._check(word, position)
                    assert word.start >= (self.finals[-1].start if self.finals else 0)
                    self.finals.append(word)
            else:
                assert isinstance(event, PartialWords)
                assert self.heard_until <= event.heard_until <= position
                self.heard_until = event.heard_until
                self.partials = event.words
                self.num_partials += bool(event.words)
                for word in event.words:
                    self._check(word, position)

    def _check(self, word: Word, position: int) -> None:
        assert word.text.strip()
        assert 0 <= word.start <= word.end <= position
        assert 0.0 <= word.probability <= 1.0


@pytest.fixture(scope="module", params=registered(KIND))
def recognizer(request: pytest.FixtureRequest) -> Iterator[Recognizer]:
    backend = registry.create(KIND, request.param, make_context())
    check_spec(backend, KIND, request.param)
    load(backend)
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def speech(recognizer: Recognizer) -> Pcm:
    return demo_speech(0.0, 6.0, recognizer.spec.sample_rate)


@pytest.fixture(scope="module")
def reference(recognizer: Recognizer, speech: Pcm) -> list[StreamEvent]:
    stream = recognizer.open_stream()
    events = run(stream, blocks(speech, recognizer.spec.block_size))
    stream.close()
    return events


def test_events_when_speech_is_pushed_keep_the_contract(
    recognizer: Recognizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    told = Told(recognizer.spec.sample_rate)
    told.take(reference, len(speech))
    assert len(told.finals) >= 5
    assert told.num_partials >= 2
    assert told.partials == (), "flush leaves no partial word"
    assert told.finals[-1].end > len(speech) * 0.7


def test_events_when_blocks_are_cut_differently_are_the_same(
    recognizer: Recognizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    stream = recognizer.open_stream()
    told = Told(recognizer.spec.sample_rate)
    events: list[StreamEvent] = []
    position = 0
    for block in blocks(speech, 1, 0, 997, 16_000, 333):
        position += len(block)
        new = stream.push(block)
        told.take(new, position)
        events += new
    events += stream.flush()
    stream.close()
    assert events == reference


def test_reset_when_a_stream_was_used_gives_the_same_events_again(
    recognizer: Recognizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    stream = recognizer.open_stream()
    rate = recognizer.spec.sample_rate
    for block in blocks(speech[2 * rate : 4 * rate], 1600):
        stream.push(block)
    stream.reset()
    assert run(stream, blocks(speech, 1600)) == reference
    stream.close()


def test_two_streams_when_pushed_in_turns_do_not_disturb_each_other(
    recognizer: Recognizer, speech: Pcm, reference: list[StreamEvent]
) -> None:
    rate = recognizer.spec.sample_rate
    one, other = recognizer.open_stream(), recognizer.open_stream()
    noise = np.random.default_rng(0).normal(0, 0.01, 3 * rate).astype(np.float32)
    first, _ = run_two((one, blocks(speech, 1600)), (other, blocks(noise, 1600)))
    assert first == reference
    one.close()
    other.close()


def test_flush_when_audio_goes_on_continues_in_time(recognizer: Recognizer) -> None:
    rate = recognizer.spec.sample_rate
    stream = recognizer.open_stream()
    told = Told(rate)
    first, second = demo_speech(0.0, 2.9, rate), demo_speech(10.0, 12.2, rate)
    told.take(run(stream, blocks(first, 1600)), len(first))
    num_first = len(told.finals)
    told.take(run(stream, blocks(second, 1600)), len(first) + len(second))
    stream.close()
    assert told.partials == ()
    assert num_first > 0
    later = told.finals[num_first:]
    assert later
    assert all(word.end > len(first) for word in later)


def test_flush_when_nothing_was_heard_tells_no_word(recognizer: Recognizer) -> None:
    stream = recognizer.open_stream()
    told = Told(recognizer.spec.sample_rate)
    told.take(stream.push(np.zeros(0, dtype=np.float32)), 0)
    told.take(stream.flush(), 0)
    told.take(stream.flush(), 0)
    stream.close()
    stream.close()
    assert told.finals == []
    assert told.partials == ()


@pytest.mark.parametrize("backend_id", registered(KIND))
def test_backend_when_not_loaded_or_closed_opens_no_stream(backend_id: str) -> None:
    check_life(registry.create(KIND, backend_id, make_context()))

import numpy as np
import pytest

from engine.backends import registry
from engine.backends.fake_synthesizer import (
    FakeSynthesizer,
    FakeSynthesizerStream,
    SynthesizerScript,
)
from engine.core.errors import BackendError, ModelLoadError
from engine.core.timebase import VirtualClock
from engine.core.types import BackendKind
from tests.helpers.backends import load, make_context

pytestmark = pytest.mark.unit


def open_stream(
    script: SynthesizerScript | None = None, clock: VirtualClock | None = None
) -> FakeSynthesizerStream:
    backend = FakeSynthesizer(script, (clock or VirtualClock()).sleep)
    load(backend)
    return backend.open_stream()


def test_speak_when_called_twice_gives_the_same_samples() -> None:
    stream = open_stream()
    first, second = (
        np.concatenate([chunk.pcm for chunk in stream.speak("Hello there.")]) for _ in range(2)
    )
    assert np.array_equal(first, second)
    assert 0.05 < np.abs(first).max() <= 0.1


def test_speak_when_letters_differ_sounds_different() -> None:
    stream = open_stream()
    a, b = (np.concatenate([chunk.pcm for chunk in stream.speak(text)]) for text in ("aa", "bb"))
    assert len(a) == len(b)
    assert not np.array_equal(a, b)


def test_speak_when_scripted_to_cost_sleeps_in_proportion() -> None:
    clock = VirtualClock()
    stream = open_stream(SynthesizerScript(cost_s=0.5), clock)
    num_samples = sum(len(chunk.pcm) for chunk in stream.speak("Hello there."))
    assert clock.now_s() == pytest.approx(0.5 * num_samples / 22_050)


def test_speak_when_scripted_to_fail_speaks_up_to_there() -> None:
    stream = open_stream(SynthesizerScript(fail_at_piece=1, is_recoverable=False))
    speech = stream.speak("One. Two.")
    assert next(speech).text_end == 4
    with pytest.raises(BackendError) as caught:
        list(speech)
    assert not caught.value.recoverable


def test_load_when_scripted_to_fail_raises() -> None:
    with pytest.raises(ModelLoadError, match="broken"):
        load(FakeSynthesizer(SynthesizerScript(load_error=ModelLoadError("broken"))))


def test_create_when_given_an_argument_refuses_it() -> None:
    with pytest.raises(BackendError, match="takes no argument"):
        registry.create(BackendKind.SYNTHESIZER, "fake:loud", make_context())

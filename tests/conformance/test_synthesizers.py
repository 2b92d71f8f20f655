"""What every synthesizer of the registry keeps, the ones with real weights included."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from engine.backends import registry
from engine.backends.protocols import SpeechChunk, Synthesizer, SynthesizerStream
from engine.core.errors import BackendError
from engine.core.types import BackendKind
from tests.conformance.common import check_life, check_spec
from tests.helpers.backends import load, make_context, registered

KIND = BackendKind.SYNTHESIZER
TEXT = "Good morning, dear reader of long texts. This is the second sentence! Is it?\n\nThe end."
SENTENCES = ("Good morning, dear reader of long texts.", "This is the second sentence!")


@pytest.fixture(scope="module", params=registered(KIND))
def synthesizer(request: pytest.FixtureRequest) -> Iterator[Synthesizer]:
    backend = registry.create(KIND, request.param, make_context())
    check_spec(backend, KIND, request.param)
    load(backend)
    yield backend
    backend.close()


@pytest.fixture
def stream(synthesizer: Synthesizer) -> Iterator[SynthesizerStream]:
    stream = synthesizer.open_stream()
    yield stream
    stream.close()


def length(chunks: list[SpeechChunk]) -> int:
    return sum(len(chunk.pcm) for chunk in chunks)


def test_speak_when_given_a_text_yields_small_sound_chunks(
    synthesizer: Synthesizer, stream: SynthesizerStream
) -> None:
    rate = synthesizer.spec.sample_rate
    chunks = list(stream.speak(TEXT))
    for chunk in chunks:
        assert chunk.pcm.dtype == np.float32
        assert chunk.pcm.ndim == 1
        assert 0 < len(chunk.pcm) <= 0.25 * rate
    sound = np.concatenate([chunk.pcm for chunk in chunks])
    assert 3.0 * rate < len(sound) < 15.0 * rate
    assert np.all(np.isfinite(sound))
    assert np.abs(sound).max() < 0.99
    level_db = 20 * np.log10(np.sqrt(np.mean(sound.astype(np.float64) ** 2)))
    assert -40 < level_db < -15


def test_speak_when_given_a_text_names_the_sentence_of_each_chunk(
    stream: SynthesizerStream,
) -> None:
    spans = [(chunk.text_start, chunk.text_end) for chunk in stream.speak(TEXT)]
    assert spans == sorted(spans)
    told = list(dict.fromkeys(TEXT[start:end] for start, end in spans))
    assert told == [*SENTENCES, "Is it?", "The end."]


def test_speak_when_called_again_speaks_again(stream: SynthesizerStream) -> None:
    first, second = list(stream.speak("One more time.")), list(stream.speak("One more time."))
    assert length(first) > 0
    # Voices with noise in them vary a little.
    assert 0.7 < length(second) / length(first) < 1.4


def test_speak_when_text_is_longer_is_longer(stream: SynthesizerStream) -> None:
    assert length(list(stream.speak(TEXT))) > 2 * length(list(stream.speak(SENTENCES[0])))


@pytest.mark.parametrize("text", ["", "   \n\t ", "... !?", "— * —"])
def test_speak_when_there_is_nothing_to_say_tells_so_and_goes_on(
    stream: SynthesizerStream, text: str
) -> None:
    with pytest.raises(BackendError) as caught:
        list(stream.speak(text))
    assert caught.value.recoverable
    assert caught.value.advice
    assert list(stream.speak("Hello."))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x", id="letter"),
        pytest.param("42", id="number"),
        pytest.param("a" * 400, id="long word"),
        pytest.param("Ünïcödé — “quotes”, e.g. 3.14 € [[x]] <b> \\ \u200b", id="signs"),
        pytest.param("a\x00b\x07", id="control characters"),
        pytest.param("a \ud800 b", id="half a surrogate pair"),
        pytest.param("so 😀 nice", id="emoji"),
    ],
)
def test_speak_when_text_is_odd_makes_sound(stream: SynthesizerStream, text: str) -> None:
    assert length(list(stream.speak(text))) > 0


def test_cancel_when_speaking_ends_before_the_next_chunk(stream: SynthesizerStream) -> None:
    speech = stream.speak(TEXT)
    next(speech)
    stream.cancel()
    assert list(speech) == []
    assert list(stream.speak("Hello."))


def test_cancel_when_nothing_was_taken_yet_yields_nothing(stream: SynthesizerStream) -> None:
    speech = stream.speak(TEXT)
    stream.cancel()
    assert list(speech) == []


def test_cancel_when_idle_does_not_touch_the_next_text(stream: SynthesizerStream) -> None:
    stream.cancel()
    assert list(stream.speak("Hello."))


def test_cancel_when_called_from_another_thread_ends_speaking(
    stream: SynthesizerStream,
) -> None:
    started, taken = threading.Event(), []

    def speak() -> None:
        for chunk in stream.speak(TEXT * 200):
            taken.append(chunk)
            started.set()

    thread = threading.Thread(target=speak)
    thread.start()
    assert started.wait(30)
    stream.cancel()
    thread.join(5)
    assert not thread.is_alive()


def test_two_streams_when_taken_in_turns_both_speak(synthesizer: Synthesizer) -> None:
    one, other = synthesizer.open_stream(), synthesizer.open_stream()
    first, second = one.speak("First voice. It goes on."), other.speak("Second voice.")
    next(second)
    assert next(first).text_start == 0
    other.cancel()
    assert list(first), "a cancel ends its own stream only"
    assert list(second) == []
    one.close()
    one.close()
    other.close()


@pytest.mark.parametrize("backend_id", registered(KIND))
def test_backend_when_not_loaded_or_closed_opens_no_stream(backend_id: str) -> None:
    check_life(registry.create(KIND, backend_id, make_context()))

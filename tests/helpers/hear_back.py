"""Records from a microphone that hears the loudspeaker, and hears that recording meanwhile.

`python -m tests.helpers.hear_back TONE SESSIONS` plays the sound file TONE into the virtual
microphone, then plays what was recorded of it: a stretch as a whole, and once more with a pause and
a jump. Prints one line of JSON: what was told.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from engine.audio.provider import SystemDevices
from engine.backends.fake_recognizer import FakeRecognizer, FakeRecognizerStream
from engine.backends.protocols import Backend, BackendContext
from engine.core.config import KeepPolicy, Settings
from engine.core.events import Event, FinalWords, PlayChanged, PlayState, StreamEvent
from engine.core.timebase import MonotonicClock
from engine.core.types import BackendKind, Pcm, SpanKind, Word
from engine.session.services import Services
from engine.session.session import Session
from tests.helpers.pulse import SPEAKER

_LOUD = 0.02
_ENDS = (PlayState.ENDED, PlayState.FAILED)


class SoundRecognizer(FakeRecognizer):
    """Writes "sound" for every block in which there is any."""

    def open_stream(self) -> "FakeRecognizerStream":
        return _SoundStream(self._script, self._sleep)


class _SoundStream(FakeRecognizerStream):
    def push(self, block: Pcm) -> Sequence[StreamEvent]:
        start = self._state.position
        self._state.position += len(block)
        if len(block) == 0 or float(np.abs(block).max()) < _LOUD:
            return ()
        return (FinalWords((Word(" sound", start, self._state.position),)),)

    def flush(self) -> Sequence[StreamEvent]:
        return ()


class HearBack:
    """The session, and what it told."""

    def __init__(self, sessions: Path) -> None:
        self.clock = MonotonicClock()
        self.played: list[PlayChanged] = []
        self.told_s: list[float] = []
        self.places: list[int] = []
        self.session = Session(
            Settings(
                recognizer="fake",
                diarizer="none",
                encoder="none",
                synthesizer="none",
                output=SPEAKER,
                keep=str(KeepPolicy.AUDIO_AND_TEXT),
            ),
            Services(
                devices=SystemDevices(self.clock),
                create_backend=self._create,
                model_path=lambda _id: sessions,
                sessions_dir=sessions,
                clock=self.clock,
            ),
        )
        self.session.subscribe(self._take)

    def record_tone(self, tone: Path) -> None:
        """Record a sound and the silence around it."""
        self.session.load()
        self.session.start().result(30)
        self.until(lambda: self.session.recorded_s() > 0.3)
        subprocess.run(["paplay", "--device=microphone_feed", str(tone)], check=True)
        end_s = self.session.recorded_s() + 0.7
        self.until(lambda: self.session.recorded_s() > end_s)

    def hear(self, start: int, end: int, *actions: Callable[[], None]) -> float:
        """Play a stretch, do things 300 ms apart meanwhile, and return when the first was told."""
        asked_s, before = self.clock.now_s(), len(self.played)
        self.session.play(start, end)
        self.until(lambda: len(self.played) > before)
        delay_s = self.told_s[before] - asked_s
        for action in actions:
            time.sleep(0.3)
            action()
        self.until(lambda: not self.session.is_playing)
        return delay_s

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait, and look where the sound is."""
        end_s = self.clock.now_s() + 30
        while not condition():
            if self.clock.now_s() > end_s:
                raise TimeoutError("it did not happen in time")
            place = self.session.playing_at()
            if place is not None:
                self.places.append(place)
            time.sleep(0.005)

    def _create(self, kind: BackendKind, _id: str, _context: BackendContext) -> Backend:
        assert kind is BackendKind.RECOGNIZER
        return SoundRecognizer()

    def _take(self, event: Event) -> None:
        if isinstance(event, PlayChanged):
            self.told_s.append(self.clock.now_s())
            self.played.append(event)


def main() -> int:
    """Do it."""
    tone, sessions = (Path(argument) for argument in sys.argv[1:])
    bench = HearBack(sessions)
    session = bench.session
    with session:
        bench.record_tone(tone)
        document = session.document
        session.drain_events()
        first, last = document.words[0].word.start, document.words[-1].word.end
        middle = (first + last) // 2
        rate = document.sample_rate
        heard = (middle - rate // 2, middle + rate // 2)
        first_delay_s = bench.hear(*heard)
        places, bench.places = bench.places, []
        time.sleep(0.5)
        next_delay_s = bench.hear(
            middle - rate,
            middle + rate,
            session.pause_playing,
            session.resume_playing,
            lambda: session.play(middle - rate, middle - rate // 2),
        )
        end_s = session.recorded_s() + 1.0
        bench.until(lambda: session.recorded_s() > end_s)
        session.stop().result(30)
        session.drain_events()
        spans = [s for s in document.spans if s.kind is SpanKind.OWN_VOICE]
        told = {
            "rate": rate,
            "heard": heard,
            "places": places,
            "states": [event.state for event in bench.played],
            "messages": [event.message for event in bench.played if event.message],
            "words": [(w.word.start, w.word.end) for w in document.words],
            "own_voice": [(span.start, span.end) for span in spans],
            "first_delay_s": first_delay_s,
            "next_delay_s": next_delay_s,
            "num_underflows": session.health().num_underflows,
        }
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

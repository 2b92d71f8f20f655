"""The soak in real time: a real sound server, the real models, both directions at once.

The microphone hears the demo conversation over and over and, quietly, the loudspeaker; the
loudspeaker speaks a text several times a minute, which the own-voice gate holds back.
"""

import os
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
import soundfile

from benchmarks.soak_report import Report
from benchmarks.soak_log import watched_log
from engine.core.config import Settings, folders, load_settings
from engine.core.events import Event, FinalWords, Notice, Severity, UtteranceChanged, UtteranceState
from engine.core.types import BackendKind
from tests.helpers.backends import demo_speech
from tests.helpers.pulse import RATE, VirtualSound

_LOOP_S = 28.0
_SPEAK_EVERY_S = 20.0
_TICK_S = 1.0
_TEXTS = (
    "The kettle is on the stove, and the bread will be ready in ten minutes.",
    "Please meet me at the harbour when the ferry comes in. I will bring the umbrellas.",
    "Nobody knew where the violin had gone, and the concert was about to begin.",
)
_ECHO = ("module-loopback", "source=speaker.monitor", "sink=microphone_feed", "latency_msec=20")
_ECHO_VOLUME = "30000"  # of 65536, cubed: a tenth
_OWN_WORDS = ("kettle", "stove", "harbour", "harbor", "ferry", "umbrella", "violin", "concert")
"""Of the texts: whoever hears them, hears the loudspeaker."""
_WORKING = (UtteranceState.DONE, UtteranceState.CANCELLED, UtteranceState.FAILED)


@dataclass
class _Watch:
    """What a run looked like while it went on."""

    times_s: list[float] = field(default_factory=list)
    recorded_s: list[float] = field(default_factory=list)
    rss_mb: list[float] = field(default_factory=list)
    num_threads: list[int] = field(default_factory=list)
    backlog_s: list[float] = field(default_factory=list)
    final_delay_s: list[float] = field(default_factory=list)
    num_words: int = 0
    num_own_words: int = 0
    endings: list[UtteranceState] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Count what is told. Thread: events."""
        match event:
            case FinalWords(words=words):
                self.num_words += len(words)
                text = "".join(word.text for word in words).lower()
                self.num_own_words += sum(text.count(word) for word in _OWN_WORDS)
            case UtteranceChanged(state=state) if state in _WORKING:
                self.endings.append(state)
            case Notice(severity=severity, message=message) if severity is not Severity.INFO:
                self.troubles.append(f"{severity}: {message}")


def run(minutes: float) -> Report:
    """Record and speak for so long; return what was measured."""
    models = str(folders(load_settings(os.environ), os.environ).models)
    with tempfile.TemporaryDirectory() as folder, VirtualSound() as sound:
        os.environ.update(sound.env())
        sound.load(*_ECHO)
        sound.run("pactl", "set-sink-input-volume", _echo_input(sound), _ECHO_VOLUME)
        wav = Path(folder) / "conversation.wav"
        _write_loop(wav, minutes * 60 + _LOOP_S)
        settings = Settings(keep="audio-and-text", models_dir=models, sessions_dir=folder)
        return _soak(sound, wav, settings, minutes * 60)


def _soak(sound: VirtualSound, wav: Path, settings: Settings, seconds: float) -> Report:
    from engine.audio import portaudio
    from engine.session.build import build_session

    portaudio.refresh_devices()
    watch, process = _Watch(), psutil.Process()
    with watched_log() as log, build_session(settings, os.environ) as session:
        session.subscribe(watch.take)
        session.load()
        for kind in (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER):
            session.wait_until_loaded(kind)
        session.start().result(30)
        with sound.playing_to_microphone(wav):
            begun_s, num_spoken = time.monotonic(), 0
            while (passed_s := time.monotonic() - begun_s) < seconds:
                if passed_s >= (num_spoken + 0.5) * _SPEAK_EVERY_S:
                    session.speak(_TEXTS[num_spoken % len(_TEXTS)])
                    num_spoken += 1
                recorded_s, now_s = session.recorded_s(), time.monotonic()
                health = session.health()
                watch.times_s.append(now_s)
                watch.recorded_s.append(recorded_s)
                watch.rss_mb.append(health.rss_bytes / 1e6)
                watch.num_threads.append(process.num_threads())
                watch.backlog_s.append(
                    max(health.recognizer_backlog_s, health.diarizer_backlog_s)
                )
                watch.final_delay_s.append(health.final_delay_s or 0.0)
                time.sleep(_TICK_S)
            health = session.health()
        session.stop().result(120)
        session.drain_events()
        spans = session.document.spans
    left = [t.name for t in threading.enumerate() if t.name.startswith("vivavoce")]
    report = Report(f"{seconds / 60:.0f} minutes in real time")
    drift_ppm, jitter_ms = _drift(watch)
    report.figure("overruns (microphone)", health.num_overflows)
    report.figure("underruns (loudspeaker)", health.num_underflows)
    report.figure("audio lost, s", round(health.lost_s, 3))
    report.figure("gaps drawn", sum(span.kind == "gap" for span in spans))
    report.figure("session clock against wall clock, ppm", round(drift_ppm, 1))
    report.figure("its jitter, ms", round(jitter_ms, 1))
    report.figure("texts spoken / ended well", f"{num_spoken} / {watch.endings.count(_WORKING[0])}")
    report.figure("words / of the loudspeaker's", f"{watch.num_words} / {watch.num_own_words}")
    report.figure("backlog, s: median, most", _spread(watch.backlog_s))
    report.figure("delay of final words, s: median, most", _spread(watch.final_delay_s))
    for name, values in (("resident memory, MB", watch.rss_mb), ("threads", watch.num_threads)):
        marks = [(m, values[min(len(values) - 1, round(m * 60 / _TICK_S))]) for m in (2, 10, 20)]
        told = ", ".join(f"{value:.0f} at {m} min" for m, value in marks if m <= seconds / 60)
        report.figure(name, f"{told}; most {max(values):.0f}")
    moves_ms = _moves_ms(next(Path(settings.sessions_dir).rglob("audio.wav")))
    report.figure("loops of the conversation, most moved, ms", round(max(moves_ms), 1))
    report.check("no overruns", health.num_overflows == 0, health.num_overflows)
    report.check("nothing lost", health.lost_s == 0, health.lost_s)
    report.check("nothing moved in the recording", max(moves_ms) < 5.0, moves_ms)
    report.check("clocks agree", abs(drift_ppm) < 100 + 30_000 / seconds, drift_ppm)
    report.check("every text was spoken", len(watch.endings) >= num_spoken - 1, watch.endings)
    report.check("no trouble was told", not watch.troubles, watch.troubles)
    report.check("all threads have ended", not left, left)
    report.check("nothing in the log", not log.lines, log.lines)
    return report


def _write_loop(wav: Path, seconds: float) -> None:
    pcm = np.zeros(round(_LOOP_S * RATE), np.float32)
    speech = demo_speech(0.0, _LOOP_S, RATE)
    pcm[: len(speech)] = speech[: len(pcm)]
    with soundfile.SoundFile(wav, "w", RATE, 1, "PCM_16") as file:
        for _ in range(int(seconds / _LOOP_S) + 1):
            file.write(pcm)


def _echo_input(sound: VirtualSound) -> str:
    """Return the number of the stream that brings the loudspeaker to the microphone."""
    modules = sound.run("pactl", "list", "short", "modules").splitlines()
    number = next(line.split("\t")[0] for line in modules if "module-loopback" in line)
    for line in sound.run("pactl", "list", "sink-inputs").split("Sink Input #"):
        if f"Owner Module: {number}\n" in line:
            return line.split("\n", 1)[0]
    raise RuntimeError("the loudspeaker is not heard by the microphone")


def _drift(watch: _Watch) -> tuple[float, float]:
    """Return (ppm, ms) of the session clock against the wall clock: slope, and what is left."""
    skip = min(10, len(watch.times_s) // 4)
    times = np.array(watch.times_s[skip:]) - watch.times_s[0]
    error_s = np.array(watch.recorded_s[skip:]) - times
    slope, offset = np.polyfit(times, error_s, 1)
    return 1e6 * float(slope), 1e3 * float(np.std(error_s - slope * times - offset))


def _moves_ms(path: Path) -> list[float]:
    """Return how far each loop of the conversation lies from where the one before says."""
    pcm, rate = soundfile.read(path, dtype="float32")
    loop, reach = round(_LOOP_S * rate), round(0.1 * rate)
    first = 2 * rate
    moves = []
    for start in range(first, len(pcm) - 2 * loop, loop):
        here, there = pcm[start : start + loop], pcm[start + loop : start + 2 * loop]
        spectrum = np.fft.rfft(there) * np.conj(np.fft.rfft(here))
        match = np.fft.irfft(spectrum)
        near = np.concatenate((match[-reach:], match[: reach + 1]))
        moves.append(abs(int(near.argmax()) - reach) * 1000 / rate)
    return moves or [0.0]


def _spread(values: list[float]) -> str:
    return f"{np.median(values):.2f}, {max(values):.2f}"

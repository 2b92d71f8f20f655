"""The soak in real time: a real sound server, the real models, both directions at once.

The microphone hears the demo conversation over and over and, quietly, the loudspeaker; the
loudspeaker speaks a text three times a minute, which the own-voice gate holds back.
"""

import os
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.soak_checks import check_threads
from benchmarks.soak_log import watched_log
from benchmarks.soak_report import Report
from benchmarks.soak_server_clock import ServerClock
from benchmarks.soak_watch import SoakWatch, check_loops
from engine.core.config import Settings, folders, load_settings
from engine.core.types import BackendKind
from engine.session.session import Session
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
_OWN_WORDS = ("kettle", "stove", "harbour", "harbor", "ferry", "umbrella", "violin", "concert")
_ECHO = ("module-loopback", "source=speaker.monitor", "sink=microphone_feed", "latency_msec=20")
_ECHO_VOLUME = "30000"  # of 65536, cubed: a tenth
_STOP_S = 120.0


def run(minutes: float) -> Report:
    """Record and speak for so long; return what was measured."""
    from engine.audio import portaudio

    models = str(folders(load_settings(os.environ), os.environ).models)
    report = Report(f"{minutes:g} minutes in real time")
    with tempfile.TemporaryDirectory() as folder, VirtualSound() as sound:
        os.environ.update(sound.env())
        portaudio.refresh_devices()
        sound.load(*_ECHO)
        sound.run("pactl", "set-sink-input-volume", _echo_input(sound), _ECHO_VOLUME)
        wav = Path(folder) / "conversation.wav"
        _write_loops(wav, minutes * 60 + _LOOP_S)
        settings = Settings(keep="audio-and-text", models_dir=models, sessions_dir=folder)
        _soak(report, sound, wav, settings, minutes * 60)
        check_loops(report, next(Path(folder).rglob("audio.wav")), _LOOP_S)
    return report


def _soak(
    report: Report, sound: VirtualSound, wav: Path, settings: Settings, seconds: float
) -> None:
    from engine.session.build import build_session

    watch = SoakWatch(_OWN_WORDS)
    with watched_log() as log:
        with build_session(settings, os.environ) as session:
            session.subscribe(watch.take)
            session.load()
            for kind in (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER):
                session.wait_until_loaded(kind)
            session.start().result(_STOP_S)
            with (
                sound.playing_to_microphone(wav),
                closing(ServerClock(sound, "microphone")) as server,
            ):
                num_spoken = _converse(session, server, watch, seconds)
            session.stop().result(_STOP_S)
            session.drain_events()
            spans = session.document.spans
        watch.tell(report, num_spoken)
        report.figure("gaps drawn", sum(span.kind == "gap" for span in spans))
        report.check("nothing unexpected in the log", not log.lines, log.lines)
    check_threads(report)


def _converse(session: Session, server: ServerClock, watch: SoakWatch, seconds: float) -> int:
    """Speak now and then for so long; return how many texts."""
    begun_s, num_spoken = time.monotonic(), 0
    while (passed_s := time.monotonic() - begun_s) < seconds:
        if passed_s >= (num_spoken + 0.5) * _SPEAK_EVERY_S:
            session.speak(_TEXTS[num_spoken % len(_TEXTS)])
            num_spoken += 1
        watch.look(time.monotonic(), session.recorded_s(), server.seconds, session.health())
        time.sleep(_TICK_S)
    return num_spoken


def _write_loops(wav: Path, seconds: float) -> None:
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

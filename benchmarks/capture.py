"""Capture under load: records through PortAudio while everything is imported and loaded.

The real window stands on a virtual display and is resized all the time; the microphone is that of
a private sound server. Needs Xvfb and PulseAudio. Run: python -m benchmarks.capture [--seconds N]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from benchmarks.display import virtual_display
from engine.core.resources import resource_path
from tests.helpers.pulse import VirtualSound

RESIZE_MS = 100


def run(seconds: float) -> dict[str, float]:
    """Record for `seconds` in a child process and return its figures."""
    demo = resource_path("demo/conversation.flac")
    with (
        tempfile.TemporaryDirectory() as folder,
        VirtualSound() as sound,
        virtual_display() as display,
    ):
        wav = f"{folder}/demo.wav"
        subprocess.run([sys.executable, "-c", _TO_WAV, str(demo), wav], check=True)
        environment = {
            **os.environ,
            **sound.env(),
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "VIVAVOCE_HOME": folder,
            "VIVAVOCE_MODELS_DIR": os.environ.get("VIVAVOCE_MODELS_DIR", _models_dir()),
            "VIVAVOCE_KEEP": "audio-and-text",
        }
        child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.capture", "--child", "--seconds", str(seconds)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        stop = threading.Event()
        speaking = threading.Thread(target=_speak, args=(sound, wav, stop))
        speaking.start()
        try:
            output, _ = child.communicate(timeout=seconds + 120)
        finally:
            stop.set()
            speaking.join()
            child.kill()
        return dict(json.loads(output.strip().splitlines()[-1]))


_TO_WAV = """
import sys, soundfile
pcm, rate = soundfile.read(sys.argv[1], dtype="int16")
soundfile.write(sys.argv[2], pcm, rate)
"""


def _models_dir() -> str:
    from engine.core.config import folders, load_settings

    return str(folders(load_settings(os.environ), os.environ).models)


def _speak(sound: VirtualSound, wav: str, stop: threading.Event) -> None:
    while not stop.is_set():
        with sound.playing_to_microphone(wav):
            stop.wait(28)


def child(seconds: float) -> None:
    """Record, load everything, resize; print the figures as JSON."""
    from PySide6.QtCore import QTimer

    from app.window import assemble

    program = assemble(os.environ)
    began_s = time.monotonic()
    figures: dict[str, float] = {}
    ticks = [0]

    def resize() -> None:
        ticks[0] += 1
        wide = ticks[0] % 20
        program.window.resize(900 + 20 * wide, 600 + 10 * wide)

    def import_heavy() -> None:
        import torch  # noqa: F401

        for name in ("torch._dynamo", "transformers", "sklearn.cluster", "scipy.signal"):
            try:
                __import__(name)
            except ImportError:
                continue

    def finish() -> None:
        session = program.controller.session
        assert session is not None
        health = session.health()
        figures.update(
            seconds=time.monotonic() - began_s,
            recorded_s=health.recorded_s,
            overflows=health.num_overflows,
            lost_s=health.lost_s,
            final_delay_s=health.final_delay_s or -1.0,
            partial_delay_s=health.partial_delay_s or -1.0,
            speaker_delay_s=health.speaker_delay_s or -1.0,
            backlog_s=max(health.recognizer_backlog_s, health.diarizer_backlog_s),
            rss_mb=health.rss_bytes / 1e6,
            resizes=ticks[0],
        )
        program.lifecycle.close()

    def start() -> None:
        session = program.controller.session
        if session is None:
            QTimer.singleShot(20, start)
            return
        session.start("default")
        session.load()
        QTimer.singleShot(2000, lambda: threading.Thread(target=import_heavy).start())
        QTimer.singleShot(round(seconds * 1000), finish)

    resizer = QTimer()
    resizer.timeout.connect(resize)
    resizer.start(RESIZE_MS)
    QTimer.singleShot(0, start)
    program.run()
    sys.stdout.write(json.dumps(figures) + "\n")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.seconds)
        return
    for name, value in run(arguments.seconds).items():
        print(f"{name:18} {value:.2f}")


if __name__ == "__main__":
    main()

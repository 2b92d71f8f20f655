"""A sound system of our own: a private PulseAudio server with a virtual microphone and speaker.

Works as any user, without a sound card, with Debian's pulseaudio, pulseaudio-utils,
libasound2-plugins and libportaudio2. As a script it runs a command with that sound system:
`python -m tests.helpers.pulse -- COMMAND...`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

MICROPHONE = "Test Microphone"
SPEAKER = "Test Speaker"
SPARE_MICROPHONE = "Spare Microphone"
RATE = 48_000
PROGRAMS = ("pulseaudio", "pactl", "paplay", "parec")

_START_S = 10.0
_SETUP = """
load-module module-native-protocol-unix socket={socket} auth-anonymous=1
load-module module-null-sink sink_name=speaker rate={rate} channels=2 \
sink_properties="device.description='{speaker}'"
load-module module-null-sink sink_name=microphone_feed rate={rate} channels=1 \
sink_properties="device.description='Microphone Feed'"
load-module module-remap-source source_name=microphone master=microphone_feed.monitor \
source_properties="device.description='{microphone}'"
load-module module-remap-source source_name=spare_microphone master=microphone_feed.monitor \
source_properties="device.description='{spare}'"
set-default-sink speaker
set-default-source microphone
"""
_ALSA = """
pcm.!default { type pulse }
ctl.!default { type pulse }
"""


def is_available() -> bool:
    """Whether the programs are installed."""
    return all(shutil.which(program) for program in PROGRAMS)


class VirtualSound:
    """A running server; a context manager that ends what it started and nothing else."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._folder = Path()
        self.server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "VirtualSound":
        with self._stack:
            # A short path: the names of sockets are limited to 107 bytes.
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pulse-"))
            self._folder = Path(folder)
            self._start()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def env(self) -> dict[str, str]:
        """The environment variables that lead programs to this server."""
        return {
            "XDG_RUNTIME_DIR": str(self._folder),
            "PULSE_SERVER": f"unix:{self._folder / 'native'}",
            "PULSE_COOKIE": str(self._folder / "cookie"),
            "ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{self._folder / 'asound.conf'}",
        }

    def play_to_microphone(self, wav: Path) -> None:
        """Play a file into the microphone and wait until it has been heard."""
        self.run("paplay", "--device=microphone_feed", str(wav))

    @contextmanager
    def playing_to_microphone(self, wav: Path) -> Iterator[None]:
        """Play a file into the microphone meanwhile."""
        with self._running("paplay", "--device=microphone_feed", str(wav)):
            yield

    @contextmanager
    def recorded_speaker(self, wav: Path) -> Iterator[None]:
        """Record what the speaker plays meanwhile, as a mono WAV file."""
        with self.recorded_monitor("speaker.monitor", wav):
            yield

    @contextmanager
    def recorded_monitor(self, source: str, wav: Path) -> Iterator[None]:
        """Record a source meanwhile, as a mono WAV file."""
        arguments = [f"--device={source}", "--latency-msec=10", "--channels=1"]
        format_ = [f"--rate={RATE}", "--format=s16le", "--file-format=wav"]
        with self._running("parec", *arguments, *format_, str(wav)):
            yield
            time.sleep(0.2)  # what is still under way in the server

    def run(self, *command: str) -> str:
        """Run a program to its end and return what it printed."""
        return subprocess.run(
            command, env={**os.environ, **self.env()}, check=True, capture_output=True, text=True
        ).stdout

    def unload(self, part: str) -> None:
        """Remove the devices of the module whose line (`pactl list short modules`) has `part`."""
        for line in self.run("pactl", "list", "short", "modules").splitlines():
            if part in line:
                self.run("pactl", "unload-module", line.split("\t")[0])

    def load(self, *arguments: str) -> None:
        """Load a module."""
        self.run("pactl", "load-module", *arguments)

    def plug_microphone(self, name: str, title: str, *format_: str) -> None:
        """Make a microphone that hears what is played into the feed, e.g. with "rate=16000"."""
        self.load(
            *("module-remap-source", f"source_name={name}", "master=microphone_feed.monitor"),
            *format_,
            f"source_properties=\"device.description='{title}'\"",
        )

    def plug_speaker(self, name: str, title: str, *format_: str) -> None:
        """Make a loudspeaker."""
        self.load(
            *("module-null-sink", f"sink_name={name}", *format_),
            f"sink_properties=\"device.description='{title}'\"",
        )

    def kill_server(self) -> None:
        """End the server without a word to anybody."""
        assert self.server is not None
        self.server.kill()
        self.server.wait()

    def start_server(self) -> None:
        """Start the server anew, with the devices it began with."""
        self._start()

    def _start(self) -> None:
        setup = self._folder / "setup.pa"
        setup.write_text(
            _SETUP.format(
                socket=self._folder / "native",
                rate=RATE,
                speaker=SPEAKER,
                microphone=MICROPHONE,
                spare=SPARE_MICROPHONE,
            )
        )
        (self._folder / "asound.conf").write_text(_ALSA)
        self.server = self._stack.enter_context(
            self._running(
                *("pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no"),
                *("--exit-idle-time=-1", "--disable-shm=yes", "-F", str(setup)),
                HOME=str(self._folder),
            )
        )
        deadline_s = time.monotonic() + _START_S
        while True:
            try:
                if "spare_microphone" in self.run("pactl", "list", "short", "sources"):
                    break
            except subprocess.CalledProcessError:
                pass
            if self.server.poll() is not None or time.monotonic() > deadline_s:
                raise RuntimeError("the private PulseAudio server did not start")
            time.sleep(0.05)
        # A null sink nobody listens to closely renders two seconds at a time: listen, and wait
        # until it has come to the end of the stretch it began with.
        sources = ("microphone", "speaker.monitor")
        for source in sources:
            self._stack.enter_context(self._running(*_listen_to(source), "/dev/null"))
        for source in sources:
            with self._running(*_listen_to(source), stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.read(4096)
                process.stdout.close()

    @contextmanager
    def _running(
        self, *command: str, stdout: int = subprocess.DEVNULL, **env: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            command,
            env={**os.environ, **self.env(), **env},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _listen_to(source: str) -> tuple[str, ...]:
    return ("parec", f"--device={source}", "--latency-msec=10")


def main() -> int:
    """Run the command behind `--` and return its exit status."""
    command = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    with VirtualSound() as sound:
        return subprocess.run(command, env={**os.environ, **sound.env()}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

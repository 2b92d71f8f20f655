"""Devices of a PulseAudio or PipeWire server, as people name them.

PortAudio reaches such a server through one ALSA device and shows that name alone. The server's
client library takes the wanted source or sink from its environment while a stream is opened.
"""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class PulseDevice:
    """A source or sink.

    Args:
        name: the server's own, unique.
        description: for people.
        is_input: source, or sink.
        num_channels: of its own format.
        sample_rate: of its own format, Hz.
        is_default: the server's default for its direction.
        is_monitor: a source that records what a sink plays.
    """

    name: str
    description: str
    is_input: bool
    num_channels: int
    sample_rate: int
    is_default: bool
    is_monitor: bool


def query_pulse() -> tuple[PulseDevice, ...]:
    """Return the server's sources and sinks; empty when no server answers."""
    if shutil.which("pactl") is None:
        return ()
    found: list[PulseDevice] = []
    for kind in ("source", "sink"):
        text = _pactl("-f", "json", "list", f"{kind}s")
        default = _pactl(f"get-default-{kind}").strip()
        try:
            entries = json.loads(text)
            found += [_device(entry, kind == "source", default) for entry in entries]
        except (ValueError, KeyError, TypeError, AttributeError):
            return ()  # an old pactl without JSON: PortAudio's names have to do
    return tuple(found)


def has_pulse_device(name: str, *, is_input: bool) -> bool:
    """Whether a source or sink is there; True when the server does not answer."""
    lines = _pactl("list", "short", "sources" if is_input else "sinks").splitlines()
    return not lines or any(line.split("\t")[1:2] == [name] for line in lines)


@contextmanager
def chosen_pulse_device(name: str, *, is_input: bool) -> Iterator[None]:
    """Make streams opened inside go to a source or sink; an empty name leaves the choice open.

    The environment belongs to the process: only one thread may open streams at a time.
    """
    key = "PULSE_SOURCE" if is_input else "PULSE_SINK"
    before = os.environ.get(key)
    if name:
        os.environ[key] = name
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = before


class PulseWatch:
    """Notices when a source or sink is removed.

    The server then moves its streams to another device and says nothing to them. Thread: its own
    reads the server's events; any may ask.
    """

    def __init__(self, name: str, *, is_input: bool) -> None:
        self._name = name
        self._is_input = is_input
        # NB: written by the watching thread alone, read by any.
        self._is_there = True
        self._events = subprocess.Popen(
            ["pactl", "subscribe"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            text=True,
        )
        self._thread = threading.Thread(target=self._follow, name="pulse-watch", daemon=True)
        self._thread.start()

    def is_device_there(self) -> bool:
        """Return whether the device has been there all along."""
        return self._is_there

    def close(self) -> None:
        """Stop watching; idempotent."""
        self._events.terminate()
        self._thread.join(_TIMEOUT_S)
        self._events.wait(_TIMEOUT_S)
        if self._events.stdout is not None:
            self._events.stdout.close()

    def _follow(self) -> None:
        kind = "source" if self._is_input else "sink"
        assert self._events.stdout is not None
        for line in self._events.stdout:
            if f"'remove' on {kind} #" not in line:
                continue
            if not has_pulse_device(self._name, is_input=self._is_input):
                # Were it plugged in again, the stream would still be elsewhere.
                self._is_there = False


def _pactl(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["pactl", *arguments],
            capture_output=True,
            timeout=_TIMEOUT_S,
            # The words of the answer are looked at, so they must not be translated.
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _device(entry: dict[str, object], is_input: bool, default: str) -> PulseDevice:
    match = re.search(r"(\d+)ch (\d+)Hz", str(entry["sample_specification"]))
    num_channels, rate = (int(match[1]), int(match[2])) if match else (1, 48_000)
    name = str(entry["name"])
    return PulseDevice(
        name=name,
        description=str(entry.get("description") or name),
        is_input=is_input,
        num_channels=num_channels,
        sample_rate=rate,
        is_default=name == default,
        is_monitor=is_input and name.endswith(".monitor"),
    )

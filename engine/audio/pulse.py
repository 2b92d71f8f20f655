"""Devices of a PulseAudio or PipeWire server, as people name them.

PortAudio reaches such a server through one ALSA device and shows that name alone. The server's
client library takes the wanted source or sink from its environment while a stream is opened.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

_TIMEOUT_S = 3.0
_DUMMY_NAMES = ("auto_null", "auto_null.monitor")


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

    def is_nothing(self, others: Sequence["PulseDevice"]) -> bool:
        """Whether a server falls back to it because nothing real is left of `others`.

        That is a sink without a device, or what such a machine's loudspeaker plays, taken for a
        microphone. A monitor that stands beside a microphone was chosen by somebody.
        """
        if self.name.startswith(_DUMMY_NAMES):
            return True
        return self.is_monitor and all(d.is_monitor for d in others if d.is_input)


def query_pulse() -> tuple[PulseDevice, ...]:
    """Return the server's sources and sinks; empty when no server answers."""
    if shutil.which("pactl") is None:
        return ()
    found: list[PulseDevice] = []
    for kind in ("source", "sink"):
        text = _pactl("-f", "json", "list", f"{kind}s")
        if not text:
            return ()  # a server that hangs is asked but once
        default = _pactl(f"get-default-{kind}").strip()
        try:
            entries = json.loads(text)
            found += [_device(entry, kind == "source", default) for entry in entries]
        except (ValueError, KeyError, TypeError, AttributeError):
            return ()  # an old pactl without JSON: PortAudio's names have to do
    return tuple(found)


def pulse_index(name: str, *, is_input: bool) -> str:
    """Return the server's number of a source or sink; "" if it is not there."""
    for line in _pactl("list", "short", "sources" if is_input else "sinks").splitlines():
        index, found, *_ = [*line.split("\t"), ""]
        if found == name:
            return index
    return ""


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

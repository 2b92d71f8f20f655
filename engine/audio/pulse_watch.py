"""Notices what a sound server does with the device behind an open stream.

When a device goes away, a server moves its streams to another one and says nothing to them; when
its default changes, the streams that follow it are moved likewise.
"""

import os
import select
import subprocess
import threading

from engine.audio.pulse import PulseDevice, pulse_index, query_pulse

_QUIET_S = 0.05
"""Events come in bursts: they are looked at together."""
_MAX_BURST_S = 0.5
_SETTLED_S = 0.3
"""By then the server tells its events; what went before is looked up."""
_END_S = 3.0


class PulseWatch:
    """Follows the device of one stream.

    Thread: its own reads the server's events; any may ask.

    Args:
        name: the source or sink, as the server names it.
        title: the same for people.
        is_input: source, or sink.
        follows_default: whether the server chose it, and moves the stream when its default changes.
    """

    def __init__(
        self, name: str, title: str, *, is_input: bool, follows_default: bool = False
    ) -> None:
        # NB: written by the watching thread alone, read by any.
        self.title = title
        self._is_there = True
        self._name = name
        self._is_input = is_input
        self._follows_default = follows_default
        self._index = pulse_index(name, is_input=is_input)
        self._events = subprocess.Popen(
            ["pactl", "subscribe"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        self._is_closed = False
        self._thread = threading.Thread(target=self._follow, name="pulse-watch", daemon=True)
        self._thread.start()

    def is_device_there(self) -> bool:
        """Return whether the stream is where it was asked to be."""
        return self._is_there

    def close(self) -> None:
        """Stop watching; idempotent. Waits for no query that is under way."""
        self._is_closed = True
        self._events.terminate()
        self._events.wait(_END_S)

    def _follow(self) -> None:
        stream = self._events.stdout
        assert stream is not None
        try:
            select.select([stream.fileno()], [], [], _SETTLED_S)
            if not self._is_closed:
                self._look_up()
            while text := self._read_burst(stream.fileno()):
                if self._is_there and not self._is_closed:
                    self._look(text)
        finally:
            stream.close()

    def _read_burst(self, descriptor: int) -> str:
        """Wait for events and return all that come at once; "" when there will be no more."""
        text = os.read(descriptor, 65536)
        for _ in range(round(_MAX_BURST_S / _QUIET_S)):
            if not text or not select.select([descriptor], [], [], _QUIET_S)[0]:
                break
            more = os.read(descriptor, 65536)
            if not more:
                break
            text += more
        return text.decode("utf-8", "replace")

    def _look_up(self) -> None:
        """Notice what happened before the server's events were heard."""
        devices = [d for d in query_pulse() if d.is_input == self._is_input]
        if not devices:
            return
        is_removed = pulse_index(self._name, is_input=self._is_input) != self._index
        if self._follows_default:
            self._follow_default(devices, is_removed=is_removed)
        else:
            self._is_there = not is_removed

    def _look(self, events: str) -> None:
        kind = "source" if self._is_input else "sink"
        # A device that is plugged in again has another number; the stream would still be elsewhere.
        is_removed = f"'remove' on {kind} #{self._index}\n" in events
        if not self._follows_default:
            self._is_there = not is_removed
        elif is_removed or "'change' on server " in events:
            devices = [d for d in query_pulse() if d.is_input == self._is_input]
            self._follow_default(devices, is_removed=is_removed)

    def _follow_default(self, devices: list[PulseDevice], *, is_removed: bool) -> None:
        default = next((device for device in devices if device.is_default), None)
        if default is None or default.is_nothing(devices):
            # Without an answer nothing is known, unless that the device is gone.
            self._is_there = not (is_removed or bool(devices))
        elif default.name != self._name or is_removed:
            self._name, self.title = default.name, default.description
            self._index = pulse_index(default.name, is_input=self._is_input)

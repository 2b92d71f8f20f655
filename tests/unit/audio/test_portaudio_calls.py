"""Calls of PortAudio: never ended under one another, and their errors are the device's."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from engine.core.errors import DeviceError

portaudio = pytest.importorskip("engine.audio.portaudio", exc_type=OSError)
pytestmark = pytest.mark.unit


def test_refresh_when_a_call_hangs_in_portaudio_then_waits_for_another_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    monkeypatch.setattr(portaudio.sd, "_terminate", lambda: done.append("terminate"))
    monkeypatch.setattr(portaudio.sd, "_initialize", lambda: done.append("initialize"))
    is_inside, may_end = threading.Event(), threading.Event()

    def hang() -> Any:
        is_inside.set()
        may_end.wait(10)
        return object()

    thread = threading.Thread(target=lambda: portaudio.PortAudioStream("a device", hang))
    thread.start()
    try:
        assert is_inside.wait(10)
        assert not portaudio.refresh_devices()
        assert done == []
    finally:
        may_end.set()
        thread.join()
    assert portaudio.refresh_devices()
    assert done == ["terminate", "initialize"]


class _Unplugged:
    """A stream of a device that is gone, as the wrapper of PortAudio has it."""

    def _fail(self) -> Any:
        raise portaudio.sd.PortAudioError("Error getting stream time")

    active = time = latency = property(_fail)


@pytest.mark.parametrize(
    "ask",
    [
        portaudio.PortAudioStream.is_active,
        portaudio.PortAudioStream.time_s,
        portaudio.PortAudioStream.latency_s,
    ],
)
def test_stream_when_portaudio_fails_to_tell_of_it_then_that_is_a_fault_of_the_device(
    ask: Callable[[Any], float],
) -> None:
    stream = portaudio.PortAudioStream("a device", _Unplugged)
    with pytest.raises(DeviceError, match="a device cannot be used: Error getting stream time"):
        ask(stream)

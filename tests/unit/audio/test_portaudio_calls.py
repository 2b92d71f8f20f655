"""PortAudio is never terminated while a call is inside of it."""

import threading
from typing import Any

import pytest

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

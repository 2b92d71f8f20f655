"""Real PortAudio on a private PulseAudio server, by both callback drivers."""

import gc
import json
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio import callback
from engine.audio.device import InputStream, OutputStream
from engine.audio.provider import SystemDevices
from engine.audio.wav import write_wav
from engine.core.errors import DeviceError
from engine.core.timebase import MonotonicClock
from tests.helpers import pulse
from tests.helpers.pulse import MICROPHONE, RATE, SPARE_MICROPHONE, SPEAKER, VirtualSound

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not pulse.is_available(), reason="PulseAudio is not installed"),
]

TONE_HZ = 440


@pytest.fixture(scope="module")
def sound() -> Iterator[VirtualSound]:
    with VirtualSound() as virtual, pytest.MonkeyPatch.context() as patch:
        from engine.audio import portaudio

        for key, value in virtual.env().items():
            patch.setenv(key, value)
        # Another test may have had PortAudio look at the machine's own sound system.
        portaudio.refresh_devices()
        yield virtual
    portaudio.refresh_devices()


@pytest.fixture(params=["rtmixer", "callback"])
def devices(request: pytest.FixtureRequest, sound: VirtualSound) -> SystemDevices:
    if request.param == "rtmixer":
        pytest.importorskip("rtmixer")
    return SystemDevices(MonotonicClock(), use_rtmixer=request.param == "rtmixer")


def _tone(seconds: float, amplitude: float = 0.3) -> np.ndarray:
    phase = 2 * np.pi * TONE_HZ * np.arange(round(seconds * RATE)) / RATE
    return (amplitude * np.sin(phase)).astype(np.float32)


def _amplitude(pcm: np.ndarray) -> float:
    """Amplitude of the tone in `pcm`, by correlation."""
    phase = 2 * np.pi * TONE_HZ * np.arange(len(pcm)) / RATE
    return float(2 * np.abs(np.mean(pcm * np.exp(1j * phase))))


def _capture(source: InputStream, seconds: float) -> tuple[np.ndarray, int]:
    """Read for a while; return the samples and how many were lost."""
    blocks, num_lost = [], 0
    deadline_s = time.monotonic() + seconds
    while time.monotonic() < deadline_s:
        time.sleep(0.02)
        block = source.read()
        blocks.append(block.pcm)
        num_lost += block.lost_samples
    return np.concatenate(blocks), num_lost


def _feed(output: OutputStream, pcm: np.ndarray, until_s: float = 60.0) -> int:
    """Write as it is played, at most 0.4 s ahead, to the end or for a while."""
    position = 0
    deadline_s = time.monotonic() + until_s
    while position < len(pcm) and time.monotonic() < deadline_s:
        room = round(0.4 * RATE) - output.num_buffered()
        if room > 0:
            position += output.write(pcm[position : position + room])
        time.sleep(0.01)
    return position


def _wait_until_played(output: OutputStream, num_samples: int) -> None:
    deadline_s = time.monotonic() + 5
    while output.num_played < num_samples and time.monotonic() < deadline_s:
        time.sleep(0.01)


def _sounding(pcm: np.ndarray) -> np.ndarray:
    """The part of a recording between its first and last sound."""
    loud = np.flatnonzero(np.abs(pcm) > 1e-3)
    assert len(loud), "nothing was heard"
    return pcm[loud[0] : loud[-1] + 1]


def test_list_when_a_server_runs_then_shows_its_devices_by_the_names_people_know(
    sound: VirtualSound,
) -> None:
    found = SystemDevices(MonotonicClock()).list_devices()
    inputs = [device.name for device in found if device.num_inputs and not device.is_monitor]
    outputs = [device.name for device in found if device.num_outputs]
    assert inputs == [MICROPHONE, SPARE_MICROPHONE]
    assert SPEAKER in outputs
    assert [device.name for device in found if device.is_default_input] == [MICROPHONE]
    assert [device.name for device in found if device.is_default_output] == [SPEAKER]
    assert any(device.is_monitor for device in found)
    assert {device.sample_rate for device in found} == {RATE}


def test_input_when_nobody_reads_for_longer_than_the_ring_lasts_then_tells_how_much_was_lost(
    devices: SystemDevices, sound: VirtualSound, monkeypatch: pytest.MonkeyPatch
) -> None:
    rtmix = pytest.importorskip("engine.audio.rtmix")
    for module in (callback, rtmix):
        monkeypatch.setattr(module, "INPUT_RING_S", 0.5)
    source = devices.open_input("default")
    try:
        source.start()
        begun, _ = _capture(source, 0.5)
        began_s = time.monotonic()
        time.sleep(1.5)
        kept, num_lost = _capture(source, 0.5)
        elapsed_s = time.monotonic() - began_s
    finally:
        source.close()
    assert len(begun) > 0
    assert num_lost > 0.3 * RATE
    # The device's own times are good to a few blocks.
    assert len(kept) + num_lost == pytest.approx(elapsed_s * RATE, abs=0.15 * RATE)
    assert source.num_overflows == 1


@pytest.mark.parametrize("name", ["default", "test micro"])
def test_input_when_a_tone_is_played_into_the_microphone_then_records_it_whole(
    sound: VirtualSound, devices: SystemDevices, tmp_path: Path, name: str
) -> None:
    wav = tmp_path / "tone.wav"
    write_wav(wav, _tone(1.0), RATE)
    source = devices.open_input(name)
    try:
        assert (source.name, source.sample_rate, source.is_live) == (MICROPHONE, RATE, True)
        source.start()
        player = threading.Thread(target=sound.play_to_microphone, args=(wav,), name="player")
        player.start()
        pcm, num_lost = _capture(source, 2.2)
        player.join(10)
    finally:
        source.close()
    tone = _sounding(pcm)
    assert len(tone) == pytest.approx(RATE, abs=480)
    assert _amplitude(tone) == pytest.approx(0.3, rel=0.05)
    assert (num_lost, source.num_overflows) == (0, 0)


def test_input_when_paused_and_started_again_then_goes_on_without_counting_a_loss(
    devices: SystemDevices, sound: VirtualSound
) -> None:
    source = devices.open_input("default")
    try:
        source.start()
        first, _ = _capture(source, 0.5)
        source.pause()
        source.read()
        time.sleep(0.3)
        assert len(source.read().pcm) == 0
        source.start()
        second, num_lost = _capture(source, 0.7)
    finally:
        source.close()
    assert len(first) > 0.2 * RATE
    assert len(second) > 0.3 * RATE
    assert (num_lost, source.num_overflows) == (0, 0)


def test_list_when_an_input_is_open_then_leaves_it_undisturbed(
    devices: SystemDevices, sound: VirtualSound, tmp_path: Path
) -> None:
    wav = tmp_path / "tone.wav"
    write_wav(wav, _tone(8.0), RATE)
    source = devices.open_input("default")
    try:
        with sound.playing_to_microphone(wav):
            source.start()
            _capture(source, 1.0)
            lister = threading.Thread(target=devices.list_devices, name="lister")
            lister.start()
            pcm, num_lost = _capture(source, 2.0)
            lister.join(10)
    finally:
        source.close()
    assert (num_lost, source.num_overflows) == (0, 0)
    assert len(pcm) == pytest.approx(2.0 * RATE, abs=0.2 * RATE)
    # A hole would be a step; the steepest slope of the tone itself is 0.3 * 2 pi f / rate.
    assert np.abs(np.diff(pcm)).max() < 1.1 * 0.3 * 2 * np.pi * TONE_HZ / RATE


def test_output_when_a_tone_is_played_then_is_heard_whole(
    devices: SystemDevices, sound: VirtualSound, tmp_path: Path
) -> None:
    wav = tmp_path / "heard.wav"
    output = devices.open_output("default")
    try:
        assert (output.name, output.sample_rate) == (SPEAKER, RATE)
        with sound.recorded_speaker(wav):
            output.start()
            # The monitor of a null sink misses the first milliseconds of a stream that joins.
            time.sleep(0.3)
            assert _feed(output, _tone(1.0)) == RATE
            output.end_of_stream()
            _wait_until_played(output, RATE)
            assert output.num_played == RATE
            time.sleep(output.latency_s + 0.3)
        assert (output.num_underflows, output.num_buffered()) == (0, 0)
    finally:
        output.close()
    tone = _sounding(soundfile.read(wav, dtype="float32")[0])
    assert len(tone) == pytest.approx(RATE, abs=48)
    assert _amplitude(tone) == pytest.approx(0.3, rel=0.02)


def test_output_when_stopped_now_then_is_silent_soon_without_a_click_and_counts_what_was_heard(
    devices: SystemDevices, sound: VirtualSound, tmp_path: Path
) -> None:
    wav = tmp_path / "heard.wav"
    output = devices.open_output("default")
    try:
        with sound.recorded_speaker(wav):
            output.start()
            time.sleep(0.3)
            _feed(output, _tone(30.0), until_s=1.0)
            before = output.num_played
            called_s = time.monotonic()
            num_heard = output.stop_now()
            took_s = time.monotonic() - called_s
            time.sleep(0.6)
        assert output.num_played == num_heard
        assert output.num_buffered() == 0
    finally:
        output.close()
    assert took_s < 0.1
    assert num_heard - before <= 0.05 * RATE
    tone = _sounding(soundfile.read(wav, dtype="float32")[0])
    # The end of the fade is below what counts as sound.
    assert len(tone) == pytest.approx(num_heard, abs=0.005 * RATE)
    assert np.abs(np.diff(tone)).max() < 1.1 * 0.3 * 2 * np.pi * TONE_HZ / RATE
    assert np.abs(tone[-48:]).max() < 0.05


def test_output_when_written_after_a_stop_then_plays_the_new_sound_whole(
    devices: SystemDevices, sound: VirtualSound, tmp_path: Path
) -> None:
    wav = tmp_path / "heard.wav"
    output = devices.open_output("default")
    try:
        output.start()
        _feed(output, _tone(30.0), until_s=0.5)
        num_heard = output.stop_now()
        time.sleep(0.5)
        with sound.recorded_speaker(wav):
            assert _feed(output, _tone(0.5)) == RATE // 2
            output.end_of_stream()
            _wait_until_played(output, num_heard + RATE // 2)
            assert output.num_played == num_heard + RATE // 2
            time.sleep(output.latency_s + 0.3)
    finally:
        output.close()
    tone = _sounding(soundfile.read(wav, dtype="float32")[0])
    # Nothing is missing; a busy machine may add a short hole of its own.
    assert RATE // 2 - 48 <= len(tone) <= RATE // 2 + RATE // 5


def test_output_when_it_starves_then_counts_an_underflow_and_recovers(
    devices: SystemDevices, sound: VirtualSound
) -> None:
    output = devices.open_output("default")
    try:
        output.start()
        _feed(output, _tone(0.2))
        time.sleep(0.6)
        assert output.num_underflows == 1
        _feed(output, _tone(0.2))
        output.end_of_stream()
        _wait_until_played(output, round(0.4 * RATE))
        assert output.num_played == round(0.4 * RATE)
        time.sleep(0.2)
        assert output.num_underflows == 1
    finally:
        output.close()


def test_device_when_it_comes_and_goes_then_closed_streams_are_let_go(
    devices: SystemDevices, sound: VirtualSound
) -> None:
    closed = []
    for _ in range(3):
        source = devices.open_input("default")
        closed.append(weakref.ref(source))
        source.close()
        deadline_s = time.monotonic() + 5
        while not source.is_released and time.monotonic() < deadline_s:
            time.sleep(0.01)
    del source
    gc.collect()
    # The newest is let go when the next is opened.
    assert [stream() for stream in closed[:2]] == [None, None]


@pytest.mark.parametrize("driver", ["rtmixer", "callback"])
def test_output_when_the_computer_is_too_busy_then_counts_that_the_sound_system_ran_dry(
    sound: VirtualSound, driver: str
) -> None:
    if driver == "rtmixer":
        pytest.importorskip("rtmixer")
    counts = json.loads(sound.run(sys.executable, "-m", "tests.helpers.frozen_output", driver))
    assert counts["num_underflows"] == 0
    assert counts["num_device_underflows"] > 0


def test_input_when_the_chosen_microphone_is_unplugged_then_read_raises_within_a_second(
    devices: SystemDevices, sound: VirtualSound
) -> None:
    source = devices.open_input(SPARE_MICROPHONE)
    try:
        source.start()
        _capture(source, 0.5)
        sound.unload("source_name=spare_microphone")
        gone_s = time.monotonic()
        with pytest.raises(DeviceError, match=f"{SPARE_MICROPHONE} is gone"):
            _capture(source, 3.0)
        assert time.monotonic() - gone_s < 1.0
    finally:
        source.close()
        sound.load(
            "module-remap-source",
            "source_name=spare_microphone",
            "master=microphone_feed.monitor",
            f"source_properties=\"device.description='{SPARE_MICROPHONE}'\"",
        )


def test_open_when_the_name_is_unknown_then_lists_what_there_is(devices: SystemDevices) -> None:
    with pytest.raises(DeviceError, match="no input device") as caught:
        devices.open_input("Nonesuch")
    assert MICROPHONE in caught.value.advice
    with pytest.raises(DeviceError, match="Several input devices"):
        devices.open_input("Microphone")


def test_streams_when_the_server_dies_then_both_say_that_the_device_is_gone() -> None:
    from engine.audio import portaudio

    with VirtualSound() as sound, pytest.MonkeyPatch.context() as patch:
        for key, value in sound.env().items():
            patch.setenv(key, value)
        portaudio.refresh_devices()
        devices = SystemDevices(MonotonicClock())
        source, output = devices.open_input("default"), devices.open_output("default")
        try:
            source.start()
            output.start()
            _capture(source, 0.3)
            assert sound.server is not None
            sound.server.kill()
            with pytest.raises(DeviceError, match="gone"):
                _capture(source, 3.0)
            with pytest.raises(DeviceError, match="gone"):
                _feed(output, _tone(10.0), until_s=3.0)
        finally:
            source.close()
            output.close()
        with pytest.raises(DeviceError) as caught:
            devices.open_input("default")
        assert caught.value.advice
    portaudio.refresh_devices()


def test_script_when_given_a_command_then_runs_it_with_the_sound_system(tmp_path: Path) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.pulse", "--", "pactl", "get-default-source"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "microphone"

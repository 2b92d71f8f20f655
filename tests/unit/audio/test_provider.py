import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from engine.audio import provider
from engine.audio.device import DeviceInfo, DeviceProvider
from engine.audio.files import read_audio
from engine.audio.listing import (
    Endpoint,
    PortAudioDevice,
    arrange,
    decode_listing,
    default_endpoint,
    is_nothing,
    match_endpoint,
    other_names,
)
from engine.audio.provider import SystemDevices
from engine.audio.pulse import PulseDevice, chosen_pulse_device, query_pulse
from engine.audio.wav import write_wav
from engine.core.errors import AudioFileError, DeviceError
from engine.core.timebase import VirtualClock

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[3]


def _alsa(name: str, *, is_default: bool = False, ins: int = 2, outs: int = 2) -> PortAudioDevice:
    return PortAudioDevice(name, "ALSA", ins, outs, 44_100, is_default, is_default)


def _pulse(
    name: str,
    description: str,
    *,
    is_input: bool = True,
    is_default: bool = False,
    is_monitor: bool = False,
) -> PulseDevice:
    return PulseDevice(name, description, is_input, 1, 48_000, is_default, is_monitor)


def _names(endpoints: tuple[Endpoint, ...]) -> list[str]:
    return [endpoint.info.name for endpoint in endpoints]


def test_names_when_a_server_answers_then_are_its_descriptions_monitors_last() -> None:
    devices = [_alsa("HDA: ALC (hw:0,0)"), _alsa("pulse"), _alsa("default", is_default=True)]
    pulse = [
        _pulse("sink.monitor", "Monitor of Speakers", is_monitor=True),
        _pulse("usb-1", "Headset"),
        _pulse("builtin", "Built-in", is_default=True),
        _pulse("sink", "Speakers", is_input=False, is_default=True),
    ]
    endpoints = arrange(devices, pulse)
    assert _names(endpoints) == ["Built-in", "Speakers", "Headset", "Monitor of Speakers"]
    assert {endpoint.portaudio_name for endpoint in endpoints} == {"pulse"}
    assert endpoints[3].info.is_monitor
    assert match_endpoint(endpoints, "headset", is_input=True).pulse_name == "usb-1"
    assert match_endpoint(endpoints, "usb-1", is_input=True).pulse_name == "usb-1"


def test_names_when_two_devices_share_one_then_carry_the_servers_own() -> None:
    pulse = [_pulse("usb-1", "Headset"), _pulse("usb-2", "Headset")]
    assert _names(arrange([_alsa("pulse")], pulse)) == ["Headset (usb-1)", "Headset (usb-2)"]


def test_names_when_there_is_no_server_then_are_alsas_cards_without_its_plugins() -> None:
    devices = [
        _alsa("HDA: ALC (hw:0,0)"),
        _alsa("surround51"),
        _alsa("dmix"),
        _alsa("sysdefault", is_default=True),
        _alsa("pipewire"),
    ]
    assert _names(arrange(devices, [])) == ["HDA: ALC (hw:0,0)", "sysdefault", "pipewire"]


def test_default_when_a_server_answers_then_leaves_the_choice_to_it() -> None:
    pulse = [_pulse("a", "Other"), _pulse("b", "Built-in", is_default=True)]
    endpoint = default_endpoint([_alsa("pulse")], pulse, is_input=True)
    assert (endpoint.info.name, endpoint.pulse_name) == ("Built-in", "")


def test_default_when_there_is_none_then_says_so() -> None:
    with pytest.raises(DeviceError, match="no default output"):
        default_endpoint([_alsa("HDA (hw:0,0)")], [], is_input=False)


def test_match_when_a_part_of_several_names_then_lists_them() -> None:
    endpoints = arrange(
        [_alsa("pulse")], [_pulse("a", "Headset Left"), _pulse("b", "Headset Right")]
    )
    with pytest.raises(DeviceError, match="Several") as caught:
        match_endpoint(endpoints, "HEADSET", is_input=True)
    assert "Headset Left, Headset Right" in caught.value.advice


def test_match_when_the_name_is_exact_then_longer_ones_do_not_matter() -> None:
    endpoints = arrange([_alsa("pulse")], [_pulse("a", "Headset"), _pulse("b", "Headset 2")])
    assert match_endpoint(endpoints, "Headset", is_input=True).pulse_name == "a"


def test_match_when_unknown_or_of_the_other_direction_then_lists_what_there_is() -> None:
    pulse = [_pulse("a", "Headset"), _pulse("s", "Speakers", is_input=False)]
    endpoints = arrange([_alsa("pulse")], pulse)
    for name in ("speakers", "nothing", ""):
        with pytest.raises(DeviceError, match="no input device") as caught:
            match_endpoint(endpoints, name, is_input=True)
        assert "Headset" in caught.value.advice


def test_listing_when_it_went_through_json_then_is_the_same() -> None:
    endpoints = arrange([_alsa("pulse")], [_pulse("a", "Mikrofon (Küche)", is_default=True)])
    text = json.dumps({"endpoints": [asdict(endpoint) for endpoint in endpoints]}).encode()
    assert decode_listing(text) == endpoints
    assert isinstance(decode_listing(text)[0].info, DeviceInfo)


def test_listing_when_the_child_failed_then_raises_with_its_advice() -> None:
    text = json.dumps({"error": "No sound.", "advice": "Plug one in."}).encode()
    with pytest.raises(DeviceError, match="No sound") as caught:
        decode_listing(text)
    assert caught.value.advice == "Plug one in."
    with pytest.raises(DeviceError, match="broke down"):
        decode_listing(b"")


@pytest.mark.parametrize("answer", ["", "not JSON", '[{"index": 1}]', "[1]", "null"])
def test_query_when_the_server_does_not_answer_as_known_then_portaudios_names_have_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    program = tmp_path / "pactl"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert query_pulse() == ()


def test_environment_when_a_device_is_chosen_then_is_as_before_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PULSE_SOURCE", "mine")
    monkeypatch.delenv("PULSE_SINK", raising=False)
    with chosen_pulse_device("a", is_input=True), chosen_pulse_device("b", is_input=False):
        assert (os.environ["PULSE_SOURCE"], os.environ["PULSE_SINK"]) == ("a", "b")
    with chosen_pulse_device("", is_input=True):
        assert os.environ["PULSE_SOURCE"] == "mine"
    assert os.environ["PULSE_SOURCE"] == "mine"
    assert "PULSE_SINK" not in os.environ


def test_provider_when_asked_for_files_and_null_then_opens_them(tmp_path: Path) -> None:
    clock = VirtualClock()
    devices: DeviceProvider = SystemDevices(clock, is_fast=True)
    path = tmp_path / "in.wav"
    write_wav(path, np.full(1000, 0.5, dtype=np.float32), 8_000)
    source = devices.open_input(f"file:{path}")
    assert (source.sample_rate, source.is_live) == (8_000, False)
    source.close()
    assert devices.open_input("null").name == "null"
    output = devices.open_output(f"file:{tmp_path / 'out.wav'}")
    output.start()
    output.write(np.full(100, 0.5, dtype=np.float32))
    output.close()
    assert len(read_audio(tmp_path / "out.wav")[0]) == 100
    assert devices.open_output("null").num_played == 0


def test_provider_when_a_file_cannot_be_used_then_says_so(tmp_path: Path) -> None:
    devices = SystemDevices(VirtualClock())
    with pytest.raises(AudioFileError, match="does not exist"):
        devices.open_input(f"file:{tmp_path / 'no.wav'}")
    with pytest.raises(AudioFileError, match="cannot be written"):
        devices.open_output(f"file:{tmp_path / 'no' / 'out.wav'}")


@pytest.mark.parametrize("error", ["ImportError", "OSError"])
def test_provider_when_portaudio_is_missing_then_files_work_and_devices_say_what_to_install(
    error: str,
) -> None:
    script = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("sounddevice", "rtmixer"):
            raise {error}("PortAudio library not found")
sys.meta_path.insert(0, Blocked())
from engine.audio.provider import SystemDevices
from engine.core.errors import DeviceError
from engine.core.timebase import VirtualClock
devices = SystemDevices(VirtualClock())
devices.open_input("null").close()
for name in ("default", "null"):
    try:
        devices.open_output(name).close()
    except DeviceError as error:
        print(name, error.advice)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "default Install it: sudo apt install libportaudio2\n"


def _pactl(folder: Path, sources: list[str], default: str) -> None:
    """Make a program that answers as a sound server with these sources would."""
    entries = [
        {"name": name, "description": name.title(), "sample_specification": "s16le 1ch 48000Hz"}
        for name in sources
    ]
    program = folder / "pactl"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        f"*json*sources) echo '{json.dumps(entries)}' ;;\n"
        "*json*sinks) echo '[]' ;;\n"
        f"*default-source) echo {default} ;;\n"
        "subscribe) sleep 60 ;;\n"
        "esac\n"
    )
    program.chmod(0o755)


def test_default_when_only_a_monitor_is_left_then_there_is_no_microphone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    _pactl(tmp_path, ["speaker.monitor"], "speaker.monitor")
    pulse = query_pulse()
    endpoint = default_endpoint([_alsa("pulse")], pulse, is_input=True)
    assert is_nothing(endpoint, pulse)
    # Beside a microphone, it was chosen by somebody.
    _pactl(tmp_path, ["speaker.monitor", "mic"], "speaker.monitor")
    pulse = query_pulse()
    endpoint = default_endpoint([_alsa("pulse")], pulse, is_input=True)
    assert not is_nothing(endpoint, pulse)
    assert (endpoint.pulse_name, endpoint.behind) == ("", "speaker.monitor")


def test_others_when_a_device_is_busy_then_are_those_of_its_direction() -> None:
    pulse = [_pulse("a", "Headset"), _pulse("b", "Built-in"), _pulse("s", "Out", is_input=False)]
    endpoints = arrange([_alsa("pulse")], pulse)
    headset = match_endpoint(endpoints, "Headset", is_input=True)
    assert other_names(endpoints, headset, is_input=True) == ("Built-in",)


def test_open_when_the_device_is_busy_then_says_so_and_what_else_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    portaudio = pytest.importorskip("engine.audio.portaudio")

    def refuse(*_: object, **__: object) -> None:
        raise DeviceError("The device Mic cannot be used: Device unavailable.", advice="Close it.")

    endpoints = arrange([_alsa("Mic (hw:0,0)"), _alsa("Other (hw:1,0)")], [])
    monkeypatch.setattr(portaudio, "open_endpoint", refuse)
    monkeypatch.setattr(portaudio, "find_index", lambda _endpoint: 0)
    monkeypatch.setattr(provider, "query_pulse", lambda: ())
    monkeypatch.setattr(provider, "portaudio_devices", lambda: ())
    monkeypatch.setattr(provider, "list_endpoints", lambda: endpoints)
    with pytest.raises(DeviceError, match="Device unavailable") as caught:
        SystemDevices(VirtualClock()).open_input("Mic (hw:0,0)")
    assert caught.value.advice == "Close it. Others are: Other (hw:1,0)."


def test_open_when_the_sound_system_hangs_then_is_given_up_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = threading.Event()

    def hang() -> tuple[()]:
        answer.wait(20)
        raise DeviceError("too late")

    monkeypatch.setattr(provider, "OPEN_S", 0.1)
    monkeypatch.setattr(provider, "portaudio_devices", hang)
    devices = SystemDevices(VirtualClock())
    for _ in range(3):
        with pytest.raises(DeviceError, match="did not answer") as caught:
            devices.open_input("default")
        assert "Restart it" in caught.value.advice
    answer.set()


def test_open_when_the_server_is_gone_then_portaudios_default_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    portaudio = pytest.importorskip("engine.audio.portaudio")
    opened: list[str] = []

    def refuse(endpoint: Endpoint, *_: object, **__: object) -> None:
        opened.append(endpoint.info.name)
        raise DeviceError("Refused.")

    monkeypatch.setattr(portaudio, "open_endpoint", refuse)
    monkeypatch.setattr(portaudio, "find_index", lambda _endpoint: 0)
    monkeypatch.setattr(
        provider, "portaudio_devices", lambda: (_alsa("default", is_default=True), _alsa("pulse"))
    )
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    devices = SystemDevices(VirtualClock())
    _pactl(tmp_path, ["mic"], "mic")
    with pytest.raises(DeviceError, match="Refused"):
        devices.open_input("default")
    (tmp_path / "pactl").write_text("#!/bin/sh\nexit 1\n")
    for name in ("default", "Mic"):
        with pytest.raises(DeviceError, match="does not answer"):
            devices.open_input(name)
    assert opened == ["Mic"]

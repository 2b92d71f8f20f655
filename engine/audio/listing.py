"""What devices there are, found in a child process.

PortAudio reads its list once, when it is initialised; to read it again all streams would have to
be closed. A child reads it afresh and leaves the streams of this process alone. Run as
`python -m engine.audio.listing`, this module is that child and prints JSON.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.audio.device import DeviceInfo
from engine.audio.pulse import PulseDevice, query_pulse
from engine.core.errors import DeviceError

TIMEOUT_S = 15.0
NO_SOUND_ADVICE = "Plug in a sound device, or work with a sound file."
SERVER_ADVICE = "Restart it: systemctl --user restart pipewire pulseaudio"
INSTALL_ADVICE = "Install it: sudo apt install libportaudio2"

_IMPORT_FOLDER = Path(__file__).resolve().parents[2]
_SERVER_PCMS = ("pulse", "pipewire", "default")


@dataclass(frozen=True, slots=True)
class PortAudioDevice:
    """A device as PortAudio lists it."""

    name: str
    host_api: str
    num_inputs: int
    num_outputs: int
    sample_rate: int
    is_default_input: bool
    is_default_output: bool


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A device, and how to reach it.

    Args:
        info: as people know it.
        portaudio_name: the PortAudio device to open.
        host_api: the PortAudio host API it belongs to.
        pulse_name: the source or sink to ask for behind it; empty for its default.
        behind: the source or sink that this is, however it is asked for; empty without a server.
    """

    info: DeviceInfo
    portaudio_name: str
    host_api: str
    pulse_name: str = ""
    behind: str = ""


def list_endpoints(timeout_s: float = TIMEOUT_S) -> tuple[Endpoint, ...]:
    """Return what is plugged in now.

    Raises:
        DeviceError: there is no sound system, or it does not answer.
    """
    if getattr(sys, "frozen", False):
        # A frozen program cannot run a module of its own; its list is as old as its start.
        return _scan()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "engine.audio.listing"],
            cwd=_IMPORT_FOLDER,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DeviceError(
            f"The sound system did not answer within {timeout_s:.0f} s.",
            advice=SERVER_ADVICE,
        ) from error
    return decode_listing(done.stdout)


def decode_listing(text: bytes) -> tuple[Endpoint, ...]:
    """Return what the child printed.

    Raises:
        DeviceError: it says that there is no sound system, or it broke off.
    """
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise DeviceError(
            "The sound system broke down while its devices were listed.", advice=NO_SOUND_ADVICE
        ) from error
    if "error" in answer:
        raise DeviceError(answer["error"], advice=answer["advice"])
    return tuple(
        Endpoint(**{**entry, "info": DeviceInfo(**entry["info"])}) for entry in answer["endpoints"]
    )


def arrange(
    devices: Sequence[PortAudioDevice], pulse: Sequence[PulseDevice]
) -> tuple[Endpoint, ...]:
    """Return the endpoints people should see.

    With a PulseAudio or PipeWire server, its sources and sinks under their descriptions; else
    PortAudio's devices without ALSA's plugins. Names are unique within a direction.
    """
    server = next(
        (device for name in ("pulse", "default") for device in devices if device.name == name),
        None,
    )
    if pulse and server is not None:
        return _from_pulse(server, pulse)
    return _from_portaudio(devices)


def default_endpoint(
    devices: Sequence[PortAudioDevice], pulse: Sequence[PulseDevice], *, is_input: bool
) -> Endpoint:
    """Return what "default" means; it follows the server's default where there is a server.

    Raises:
        DeviceError: there is no default device.
    """
    for endpoint in arrange(devices, pulse):
        info = endpoint.info
        if info.is_default_input if is_input else info.is_default_output:
            return replace(endpoint, pulse_name="")
    kind = "input" if is_input else "output"
    raise DeviceError(f"There is no default {kind} device.", advice=NO_SOUND_ADVICE)


def is_nothing(endpoint: Endpoint, pulse: Sequence[PulseDevice]) -> bool:
    """Whether the sound server offers a default because there is no real device."""
    return any(d.is_nothing(pulse) for d in pulse if d.name == endpoint.behind)


def match_endpoint(endpoints: Sequence[Endpoint], name: str, *, is_input: bool) -> Endpoint:
    """Return the endpoint of a name: exact, else the only one that contains it in any case.

    Raises:
        DeviceError: none or several do; names the candidates.
    """
    kind = "input" if is_input else "output"
    usable = _usable(endpoints, is_input=is_input)
    for endpoint in usable:
        if name in (endpoint.info.name, endpoint.pulse_name):
            return endpoint
    found = [e for e in usable if name.strip() and name.casefold() in e.info.name.casefold()]
    if len(found) == 1:
        return found[0]
    names = ", ".join(endpoint.info.name for endpoint in found or usable)
    if found:
        raise DeviceError(f"Several {kind} devices match {name!r}.", advice=f"Choose one: {names}.")
    if not usable:
        raise DeviceError(f"There is no {kind} device.", advice=NO_SOUND_ADVICE)
    raise DeviceError(f"There is no {kind} device {name!r}.", advice=f"Choose one: {names}.")


def other_names(
    endpoints: Sequence[Endpoint], endpoint: Endpoint, *, is_input: bool
) -> tuple[str, ...]:
    """Return the names of what could be used in an endpoint's place."""
    names = (other.info.name for other in _usable(endpoints, is_input=is_input))
    return tuple(name for name in names if name != endpoint.info.name)


def _usable(endpoints: Sequence[Endpoint], *, is_input: bool) -> list[Endpoint]:
    return [
        endpoint
        for endpoint in endpoints
        if (endpoint.info.num_inputs if is_input else endpoint.info.num_outputs)
    ]


def _from_pulse(server: PortAudioDevice, pulse: Sequence[PulseDevice]) -> tuple[Endpoint, ...]:
    count = Counter((device.description, device.is_input) for device in pulse)
    endpoints = []
    for device in sorted(pulse, key=lambda device: (device.is_monitor, not device.is_default)):
        is_unique = count[device.description, device.is_input] == 1
        info = DeviceInfo(
            name=device.description if is_unique else f"{device.description} ({device.name})",
            num_inputs=device.num_channels if device.is_input else 0,
            num_outputs=0 if device.is_input else device.num_channels,
            sample_rate=device.sample_rate,
            is_default_input=device.is_default and device.is_input,
            is_default_output=device.is_default and not device.is_input,
            is_monitor=device.is_monitor,
        )
        endpoints.append(Endpoint(info, server.name, server.host_api, device.name, device.name))
    return tuple(endpoints)


def _from_portaudio(devices: Sequence[PortAudioDevice]) -> tuple[Endpoint, ...]:
    has_wasapi = any(device.host_api == "Windows WASAPI" for device in devices)
    kept = [
        device
        for device in devices
        if (device.host_api == "Windows WASAPI" if has_wasapi else not _is_alsa_plugin(device))
    ]
    count = Counter(device.name for device in kept)
    return tuple(
        Endpoint(
            DeviceInfo(
                name=device.name if count[device.name] == 1 else f"{device.name} ({index + 1})",
                num_inputs=device.num_inputs,
                num_outputs=device.num_outputs,
                sample_rate=device.sample_rate,
                is_default_input=device.is_default_input,
                is_default_output=device.is_default_output,
                is_monitor=device.name.startswith("Monitor of "),
            ),
            device.name,
            device.host_api,
        )
        for index, device in enumerate(kept)
    )


def _is_alsa_plugin(device: PortAudioDevice) -> bool:
    return (
        device.host_api == "ALSA"
        and "(hw:" not in device.name
        and device.name not in _SERVER_PCMS
        and not (device.is_default_input or device.is_default_output)
    )


def _scan() -> tuple[Endpoint, ...]:
    devices = portaudio_devices()
    if not devices:
        raise DeviceError("There is no sound device on this machine.", advice=NO_SOUND_ADVICE)
    return arrange(devices, query_pulse())


def portaudio_devices() -> tuple[PortAudioDevice, ...]:
    """Return what this process's PortAudio lists.

    Raises:
        DeviceError: PortAudio is not installed.
    """
    try:
        from engine.audio import portaudio
    except (ImportError, OSError) as error:
        raise DeviceError(
            "The PortAudio library is not installed.", advice=INSTALL_ADVICE
        ) from error
    return portaudio.query_devices()


def _main() -> None:
    try:
        answer: dict[str, object] = {"endpoints": [asdict(endpoint) for endpoint in _scan()]}
    except DeviceError as error:
        answer = {"error": error.message, "advice": error.advice}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    _main()

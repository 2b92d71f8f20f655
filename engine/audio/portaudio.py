"""PortAudio: its list of devices, and streams on them.

PortAudio calls one value a channel a *frame*; only its own names use that sense here.
"""

import atexit
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from engine.audio.callback import CallbackInput, CallbackOutput
from engine.audio.device import DeviceInfo
from engine.audio.listing import Endpoint, PortAudioDevice
from engine.audio.quiet_stderr import quiet_stderr
from engine.audio.stream import (
    CALLBACK_OUTPUT_LATENCY_S,
    INPUT_BLOCK_S,
    INPUT_LATENCY_S,
    OUTPUT_BLOCK_S,
    StreamFormat,
)
from engine.core.errors import DeviceError

with quiet_stderr():
    # It starts PortAudio, and redirects the descriptor itself meanwhile, uncounted.
    import sounddevice as sd

_ADVICE = {
    -9985: "Close the program that uses it, or choose another device.",
    -9993: "Plug it in again, or choose another device.",
    -9996: "Plug it in again, or choose another device.",
}
_OTHER_ADVICE = "Check that it is plugged in and that programs may use it."

T = TypeVar("T")


def stream_arguments(format_: StreamFormat, block_s: float, min_latency_s: float) -> dict[str, Any]:
    """Return the keyword arguments of sounddevice's and rtmixer's streams."""
    return {
        "device": format_.device_index,
        "channels": format_.num_channels,
        "samplerate": format_.sample_rate,
        "blocksize": round(block_s * format_.sample_rate),
        "latency": max(format_.latency_s, min_latency_s),
    }


def query_devices() -> tuple[PortAudioDevice, ...]:
    """Return the devices as PortAudio lists them, which it does once a process."""
    apis = sd.query_hostapis()
    return tuple(
        PortAudioDevice(
            name=device["name"],
            host_api=apis[device["hostapi"]]["name"],
            num_inputs=device["max_input_channels"],
            num_outputs=device["max_output_channels"],
            sample_rate=round(device["default_samplerate"]),
            is_default_input=index == apis[device["hostapi"]]["default_input_device"]
            and device["hostapi"] == sd.default.hostapi,
            is_default_output=index == apis[device["hostapi"]]["default_output_device"]
            and device["hostapi"] == sd.default.hostapi,
        )
        for index, device in enumerate(sd.query_devices())
    )


class _Calls:
    """Counts the calls that are inside of PortAudio. Thread: any.

    PortAudio is one for the whole process, and ends it if it is terminated while a call that
    hangs, and that nobody waits for any more, is still in it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._num_running = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a call for as long as it takes."""
        with self._lock:
            self._num_running += 1
        try:
            yield
        finally:
            with self._lock:
                self._num_running -= 1

    def do_alone(self, action: Callable[[], None]) -> bool:
        """Carry an action out if no call is running, and let none begin meanwhile."""
        with self._lock:
            if self._num_running:
                return False
            action()
            return True


# NB: process-wide, as PortAudio itself; every thread that calls it counts here.
_calls = _Calls()


def refresh_devices() -> bool:
    """Make PortAudio read its list again. No stream of this process may be open.

    Returns:
        False if a call still hangs in PortAudio: the list is then as it was.
    """

    def refresh() -> None:
        with quiet_stderr():
            sd._terminate()
            sd._initialize()

    return _calls.do_alone(refresh)


@contextmanager
def reported(name: str) -> Iterator[None]:
    """Turn PortAudio's errors into DeviceError, and keep its C code from writing to stderr."""
    with _translated(name), quiet_stderr():
        yield


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except sd.PortAudioError as error:
        code = error.args[1] if len(error.args) > 1 else 0
        raise DeviceError(
            f"The device {name} cannot be used: {error.args[0]}.",
            advice=_ADVICE.get(code, _OTHER_ADVICE),
        ) from error


def find_index(endpoint: Endpoint) -> int | None:
    """Return PortAudio's index of a device, None if its list does not have it."""
    wanted = endpoint.portaudio_name, endpoint.host_api
    for index, device in enumerate(query_devices()):
        if (device.name, device.host_api) == wanted:
            return index
    return None


def open_endpoint(endpoint: Endpoint, make: Callable[[StreamFormat], T], *, is_input: bool) -> T:
    """Return what `make` opens: mono at the device's rate, else the nearest it accepts.

    Raises:
        DeviceError: PortAudio does not list the device (its list may be old), or refuses it.
    """
    index = find_index(endpoint)
    if index is None:
        raise DeviceError(
            f"The device {endpoint.info.name} was plugged in while another was in use.",
            advice="Stop recording and speaking, then try again.",
        )
    *others, last = _formats(index, endpoint.info, is_input=is_input)
    for format_ in others:
        try:
            return make(format_)
        except DeviceError:
            continue
    return make(last)


def _formats(index: int, info: DeviceInfo, *, is_input: bool) -> list[StreamFormat]:
    device = sd.query_devices(index)
    most = device["max_input_channels" if is_input else "max_output_channels"]
    own = info.num_inputs if is_input else info.num_outputs
    latency_s = device["default_high_input_latency" if is_input else "default_high_output_latency"]
    rates = dict.fromkeys((info.sample_rate, round(device["default_samplerate"])))
    counts = dict.fromkeys((1, min(2, most), min(own, most)))
    return [
        StreamFormat(index, info.name, count, rate, latency_s)
        for rate in rates
        for count in counts
        if count > 0
    ]


class PortAudioStream:
    """A sounddevice or rtmixer stream with its errors turned into DeviceError."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        # A sound server that hangs would keep the program from ending: it waits there for all
        # streams to be closed. On Linux a process leaves nothing behind.
        if sys.platform == "linux":
            atexit.unregister(sd._exit_handler)
        self._name = name
        # It would be unloaded when the interpreter ends, under threads of a stream that hangs.
        self._library = sd._lib
        with _calls.running(), reported(name):
            self.raw = make()

    def start(self) -> None:
        """See `OpenStream`."""
        with _calls.running(), reported(self._name):
            self.raw.start()

    def stop(self) -> None:
        """See `OpenStream`."""
        with _calls.running(), reported(self._name):
            self.raw.stop()

    def close(self) -> None:
        """See `OpenStream`."""
        with _calls.running():
            self.raw.close()

    def is_active(self) -> bool:
        """See `OpenStream`."""
        with _translated(self._name):
            return bool(self.raw.active)

    def time_s(self) -> float:
        """See `OpenStream`."""
        with _translated(self._name):
            return float(self.raw.time)

    def latency_s(self) -> float:
        """See `OpenStream`."""
        with _translated(self._name):
            return float(self.raw.latency)


def open_callback_input(format_: StreamFormat) -> CallbackInput:
    """Open an input with a Python callback.

    Raises:
        DeviceError: the device refuses the format.
    """
    arguments = stream_arguments(format_, INPUT_BLOCK_S, INPUT_LATENCY_S)
    return CallbackInput(
        format_,
        lambda callback: PortAudioStream(
            format_.name,
            lambda: sd.InputStream(**arguments, dtype="float32", callback=callback),
        ),
    )


def open_callback_output(format_: StreamFormat) -> CallbackOutput:
    """Open an output with a Python callback.

    Raises:
        DeviceError: the device refuses the format.
    """
    arguments = stream_arguments(format_, OUTPUT_BLOCK_S, CALLBACK_OUTPUT_LATENCY_S)
    return CallbackOutput(
        format_,
        lambda callback: PortAudioStream(
            format_.name,
            lambda: sd.OutputStream(**arguments, dtype="float32", callback=callback),
        ),
    )

"""Devices by name: real ones, files, and none at all."""

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from engine.audio.device import DeviceInfo, InputStream, OutputStream
from engine.audio.listing import (
    Endpoint,
    arrange,
    default_endpoint,
    list_endpoints,
    match_endpoint,
    portaudio_devices,
)
from engine.audio.live import InputDriver, LiveInput
from engine.audio.pulse import PulseWatch, chosen_pulse_device, query_pulse
from engine.audio.stream import StreamFormat
from engine.audio.virtual import FileInput, NullInput
from engine.audio.virtual_output import FileOutput, NullOutput
from engine.core.errors import DeviceError
from engine.core.files import expanded
from engine.core.timebase import Clock

DEFAULT = "default"
NULL = "null"
FILE_PREFIX = "file:"


_log = logging.getLogger(__name__)


class _Closable(Protocol):
    @property
    def is_closed(self) -> bool: ...


class _RealOutput(OutputStream, _Closable, Protocol):
    pass


class SystemDevices:
    """The devices of this machine; an `engine.audio.device.DeviceProvider`.

    Only real devices need PortAudio. Thread: any; streams are opened one after the other.

    Args:
        clock: paces files and null devices.
        is_fast: files and null devices do not wait for the clock.
        use_rtmixer: whether C callbacks are used where they are installed.
    """

    def __init__(self, clock: Clock, *, is_fast: bool = False, use_rtmixer: bool = True) -> None:
        self._clock = clock
        self._is_fast = is_fast
        self._use_rtmixer = use_rtmixer
        # Opening sets the environment that the sound server's library reads.
        self._lock = threading.Lock()
        self._open: list[_Closable] = []

    def list_devices(self) -> tuple[DeviceInfo, ...]:
        """Return what is plugged in now.

        Raises:
            DeviceError: there is no sound system.
        """
        return tuple(endpoint.info for endpoint in list_endpoints())

    def open_input(self, name: str) -> InputStream:
        """Open an input, not started.

        Raises:
            DeviceError, AudioFileError: it cannot be opened.
        """
        if name == NULL:
            return NullInput(self._clock, is_live=not self._is_fast)
        if name.startswith(FILE_PREFIX):
            path = expanded(name.removeprefix(FILE_PREFIX))
            return FileInput(path, self._clock, is_live=not self._is_fast)
        with self._lock:
            return self._open_input(self._find(name, is_input=True))

    def open_output(self, name: str) -> OutputStream:
        """Open an output, not started.

        Raises:
            DeviceError, AudioFileError: it cannot be opened.
        """
        if name == NULL:
            return NullOutput(self._clock, is_live=not self._is_fast)
        if name.startswith(FILE_PREFIX):
            path = expanded(name.removeprefix(FILE_PREFIX))
            return FileOutput(path, self._clock, is_live=not self._is_fast)
        with self._lock:
            return self._open_output(self._find(name, is_input=False))

    def _find(self, name: str, *, is_input: bool) -> Endpoint:
        if name != DEFAULT:
            endpoint = _match_on_server(name, is_input=is_input)
            if endpoint is None:
                endpoint = match_endpoint(list_endpoints(), name, is_input=is_input)
            self._refresh_unless(endpoint)
            return endpoint
        try:
            return default_endpoint(portaudio_devices(), query_pulse(), is_input=is_input)
        except DeviceError:
            self._refresh_unless(None)
            return default_endpoint(portaudio_devices(), query_pulse(), is_input=is_input)

    def _refresh_unless(self, endpoint: Endpoint | None) -> None:
        """Make PortAudio read its list again if the device is not on it and no stream is open."""
        portaudio_devices()  # names what is missing if PortAudio is
        from engine.audio import portaudio

        self._open = [stream for stream in self._open if not stream.is_closed]
        is_listed = endpoint is not None and portaudio.find_index(endpoint) is not None
        if not is_listed and not self._open:
            portaudio.refresh_devices()

    def _open_input(self, endpoint: Endpoint) -> InputStream:
        from engine.audio import portaudio

        make = self._drivers()[0]
        with chosen_pulse_device(endpoint.pulse_name, is_input=True):
            driver = portaudio.open_endpoint(endpoint, make, is_input=True)
        name = endpoint.pulse_name
        watch = PulseWatch(name, is_input=True) if name else None
        stream = LiveInput(endpoint.info.name, driver, self._clock, watch)
        self._open.append(stream)
        return stream

    def _open_output(self, endpoint: Endpoint) -> OutputStream:
        from engine.audio import portaudio

        make = self._drivers()[1]
        with chosen_pulse_device(endpoint.pulse_name, is_input=False):
            stream = portaudio.open_endpoint(endpoint, make, is_input=False)
        self._open.append(stream)
        return stream

    def _drivers(
        self,
    ) -> tuple[Callable[[StreamFormat], InputDriver], Callable[[StreamFormat], _RealOutput]]:
        if self._use_rtmixer:
            try:
                from engine.audio.rtmix import RtmixInput, RtmixOutput
            except (ImportError, OSError) as error:
                _log.info("C audio callbacks are not there, Python's are used: %s", error)
            else:
                return RtmixInput, RtmixOutput
        from engine.audio.portaudio import open_callback_input, open_callback_output

        return open_callback_input, open_callback_output


def _match_on_server(name: str, *, is_input: bool) -> Endpoint | None:
    """Return a device that a sound server names; None if there is no server, or none like it.

    As current as `list_endpoints`, and ten times as quick.
    """
    try:
        endpoints = arrange(portaudio_devices(), query_pulse())
        endpoint = match_endpoint(endpoints, name, is_input=is_input)
    except DeviceError:
        return None
    return endpoint if endpoint.pulse_name else None

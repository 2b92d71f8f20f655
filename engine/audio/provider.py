"""Devices by name: real ones, files, and none at all."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from engine.audio.device import DeviceInfo, InputStream, OutputStream
from engine.audio.listing import (
    NO_SOUND_ADVICE,
    SERVER_ADVICE,
    Endpoint,
    arrange,
    default_endpoint,
    is_nothing,
    list_endpoints,
    match_endpoint,
    other_names,
    portaudio_devices,
)
from engine.audio.live import InputDriver, LiveInput
from engine.audio.live_output import LiveOutput, OutputDriver
from engine.audio.pulse import PulseDevice, chosen_pulse_device, query_pulse
from engine.audio.pulse_watch import PulseWatch
from engine.audio.stream import StreamFormat
from engine.audio.virtual import FileInput, NullInput
from engine.audio.virtual_output import FileOutput, NullOutput
from engine.core.attempt import Attempt
from engine.core.errors import DeviceError
from engine.core.files import expanded
from engine.core.timebase import Clock

DEFAULT = "default"
NULL = "null"
FILE_PREFIX = "file:"
OPEN_S = 5.0
"""Time a sound system gets to open a stream."""

T = TypeVar("T", InputStream, OutputStream)
D = TypeVar("D", InputDriver, OutputDriver)

_log = logging.getLogger(__name__)


class _Releasable(Protocol):
    @property
    def is_released(self) -> bool: ...


class SystemDevices:
    """The devices of this machine; an `engine.audio.device.DeviceProvider`.

    Only real devices need PortAudio. Thread: any; streams are opened and closed one at a time.

    Args:
        clock: paces files and null devices.
        is_fast: files and null devices do not wait for the clock.
        use_rtmixer: whether C callbacks are used where they are installed.
    """

    def __init__(self, clock: Clock, *, is_fast: bool = False, use_rtmixer: bool = True) -> None:
        self._clock = clock
        self._is_fast = is_fast
        self._use_rtmixer = use_rtmixer
        # PortAudio's list of open streams has no lock of its own, and opening sets the environment
        # that the sound server's library reads.
        self._lock = threading.Lock()
        self._open: list[_Releasable] = []
        self._names_on_server: set[str] = set()

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
        return self._in_time(lambda: self._open_input(name))

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
        return self._in_time(lambda: self._open_output(name))

    def _in_time(self, open_stream: Callable[[], T]) -> T:
        """Open a stream, or give it up if the sound system hangs."""

        def open_alone() -> T:
            if not self._lock.acquire(timeout=OPEN_S):
                raise _hanging()
            try:
                portaudio_devices()  # names what is missing if PortAudio is
                return open_stream()
            finally:
                self._lock.release()

        opening = Attempt(open_alone, lambda stream: stream.close(), "vivavoce-open")
        if not opening.wait(OPEN_S):
            opening.give_up()
            raise _hanging()
        return opening.result()

    def _find(self, name: str, *, is_input: bool) -> tuple[Endpoint, tuple[Endpoint, ...]]:
        """Return the endpoint of a name, and all there are."""
        pulse = query_pulse()
        endpoints = arrange(portaudio_devices(), pulse)
        if pulse and not any(endpoint.behind for endpoint in endpoints):
            # PortAudio made its list while the server was away.
            self._refresh_unless(None)
            endpoints = arrange(portaudio_devices(), pulse)
        names = {endpoint.info.name for endpoint in endpoints if endpoint.behind}
        self._names_on_server |= names
        is_gone = not names and self._names_on_server
        if is_gone and (name == DEFAULT or name in self._names_on_server):
            # PortAudio's own default would be the server's as soon as that is back, but nameless.
            raise DeviceError(
                "The sound server does not answer: its devices cannot be used.",
                advice=SERVER_ADVICE,
            )
        if name == DEFAULT:
            return self._find_default(pulse, is_input=is_input)
        if not names:
            endpoints = list_endpoints()
        endpoint = match_endpoint(endpoints, name, is_input=is_input)
        self._refresh_unless(endpoint)
        return endpoint, endpoints

    def _find_default(
        self, pulse: Sequence[PulseDevice], *, is_input: bool
    ) -> tuple[Endpoint, tuple[Endpoint, ...]]:
        try:
            endpoint = default_endpoint(portaudio_devices(), pulse, is_input=is_input)
        except DeviceError:
            self._refresh_unless(None)
            endpoint = default_endpoint(portaudio_devices(), pulse, is_input=is_input)
        if is_nothing(endpoint, pulse):
            kind = "microphone" if is_input else "loudspeaker"
            raise DeviceError(f"There is no {kind}.", advice=NO_SOUND_ADVICE)
        return endpoint, arrange(portaudio_devices(), pulse)

    def _refresh_unless(self, endpoint: Endpoint | None) -> None:
        """Make PortAudio read its list again if the device is not on it and no stream is open."""
        from engine.audio import portaudio

        self._forget_released()
        is_listed = endpoint is not None and portaudio.find_index(endpoint) is not None
        if not is_listed and not self._open:
            portaudio.refresh_devices()

    def _forget_released(self) -> None:
        """Let closed streams go, whose rings hold megabytes."""
        self._open = [stream for stream in self._open if not stream.is_released]

    def _open_input(self, name: str) -> InputStream:
        endpoint, driver = self._open_driver(name, self._drivers()[0], is_input=True)
        watch = _watch(endpoint, is_input=True)
        stream = LiveInput(endpoint.info.name, driver, self._clock, watch, self._lock)
        self._forget_released()
        self._open.append(stream)
        return stream

    def _open_output(self, name: str) -> OutputStream:
        endpoint, driver = self._open_driver(name, self._drivers()[1], is_input=False)
        watch = _watch(endpoint, is_input=False)
        stream = LiveOutput(endpoint.info.name, driver, self._clock, watch, self._lock)
        self._forget_released()
        self._open.append(stream)
        return stream

    def _open_driver(
        self, name: str, make: Callable[[StreamFormat], D], *, is_input: bool
    ) -> tuple[Endpoint, D]:
        from engine.audio import portaudio

        endpoint, endpoints = self._find(name, is_input=is_input)
        try:
            with chosen_pulse_device(endpoint.pulse_name, is_input=is_input):
                return endpoint, portaudio.open_endpoint(endpoint, make, is_input=is_input)
        except DeviceError as error:
            names = other_names(endpoints, endpoint, is_input=is_input)
            others = f"Others are: {', '.join(names)}." if names else ""
            raise DeviceError(error.message, advice=f"{error.advice} {others}".strip()) from error

    def _drivers(
        self,
    ) -> tuple[Callable[[StreamFormat], InputDriver], Callable[[StreamFormat], OutputDriver]]:
        if self._use_rtmixer:
            try:
                from engine.audio.rtmix import RtmixInput, RtmixOutput
            except (ImportError, OSError) as error:
                _log.info("C audio callbacks are not there, Python's are used: %s", error)
            else:
                return RtmixInput, RtmixOutput
        from engine.audio.portaudio import open_callback_input, open_callback_output

        return open_callback_input, open_callback_output


def _watch(endpoint: Endpoint, *, is_input: bool) -> PulseWatch | None:
    if not endpoint.behind:
        return None
    return PulseWatch(
        endpoint.behind,
        endpoint.info.name,
        is_input=is_input,
        follows_default=not endpoint.pulse_name,
    )


def _hanging() -> DeviceError:
    return DeviceError(
        f"The sound system did not answer within {OPEN_S:.0f} s.", advice=SERVER_ADVICE
    )

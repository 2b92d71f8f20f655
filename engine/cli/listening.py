"""Runs a session for `vivavoce listen`, from the models to the last word."""

import sys
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, replace

from engine.cli.console import Console, live_console
from engine.cli.exit_codes import DONE, FAILED, INPUT_PROBLEM, INTERRUPTED
from engine.cli.inputs import InputChoice, choose_input, inspect_file
from engine.cli.interrupts import Interrupts
from engine.cli.json_lines import JsonPrinter
from engine.cli.keeping import KEPT, choose_keep
from engine.cli.preflight import check_backends, chosen_backend
from engine.cli.printer import LinePrinter
from engine.cli.reporter import Reporter
from engine.cli.startup import Startup
from engine.core.config import KeepPolicy, Settings
from engine.core.errors import CancelledError, ConfigError, EngineError
from engine.core.types import BackendKind
from engine.session.build import build_session
from engine.session.pool import NO_BACKEND
from engine.session.session import Session

_POLL_S = 0.1
_FAST_POLL_S = 0.01
_KINDS = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.ENCODER)


@dataclass(frozen=True, slots=True)
class ListenRequest:
    """What was asked for on the command line.

    Args:
        startup: the command's surroundings.
        settings: with the command's options in force.
        max_s: seconds of audio to listen to; None for no end.
        is_fast: files are read as fast as the models take them.
        is_json: events instead of lines.
        allow_untrained: random weights where there are none.
    """

    startup: Startup
    settings: Settings
    max_s: float | None = None
    is_fast: bool = False
    is_json: bool = False
    allow_untrained: bool = False


def listen_to(request: ListenRequest) -> int:
    """Listen until the input ends, the time is up, or Ctrl-C; return the exit status.

    Raises:
        ConfigError: the options do not fit together.
        EngineError: the models or the input cannot be had.
    """
    with Interrupts() as interrupts, live_console(interrupts.discard) as console:
        return _listen(request, console, interrupts)


def _listen(request: ListenRequest, console: Console, interrupts: Interrupts) -> int:
    choice = choose_input(request.settings.input)
    if request.is_fast and choice.is_microphone:
        raise ConfigError("--fast is for files.", advice="Leave it out, or use --input file:PATH.")
    if choice.path is not None:
        inspect_file(choice.path)
    check_backends(
        request.settings,
        request.startup.environment,
        _KINDS,
        allow_untrained=request.allow_untrained,
    )
    may_ask = sys.stdin.isatty() and console.has_live_messages and not request.is_json
    keep = choose_keep(request.settings, choice, request.startup, may_ask=may_ask)
    settings = replace(request.settings, keep=keep, input=choice.device)
    with build_session(
        settings,
        request.startup.environment,
        is_fast=request.is_fast,
        allow_untrained=request.allow_untrained,
    ) as session:
        run = _ListenRun(replace(request, settings=settings), choice, console, interrupts, session)
        return run.run()


class _ListenRun:
    """One recording. Thread: main."""

    def __init__(
        self,
        request: ListenRequest,
        choice: InputChoice,
        console: Console,
        interrupts: Interrupts,
        session: Session,
    ) -> None:
        self._request = request
        self._choice = choice
        self._console = console
        self._interrupts = interrupts
        self._session = session
        self._reporter = Reporter(console)
        self._kinds = tuple(
            kind for kind in _KINDS if chosen_backend(request.settings, kind) != NO_BACKEND
        )
        self._tick: Callable[[float], None] = lambda _: None

    def run(self) -> int:
        self._subscribe()
        self._session.load(_KINDS)
        if self._choice.path is not None:
            # A file can wait, a microphone cannot: it is recorded while the models load.
            self._wait_for_models()
        self._start()
        has_ended = self._follow()
        self._session.drain_events()
        self._console.status("")
        self._tell_what_was_kept()
        if not has_ended:
            return INTERRUPTED
        if self._reporter.has_failed:
            return FAILED
        return INPUT_PROBLEM if self._reporter.is_input_truncated else DONE

    def _subscribe(self) -> None:
        self._session.subscribe(self._reporter.take)
        if self._request.is_json:
            self._session.subscribe(JsonPrinter(self._console).take)
            return
        has_speakers = self._request.settings.diarizer != NO_BACKEND
        printer = LinePrinter(self._console, has_speakers=has_speakers)
        self._session.subscribe(printer.take)
        if not self._request.is_fast:
            self._tick = printer.tick

    def _wait_for_models(self) -> None:
        self._session.wait_until_loaded(BackendKind.RECOGNIZER, self._interrupts.stop)
        # Without speakers there is still a transcript; the session tells why.
        with suppress(EngineError):
            self._session.wait_until_loaded(BackendKind.DIARIZER, self._interrupts.stop)
        if self._interrupts.stop.is_cancelled:
            raise CancelledError("Stopped before the recording began.")
        self._session.drain_events()
        self._introduce()

    def _start(self) -> None:
        """Begin to record; an input that does not open can be interrupted."""
        starting = self._session.start(self._choice.device)
        while not wait((starting,), _POLL_S).done:
            if self._interrupts.stop.is_cancelled:
                raise CancelledError("Stopped before the recording began.")
        starting.result()

    def _follow(self) -> bool:
        """Wait for the end; returns False if it was cut short."""
        is_introduced = self._choice.path is not None
        is_stopping = is_discarding = False
        poll_s = _FAST_POLL_S if self._request.is_fast else _POLL_S
        while not self._session.wait_until_stopped(poll_s):
            self._tick(self._session.recorded_s())
            if BackendKind.RECOGNIZER in self._reporter.failed:
                self._session.wait_until_loaded(BackendKind.RECOGNIZER)  # raises why
            if not is_introduced and self._reporter.is_complete(self._kinds):
                is_introduced = True
                self._introduce()
            if not is_stopping and self._should_stop():
                is_stopping = True
                self._session.stop()
            is_cut = self._interrupts.discard.is_cancelled or self._console.is_closed
            if is_cut and not is_discarding:
                is_discarding = True
                self._session.stop(discard_backlog=True)
                if self._interrupts.is_urgent:
                    break
        return not self._interrupts.discard.is_cancelled

    def _should_stop(self) -> bool:
        max_s = self._request.max_s
        return (
            self._interrupts.stop.is_cancelled
            or self._console.is_closed
            or (max_s is not None and self._session.recorded_s() >= max_s)
        )

    def _introduce(self) -> None:
        parts = [f"Listening to {self._choice.title}", self._reporter.models()]
        parts.append(KEPT[self._request.settings.keep_policy])
        said = "; ".join(part for part in parts if part)
        self._console.note(f"{said}. Nothing leaves this machine. Ctrl-C stops.")

    def _tell_what_was_kept(self) -> None:
        recording, settings = self._reporter.recording, self._request.settings
        if recording is None or settings.keep_policy is KeepPolicy.NOTHING:
            return
        folder = self._request.startup.folders(settings).sessions / recording.recording_id
        self._console.note(
            f"Kept in {folder}; to read it: vivavoce sessions show {recording.recording_id}"
        )

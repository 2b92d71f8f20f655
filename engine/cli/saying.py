"""Speaks a text for `vivavoce say`."""

import queue
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from engine.backends.registry import available
from engine.cli.console import Console, system_console
from engine.cli.exit_codes import DONE, INPUT_PROBLEM, INTERRUPTED
from engine.cli.interrupts import Interrupts
from engine.cli.preflight import check_backends, check_output
from engine.cli.reporter import Reporter
from engine.cli.startup import Startup
from engine.core.config import Settings
from engine.core.errors import ConfigError
from engine.core.events import Event, UtteranceChanged, UtteranceState
from engine.core.types import BackendKind
from engine.session.build import build_session
from engine.session.rendering import render_to_wav
from engine.session.session import Session

_POLL_S = 0.1
_ENDS = (UtteranceState.DONE, UtteranceState.CANCELLED, UtteranceState.FAILED)


@dataclass(frozen=True, slots=True)
class SayRequest:
    """What was asked for on the command line.

    Args:
        startup: the command's surroundings.
        settings: with the command's options in force.
        text: what to say; "-" for what standard input says.
        out: a WAV file; None for the loudspeaker.
        voice: of the synthesizer, or a synthesizer's id; None for the settings' own.
        allow_untrained: random weights where there are none.
    """

    startup: Startup
    settings: Settings
    text: str
    out: Path | None = None
    voice: str | None = None
    allow_untrained: bool = False


def say_text(request: SayRequest) -> int:
    """Speak or render, and return the exit status.

    Raises:
        ConfigError: there is nothing to say, or nowhere to write.
        EngineError: there is no voice, or it cannot say this.
    """
    console = system_console()
    text = sys.stdin.read() if request.text == "-" else request.text
    if not text.strip():
        raise ConfigError(
            "There is nothing to say: the text is empty.", advice="Write some words to be spoken."
        )
    if request.out is not None:
        check_output(request.out)
    settings = request.settings
    if request.voice is not None:
        settings = replace(settings, synthesizer=choose_voice(request.voice, settings.synthesizer))
    check_backends(
        settings,
        request.startup.environment,
        (BackendKind.SYNTHESIZER,),
        allow_untrained=request.allow_untrained,
    )
    with (
        Interrupts() as interrupts,
        build_session(
            settings, request.startup.environment, allow_untrained=request.allow_untrained
        ) as session,
    ):
        session.subscribe(Reporter(console).take)
        session.load((BackendKind.SYNTHESIZER,))
        if request.out is not None:
            return _render(session, text, request.out, console, interrupts)
        session.wait_until_loaded(BackendKind.SYNTHESIZER, interrupts.stop)
        return _speak(session, text, console, interrupts)


def choose_voice(voice: str, synthesizer: str) -> str:
    """Return the backend id for a voice: a synthesizer's own id, or a voice of the chosen one."""
    if voice.partition(":")[0] in {listing.id for listing in available(BackendKind.SYNTHESIZER)}:
        return voice
    return f"{synthesizer.partition(':')[0]}:{voice}"


def _render(
    session: Session, text: str, out: Path, console: Console, interrupts: Interrupts
) -> int:
    seconds = render_to_wav(
        session, text, out, interrupts.stop, lambda share: console.status(f"{share:.0%}")
    )
    console.status("")
    console.note(f"{seconds:.1f} s of speech are in {out}.")
    return DONE


def _speak(session: Session, text: str, console: Console, interrupts: Interrupts) -> int:
    ended: queue.SimpleQueue[UtteranceChanged] = queue.SimpleQueue()

    def take(event: Event) -> None:
        if isinstance(event, UtteranceChanged) and event.state in _ENDS:
            ended.put(event)

    session.subscribe(take)
    session.speak(text)
    is_silenced = False
    while True:
        try:
            end = ended.get(timeout=_POLL_S)
        except queue.Empty:
            if interrupts.stop.is_cancelled and not is_silenced:
                is_silenced = True
                session.stop_speaking()
            continue
        if end.state is UtteranceState.FAILED:
            console.note(end.message)
            return INPUT_PROBLEM
        return INTERRUPTED if end.state is UtteranceState.CANCELLED else DONE

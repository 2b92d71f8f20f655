"""Speaks a text for `vivavoce say`."""

import queue
import sys
import time
from contextlib import suppress
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
from engine.core.sync import CancelToken
from engine.core.types import BackendKind
from engine.session.build import build_session
from engine.session.rendering import render_to_wav
from engine.session.session import Session

LOST_PATIENCE_S = 30.0
"""How long a loudspeaker that is lost while it speaks is waited for."""
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
        check_output(request.out, suffix=".wav")
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
        return speak_aloud(session, text, console, interrupts.stop)


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


def speak_aloud(
    session: Session,
    text: str,
    console: Console,
    stop: CancelToken,
    patience_s: float = LOST_PATIENCE_S,
) -> int:
    """Speak a text to its end and return the exit status.

    Args:
        session: with a voice that is ready.
        text: what to say.
        console: takes what went wrong.
        stop: silences it.
        patience_s: how long a lost loudspeaker is waited for.
    """
    told: queue.SimpleQueue[UtteranceChanged] = queue.SimpleQueue()

    def take(event: Event) -> None:
        if isinstance(event, UtteranceChanged):
            told.put(event)

    session.subscribe(take)
    session.speak(text)
    lost_since_s: float | None = None
    is_silenced = has_given_up = False
    while True:
        with suppress(queue.Empty):
            event = told.get(timeout=_POLL_S)
            if event.state is UtteranceState.FAILED:
                console.note(event.message)
                return INPUT_PROBLEM
            if event.state in _ENDS:
                status = DONE if event.state is UtteranceState.DONE else INTERRUPTED
                return INPUT_PROBLEM if has_given_up else status
            if event.state is UtteranceState.SPEAKING:
                lost_since_s = None
            elif event.state is UtteranceState.PAUSED and lost_since_s is None:
                # Nobody pauses here: the loudspeaker is gone, which was told.
                lost_since_s = time.monotonic()
        is_lost = lost_since_s is not None and time.monotonic() - lost_since_s >= patience_s
        if is_lost and not (has_given_up or is_silenced):
            has_given_up = True
            console.note(
                f"No loudspeaker came back within {patience_s:.0f} s: the rest is not spoken. "
                "Choose another one with --device, or write a file with -o."
            )
        if (stop.is_cancelled or has_given_up) and not is_silenced:
            is_silenced = True
            session.stop_speaking()

"""Runs a session over a file for `vivavoce transcribe`."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from engine.cli.console import Console, system_console
from engine.cli.exit_codes import DONE, FAILED, INPUT_PROBLEM, INTERRUPTED
from engine.cli.inputs import DEMO, FileFacts, choose_input, inspect_file
from engine.cli.interrupts import Interrupts
from engine.cli.preflight import check_backends, check_output
from engine.cli.reporter import Reporter
from engine.cli.startup import Startup
from engine.core.config import Settings
from engine.core.errors import ConfigError
from engine.core.types import BackendKind
from engine.session.build import build_session
from engine.session.session import Session
from engine.store.exporters.export import export, format_of, render
from engine.store.exporters.options import ExportFormat, ExportOptions
from engine.text.activity import TurnPolicy
from engine.text.document import TranscriptDocument

_POLL_S = 0.1
_KINDS = (BackendKind.RECOGNIZER, BackendKind.DIARIZER)


@dataclass(frozen=True, slots=True)
class TranscribeRequest:
    """What was asked for on the command line.

    Args:
        startup: the command's surroundings.
        settings: with the command's options in force.
        file: the audio.
        format_name: of the transcript; None for what `out` says, or text.
        out: where to write; None for standard output.
        turns: how speaker probabilities become turns.
        allow_untrained: random weights where there are none.
    """

    startup: Startup
    settings: Settings
    file: Path
    format_name: str | None = None
    out: Path | None = None
    turns: TurnPolicy = field(default_factory=TurnPolicy)
    allow_untrained: bool = False


def transcribe_file(request: TranscribeRequest) -> int:
    """Transcribe, write, and return the exit status.

    Raises:
        ConfigError: there is no such format, or the output cannot be written.
        EngineError: the file or the models are not what they should be.
    """
    console = system_console()
    export_format = choose_format(request.format_name, request.out)
    if request.out is not None:
        check_output(request.out, request.file)
    is_demo = str(request.file) == DEMO and not request.file.exists()
    choice = choose_input(DEMO if is_demo else f"file:{request.file}")
    if choice.path is None:
        raise ConfigError(f"{request.file} is no file.", advice="Name a sound file, or demo.")
    facts = inspect_file(choice.path)
    check_backends(
        request.settings,
        request.startup.environment,
        _KINDS,
        allow_untrained=request.allow_untrained,
    )
    reporter = Reporter(console)
    with (
        Interrupts() as interrupts,
        build_session(
            request.settings,
            request.startup.environment,
            is_fast=True,
            allow_untrained=request.allow_untrained,
        ) as session,
    ):
        session.subscribe(reporter.take)
        session.load(_KINDS)
        session.wait_until_loaded(BackendKind.RECOGNIZER, interrupts.stop)
        session.start(choice.device).result()
        _follow(session, facts, console, interrupts)
        session.drain_events()
        document = session.document
    console.status("")
    if interrupts.stop.is_cancelled:
        console.note("Stopped; nothing is written.")
        return INTERRUPTED
    options = ExportOptions(name=choice.path.stem, turns=request.turns)
    _write(document, export_format, request.out, options)
    if reporter.is_input_truncated:
        return INPUT_PROBLEM
    return FAILED if reporter.has_failed else DONE


def choose_format(name: str | None, out: Path | None) -> ExportFormat:
    """Return the format asked for by name, else by the file's suffix, else text.

    Raises:
        ConfigError: there is no format of that name or suffix.
    """
    known = ", ".join(ExportFormat)
    if name is not None:
        if name.lower() not in tuple(ExportFormat):
            raise ConfigError(f'There is no format "{name}".', advice=f"Choose one of: {known}.")
        return ExportFormat(name.lower())
    if out is None or not out.suffix:
        return ExportFormat.TXT
    found = format_of(out)
    if found is None:
        raise ConfigError(
            f'The suffix "{out.suffix}" says no format.',
            advice=f"Add --format and one of: {known}.",
        )
    return found


def _follow(session: Session, facts: FileFacts, console: Console, interrupts: Interrupts) -> None:
    is_discarding = False
    while not session.wait_until_stopped(_POLL_S):
        if interrupts.stop.is_cancelled and not is_discarding:
            is_discarding = True
            session.stop(discard_backlog=True)
        if interrupts.discard.is_cancelled:
            return  # closing waits no longer than it may
        health = session.health()
        done_s = health.recorded_s - max(health.recognizer_backlog_s, health.diarizer_backlog_s)
        of_all = f" of {facts.duration_s:.0f} s" if facts.duration_s else " s"
        console.status(f"{max(0.0, done_s):.0f}{of_all}")


def _write(
    document: TranscriptDocument,
    export_format: ExportFormat,
    out: Path | None,
    options: ExportOptions,
) -> None:
    if out is not None:
        export(document, export_format, out, options)
        return
    sys.stdout.write(render(document, export_format, options))
    sys.stdout.flush()

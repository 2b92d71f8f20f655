"""`vivavoce sessions`: what was recorded and kept."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.startup import startup_of
from engine.cli.turn_options import MinOffMs, MinOnMs, PadMs, Threshold, turn_policy

if TYPE_CHECKING:
    from engine.store.library import SessionInfo, SessionLibrary, StoredSession
    from engine.text.document import TranscriptDocument

ALL = "all"
"""What stands for every session that broke off."""

_Reference = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A session: its id, the beginning of it, its title, or last."
    ),
]


def build() -> typer.Typer:
    """Return the group of commands."""
    group = typer.Typer(
        help="List, read, name, export, recover and delete recordings.", no_args_is_help=True
    )
    group.command("list")(list_sessions)
    group.command()(show)
    group.command()(rename)
    group.command()(export)
    group.command()(recover)
    group.command()(delete)
    return group


def list_sessions(context: typer.Context) -> None:
    """List recordings, the newest first."""
    from engine.cli.console import system_console
    from engine.core.timebase import format_time
    from engine.store.integrity import format_bytes

    library = _library(context)
    found = library.list()
    for info in found:
        words = "1 word" if info.num_words == 1 else f"{info.num_words} words"
        parts = [
            f"{info.id:<22}",
            format_time(info.duration_s),
            f"{words:>12}",
            f"{format_bytes(info.size_bytes):>10}",
            "audio" if info.has_audio else "text ",
            _condition(info),
            info.title,
        ]
        print("  ".join(part for part in parts if part))
    if not found:
        system_console().note(f"There is no recording in {library.root} yet.")
    if any(info.is_broken_off for info in found):
        system_console().note("To finish what broke off, run: vivavoce sessions recover")


def show(context: typer.Context, reference: _Reference) -> None:
    """Print a recording's transcript."""
    from engine.store.exporters.export import render
    from engine.store.exporters.options import ExportFormat

    stored = _library(context).open(reference)
    print(render(_document(stored), ExportFormat.TXT), end="")


def rename(
    context: typer.Context,
    reference: _Reference,
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help="What it is called from now on; '' for nothing.")
    ],
) -> None:
    """Give a recording a title; it is listed, exported and found under it."""
    library = _library(context)
    session_id = library.open(reference).header.id
    title = library.rename(session_id, title)
    print(f"{session_id} is called {title}" if title else f"{session_id} has no title")


def export(
    context: typer.Context,
    reference: _Reference,
    export_format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="txt, srt, vtt, json, rttm or ctm."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to a file; its suffix may say how.")
    ] = None,
    threshold: Threshold = None,
    min_on_ms: MinOnMs = None,
    min_off_ms: MinOffMs = None,
    pad_ms: PadMs = None,
) -> None:
    """Write a recording's transcript in a format."""
    from engine.cli.preflight import check_output
    from engine.cli.transcribing import choose_format
    from engine.store.exporters import export as exporter
    from engine.store.exporters.options import ExportOptions

    options = ExportOptions(turns=turn_policy(threshold, min_on_ms, min_off_ms, pad_ms))
    chosen = choose_format(export_format, out)
    if out is not None:
        check_output(out)
    document = _document(_library(context).open(reference))
    if out is None:
        print(exporter.render(document, chosen, options), end="")
    else:
        exporter.export(document, chosen, out, options)


def recover(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(metavar="[ID|all]", help="A session, as elsewhere, or all that broke off."),
    ] = ALL,
) -> None:
    """Finish recordings that broke off: cut their files cleanly and close them.

    What they hold is kept; of one of which only text was to be kept, the sound is deleted.
    """
    from engine.cli.console import system_console
    from engine.core.errors import StoreError

    library = _library(context)
    if reference != ALL:
        print(library.recover(reference).text)
        return
    broken = [info.id for info in library.list() if info.is_broken_off]
    failed: StoreError | None = None
    for session_id in broken:
        try:
            print(library.recover(session_id).text)
        except StoreError as error:
            # The others can still be finished.
            if failed is not None:
                system_console().note(str(failed))
            failed = error
    if failed is not None:
        raise failed
    if not broken:
        system_console().note("No recording broke off.")


def delete(
    context: typer.Context,
    reference: _Reference,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a recording, its audio and its text, from this machine."""
    library = _library(context)
    info = library.open(reference).info()
    if not yes:
        title = f" ({info.title})" if info.title else ""
        typer.confirm(f"Delete {info.id}{title} for good?", abort=True, err=True)
    library.delete(info.id)
    print(f"{info.id} is deleted")


def _document(stored: "StoredSession") -> "TranscriptDocument":
    """Return a recording's transcript; tells what of it is lost."""
    from engine.cli.console import system_console
    from engine.store.header import EVENTS_NAME

    document = stored.document()
    if stored.num_skipped:
        lines = "1 line" if stored.num_skipped == 1 else f"{stored.num_skipped} lines"
        system_console().note(
            f"{lines} of {stored.folder / EVENTS_NAME} cannot be read; the rest is shown."
        )
    elif len(document.words) < stored.header.num_words:
        system_console().note(
            f"{stored.header.num_words} words were recorded, but {len(document.words)} are in "
            f"{stored.folder / EVENTS_NAME}; the rest is lost."
        )
    return document


def _condition(info: "SessionInfo") -> str:
    if info.is_active:
        return "being recorded"
    if info.is_broken_off:
        return "broke off"
    return "recovered" if info.is_recovered else ""


def _library(context: typer.Context) -> "SessionLibrary":
    from engine.store.library import SessionLibrary

    startup = startup_of(context)
    return SessionLibrary(startup.folders(startup.settings()).sessions)

"""`vivavoce transcribe`: the transcript of an audio file, as fast as the models can."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.startup import startup_of


def transcribe(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="An audio file, or demo.")],
    export_format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="txt, srt, vtt, json, rttm or ctm."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to a file; its suffix may say how.")
    ] = None,
    recognizer: Annotated[
        str | None, typer.Option(metavar="ID", help="Who writes the words.")
    ] = None,
    diarizer: Annotated[
        str | None, typer.Option(metavar="ID", help="Who tells speakers apart, or none.")
    ] = None,
) -> int:
    """Write the transcript of an audio file. Nothing else of it is kept."""
    from engine.cli.transcribing import TranscribeRequest, transcribe_file
    from engine.core.config import KeepPolicy, with_overrides

    startup = startup_of(context)
    settings = with_overrides(
        startup.settings(), recognizer=recognizer, diarizer=diarizer, keep=KeepPolicy.NOTHING
    )
    return transcribe_file(TranscribeRequest(startup, settings, file, export_format, out))

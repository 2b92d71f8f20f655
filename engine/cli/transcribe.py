"""`vivavoce transcribe`: the transcript of an audio file, as fast as the models can."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.startup import Untrained, startup_of
from engine.cli.turn_options import MinOffMs, MinOnMs, PadMs, Threshold, turn_policy


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
    threshold: Threshold = None,
    min_on_ms: MinOnMs = None,
    min_off_ms: MinOffMs = None,
    pad_ms: PadMs = None,
    allow_untrained: Untrained = False,
) -> int:
    """Write the transcript of an audio file. Nothing else of it is kept."""
    from engine.cli.transcribing import TranscribeRequest, transcribe_file
    from engine.core.config import KeepPolicy, with_overrides

    startup = startup_of(context)
    settings = with_overrides(
        startup.settings(), recognizer=recognizer, diarizer=diarizer, keep=KeepPolicy.NOTHING
    )
    request = TranscribeRequest(
        startup,
        settings,
        file,
        export_format,
        out,
        turn_policy(threshold, min_on_ms, min_off_ms, pad_ms),
        allow_untrained=allow_untrained,
    )
    return transcribe_file(request)

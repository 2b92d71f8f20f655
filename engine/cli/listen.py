"""`vivavoce listen`: a live transcript in the terminal."""

from typing import Annotated

import typer

from engine.cli.startup import Untrained, startup_of
from engine.core.config import KeepPolicy


def listen(
    context: typer.Context,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            metavar="NAME",
            help="default, a device's name, file:PATH, demo or null.",
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, help="Stop after so many seconds of audio.")
    ] = None,
    is_fast: Annotated[
        bool, typer.Option("--fast", help="Read a file as fast as the models can.")
    ] = False,
    is_json: Annotated[
        bool, typer.Option("--json", help="Print events, one JSON object a line.")
    ] = False,
    recognizer: Annotated[
        str | None, typer.Option(metavar="ID", help="Who writes the words.")
    ] = None,
    diarizer: Annotated[
        str | None, typer.Option(metavar="ID", help="Who tells speakers apart, or none.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="ID", help="Who settles the speakers afterwards, or none.")
    ] = None,
    keep: Annotated[KeepPolicy | None, typer.Option(help="What stays on this machine.")] = None,
    allow_untrained: Untrained = False,
) -> int:
    """Print what is said, line by line, with time and speaker. Ctrl-C stops."""
    from engine.cli.listening import ListenRequest, listen_to
    from engine.core.config import with_overrides

    startup = startup_of(context)
    settings = with_overrides(
        startup.settings(),
        recognizer=recognizer,
        diarizer=diarizer,
        encoder=encoder,
        keep=keep,
        input=source,
    )
    request = ListenRequest(
        startup,
        settings,
        seconds,
        is_fast=is_fast,
        is_json=is_json,
        allow_untrained=allow_untrained,
    )
    return listen_to(request)

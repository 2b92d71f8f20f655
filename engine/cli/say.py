"""`vivavoce say`: text spoken aloud, or into a WAV file."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.startup import Untrained, startup_of


def say(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What to say; - reads it from standard input.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write a WAV file and stay silent.")
    ] = None,
    voice: Annotated[
        str | None, typer.Option(metavar="ID", help="A voice, or the id of a synthesizer.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="The loudspeaker.")
    ] = None,
    allow_untrained: Untrained = False,
) -> int:
    """Speak a text on this machine's loudspeaker. Ctrl-C silences it."""
    from engine.cli.saying import SayRequest, say_text
    from engine.core.config import with_overrides

    startup = startup_of(context)
    settings = with_overrides(startup.settings(), output=device)
    return say_text(SayRequest(startup, settings, text, out, voice, allow_untrained))

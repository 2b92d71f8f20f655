"""What is kept of a recording: asked once, before the first one from a microphone."""

from dataclasses import replace

import typer

from engine.cli.inputs import InputChoice
from engine.cli.startup import Startup
from engine.core.config import KeepPolicy, Settings, save_settings

KEPT = {
    KeepPolicy.AUDIO_AND_TEXT: "audio and text are kept",
    KeepPolicy.TEXT: "the text is kept",
    KeepPolicy.NOTHING: "nothing is kept",
}


def choose_keep(
    settings: Settings, choice: InputChoice, startup: Startup, *, may_ask: bool
) -> KeepPolicy:
    """Return what to keep of a recording.

    Args:
        settings: hold the answer once there is one.
        choice: of a file nothing is kept unless the settings say so: it is there already.
        startup: where an answer is saved.
        may_ask: whether somebody sits at a terminal.
    """
    if settings.keep:
        return settings.keep_policy
    if not choice.is_microphone:
        return KeepPolicy.NOTHING
    if not may_ask:
        return settings.keep_policy
    answer = _ask()
    save_settings(replace(startup.saved_settings(), keep=answer), startup.environment)
    return answer


def _ask() -> KeepPolicy:
    typer.echo("What should stay on this machine of what you record?", err=True)
    for number, policy in enumerate(KeepPolicy, start=1):
        typer.echo(f"  {number}  {KEPT[policy]}", err=True)
    last = len(KeepPolicy)
    number = typer.prompt(f"1 to {last}", default="1", err=True)
    while number not in {str(n) for n in range(1, last + 1)}:
        number = typer.prompt(f"A number from 1 to {last}", default="1", err=True)
    return tuple(KeepPolicy)[int(number) - 1]

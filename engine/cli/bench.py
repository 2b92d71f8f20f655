"""`vivavoce bench`: the quick measurements; the thorough ones are in benchmarks/."""

from typing import Annotated

import typer

from engine.cli.startup import startup_of


def bench(
    context: typer.Context,
    is_short: Annotated[
        bool, typer.Option("--fakes", help="Only what needs no model: a few seconds.")
    ] = False,
) -> None:
    """Measure speed and delays on this machine, with the demo conversation: about a minute."""
    import os
    import platform

    from engine.cli.console import system_console
    from engine.cli.measuring import measure_all

    startup, console = startup_of(context), system_console()
    console.line(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    for row in measure_all(startup.settings(), startup.environment, console.status, is_short):
        console.line(f"{row.name:<44}{row.value:>10.2f} {row.unit:<5}{row.note}".rstrip())

"""`vivavoce doctor`: is everything there, and if not, what to do."""

import typer

from engine.cli.startup import startup_of


def doctor(context: typer.Context) -> int:
    """Check settings, window, audio, GPU, models, folders and disk; say what to do, if anything."""
    from engine.cli.checks import check_all

    startup = startup_of(context)
    status = 0
    for check in check_all(startup.environment):
        mark = "ok" if check.is_ok else "problem"
        text = check.text if check.is_ok else f"{check.text} {check.advice}"
        print(f"{mark:<8}{check.name:<12}{text.strip()}", flush=True)
        if not check.is_ok and status == 0:
            status = check.exit_code
    return status

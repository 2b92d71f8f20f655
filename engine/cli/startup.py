"""What every command begins with: settings and folders."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import typer

from engine.core.config import ENVIRONMENT_PREFIX, Folders, Settings, folders, load_settings

Untrained: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--untrained", help="Use random weights where there are none: what comes out means nothing."
    ),
]


@dataclass(frozen=True, slots=True)
class Startup:
    """What a command knows of its surroundings.

    Args:
        environment: the process's.
    """

    environment: Mapping[str, str]

    def settings(self) -> Settings:
        """Return the settings of file and environment.

        Raises:
            ConfigError: one of them is wrong.
        """
        return load_settings(self.environment)

    def saved_settings(self) -> Settings:
        """Return the settings of the file alone, to be changed and saved.

        Raises:
            ConfigError: one of them is wrong.
        """
        name = f"{ENVIRONMENT_PREFIX}HOME"
        return load_settings({name: self.environment[name]} if name in self.environment else {})

    def folders(self, settings: Settings) -> Folders:
        """Return the folders in force."""
        return folders(settings, self.environment)


def startup_of(context: typer.Context) -> Startup:
    """Return what the main command prepared."""
    found = context.find_object(Startup)
    if found is None:
        raise RuntimeError("the command was run without the main command")
    return found

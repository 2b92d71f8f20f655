"""The checks of `vivavoce doctor` that look at settings, folders, disk and recordings."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.cli.check import Check
from engine.cli.exit_codes import BAD_ARGUMENTS
from engine.core.config import Settings, folders, load_settings
from engine.core.errors import ConfigError, StoreError, reason_of
from engine.session.disk import RESERVE_BYTES
from engine.store.integrity import format_bytes
from engine.store.library import SessionLibrary

MARGIN_BYTES = 1_000_000_000
"""Free space below which a long recording may not find room."""


def check_settings(environment: Mapping[str, str]) -> tuple[Check, Settings]:
    """See that the settings can be read; return those to go on with."""
    path = folders(Settings(), environment).settings_file
    try:
        settings = load_settings(environment)
    except ConfigError as error:
        advice = f"{error.advice} Until then the usual settings are checked.".strip()
        return Check("settings", False, error.message, advice, BAD_ARGUMENTS), Settings()
    text = str(path) if path.exists() else "the usual ones; none were changed yet"
    return Check("settings", True, text), settings


def check_folders(settings: Settings, environment: Mapping[str, str]) -> Iterator[Check]:
    """See that everything that is kept can be written, by writing."""
    places = folders(settings, environment)
    for name, path in (
        ("recordings", places.sessions),
        ("models", places.models),
        ("settings", places.config),
        ("log", places.state),
    ):
        try:
            with tempfile.TemporaryFile(dir=_existing(path)):
                pass
        except OSError as error:
            yield Check(
                "folder",
                False,
                f"The folder for {name}, {path}, cannot be written: {reason_of(error)}.",
                "Give yourself the right to write there, or choose another folder.",
            )
        else:
            yield Check("folder", True, f"{name} in {path}")


def check_disk(settings: Settings, environment: Mapping[str, str]) -> Check:
    """See that recordings have room."""
    place = folders(settings, environment).sessions
    free = shutil.disk_usage(_existing(place)).free
    if free < MARGIN_BYTES:
        return Check(
            "disk",
            False,
            f"Only {format_bytes(free)} are free in {place}; a long recording may take "
            f"{format_bytes(MARGIN_BYTES)}.",
            "Free disk space, or choose another folder for recordings. At "
            f"{format_bytes(RESERVE_BYTES)} a recording stops by itself.",
        )
    return Check("disk", True, f"{format_bytes(free)} free in {place}")


def check_recordings(settings: Settings, environment: Mapping[str, str]) -> Check:
    """See whether recordings broke off that nobody finished."""
    library = SessionLibrary(folders(settings, environment).sessions)
    try:
        infos = library.list()
    except StoreError as error:
        return Check("recordings", False, error.message, error.advice)
    broken = [info.id for info in infos if info.is_broken_off]
    if broken:
        return Check(
            "recordings",
            False,
            f"{len(broken)} of {len(infos)} recordings broke off and wait to be finished: "
            f"{', '.join(broken[:3])}.",
            "Run: vivavoce sessions recover",
        )
    return Check("recordings", True, f"{len(infos)} kept, none broken off")


def _existing(path: Path) -> Path:
    """Return a folder, or the nearest one above it that is there."""
    return next((place for place in (path, *path.parents) if place.exists()), Path("/"))

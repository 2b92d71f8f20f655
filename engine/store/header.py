"""The facts about a stored session: session.json beside its audio and events."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from engine.core.config import KeepPolicy
from engine.core.events import SCHEMA_VERSION
from engine.core.files import read_small
from engine.store.private import write_whole
from engine.text.cleaning import clean_line

HEADER_NAME = "session.json"
AUDIO_NAME = "audio.wav"
EVENTS_NAME = "events.jsonl"
LOCK_NAME = ".lock"
MAX_RATE_HZ = 768_000
MAX_TITLE_CHARACTERS = 200
_MAX_COUNT = 2**53
"""Beyond it seconds and shares of it are no longer exact."""


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """What a session is.

    Args:
        id: the name of its folder.
        started_at: local wall time, ISO 8601 with offset.
        sample_rate: of its clock and its audio, Hz.
        title: for people; may be empty.
        device: the input's name.
        keep: what stays of it.
        recognizer: registry id; empty for none.
        diarizer: registry id; empty for none.
        is_trained: False if any model had random weights.
        schema_version: of events.jsonl.
        is_closed: whether it ended in order, or was recovered since.
        is_recovered: whether it broke off and was closed afterwards.
        num_samples: its length; 0 until it is closed.
        num_words: final words; 0 until it is closed.
    """

    id: str
    started_at: str
    sample_rate: int
    title: str = ""
    device: str = ""
    keep: KeepPolicy = KeepPolicy.AUDIO_AND_TEXT
    recognizer: str = ""
    diarizer: str = ""
    is_trained: bool = True
    schema_version: int = SCHEMA_VERSION
    is_closed: bool = False
    is_recovered: bool = False
    num_samples: int = 0
    num_words: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (
            ("sample_rate", 1, MAX_RATE_HZ),
            ("num_samples", 0, _MAX_COUNT),
            ("num_words", 0, _MAX_COUNT),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"{name} must be {least} to {most}, got {value}")

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.num_samples / self.sample_rate


def new_session_id(started_at: datetime) -> str:
    """Return an id that sorts by time and is not met twice: 20261130-140322-3f9c."""
    return f"{started_at:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def clean_title(text: str) -> str:
    """Return a title made fit for one line of a list."""
    return clean_line(text)[:MAX_TITLE_CHARACTERS].rstrip()


def write_header(folder: Path, header: SessionHeader) -> None:
    """Replace a session's header.

    Raises:
        StoreError: it cannot be written.
    """
    data = msgspec.json.format(msgspec.json.encode(header), indent=2)
    write_whole(folder / HEADER_NAME, data + b"\n")


def read_header(folder: Path) -> SessionHeader:
    """Return a session's header; its id is the folder's name, whatever the file says.

    Raises:
        ValueError, OSError: it is damaged or missing.
    """
    try:
        header = msgspec.json.decode(read_small(folder / HEADER_NAME), type=SessionHeader)
    except RecursionError as error:
        raise ValueError("values in values, too deep") from error
    return replace(header, id=folder.name, title=clean_title(header.title))

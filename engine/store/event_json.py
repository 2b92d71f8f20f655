"""Events as JSON Lines: one object a line, the same in journals and in `--json` output.

docs/events.md describes every event and field.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import msgspec
import numpy as np

from engine.core.errors import StoreError, reason_of
from engine.core.events import SCHEMA_VERSION, Event
from engine.core.files import open_plain

_DECIMALS = 3  # of a probability
_MAX_LINE_BYTES = 64 * 2**20
"""What is longer is no event, and read in pieces that are none."""


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


EVENT_TYPES: Mapping[str, type[Any]] = MappingProxyType(
    {_snake_case(kind.__name__): kind for kind in get_args(Event)}
)
"""Every event class by the name it has in JSON."""

_NAMES = MappingProxyType({kind: name for name, kind in EVENT_TYPES.items()})


def schema_line() -> bytes:
    """Return the first line of every stream of events, with its line end."""
    return msgspec.json.encode({"event": "schema", "version": SCHEMA_VERSION}) + b"\n"


def encode_event(event: Event) -> bytes:
    """Return an event as one line of JSON, with its line end.

    Probabilities of speakers are rounded to three decimals.
    """
    fields = msgspec.to_builtins(event, enc_hook=_to_builtin)
    return msgspec.json.encode({"event": _NAMES[type(event)], **fields}) + b"\n"


def decode_event(line: bytes) -> Event | None:
    """Return the event of a line, or None for the schema line.

    Raises:
        ValueError: it is no event: torn, garbage, or of an unknown kind.
    """
    try:
        fields = msgspec.json.decode(line, type=dict[str, Any])
        name = fields.pop("event", None)
        if name == "schema":
            return None
        if name not in EVENT_TYPES:
            raise ValueError(f"unknown event {name!r}")
        event: Event = msgspec.convert(fields, EVENT_TYPES[name], dec_hook=_from_builtin)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"no event: {reason_of(error)}") from error
    return event


def _to_builtin(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # By way of float64, or 0.123 would be written as 0.12300000339746475.
        return value.astype(np.float64).round(_DECIMALS).tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"{type(value).__name__} in an event")


def _from_builtin(kind: Any, value: Any) -> Any:
    rows = np.asarray(value, dtype=np.float32)
    # No rows at all do not say how many columns they lack.
    return rows.reshape(0, 0) if rows.size == 0 and rows.ndim == 1 else rows


@dataclass(slots=True)
class EventFile:
    """The events of a journal, read as far as it can be read.

    Args:
        path: of the JSON Lines file.
        num_skipped: lines passed over so far in the last reading: torn, empty of sense, or of a
            newer program.
    """

    path: Path
    num_skipped: int = field(default=0, init=False)

    def read(self, passed_over: Collection[type[Any]] = ()) -> Iterator[Event]:
        """Yield all events in order; whatever is no event is skipped and counted.

        Args:
            passed_over: kinds whose lines are not decoded, damaged or not: rows of speaker activity
                are most of a file.

        Raises:
            StoreError: the file cannot be read.
        """
        self.num_skipped = 0
        heads = tuple(f'{{"event":"{_NAMES[kind]}"'.encode() for kind in passed_over)
        try:
            with open_plain(self.path) as file:
                while line := file.readline(_MAX_LINE_BYTES):
                    if line.startswith(heads):
                        continue
                    event = self._take(line)
                    if event is not None:
                        yield event
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            reason = reason_of(error)
            raise StoreError(
                f"{self.path} cannot be read: {reason}.",
                advice="Check who may read it, and that its disk is there.",
            ) from error

    def _take(self, line: bytes) -> Event | None:
        # A file system that lost power leaves zero bytes, for whole lines or before one.
        text = line.strip(b"\0\r\n\t ")
        try:
            return decode_event(text)
        except ValueError:
            self.num_skipped += 1
            return None

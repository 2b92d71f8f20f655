import json
import re
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

from engine.core.events import SCHEMA_VERSION, ActivityRevised, Event, FinalWords
from engine.core.types import Word
from engine.store.event_json import EVENT_TYPES, decode_event, encode_event, schema_line

pytestmark = pytest.mark.unit

DOCS = (Path(__file__).parents[3] / "docs" / "events.md").read_text("utf-8")


def _section(name: str) -> str:
    match = re.search(rf"^### `{name}`\n(.*?)(?=^##)", DOCS, re.MULTILINE | re.DOTALL)
    assert match, f"docs/events.md has no section for {name}"
    return match[1]


def test_event_types_when_listed_then_are_all_events_there_are() -> None:
    assert set(EVENT_TYPES.values()) == set(get_args(Event))


@pytest.mark.parametrize("name", sorted(EVENT_TYPES))
def test_docs_when_read_then_describe_the_event_with_every_field_and_value(name: str) -> None:
    section = _section(name)
    documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    kind = EVENT_TYPES[name]
    assert documented == [field.name for field in fields(kind)]
    for hint in get_type_hints(kind).values():
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            missing = [value for value in hint if f"`{value}`" not in section]
            assert not missing


def test_docs_when_read_then_describe_no_event_that_is_gone() -> None:
    assert set(re.findall(r"^### `(\w+)`", DOCS, re.MULTILINE)) == set(EVENT_TYPES)
    assert f"Schema version {SCHEMA_VERSION}." in DOCS


def test_schema_line_when_decoded_then_is_no_event() -> None:
    assert json.loads(schema_line()) == {"event": "schema", "version": SCHEMA_VERSION}
    assert decode_event(schema_line()) is None


def test_encode_when_given_words_then_the_form_is_the_documented_one() -> None:
    line = encode_event(FinalWords((Word(" hi", 16_000, 24_000, 0.75),)))
    assert line == (
        b'{"event":"final_words","words":'
        b'[{"text":" hi","start":16000,"end":24000,"probability":0.75}]}\n'
    )


def test_encode_when_given_activity_then_probabilities_have_three_decimals() -> None:
    rows = np.array([[0.12345, 1.0], [0.0, 2 / 3]], np.float32)
    fields_ = json.loads(encode_event(ActivityRevised(4, 80, rows, 3, epoch=1, is_settled=True)))
    assert fields_ == {
        "event": "activity_revised",
        "first_frame": 4,
        "frame_ms": 80,
        "probabilities": [[0.123, 1.0], [0.0, 0.667]],
        "final_until": 3,
        "epoch": 1,
        "is_settled": True,
    }


def test_encode_when_numbers_are_numpys_then_written_as_numbers() -> None:
    word = Word(" hi", np.int64(3), np.int64(9), np.float32(0.5))  # type: ignore[arg-type]
    assert decode_event(encode_event(FinalWords((word,)))) == FinalWords((Word(" hi", 3, 9, 0.5),))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"event": "final_words"}',
        b'{"event": "unheard_of"}',
        b'{"words": []}',
        b'{"event": null}',
        b'{"event": {}}',
        b'{"event": "notice", "severity": "grave", "message": ""}',
    ],
)
def test_decode_when_it_is_no_event_then_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        decode_event(line)

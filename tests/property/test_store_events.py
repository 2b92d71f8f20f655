"""What is written to a journal comes back, whatever is said and however the file is hurt."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from engine.core.events import ActivityRevised, Event, WordsAssigned, WordsEdited
from engine.core.types import Word
from engine.store.event_json import (
    EVENT_TYPES,
    EventFile,
    decode_event,
    encode_event,
    schema_line,
)

pytestmark = pytest.mark.property

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
samples = st.integers(0, 2**50)
words = st.builds(Word, text=texts, start=samples, end=samples, probability=st.floats(0, 1))
activity = st.builds(
    ActivityRevised,
    first_frame=samples,
    frame_ms=st.integers(1, 1000),
    probabilities=st_numpy.arrays(
        np.float32,
        st.tuples(st.integers(0, 5), st.integers(1, 8)),
        elements=st.floats(0, 1, width=32),
    ),
    final_until=samples,
    epoch=st.integers(0, 9),
    is_settled=st.booleans(),
)
edited = st.lists(st.tuples(samples, texts), max_size=4).map(
    lambda pairs: WordsEdited(tuple(i for i, _ in pairs), tuple(text for _, text in pairs))
)
others = [
    st.builds(kind, **({"words": st.lists(words, max_size=4).map(tuple)} if "words" in n else {}))
    for n, kind in EVENT_TYPES.items()
    if kind not in (ActivityRevised, WordsAssigned, WordsEdited)
]
events = st.one_of(activity, edited, st.builds(WordsAssigned), *others)


def _same(found: Event | None, event: Event) -> bool:
    if not isinstance(event, ActivityRevised):
        return found == event
    assert isinstance(found, ActivityRevised)
    rows = event.probabilities
    assert found.probabilities.dtype == np.float32
    if len(rows):
        assert found.probabilities.shape == rows.shape
        # Half of the last decimal, and what float32 itself cannot tell apart.
        assert np.abs(found.probabilities - rows).max() <= 0.0005 + 1e-6
    else:
        assert len(found.probabilities) == 0
    names = ("first_frame", "frame_ms", "final_until", "epoch", "is_settled")
    return all(getattr(found, name) == getattr(event, name) for name in names)


@given(events)
def test_event_when_encoded_and_decoded_then_the_same(event: Event) -> None:
    line = encode_event(event)
    assert line.count(b"\n") == 1
    found = decode_event(line)
    assert _same(found, event)
    assert found is not None
    if not (isinstance(found, ActivityRevised) and not len(found.probabilities)):
        assert encode_event(found) == line


@given(st.lists(events, min_size=1, max_size=6), st.data())
def test_journal_when_cut_anywhere_then_all_whole_lines_before_are_read(
    told: list[Event], data: st.DataObject
) -> None:
    lines = [schema_line(), *(encode_event(event) for event in told)]
    content = b"".join(lines)
    cut = data.draw(st.integers(0, len(content)))
    whole, end = 0, 0
    for line in lines:
        # A line that lacks its line end alone says all it has to say.
        if end + len(line) - 1 > cut:
            break
        whole, end = whole + 1, end + len(line)
    assert_read(content[:cut], told[: max(0, whole - 1)])


@given(st.lists(events, min_size=1, max_size=4), st.binary(max_size=40), st.data())
def test_journal_when_garbage_lies_between_then_the_rest_is_read(
    told: list[Event], garbage: bytes, data: st.DataObject
) -> None:
    lines = [schema_line(), *(encode_event(event) for event in told)]
    at = data.draw(st.integers(0, len(lines)))
    lines.insert(at, b"\xff" + garbage + b"\n")
    assert_read(b"".join(lines), told)


def assert_read(content: bytes, expected: list[Event]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        path.write_bytes(content)
        found = list(EventFile(path).read())
    assert len(found) == len(expected)
    assert all(_same(a, b) for a, b in zip(found, expected, strict=True))

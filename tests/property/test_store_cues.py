"""Subtitles stay within their limits and lose no word, whatever is said."""

from itertools import pairwise

import pysubs2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.events import FinalWords
from engine.core.types import Word
from engine.store.exporters.cues import make_cues
from engine.store.exporters.export import render
from engine.store.exporters.options import ExportOptions
from engine.text.document import TranscriptDocument

pytestmark = pytest.mark.property

RATE = 1000
letters = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), max_size=100)
spoken = st.lists(st.tuples(letters, st.integers(0, 3000), st.integers(0, 9000)), max_size=30)


def _document(said: list[tuple[str, int, int]]) -> TranscriptDocument:
    document, now, words = TranscriptDocument(), 0, []
    document.sample_rate = RATE
    for text, pause, length in said:
        start = now + pause
        now = start + length
        words.append(Word(f" {text}", start, now))
    document.apply(FinalWords(tuple(words)))
    return document


@given(spoken, st.integers(10, 50), st.integers(1, 3))
def test_cues_when_made_then_within_limits_and_whole(
    said: list[tuple[str, int, int]], max_line_chars: int, max_lines: int
) -> None:
    options = ExportOptions(max_line_chars=max_line_chars, max_lines=max_lines)
    document = _document(said)
    cues = make_cues(document, options)
    for cue in cues:
        assert 1 <= len(cue.lines) <= max_lines
        assert all(0 < len(line) <= max_line_chars for line in cue.lines)
        assert cue.start_ms < cue.end_ms <= cue.start_ms + options.max_cue_s * 1000
    for cue, following in pairwise(cues):
        assert cue.start_ms <= following.start_ms
        is_long = cue.end_ms - cue.start_ms >= options.min_cue_s * 1000
        assert is_long or cue.end_ms == following.start_ms or cue.start_ms == following.start_ms
    shown = "".join("".join(line.split()) for cue in cues for line in cue.lines)
    assert shown == "".join(document.text().split())


@given(spoken)
def test_subtitles_when_rendered_then_other_programs_read_every_cue(
    said: list[tuple[str, int, int]],
) -> None:
    document = _document(said)
    cues = make_cues(document, ExportOptions())
    for name in ("srt", "vtt"):
        read = pysubs2.SSAFile.from_string(render(document, name), format_=name)
        assert [(cue.start, cue.end) for cue in read] == [(c.start_ms, c.end_ms) for c in cues]

"""What of a recording's speakers is on disk while it goes on."""

from pathlib import Path

import numpy as np
import pytest

from engine.core.events import ActivityRevised
from engine.session.kept_text import TENTATIVE_S, KeptText
from engine.store.header import SessionHeader
from engine.store.journal import Journal
from engine.store.library import SessionLibrary
from engine.text.document import TranscriptDocument

pytestmark = pytest.mark.unit

FRAME_MS = 80
FINAL_AFTER = 150  # rows, 12 s
HEADER = SessionHeader("talk", "2026-11-30T14:00:00+01:00", 16_000)


def _rows(first: int, end: int, epoch: int, final_until: int) -> ActivityRevised:
    """Return rows that tell their index; what is not final yet says a little less."""
    index = np.arange(first, end)
    rows = np.stack([(index % 100) / 100, np.where(index < final_until, 1.0, 0.9)], axis=1)
    return ActivityRevised(first, FRAME_MS, rows.astype(np.float32), final_until, epoch)


def test_rows_when_the_program_is_killed_then_all_but_the_last_two_seconds_are_there(
    tmp_path: Path,
) -> None:
    journal, document = Journal.create(tmp_path, HEADER), TranscriptDocument()
    text = KeptText(journal.events, lambda _event: None)
    for end in range(4, 1000, 4):  # as a live diarizer does: the newest rows again and again
        final_until = max(0, end - FINAL_AFTER)
        event = _rows(max(0, final_until - 4), end, int(end > 600), final_until)
        document.apply(event)
        text.append(event, document)
        text.write()

    kept = SessionLibrary(tmp_path).open("talk").document().activity
    live = document.activity
    assert live.num_frames - kept.num_frames <= TENTATIVE_S * 1000 / FRAME_MS
    assert kept.final_until == live.final_until
    final = slice(0, live.final_until)
    np.testing.assert_array_equal(
        kept.rows(0, kept.num_frames)[final], live.rows(0, live.num_frames)[final]
    )
    np.testing.assert_array_equal(
        kept.rows(0, kept.num_frames), live.rows(0, live.num_frames)[: kept.num_frames]
    )
    written = list(SessionLibrary(tmp_path).open("talk").events())
    # Each row twice at most, though it was told some forty times.
    assert sum(len(event.probabilities) for event in written) <= 2 * live.num_frames
    journal.close()

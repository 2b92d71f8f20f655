"""What of an activity track changed since somebody last looked."""

import numpy as np
import pytest

from engine.core.events import ActivityRevised
from engine.text.activity import ActivityTrack

pytestmark = pytest.mark.unit


def _apply(track: ActivityTrack, first: int, end: int, *, is_settled: bool = False) -> None:
    rows = np.full((end - first, 2), 0.9, np.float32)
    track.apply(ActivityRevised(first, 80, rows, end, is_settled=is_settled))


def test_nothing_changed_since_the_last_revision() -> None:
    track = ActivityTrack()
    assert track.changed_since(track.revision) == 0
    _apply(track, 0, 50)
    assert track.changed_since(track.revision) == 50


def test_the_earliest_of_all_later_changes_counts() -> None:
    track = ActivityTrack()
    revisions = []
    for first, end in ((0, 50), (40, 60), (20, 30), (55, 70)):
        revisions.append(track.revision)
        _apply(track, first, end)
    assert [track.changed_since(revision) for revision in revisions] == [0, 20, 20, 55]


def test_who_looks_seldom_is_told_of_no_less_than_what_changed() -> None:
    track, firsts = ActivityTrack(), []
    for step in range(500):
        firsts.append(step * 10)
        _apply(track, step * 10, step * 10 + 12)
    for revision in range(500):
        assert track.changed_since(revision) <= firsts[revision]
    assert track.changed_since(499) == 4990


def test_settled_frames_are_told_apart() -> None:
    track = ActivityTrack()
    _apply(track, 0, 50)
    _apply(track, 10, 20, is_settled=True)
    assert [track.is_settled_at(frame) for frame in (-1, 9, 10, 19, 20, 900)] == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]


def test_frames_that_become_final_without_being_told_again_have_changed() -> None:
    track = ActivityTrack()
    rows = np.full((100, 2), 0.9, np.float32)
    track.apply(ActivityRevised(0, 80, rows, 30))
    before = track.revision
    track.apply(ActivityRevised(95, 80, rows[:10], 105))
    assert track.final_until == 105
    assert track.changed_since(before) == 30

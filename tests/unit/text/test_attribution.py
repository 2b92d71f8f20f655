from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.events import ActivityRevised
from engine.core.types import SpeakerId, Word
from engine.text.activity import ActivityTrack
from engine.text.attribution import CHANGE_COST, attribute_phrase, ends_phrase

RATE = 1000
A, B = SpeakerId(0, 0), SpeakerId(0, 1)


def track(*shares: tuple[float, float], first_epoch: int = 0) -> ActivityTrack:
    """Rows of 100 ms with the probabilities of A and B."""
    made = ActivityTrack()
    rows = np.zeros((len(shares), 8), np.float32)
    rows[:, :2] = shares
    made.apply(ActivityRevised(0, 100, rows, len(rows), first_epoch))
    return made


def words(*spans_ms: tuple[int, int]) -> list[Word]:
    return [Word(f" w{i}", start, end) for i, (start, end) in enumerate(spans_ms)]


@pytest.mark.unit
def test_phrase_when_its_last_word_reaches_into_the_next_voice_then_it_stays_with_the_first():
    activity = track(*[(0.9, 0.0)] * 10, *[(0.2, 0.7)] * 3, *[(0.0, 0.9)] * 5)
    found = attribute_phrase(words((0, 500), (500, 1000), (1000, 1300)), RATE, activity)

    assert [speakers[0] for speakers in found] == [A, A, A]


@pytest.mark.unit
def test_phrase_when_the_voice_clearly_changes_in_it_then_the_words_are_divided():
    activity = track(*[(0.95, 0.0)] * 10, *[(0.0, 0.95)] * 10)
    found = attribute_phrase(
        words((0, 500), (500, 1000), (1000, 1500), (1500, 2000)), RATE, activity
    )

    assert found == [(A,), (A,), (B,), (B,)]


@pytest.mark.unit
def test_word_when_nobody_is_active_in_the_middle_of_a_phrase_then_has_its_neighbours_voice():
    activity = track(*[(0.9, 0.0)] * 5, *[(0.0, 0.0)] * 5, *[(0.9, 0.0)] * 5)
    found = attribute_phrase(words((0, 500), (500, 1000), (1000, 1500)), RATE, activity)

    assert found == [(A,), (A,), (A,)]


@pytest.mark.unit
def test_phrase_when_nobody_is_active_at_all_then_has_no_speaker():
    assert attribute_phrase(words((0, 500)), RATE, track(*[(0.1, 0.05)] * 5)) == [()]


@pytest.mark.unit
def test_word_when_the_activity_has_not_come_that_far_then_has_no_speaker_yet():
    activity = track(*[(0.9, 0.0)] * 5)

    assert attribute_phrase(words((0, 400), (600, 900)), RATE, activity) == [(A,), ()]


@pytest.mark.unit
def test_word_when_two_are_active_then_both_are_told():
    activity = track(*[(0.9, 0.0)] * 5, *[(0.8, 0.9)] * 5)

    assert attribute_phrase(words((0, 500), (500, 1000)), RATE, activity) == [(A,), (A, B)]


@pytest.mark.unit
def test_phrase_when_the_epoch_changes_in_it_then_no_identity_is_carried_over():
    activity = track(*[(0.9, 0.0)] * 5)
    rows = np.zeros((5, 8), np.float32)
    rows[:, 1] = 0.6
    activity.apply(ActivityRevised(5, 100, rows, 10, epoch=1))
    found = attribute_phrase(words((0, 500), (500, 1000)), RATE, activity)

    assert found == [(A,), (SpeakerId(1, 1),)]


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "pause_ms", "ends"),
    [(" so", 100, False), (" so", 700, True), (" so.", 0, True), (' so?"', 0, True)],
)
def test_phrase_end_when_sentence_or_pause_then_it_ends(text, pause_ms, ends):
    assert ends_phrase(Word(text, 0, 300), Word(" and", 300 + pause_ms, 900), RATE) is ends


@pytest.mark.unit
def test_phrase_end_when_there_is_no_punctuation_then_phrases_stay_short():
    spoken = [Word(" w", i * 300, i * 300 + 290) for i in range(1000)]
    ends = [i for i in range(999) if ends_phrase(spoken[i], spoken[i + 1], RATE)]

    assert max(b - a for a, b in pairwise(ends)) <= 70


@pytest.mark.property
@given(
    shares=st.lists(st.tuples(*[st.floats(0, 1, width=32)] * 3), min_size=1, max_size=6),
)
def test_path_when_compared_with_every_other_then_none_is_cheaper(shares):
    """The words of a phrase against all 8 ** n ways of giving them to three voices."""
    activity = ActivityTrack()
    rows = np.zeros((len(shares), 8), np.float32)
    rows[:, :3] = shares
    activity.apply(ActivityRevised(0, 100, rows, len(rows)))
    means = activity.rows(0, len(rows)).astype(np.float64)
    spans = words(*[(i * 100, i * 100 + 100) for i in range(len(shares))])
    found = attribute_phrase(spans, RATE, activity)
    if found == [()] * len(spans):
        assert means.max() < 0.21
        return

    def cost(path) -> float:
        evidence = sum(-np.log(max(means[i, slot], 0.02)) for i, slot in enumerate(path))
        return evidence + CHANGE_COST * sum(a != b for a, b in pairwise(path))

    best = min(cost(path) for path in product(range(3), repeat=len(spans)))
    assert cost([speakers[0].slot for speakers in found]) <= best + 1e-5


@pytest.mark.unit
def test_means_when_stretches_pass_the_end_then_only_what_is_known_counts():
    activity = track(*[(0.4, 0.8)] * 5)
    means, epochs = activity.means([(0, 250), (420, 900), (900, 950)])

    np.testing.assert_allclose(means[:, :2], [[0.4, 0.8], [0.4, 0.8], [0, 0]], atol=1e-3)
    assert epochs == [0, 0, 0]
    assert ActivityTrack().means([(0, 10)])[0].shape == (1, 8)

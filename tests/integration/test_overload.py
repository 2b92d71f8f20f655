"""A whole session whose lanes are given too much to do, on a clock that waits for them."""

import pytest

from engine.core.config import KeepPolicy
from tests.helpers.overload import Scenario, load_between, play

pytestmark = pytest.mark.integration


def test_recognizer_when_ten_times_too_slow_then_nothing_is_lost_and_all_is_filled_in():
    outcome = play(Scenario("slow", 45, 26, load_between(4, 26, 10.0)))

    assert outcome.lost_s < 0.1
    assert outcome.num_told == outcome.num_words
    assert outcome.num_twice == 0
    assert outcome.num_filled > 15
    # A push in progress, ten seconds at most, comes on top of the limit.
    assert 15 < outcome.max_backlog_s < 30
    assert outcome.back_to_live_s < 10
    assert outcome.left_out_s > 10
    assert len(outcome.notices) == 2


@pytest.mark.slow
def test_recognizer_when_it_stalls_and_no_audio_is_kept_then_what_is_missing_is_marked():
    outcome = play(Scenario("stall", 100, 75, stall_s=(5, 70), keep=KeepPolicy.NOTHING))

    assert outcome.lost_s < 0.1
    assert outcome.back_to_live_s < 10
    assert outcome.num_told < outcome.num_words
    assert outcome.num_twice == 0
    # One word at each border may be cut in two by it.
    assert outcome.num_words - outcome.num_told - outcome.num_marked <= 2

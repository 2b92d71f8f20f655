"""Which profile is chosen, and when a stream moves to another."""

import pytest

from engine.backends.sortformer_pace import Pacer, fastest_affordable, step_cost
from engine.models.stream_profiles import PROFILES

pytestmark = pytest.mark.unit

CPU = PROFILES["cpu"]
D_MODEL = 512
BLOCK_S = 1.0


@pytest.mark.parametrize(
    ("step_s", "expected"),
    [
        (0.0, "cpu"),  # a clock that stands still
        (0.05, "ultra_low"),  # costs 0.083 s of 0.24 s
        (0.2, "very_low"),  # costs 0.33 s of 0.48 s
        (0.3, "low"),  # costs 0.51 s of 0.72 s
        (0.35, "cpu"),
        (9.0, "cpu"),
    ],
)
def test_choice_when_a_step_was_timed_then_the_fastest_that_fits(
    step_s: float, expected: str
) -> None:
    assert fastest_affordable(CPU, step_s, D_MODEL) == expected


def test_cost_when_profiles_are_compared_then_as_the_arithmetic_of_the_network() -> None:
    low, cpu = step_cost(PROFILES["low"], D_MODEL), step_cost(CPU, D_MODEL)
    assert low / cpu == pytest.approx(126 / 74, rel=0.02)


def follow(pacer: Pacer, backlog_s: float, seconds: float) -> list[str]:
    """Push audio while so much waits, and return the profiles that were moved to."""
    return [
        pacer.profile.name
        for _ in range(round(seconds / BLOCK_S))
        if pacer.follow(backlog_s, BLOCK_S)
    ]


def test_pacer_when_there_is_no_backlog_then_it_stays() -> None:
    pacer = Pacer("low")
    assert follow(pacer, 0.0, 1000) == []
    assert follow(pacer, 2.9, 1000) == []
    assert pacer.profile.name == "low"


def test_pacer_when_far_behind_then_one_step_slower_at_a_time_to_the_slowest() -> None:
    pacer = Pacer("very_low")
    assert follow(pacer, 4.0, 1) == ["low"]
    assert follow(pacer, 4.0, 8) == [], "the new profile is given time"
    assert follow(pacer, 4.0, 300) == ["cpu"], "4 s are nothing to wait half a minute for"
    assert follow(pacer, 20.0, 300) == ["high"]
    assert follow(pacer, 1000.0, 1000) == []


def test_pacer_when_caught_up_for_long_then_back_and_slower_to_return_each_time() -> None:
    pacer = Pacer("low")
    waits = []
    for _ in range(3):
        assert follow(pacer, 5.0, 20)[0] == "cpu"
        num_blocks = 0
        while pacer.profile.name != "low":
            pacer.follow(0.2, BLOCK_S)
            num_blocks += 1
        waits.append(num_blocks)
    assert waits == [30, 60, 120]
    assert follow(pacer, 0.0, 2000) == [], "never faster than it began"


def test_pacer_when_the_backlog_comes_and_goes_then_it_does_not_move_back() -> None:
    pacer = Pacer("low")
    follow(pacer, 5.0, 1)
    for _ in range(20):
        assert follow(pacer, 0.0, 25) == []
        assert follow(pacer, 2.0, 5) == []
    assert pacer.profile.name == "cpu"

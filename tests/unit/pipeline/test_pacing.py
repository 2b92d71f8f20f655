import pytest

from engine.pipeline.pacing import MAX_JITTER_S, PREBUFFER_S, Pacing, estimate_total_s
from engine.pipeline.render import RenderPace

pytestmark = pytest.mark.unit


def starvation_s(arrivals: list[tuple[float, float]], total_s: float) -> float:
    """Return how long speech is missing if played once `needed_s` is ready.

    Args:
        arrivals: (time, seconds of speech) of each piece.
        total_s: of speech in all.
    """
    pacing, began_s, ready_s, missing_s = Pacing(), None, 0.0, 0.0
    for at, (time_s, piece_s) in enumerate(arrivals):
        if began_s is not None:
            missing_s = max(missing_s, time_s - began_s - ready_s)
        ready_s += piece_s
        is_last = at == len(arrivals) - 1
        if began_s is None and (
            is_last or ready_s >= pacing.needed_s(RenderPace(time_s, ready_s), total_s)
        ):
            began_s = time_s
    return missing_s


@pytest.mark.parametrize("cost", [0.05, 0.5, 0.9, 1.0, 1.3, 3.0])
@pytest.mark.parametrize("piece_s", [0.05, 0.2])
@pytest.mark.parametrize("total_s", [1.0, 20.0])
def test_needed_when_a_voice_is_steady_then_no_speech_is_missing(cost, piece_s, total_s):
    num_pieces = round(total_s / piece_s)
    arrivals = [((i + 1) * cost * piece_s, piece_s) for i in range(num_pieces)]
    assert starvation_s(arrivals, total_s) <= 1e-9


@pytest.mark.parametrize("cost", [1.2, 2.0])
def test_needed_when_a_voice_is_slow_then_does_not_wait_for_everything(cost):
    needed = Pacing().needed_s(RenderPace(10 * cost, 10.0), 60.0)
    assert 50.0 * (cost - 1.0) <= needed <= 60.0
    assert cost == 2.0 or needed < 30.0


def test_needed_when_a_voice_is_fast_then_only_the_prebuffer():
    assert Pacing().needed_s(RenderPace(0.1, 1.0), 60.0) == PREBUFFER_S
    assert Pacing().needed_s(RenderPace(), 60.0) == PREBUFFER_S


def test_jitter_when_pieces_came_late_then_is_made_up_for_and_forgotten():
    pacing = Pacing()
    pacing.learn(RenderPace(1.0, 9.0, lateness_s=0.7))
    assert pacing.needed_s(RenderPace(0.1, 1.0), 5.0) == pytest.approx(PREBUFFER_S + 0.7)
    for _ in range(8):
        pacing.learn(RenderPace(1.0, 9.0, lateness_s=0.1))
    assert pacing.jitter_s == 0.1
    pacing.learn(RenderPace(8.0, 9.0, lateness_s=60.0))
    assert pacing.jitter_s == MAX_JITTER_S


def test_total_when_the_voice_says_how_far_it_is_then_that_counts():
    assert estimate_total_s(RenderPace(1.0, 3.0, fraction=0.25), 0, 1000) == 12.0


def test_total_when_sentences_are_done_then_their_speed_counts():
    assert estimate_total_s(RenderPace(1.0, 5.0), 100, 1000) == 50.0
    assert estimate_total_s(RenderPace(1.0, 5.0), 0, 10) == 5.0

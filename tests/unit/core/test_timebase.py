import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.timebase import VirtualClock, format_time, frame_start, rescale, samples
from engine.core.types import SpeakerId, Word, as_pcm, join_words


@pytest.mark.unit
@pytest.mark.parametrize(
    ("index", "from_rate", "to_rate", "expected"),
    [(16_000, 16_000, 48_000, 48_000), (1, 2, 1, 1), (441, 44_100, 16_000, 160), (0, 1, 3, 0)],
)
def test_rescale_when_given_an_index_then_is_the_nearest(index, from_rate, to_rate, expected):
    assert rescale(index, from_rate, to_rate) == expected


@pytest.mark.property
@given(st.integers(0, 2**40), st.sampled_from([8000, 16_000, 22_050, 44_100, 48_000, 96_000]))
def test_rescale_when_there_and_back_then_is_within_a_sample_of_the_coarser_rate(index, rate):
    back = rescale(rescale(index, rate, 16_000), 16_000, rate)

    assert abs(back - index) <= max(1, rate // 16_000)


@pytest.mark.unit
def test_time_when_formatted_then_never_shows_sixty_seconds():
    assert format_time(59.9996, decimals=3) == "00:01:00.000"
    assert format_time(3725.5) == "01:02:06"
    assert format_time(-1) == "00:00:00"


@pytest.mark.unit
def test_frames_when_the_rate_is_odd_then_begin_at_the_nearest_sample():
    assert frame_start(3, 10, 22_050) == 662
    assert samples(0.08, 44_100) == 3528


@pytest.mark.unit
def test_virtual_clock_when_slept_on_then_moves_and_never_back():
    clock = VirtualClock(5.0)
    clock.sleep(2.5)

    assert clock.now_s() == 7.5
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1)


@pytest.mark.unit
def test_types_when_used_then_keep_their_invariants():
    assert SpeakerId(0, 7).letter == "H"
    assert SpeakerId(2, 0).letter == "A3"
    assert join_words([Word(" Hello", 0, 1), Word(" you", 1, 2)]) == "Hello you"
    with pytest.raises(ValueError, match="one dimension"):
        as_pcm([[0.0, 1.0]])

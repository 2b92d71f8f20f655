"""What the delays panel plots."""

import numpy as np
import pytest

from app.views.health.delay_history import SPAN_S, History, Trend, groups, rows_of, scale_top
from engine.session.health import Health


def test_history_when_filled_for_hours_then_holds_two_minutes_in_the_same_arrays() -> None:
    history = History(groups())
    ages, values = history.ages_s, history.values
    for beat in range(4 * 3600 * 2):
        history.add(Health(partial_delay_s=beat / 1000), beat / 2)
    assert history.ages_s is ages
    assert history.values is values
    assert np.count_nonzero(ages >= -SPAN_S) == SPAN_S * 2 + 1
    assert ages[-1] == 0
    assert history.newest(0) == pytest.approx((4 * 3600 * 2 - 1) / 1000)


def test_history_when_a_figure_is_missing_then_it_is_none_and_no_zero() -> None:
    history = History(groups())
    history.add(Health(recognizer_backlog_s=1.5), 1.0)
    (delay, backlog, *_) = rows_of(groups())
    assert [history.newest(row) for row in range(delay.start, delay.stop)] == [None] * 4
    assert history.peak(delay) == 0.0
    assert history.peak(backlog) == 1.5


def test_history_when_nothing_came_for_a_while_then_the_line_is_broken() -> None:
    history = History(groups())
    for now_s in (1.0, 1.5, 60.0, 60.5):
        history.add(Health(partial_delay_s=1.0), now_s)
    assert [bool(gap) for gap in np.isnan(history.values[0, -5:])] == [
        False,
        False,
        True,
        False,
        False,
    ]


def test_peak_when_the_highest_figure_is_older_than_the_span_then_it_does_not_count() -> None:
    history = History(groups())
    history.add(Health(recognizer_backlog_s=90.0), 0.0)
    history.add(Health(recognizer_backlog_s=1.0), SPAN_S + 1)
    assert history.peak(rows_of(groups())[1]) == 1.0


@pytest.mark.parametrize(
    ("peak", "least", "top"),
    [(0.0, 2.0, 2.0), (2.0, 2.0, 2.0), (2.1, 2.0, 5.0), (7.0, 2.0, 10.0), (640.0, 500.0, 1000.0)],
)
def test_scale_top_is_round_and_holds_the_peak(peak: float, least: float, top: float) -> None:
    assert scale_top(peak, least) == top


def test_every_figure_has_a_unit_and_a_name_of_its_own() -> None:
    health = Health(
        partial_delay_s=0.84,
        final_delay_s=1.7,
        speaker_delay_s=2.1,
        first_sound_delay_s=0.3,
        recognizer_backlog_s=0.4,
        recognizer_load=0.5,
        diarizer_load=0.25,
        num_overflows=2,
        lost_s=0.12,
        rss_bytes=412_400_000,
    )
    texts = [
        f"{group.title} {series.label} {group.text(series.read(health))}"
        for group in groups()
        for series in group.series
    ]
    assert texts == [
        "Delay text shown 0.8 s",
        "Delay text final 1.7 s",
        "Delay speakers 2.1 s",
        "Delay first sound 0.3 s",
        "Backlog text 0.4 s",
        "Backlog speakers 0.0 s",
        "Backlog settling –",
        "Real-time factor text 0.50 ×",
        "Real-time factor speakers 0.25 ×",
        "Real-time factor settling –",
        "Memory this program 412 MB",
        "Memory on the GPU –",
        "Lost input, times 2",
        "Lost input, ms 120",
        "Lost output, times 0",
    ]


def test_trend_when_filled_for_hours_then_goes_back_to_the_start_in_few_even_points() -> None:
    trend = Trend(1)
    for beat in range(4 * 3600 * 2):
        trend.add(np.array([float(beat)]), beat / 2)
    ages, beats = trend.ages_s(), trend.values(slice(0, 1))[0]
    assert 100 <= trend.num_points <= 240
    assert np.array_equal((beats - beats[-1]) / 2, ages)
    steps = np.diff(ages)
    assert steps.max() <= 1.25 * steps.min()
    assert beats[0] == 0.0
    assert beats[-1] / 2 > 4 * 3600 - 1 - steps.max()

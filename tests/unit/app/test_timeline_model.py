"""Zoom, scroll and follow of the timeline."""

from itertools import pairwise

import pytest

from app.views.timeline.model import MIN_SPAN_S, TimelineModel, axis_ticks

pytestmark = pytest.mark.unit


@pytest.fixture
def model() -> TimelineModel:
    model = TimelineModel()
    model.width_px = 1000.0
    model.set_duration(600.0)
    return model


def test_time_and_pixel_are_inverse_at_any_zoom(model: TimelineModel) -> None:
    for factor in (0.1, 3.0, 40.0):
        model.zoom(factor)
        assert model.time_at(model.x_of(432.1)) == pytest.approx(432.1)


def test_follow_keeps_the_newest_moment_in_view(model: TimelineModel) -> None:
    for duration_s in (600.0, 601.0, 640.0):
        model.set_duration(duration_s)
        assert model.start_s < duration_s < model.end_s
    model.zoom(0.2, x=10.0)
    assert model.start_s < 640.0 < model.end_s


def test_zoom_keeps_the_time_under_the_pointer_when_not_following(model: TimelineModel) -> None:
    model.scroll_s(-300)
    before = model.time_at(250.0)
    model.zoom(0.5, x=250.0)
    assert model.time_at(250.0) == pytest.approx(before, abs=model.px_s)


def test_zoom_stops_at_a_second_and_at_the_whole_recording(model: TimelineModel) -> None:
    for _ in range(60):
        model.zoom(0.5)
    assert model.span_s == MIN_SPAN_S
    for _ in range(60):
        model.zoom(2.0)
    assert model.start_s == pytest.approx(0.0)
    assert model.end_s >= 600.0


def test_scrolling_ends_follow_and_stays_inside_the_recording(model: TimelineModel) -> None:
    model.scroll_px(-200)
    assert not model.is_following
    start = model.start_s
    model.set_duration(700.0)
    assert model.start_s == start
    model.scroll_s(-10_000)
    assert model.start_s == 0.0
    model.scroll_s(10_000)
    assert model.end_s <= 700.0 + model.span_s


def test_following_again_returns_to_the_end(model: TimelineModel) -> None:
    model.go_to_start()
    model.set_following(True)
    assert model.start_s < 600.0 < model.end_s


def test_show_moves_only_when_the_moment_is_out_of_view(model: TimelineModel) -> None:
    start = model.start_s
    model.show(595.0)
    assert model.start_s == start
    assert model.is_following
    model.show(100.0)
    assert model.start_s < 100.0 < model.end_s


@pytest.mark.parametrize("span_s", [1.0, 7.0, 30.0, 500.0, 14_000.0])
def test_ticks_keep_their_distance_and_name_their_time(span_s: float) -> None:
    ticks = axis_ticks(100.0, 100.0 + span_s, span_s / 1000, 80.0)
    assert len(ticks) >= 2
    assert all(b.time_s - a.time_s >= 80.0 * span_s / 1000 - 1e-9 for a, b in pairwise(ticks))
    assert len({tick.label for tick in ticks}) == len(ticks)


def test_the_axis_of_an_empty_recording_begins_at_zero() -> None:
    model = TimelineModel()
    model.set_duration(0.0)
    assert model.start_s == 0.0
    assert axis_ticks(-3.0, 30.0, 0.03, 80.0)[0].label == "0:00"


def test_the_view_begins_at_whole_pixels_so_that_pictures_can_be_moved(
    model: TimelineModel,
) -> None:
    for seconds in (-3.21, 0.017, -77.7):
        model.scroll_s(seconds)
        assert model.start_s / model.px_s == pytest.approx(model.start_px, abs=1e-6)


def test_with_reduced_motion_the_view_stands_until_the_newest_moment_leaves_it(
    model: TimelineModel,
) -> None:
    model.reduced_motion = True
    model.set_following(True)
    starts_s = []
    for step in range(300):
        model.set_duration(600.0 + step * 0.2)
        assert model.start_s <= model.duration_s <= model.end_s
        starts_s.append(round(model.start_s, 3))
    moves = [b - a for a, b in pairwise(starts_s) if b != a]
    assert len(moves) <= 7
    assert all(move == pytest.approx(model.span_s / 3, rel=0.05) for move in moves[1:])

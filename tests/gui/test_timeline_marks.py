"""The speaker timeline on documents built by scripts: levels, marks, words and descriptions."""

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from app.views.timeline import picture
from app.views.timeline.header import name_rect
from engine.audio.level_track import LevelTrack
from engine.core.events import (
    FinalWords,
    PartialWords,
    SpanMarked,
    SpeakerRenamed,
)
from engine.core.types import SpanKind, Word
from engine.text.search import Hit
from tests.helpers.timeline import A, TimelineParts, count, open_timeline, rows
from tests.helpers.window import RATE, activity, started

pytestmark = pytest.mark.gui


@pytest.fixture
def empty(qtbot: QtBot) -> Iterator[TimelineParts]:
    yield from open_timeline(qtbot, is_empty=True)


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[TimelineParts]:
    yield from open_timeline(qtbot)


def test_levels_are_drawn_over_the_time_they_belong_to(parts: TimelineParts) -> None:
    levels = LevelTrack(RATE)
    pcm = np.full(10 * RATE, 0.002, np.float32)
    pcm[4 * RATE : 6 * RATE] = 0.8
    levels.append(pcm)
    parts.state.set_live_levels(levels)
    image, sizes, ground = parts.picture(), parts.view.sizes, parts.theme.color("ground")
    y = sizes.ruler + sizes.level // 2 - 5

    def is_loud(time_s: float) -> bool:
        return image.pixelColor(parts.x(time_s), y) != ground

    assert [is_loud(t) for t in (3.7, 4.3, 5.7, 6.3)] == [False, True, True, False]


def test_levels_grow_while_nothing_else_changes(parts: TimelineParts) -> None:
    levels = LevelTrack(RATE)
    parts.state.set_live_levels(levels)
    sizes = parts.view.sizes
    y = sizes.ruler + sizes.level // 2 - 5
    for second in range(1, 6):
        levels.append(np.full(RATE, 0.7, np.float32))
        image = parts.picture()
        loud = [
            image.pixelColor(parts.x(t + 0.5), y) != parts.theme.color("ground") for t in range(6)
        ]
        assert loud == [t < second for t in range(6)]


def test_hover_tells_time_speakers_probabilities_words_and_state(parts: TimelineParts) -> None:
    parts.state.take([SpeakerRenamed(0, 0, "Maria")])
    lines = parts.view.describe(9.2).splitlines()
    assert lines[0] == "00:00:09.2"
    assert lines[1].startswith("Maria: 9")
    assert lines[2].startswith("Speaker B: ")
    assert "Several people speak at once" in lines
    assert "Who speaks is final" in lines
    assert "“right.”" in lines
    assert "may still change" in parts.view.describe(24.0)
    assert "sound lost" in parts.view.describe(15.5)
    assert "I would" not in parts.view.describe(21.9)
    assert "“Please” (may still change)" in parts.view.describe(21.9)
    settled = rows([(0, 0.5, 5.2)], 6.0, is_settled=True)
    parts.state.take([settled])
    assert "settled" in parts.view.describe(3.0)


def test_a_row_tells_its_name_share_and_whether_it_speaks(parts: TimelineParts) -> None:
    parts.state.take([SpeakerRenamed(0, 1, "Ida")])
    parts.marks.set_playing(7 * RATE)
    told = [parts.view.describe_row(row) for row in range(3)]
    assert "speaking now" in told[1]
    assert told[1].startswith("Ida: ")
    assert "silent now" in told[0]
    assert "Ida" in parts.view.accessibleDescription()


def test_own_voice_gets_a_row_of_its_own(parts: TimelineParts) -> None:
    assert None not in parts.view.speaker_rows()
    parts.state.take([SpanMarked(5, SpanKind.OWN_VOICE, 18 * RATE, 20 * RATE)])
    assert parts.view.speaker_rows()[-1] is None
    rect = parts.view.row_rect_on_widget(3)
    image, ground = parts.picture(), parts.theme.color("ground")

    def painted(time_s: float) -> bool:
        place = QRect(parts.x(time_s), rect.top(), 6, rect.height())
        return count(image, place, ground) < place.width() * place.height()

    assert [painted(t) for t in (17.3, 19.0, 20.4)] == [False, True, False]


def test_own_voice_without_an_end_goes_on_with_the_time(parts: TimelineParts) -> None:
    parts.state.take([SpanMarked(5, SpanKind.OWN_VOICE, 25 * RATE, 25 * RATE)])
    parts.picture()
    parts.view.set_duration(29.0)
    rect = parts.view.row_rect_on_widget(3)
    place = QRect(parts.x(28.0), rect.top(), 6, rect.height())
    assert (
        count(parts.picture(), place, parts.theme.color("ground")) < place.width() * rect.height()
    )


def test_cursor_selection_playing_and_hits_are_drawn(parts: TimelineParts) -> None:
    theme, sizes = parts.theme, parts.view.sizes
    before = parts.picture()
    parts.marks.set_cursor(3 * RATE)
    parts.marks.select(6 * RATE, 8 * RATE)
    parts.marks.set_playing(12 * RATE)
    parts.marks.set_hits([Hit(0, 1, 2 * RATE, 3 * RATE), Hit(5, 6, 20 * RATE, 21 * RATE)], 1)
    image = parts.picture()
    low = parts.view.height() - 12
    assert image.pixelColor(parts.x(3.0), low) == theme.color("text")
    assert image.pixelColor(parts.x(12.0), low) == theme.color("playing")
    assert image.pixelColor(parts.x(6.0), low) == theme.color("focus")
    assert image.pixelColor(parts.x(7.0), low) != before.pixelColor(parts.x(7.0), low)
    ruler = QRect(parts.x(2.0) - 2, sizes.ruler - 6, 4, 4)
    assert count(image, ruler, theme.color("hit_mark"))
    ruler.moveLeft(parts.x(20.0) - 3)
    ruler.moveTop(sizes.ruler - 11)
    assert count(image, ruler, theme.color("hit_mark"))  # the current hit is higher


def test_close_up_words_are_written_into_the_bars(parts: TimelineParts) -> None:
    parts.view.set_following(False)
    parts.view.zoom_by(0.15, parts.x(2.5))
    assert parts.view.scene.shows_words
    image, color = parts.picture(), parts.theme.speaker(0)
    rect = parts.view.row_rect_on_widget(0)
    place = QRect(parts.x(2.3), rect.top() + 6, parts.x(5.0) - parts.x(2.3), 9)
    assert count(image, place, color) < 0.98 * place.width() * place.height()


def test_the_view_is_painted_again_only_where_something_is_new(
    parts: TimelineParts, monkeypatch: pytest.MonkeyPatch
) -> None:

    painted: list[int] = []

    class Noted(picture.TilePainter):
        def paint(self) -> None:
            painted.append(self._first_px)
            super().paint()

    monkeypatch.setattr(picture, "TilePainter", Noted)
    parts.picture()
    parts.view.point_at(parts.point(5.0).toPointF())
    parts.marks.set_playing(5 * RATE)
    parts.view.scroll_px(-3)
    parts.picture()
    assert painted == []
    parts.state.take([activity(((1, 21.6, 25.9),), 26.48, 23.2)])
    parts.picture()
    assert len(painted) >= 1


def test_a_picture_of_parts_equals_a_picture_of_the_whole(parts: TimelineParts) -> None:
    """What is kept and moved must not differ from what is painted anew."""
    parts.view.set_following(False)
    for pixels in (0, 37, -111, 260):
        parts.view.scroll_px(pixels)
        kept = parts.picture()
        parts.appearance.changed.emit()  # everything is painted anew
        assert parts.picture() == kept


NAMES = ("🎉" * 40, "شهرزاد بنت المدير " * 12, "x" * 200, "line\nbreak\ttab", "")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_drawn_in_its_row(parts: TimelineParts, name: str) -> None:
    ground = parts.theme.color("ground")
    parts.state.take([SpeakerRenamed(0, 0, name[:200])])
    place = name_rect(parts.view.scene, 0)
    image = parts.picture()
    header = parts.view.sizes.header
    # Nothing runs out of the names into the plot, or into the row below.
    edge = QRect(header - 6, round(place.top()), 5, round(place.height()))
    assert count(image, edge, ground) == edge.width() * edge.height()
    assert parts.view.describe_row(0)


def test_odd_documents_are_drawn_sensibly(empty: TimelineParts) -> None:
    empty.picture()  # nothing at all
    empty.state.take([started()])
    assert empty.view.describe(0.0).startswith("00:00:00")
    empty.state.take([FinalWords((Word(" alone", 0, 0),))])
    empty.view.show_all()
    empty.picture()
    odd = (
        Word(" b", 5 * RATE, 4 * RATE),
        Word(" a", RATE, 9 * RATE),
        Word(" c", 2 * RATE, 2 * RATE),
    )
    empty.state.take([FinalWords(odd), PartialWords((Word(" p", 9 * RATE, 8 * RATE),))])
    empty.view.set_duration(10.0)
    empty.picture()
    empty.state.take([rows([(0, 0.0, 9.0)], 9.0)])
    empty.view.zoom_by(0.1, 300.0)
    empty.picture()
    assert empty.view.speaker_rows() == (A,)


def test_light_and_dark_change_everything_at_once(parts: TimelineParts) -> None:
    parts.picture()
    parts.appearance.force("dark")
    assert parts.color(3.0, 0) == parts.theme.speaker(0)
    assert parts.color(7.0, 0) == parts.theme.color("ground")

"""The words of captions, and that what is being read stays where it is."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QColor

from app.state import AppState
from app.views.captions.flow import CaptionRow
from engine.core.events import (
    FinalWords,
    PartialWords,
    SpanMarked,
    SpeakerColored,
    SpeakerMerged,
    SpeakerRenamed,
    WordsEdited,
)
from engine.core.types import SpanKind, SpeakerId, Word
from tests.helpers.captions import CaptionParts, close_captions, make_captions, talk
from tests.helpers.window import RATE, activity, started, words

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

A, B = SpeakerId(0, 0), SpeakerId(0, 1)
LONG = (
    "we walk along the river and talk about the weather until the light goes and nobody "
    "remembers which of the bridges is the one that leads back home again"
)


@pytest.fixture
def captions(qtbot: "QtBot", tmp_path: Path) -> Iterator[CaptionParts]:
    parts = make_captions(tmp_path)
    parts.window.show_full()
    parts.window.bar.put_away()
    yield parts
    close_captions(parts, qtbot)


class PaintCounter(QObject):
    """Counts how often a widget is painted."""

    def __init__(self) -> None:
        super().__init__()
        self.num_paints = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.num_paints += event.type() == QEvent.Type.Paint
        return False


def shown(parts: CaptionParts) -> list[str]:
    return [row.text for row in parts.window.view.rows]


def joined(parts: CaptionParts) -> str:
    return " ".join(row.words for row in parts.window.view.rows)


def slots(parts: CaptionParts) -> dict[tuple[str, int, int], int]:
    """Return where each committed row is, counted from the bottom."""
    view = parts.window.view
    rows = enumerate(reversed(view.rows), start=view.num_blank)
    return {row.key: slot for slot, row in rows if row.key[0] == "word" and row.partial_from}


def test_captions_when_people_talk_then_the_newest_words_are_shown(captions: CaptionParts) -> None:
    captions.state.take(talk())
    view = captions.window.view
    assert joined(captions).endswith("waiting since the spring. Nobody seems to miss")
    assert view.rows[-1].partial_from < len(view.rows[-1].text)
    assert len(view.rows) == captions.window.choices.num_lines


def test_captions_when_the_speaker_changes_then_a_row_begins(captions: CaptionParts) -> None:
    captions.window.choices.choose({"num_lines": 8, "size_pt": 30})
    captions.state.take(talk())
    rows = captions.window.view.rows
    starts = [(row.speaker, row.text.split()[0]) for row in rows if row.is_start]
    assert starts == [(A, "We"), (B, "And")]
    text = captions.window.view.text()
    assert text.startswith("Speaker A: We should ship")
    assert "\nSpeaker B: And the other" in text


def test_captions_when_a_speaker_is_named_then_the_name_stands_first(
    captions: CaptionParts,
) -> None:
    captions.window.choices.choose({"num_lines": 8, "size_pt": 30})
    captions.state.take([*talk(), SpeakerRenamed(0, 1, "Maria")])
    row = next(row for row in captions.window.view.rows if row.speaker == B)
    assert "Maria" in row.text
    assert row.words.startswith("And")
    captions.window.choices.toggle_names()
    row = next(row for row in captions.window.view.rows if row.speaker == B)
    assert row.text.startswith("And")


@pytest.mark.parametrize(
    "name", ["🦊" * 40, "محمد علي", "x" * 200, "a\nb\u2028c", "\ud83e", " ", "{name}"]
)
def test_captions_when_a_name_is_unusual_then_words_still_have_room(
    captions: CaptionParts, name: str
) -> None:
    captions.state.take([*talk(), SpeakerRenamed(0, 0, name), SpeakerRenamed(0, 1, name)])
    captions.window.choices.choose({"num_lines": 8})
    assert joined(captions).endswith("Nobody seems to miss")
    assert all("\n" not in row.text for row in captions.window.view.rows)
    captions.window.grab()


def test_captions_when_speakers_become_one_then_only_the_first_row_has_a_mark(
    captions: CaptionParts,
) -> None:
    captions.window.choices.choose({"num_lines": 8, "size_pt": 30})
    captions.state.take([*talk(), SpeakerMerged(B, A)])
    rows = captions.window.view.rows
    assert {row.speaker for row in rows} == {A}
    assert [row.is_start for row in rows].count(True) == 1


def test_captions_when_a_speaker_has_another_color_then_it_is_painted(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    captions.state.take(talk())
    view = captions.window.view
    color = QColor(captions.window.scheme.speakers[5])

    def has_color() -> bool:
        image = view.grab().toImage()
        left = range(view.metrics.column_left, view.metrics.column_left + view.metrics.gutter)
        return any(
            image.pixelColor(x, y) == color for x in left for y in range(0, image.height(), 4)
        )

    assert not has_color()
    captions.state.take([SpeakerColored(B, 5)])
    assert has_color()


@pytest.mark.parametrize("seed", range(8))
def test_captions_when_words_are_appended_then_no_committed_word_moves(
    captions: CaptionParts, seed: int
) -> None:
    rng = random.Random(seed)
    captions.window.choices.choose({"num_lines": rng.randint(4, 6), "size_pt": 30})
    captions.state.take([started()])
    vocabulary, at_s = LONG.split(), 0.0
    before: dict[tuple[str, int, int], tuple[int, str]] = {}
    for _ in range(60):
        number = rng.randint(0, 7)
        at_s += rng.choice((0.1, 0.1, 0.1, 2.5))
        text = " ".join(rng.choices(vocabulary, k=number))
        events = [FinalWords(words(text, at_s, at_s + 0.3 * number + 0.01))]
        at_s += 0.3 * number
        partial = " ".join(rng.choices(vocabulary, k=rng.choice((0, 0, 2, 5, 9))))
        captions.state.take([*events, PartialWords(words(partial, at_s + 0.1, at_s + 2.0))])
        places = slots(captions)
        texts = {row.key: row for row in captions.window.view.rows}
        now = {key: (slot, _committed(texts[key])) for key, slot in places.items()}
        for key in before.keys() & now.keys():
            assert now[key][1].startswith(before[key][1])
            assert now[key][0] >= before[key][0]
        before = now


def _committed(row: CaptionRow) -> str:
    return row.text[: row.partial_from].rstrip()


def test_captions_when_a_speaker_is_known_late_then_only_a_break_comes_in(
    captions: CaptionParts,
) -> None:
    captions.window.choices.choose({"num_lines": 8, "size_pt": 26})
    captions.state.take([started(), FinalWords(words(LONG, 0.5, 12.0))])
    before = shown(captions)
    assert all(row.speaker is None for row in captions.window.view.rows)
    captions.state.take([activity(((0, 0.4, 6.0), (1, 6.1, 12.0)), 12.0, 12.0)])
    after = shown(captions)
    view = captions.window.view
    assert {row.speaker for row in view.rows} == {A, B}
    [start] = [row for row in view.rows if row.is_start and row.speaker == B]
    index = view.rows.index(start)
    # All other rows are what they were; the one of the change is now two.
    assert len(after) == len(before) + 1
    assert f"{after[index - 1]} {after[index]}" == before[index - 1]
    assert after[: index - 1] == before[: index - 1]
    assert after[index + 1 :] == before[index:]


def test_captions_when_partial_words_are_taken_back_then_words_above_stay(
    captions: CaptionParts,
) -> None:
    captions.state.take([started(), FinalWords(words("Well then", 0.5, 1.0))])
    captions.state.take([PartialWords(words("we shall see it", 1.1, 3.0))])
    assert len(captions.window.view.rows) == 2
    before = slots(captions)
    captions.state.take([PartialWords(())])
    assert slots(captions) == before
    assert captions.window.view.num_blank == 1
    captions.state.take([FinalWords(words("we shall see it", 1.1, 3.0))])
    assert captions.window.view.num_blank == 0
    assert slots(captions).items() >= before.items()


def test_captions_when_one_line_is_shown_then_it_is_never_blank(captions: CaptionParts) -> None:
    captions.window.choices.choose({"num_lines": 1})
    captions.state.take([started(), FinalWords(words("Well then", 0.5, 1.0))])
    captions.state.take([PartialWords(words(LONG, 1.1, 9.0))])
    captions.state.take([PartialWords(())])
    assert shown(captions) == ["Well then"]


def test_captions_when_words_are_corrected_then_the_rows_after_them_stay(
    captions: CaptionParts,
) -> None:
    captions.window.choices.choose({"num_lines": 8, "size_pt": 26})
    captions.state.take([started(), FinalWords(words(LONG, 0.5, 12.0))])
    before = shown(captions)
    captions.state.take([WordsEdited((1,), (" wander slowly and without any hurry",))])
    after = shown(captions)
    assert "wander slowly" in joined(captions)
    assert after[-len(before) + 1 :] == before[1:]


def test_captions_when_another_recording_begins_then_the_old_words_go(
    captions: CaptionParts,
) -> None:
    captions.state.take(talk())
    captions.state.take([started()])
    assert shown(captions) == []
    captions.state.take([FinalWords(words("New words", 0.5, 1.0))])
    assert shown(captions) == ["New words"]


def test_captions_when_a_stored_session_is_shown_then_they_stay_live(
    captions: CaptionParts,
) -> None:
    captions.state.take(talk())
    captions.state.show_stored(AppState().document, "old", "old")
    captions.state.take([FinalWords(words("Still here.", 12.5, 13.0)), PartialWords(())])
    assert joined(captions).endswith("Still here.")


@pytest.mark.parametrize(
    "odd",
    [
        (Word(" a", 100, 100), Word(" b", 50, 4000), Word(" c", 60, 61), Word("", 70, 70)),
        (Word(" \n\t ", 0, 10),),
        (Word("", 0, 0),),
        (Word("x" * 3000, 0, RATE),),
        (Word(" \ud83e broken", 0, RATE),),
        (Word("今日は良い天気ですね" * 20, 0, RATE),),
        (Word(" مرحبا", 0, 10), Word(" abc", 20, 30), Word(" بكم" * 60, 40, 50)),
        (Word(" 👩‍👩‍👧‍👦" * 30, 0, RATE),),
    ],
)
@pytest.mark.parametrize("is_partial", [False, True])
def test_captions_when_words_are_odd_then_they_are_drawn(
    captions: CaptionParts, odd: tuple[Word, ...], is_partial: bool
) -> None:
    event = PartialWords(odd) if is_partial else FinalWords(odd)
    captions.state.take([started(), activity(((0, 0.0, 1.0),), 1.0, 1.0), event])
    for look in ({"size_pt": 160}, {"num_lines": 8, "size_pt": 24, "width_percent": 40}):
        captions.window.choices.choose(look)
        captions.window.grab()
    assert len(captions.window.view.rows) <= 8


def test_captions_when_text_reads_from_the_right_then_it_begins_there(
    captions: CaptionParts,
) -> None:
    text = "مرحبا بكم جميعا في هذا الاجتماع Viva Voce 2.0 لنبدأ الآن من فضلكم يا أصدقاء"
    captions.window.choices.choose({"num_lines": 8})
    captions.state.take([started(), FinalWords(words(text, 0.5, 5.0))])
    rows = captions.window.view.rows
    assert len(rows) > 1
    assert all(row.is_rtl for row in rows)


def test_captions_when_nothing_changes_then_nothing_is_painted(
    captions: CaptionParts, qtbot: "QtBot"
) -> None:
    captions.state.take(talk())
    qtbot.wait(50)
    counter = PaintCounter()
    captions.window.view.installEventFilter(counter)
    partial = captions.state.live_document.partial
    for _ in range(5):
        captions.state.take([PartialWords(partial)])
        captions.window.view.refresh()
        qtbot.wait(5)
    assert counter.num_paints == 0
    captions.state.take([PartialWords(words("Something else", 10.2, 11.0))])
    qtbot.waitUntil(lambda: counter.num_paints == 1)


def test_captions_when_they_are_hidden_then_they_do_nothing(captions: CaptionParts) -> None:
    captions.window.leave()
    captions.state.take(talk())
    assert shown(captions) == []
    captions.window.show_full()
    assert joined(captions).endswith("Nobody seems to miss")


def test_captions_when_an_hour_was_said_then_only_its_end_is_held(captions: CaptionParts) -> None:
    captions.state.take([started()])
    for minute in range(60):
        captions.state.take([FinalWords(words(LONG * 4, minute * 60, minute * 60 + 58))])
    assert len(captions.window.view.rows) <= captions.window.choices.num_lines
    assert captions.window.view.num_kept <= 40


def test_captions_when_sound_was_lost_then_it_is_said_while_the_place_is_visible(
    captions: CaptionParts,
) -> None:
    captions.window.choices.choose({"num_lines": 2})
    captions.state.take(talk())
    assert captions.window.quiet.text() == ""
    captions.state.take([SpanMarked(1, SpanKind.GAP, 12 * RATE, 14 * RATE, "late")])
    assert "2.0 s of sound were lost" in captions.window.quiet.text()
    captions.state.take([PartialWords(()), FinalWords(words(LONG, 15.0, 25.0))])
    assert captions.window.quiet.text() == ""

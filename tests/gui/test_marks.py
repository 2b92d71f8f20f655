"""Marks that transcript and timeline share."""

from typing import TYPE_CHECKING

import pytest

from app.marks import Marks
from engine.text.search import Hit

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.gui


def test_select_when_the_ends_are_given_backwards_then_the_stretch_is_the_same(qtbot: "QtBot"):
    marks = Marks()
    with qtbot.waitSignal(marks.selection_changed):
        marks.select(500, 100)
    assert marks.selection == (100, 500)


def test_select_when_the_stretch_is_empty_or_before_the_start_then_it_is_cut(qtbot: "QtBot"):
    del qtbot
    marks = Marks()
    marks.select(-300, 40)
    assert marks.selection == (0, 40)
    marks.select(40, 40)
    assert marks.selection is None


def test_setting_when_nothing_changes_then_nobody_is_told(qtbot: "QtBot"):
    marks = Marks()
    marks.set_cursor(10)
    marks.select(1, 2)
    marks.set_playing(3)
    signals = (marks.cursor_changed, marks.selection_changed, marks.playing_changed)
    told: list[int] = []
    for signal in signals:
        signal.connect(lambda: told.append(1))
    marks.set_cursor(10)
    marks.select(2, 1)
    marks.set_playing(3)
    assert told == []
    del qtbot


def test_clear_when_everything_is_marked_then_nothing_is(qtbot: "QtBot"):
    del qtbot
    marks = Marks()
    marks.set_cursor(10)
    marks.select(1, 2)
    marks.set_playing(3)
    marks.set_hits([Hit(0, 1, 5, 6)], 0)
    marks.clear()
    assert (marks.cursor, marks.selection, marks.playing, marks.hits, marks.current_hit) == (
        None,
        None,
        None,
        (),
        None,
    )

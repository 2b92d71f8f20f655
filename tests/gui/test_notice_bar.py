"""The bar of messages: what is first, what leaves, and how all are put away."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.state import AppState
from app.theme import Appearance
from app.views.notice_bar import NoticeBar, NoticeHistory
from engine.core.events import Notice, Severity

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts

pytestmark = pytest.mark.gui

SAVED = Notice(Severity.INFO, "Saved as talk.txt.")
FULL = Notice(Severity.ERROR, "The disk is full.")


class Bench:
    """A bar in a window, and the clock it goes by."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.state = AppState(now_s=lambda: self.now_s)
        self.bar = NoticeBar(self.state, Appearance("light"))
        self.window = QWidget()
        QVBoxLayout(self.window).addWidget(self.bar)


@pytest.fixture
def bench(qtbot: "QtBot") -> Bench:
    made = Bench()
    qtbot.addWidget(made.window)
    made.window.show()
    return made


def test_information_when_its_time_is_over_then_it_leaves_by_itself(bench: Bench, qtbot: "QtBot"):
    bench.state.add_notice(SAVED)
    assert bench.bar.isVisible()
    bench.now_s = 20.0
    qtbot.waitUntil(lambda: not bench.bar.isVisible())
    assert [dated.notice for dated in bench.state.history] == [SAVED]


def test_information_when_it_has_the_focus_then_it_stays_until_that_goes(
    bench: Bench, qtbot: "QtBot"
):
    bench.state.add_notice(SAVED)
    bench.window.activateWindow()
    bench.bar.close_button.setFocus()
    qtbot.waitUntil(bench.bar.close_button.hasFocus)
    bench.now_s = 20.0
    bench.bar.let_go()
    assert bench.bar.isVisible()
    bench.bar.close_button.clearFocus()
    bench.bar.let_go()
    assert not bench.bar.isVisible()


def test_problem_when_time_goes_by_then_it_stays(bench: Bench):
    bench.state.take([SAVED, FULL])
    bench.now_s = 1000.0
    bench.bar.let_go()
    assert bench.bar.text.text() == "The disk is full."
    assert not bench.bar.more_button.isVisible()


def test_all_when_several_are_open_then_one_press_puts_them_away(bench: Bench, qtbot: "QtBot"):
    bench.state.add_notice(FULL)
    assert not bench.bar.all_button.isVisible()
    for number in range(8):
        bench.state.add_notice(Notice(Severity.INFO, f"Saved as {number}.txt."))
    assert bench.bar.more_button.text() == "8 more"
    qtbot.mouseClick(bench.bar.all_button, Qt.MouseButton.LeftButton)
    assert not bench.bar.isVisible()
    assert len(bench.state.history) == 9


def test_list_of_messages_when_it_is_opened_then_all_are_read(parts: "WindowParts", qtbot: "QtBot"):
    parts.state.take([FULL, SAVED])
    qtbot.mouseClick(parts.window.notice_bar.more_button, Qt.MouseButton.LeftButton)
    (history,) = parts.window.findChildren(NoticeHistory)
    assert history.isVisible()
    assert not parts.window.notice_bar.isVisible()
    history.reject()

"""Panels beside the words give way to them, and come back."""

from typing import TYPE_CHECKING

import pytest

from tests.helpers.window import conversation, record

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts

pytestmark = pytest.mark.gui


def resize(parts: "WindowParts", qtbot: "QtBot", width: int) -> None:
    """Give the window a width, and wait until it has it."""
    parts.window.resize(width, 600)
    qtbot.waitUntil(lambda: parts.window.panels.width() == width)


def broken_words(parts: "WindowParts") -> list[str]:
    """Return the words of the transcript that are on two lines."""
    stack, theme = parts.window.transcript.stack, parts.window.appearance.theme
    found: list[str] = []
    for index in range(len(stack)):
        laid_out = stack.laid_out(index, theme)
        if laid_out is None:
            continue
        row = stack.row(index)
        found += [
            row.word(word).text
            for word in range(row.num_words)
            if len(laid_out.word_rects(word)) > 1
        ]
    return found


@pytest.mark.parametrize(("width", "num_steps"), [(640, 13), (600, 0), (640, 0), (560, 5)])
def test_words_when_the_window_is_narrow_then_none_is_broken(
    parts: "WindowParts", qtbot: "QtBot", width: int, num_steps: int
):
    record(parts, qtbot)
    parts.session.post(*conversation()[1:])
    qtbot.waitUntil(lambda: bool(parts.state.document.lines))
    for _ in range(num_steps):
        parts.controller.change_text_size(1)
    resize(parts, qtbot, width)
    assert broken_words(parts) == []
    transcript = parts.window.transcript
    assert transcript.viewport().width() >= transcript.stack.metrics.text_width


def test_panels_when_there_is_no_room_then_recordings_go_first_and_come_back(
    parts: "WindowParts", qtbot: "QtBot"
):
    window, seen = parts.window, []
    for width in (1240, 620, 430, 620, 1240):
        resize(parts, qtbot, width)
        shown = (window.sessions_panel.isVisible(), window.speak_panel.isVisible())
        checked = tuple(
            window.menu_actions.action(name).isChecked() for name in ("sessions", "speak")
        )
        assert checked == shown
        seen.append(shown)
    both, one, none = (True, True), (False, True), (False, False)
    assert seen == [both, one, none, one, both]
    assert window.panels.sizes()[0] > 200


def test_panels_when_letters_grow_then_they_give_way(parts: "WindowParts", qtbot: "QtBot"):
    resize(parts, qtbot, 800)
    assert parts.window.sessions_panel.isVisible()
    for _ in range(27):
        parts.controller.change_text_size(1)
    assert not parts.window.sessions_panel.isVisible()
    parts.controller.change_text_size(0)
    assert parts.window.sessions_panel.isVisible()


def test_panel_when_the_user_has_closed_it_then_room_does_not_bring_it_back(
    parts: "WindowParts", qtbot: "QtBot"
):
    resize(parts, qtbot, 1240)
    parts.window.menu_actions.action("sessions").trigger()
    resize(parts, qtbot, 430)
    resize(parts, qtbot, 1240)
    assert not parts.window.sessions_panel.isVisible()
    assert parts.window.speak_panel.isVisible()


def test_panel_when_the_user_opens_it_without_room_then_it_is_there_until_there_is(
    parts: "WindowParts", qtbot: "QtBot"
):
    window = parts.window
    resize(parts, qtbot, 560)
    assert not window.sessions_panel.isVisible()
    window.menu_actions.action("sessions").trigger()
    assert window.sessions_panel.isVisible()
    assert not window.speak_panel.isVisible()
    assert window.panels.width() == 560
    resize(parts, qtbot, 1240)
    assert window.speak_panel.isVisible()
    resize(parts, qtbot, 560)
    assert not window.sessions_panel.isVisible()

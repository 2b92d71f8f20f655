"""The window as a whole: names, sizes, order and themes."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.core.config import load_settings
from engine.core.events import (
    BackendState,
    Notice,
    Severity,
)
from engine.core.types import BackendKind
from engine.session.build import build_session
from tests.helpers.window import (
    WindowParts,
    close_window,
    conversation,
    make_window,
    record,
)

pytestmark = pytest.mark.gui


def test_no_message_of_the_window_speaks_of_the_command_line(qtbot: QtBot, tmp_path: Path) -> None:
    home = {"VIVAVOCE_HOME": str(tmp_path), "VIVAVOCE_MODELS_DIR": str(tmp_path / "none")}
    parts = make_window(tmp_path)
    session = build_session(load_settings(home), home)
    parts.window.show()
    parts.controller.attach(session)
    kinds = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER)

    def is_failed(kind: BackendKind) -> bool:
        backend = parts.state.backends.get(kind)
        return backend is not None and backend.state is BackendState.FAILED

    qtbot.waitUntil(lambda: all(map(is_failed, kinds)), timeout=60_000)
    parts.shelf.open_session("deleted meanwhile")
    qtbot.waitUntil(lambda: bool(parts.state.open_notices))
    texts = [backend.message for backend in parts.state.backends.values()]
    texts += [f"{d.notice.message} {d.notice.advice}" for d in parts.state.history]
    assert len(texts) >= 4
    for text in texts:
        assert "vivavoce " not in text
        assert "file:PATH" not in text
    close_window(parts, qtbot)


def test_no_button_is_cut_in_a_narrow_window_with_longer_labels(
    parts: WindowParts, qtbot: QtBot
) -> None:
    window = parts.window
    record(parts, qtbot)
    parts.session.post(*conversation()[1:])
    window.show_delays(True)
    window.resize(900, 600)
    buttons = [button for button in window.findChildren(QPushButton) if button.isVisible()]
    assert len(buttons) > 8
    for button in buttons:
        text = button.text()
        button.setText(text + text[: max(3, len(text) * 2 // 5)])

    def cut() -> list[str]:
        return [button.text() for button in buttons if button.width() < button.sizeHint().width()]

    qtbot.waitUntil(lambda: cut() == [])
    assert window.toolbar.time_label.width() >= window.toolbar.time_label.sizeHint().width()


def test_every_control_has_a_name_and_can_be_reached(parts: WindowParts) -> None:
    nameless = []
    for widget in parts.window.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            text = getattr(widget, "text", lambda: "")
            name = widget.accessibleName() or (text() if callable(text) else "")
            if not name:
                nameless.append(widget)
    assert nameless == []


def test_tab_goes_from_the_controls_over_the_panels_to_the_timeline(
    parts: WindowParts, qtbot: QtBot
) -> None:
    record(parts, qtbot)
    parts.window.speak_panel.text.setPlainText("Hello.")
    window, order = parts.window, []
    widget: QWidget = window.toolbar.record_button
    for _ in range(500):
        widget = widget.nextInFocusChain()
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(window):
            order.append(widget)
    wanted = [
        window.toolbar.pause_button,
        window.toolbar.stop_button,
        window.toolbar.output_chooser,
        window.sessions_panel.filter,
        window.transcript,
        window.speak_panel.text,
        window.speak_panel.speak_button,
        window.timeline,
    ]
    places = [order.index(widget) for widget in wanted]
    assert places == sorted(places)


def test_both_themes_paint_every_state(parts: WindowParts, qtbot: QtBot) -> None:
    parts.session.post(*conversation())
    parts.state.add_notice(Notice(Severity.ERROR, "Something.", "Do something."))
    qtbot.waitUntil(lambda: len(parts.state.document.lines) > 0)
    colors = set()
    for name in ("light", "dark"):
        parts.window.appearance.force(name)
        image = parts.window.grab().toImage()
        colors.add(image.pixelColor(image.width() // 2, image.height() // 2).name())
    assert len(colors) == 2
    assert QApplication.instance() is not None

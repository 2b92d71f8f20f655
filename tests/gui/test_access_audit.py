"""The whole window for everybody: names, keys, room for large text, visible focus, grey eyes."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSlider,
    QSpinBox,
    QToolButton,
    QTreeWidget,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.theme import Appearance, load_themes
from app.views.speaker_badge import badge_size, paint_badge
from engine.core.events import Notice, SessionState, Severity
from engine.core.types import MAX_SPEAKERS, SpeakerId
from tests.helpers import access_audit
from tests.helpers.scripted_session import BACKENDS
from tests.helpers.window import WindowParts, close_window, conversation, make_window

pytestmark = pytest.mark.gui


@pytest.fixture(params=[1.0, 2.0], ids=["usual", "200 %"])
def full(request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path) -> Iterator[WindowParts]:
    """A window with everything in it that can be shown at once, at a size of text."""
    usual = QApplication.font()
    font = QFont(usual)
    font.setPointSizeF(usual.pointSizeF() * request.param)
    QApplication.setFont(font)
    made = make_window(tmp_path)
    made.window.resize(1400, 900)
    made.window.show()
    made.controller.attach(made.session.as_session())
    made.session.post(*BACKENDS, *conversation())
    made.session.length_s = 27.0
    made.session.enter(SessionState.RECORDING)
    made.window.show_delays(True)
    made.state.add_notice(Notice(Severity.WARNING, "The microphone is gone.", "Plug it in."))
    qtbot.waitUntil(lambda: made.window.health_strip.delays.text() != "")
    qtbot.wait(50)
    yield made
    made.session.enter(SessionState.IDLE)
    close_window(made, qtbot)
    QApplication.setFont(usual)


def test_everything_has_a_name_and_room(full: WindowParts) -> None:
    window = full.window
    assert access_audit.unnamed_controls(window) == []
    assert access_audit.small_targets(window) == []
    assert access_audit.cut_texts(window) == []
    screen = (1920, 1080)
    least = window.minimumSizeHint()
    assert (least.width(), least.height()) < screen


def test_no_key_has_two_meanings(parts: WindowParts) -> None:
    assert access_audit.clashing_mnemonics(parts.window.menuBar()) == []
    assert access_audit.clashing_shortcuts(parts.window) == []


def test_tab_goes_through_the_window_in_the_order_it_is_read(full: WindowParts) -> None:
    window, order = full.window, access_audit.tab_order(full.window)
    stops = [
        window.toolbar.pause_button,
        window.toolbar.stop_button,
        window.toolbar.output_chooser,
        window.transcript,
        window.speak_panel.text,
        window.timeline,
        window.delays_panel.report_button,
    ]
    assert [widget for widget in order if widget in stops] == stops
    assert all(access_audit.accessible_name(widget) for widget in order)


def _controls() -> dict[str, QWidget]:
    primary, recording = QPushButton("Main"), QPushButton("Recording")
    primary.setProperty("role", "primary")
    recording.setProperty("recording", True)
    chooser, entries = QComboBox(), QListWidget()
    chooser.addItem("One")
    entries.addItem("One")
    tool = QToolButton()
    tool.setText("Tool")
    return {
        "button": QPushButton("Button"),
        "primary": primary,
        "recording": recording,
        "tool": tool,
        "chooser": chooser,
        "line": QLineEdit("Text"),
        "text": QPlainTextEdit("Text"),
        "list": entries,
        "tree": QTreeWidget(),
        "radio": QRadioButton("One"),
        "check": QCheckBox("One"),
        "slider": QSlider(Qt.Orientation.Horizontal),
        "number": QSpinBox(),
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_focus_is_seen_on_every_kind_of_control(qtbot: QtBot, theme: str) -> None:
    Appearance(theme)
    holder = QWidget()
    qtbot.addWidget(holder)
    column, controls = QVBoxLayout(holder), _controls()
    rest = QPushButton("Elsewhere")
    for control in (*controls.values(), rest):
        control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        column.addWidget(control)
    holder.show()
    holder.activateWindow()
    for name, control in controls.items():
        rest.setFocus()
        qtbot.waitUntil(rest.hasFocus)
        without = _luminance(control.grab().toImage())
        control.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.waitUntil(control.hasFocus)
        focused = _luminance(control.grab().toImage())
        high, low = np.maximum(without, focused), np.minimum(without, focused)
        changed = (high + 0.05) / (low + 0.05) >= 3.0
        # Two pixels along most of the outline, or as much elsewhere.
        assert changed.sum() >= control.width() + control.height(), name


def test_badges_differ_for_eyes_that_see_no_color() -> None:
    theme = load_themes()["light"]
    grey = [_badge(SpeakerId(0, slot)) for slot in range(MAX_SPEAKERS)]
    for one, other in combinations(grey, 2):
        letters = np.abs(one[:, :-6] - other[:, :-6]) > 0.1
        assert letters.sum() >= 8
        assert not np.array_equal(one, other)
    # The stripe at the right differs by its pattern alone: its own light and dark set apart.
    stripes = [_pattern(image[:, -5:]) for image in grey]
    assert len({stripe.tobytes() for stripe in stripes}) == MAX_SPEAKERS
    assert theme


def _badge(speaker: SpeakerId) -> NDArray[np.float64]:
    rect = badge_size(20)
    image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    paint_badge(painter, QRectF(rect), speaker, load_themes()["light"], QFont())
    painter.end()
    return _luminance(image)


def _pattern(stripe: NDArray[np.float64]) -> NDArray[np.bool_]:
    inner = stripe[6:-6]
    return inner > (inner.min() + inner.max()) / 2


def _luminance(image: QImage) -> NDArray[np.float64]:
    """Return (height, width) float64, relative luminance as WCAG has it."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), -1)
    colors = rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3) / 255
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])

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
from app.views.keep_dialog import KeepDialog
from app.views.speaker_badge import badge_size, paint_badge
from engine.core.events import Notice, SessionState, Severity
from engine.core.types import MAX_SPEAKERS, SpeakerId
from tests.helpers import access_audit
from tests.helpers.captions import close_captions, make_captions, talk
from tests.helpers.scripted_session import BACKENDS
from tests.helpers.window import WindowParts, close_window, conversation, make_window

pytestmark = pytest.mark.gui


@pytest.fixture(params=[1.0, 2.0], ids=["usual", "200 %"])
def text_size(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[float]:
    """How large all text is, as a share of the usual size."""
    usual = qapp.font()
    font = QFont(usual)
    font.setPointSizeF(usual.pointSizeF() * request.param)
    qapp.setFont(font)
    yield request.param
    qapp.setFont(usual)


@pytest.fixture
def full(text_size: float, qtbot: QtBot, tmp_path: Path) -> Iterator[WindowParts]:
    """A window with everything in it that can be shown at once."""
    assert text_size
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


def check(window: QWidget) -> None:
    """Fail where somebody would be kept out."""
    assert access_audit.unnamed_controls(window) == []
    assert access_audit.small_targets(window) == []
    assert access_audit.cut_texts(window) == []
    assert access_audit.unnamed_stops(window) == []


def test_everything_has_a_name_and_room(full: WindowParts) -> None:
    window = full.window
    check(window)
    screen = (1920, 1080)
    least = window.minimumSizeHint()
    assert least.width() <= screen[0]
    assert least.height() <= screen[1]


def test_captions_have_names_and_room(text_size: float, qtbot: QtBot, tmp_path: Path) -> None:
    assert text_size
    parts = make_captions(tmp_path)
    parts.state.take(talk())
    parts.window.resize(1280, 800)
    parts.window.show()
    qtbot.wait(50)
    check(parts.window)
    assert access_audit.clashing_shortcuts(parts.window) == []
    close_captions(parts, qtbot)


def test_what_is_kept_is_asked_with_names_and_room(text_size: float, qtbot: QtBot) -> None:
    assert text_size
    Appearance("light")
    dialog = KeepDialog("recordings")
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.wait(50)
    check(dialog)


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
    grey = [_badge(SpeakerId(0, slot)) for slot in range(MAX_SPEAKERS)]
    for one, other in combinations(grey, 2):
        # Letters apart from how bright the whole badge is.
        assert (_marked(one[:, :-6]) != _marked(other[:, :-6])).sum() >= 8
    # Solid, hatched, lined: beside the letter, the stripe at the right tells most of them apart.
    assert len({_marked(image[:, -5:]).tobytes() for image in grey}) >= 6


def _marked(part: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which pixels are on the bright side of a part, corners left out."""
    inner = part[6:-6]
    return inner > (inner.min() + inner.max()) / 2


def _badge(speaker: SpeakerId) -> NDArray[np.float64]:
    rect = badge_size(20)
    image = QImage(rect.size().toSize(), QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    paint_badge(painter, QRectF(rect), speaker, load_themes()["light"], QFont())
    painter.end()
    return _luminance(image)


def _luminance(image: QImage) -> NDArray[np.float64]:
    """Return (height, width) float64, relative luminance as WCAG has it."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), -1)
    colors = rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3) / 255
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])

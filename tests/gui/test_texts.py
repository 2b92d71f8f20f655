"""Texts as long as German ones, in letters twice as large: nothing is cut off."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtCore import QEvent, QPoint, QSize, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabBar,
    QToolTip,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.i18n import short_date
from app.recording_texts import describe
from app.views.elided_choice import ElidedChoice
from app.views.elided_label import ElidedLabel
from app.views.folding_row import FoldingRow
from app.views.keep_dialog import KeepDialog
from app.views.sessions_panel import SessionsPanel
from app.views.toolbar import DeviceChooser
from engine.core.events import (
    Notice,
    SessionState,
    Severity,
    UtteranceChanged,
    UtteranceState,
)
from engine.core.types import SpeechPlace
from engine.text.document import TranscriptDocument
from tests.helpers.pseudo_locale import pseudo_locale
from tests.helpers.scripted_session import BACKENDS
from tests.helpers.window import WindowParts, close_window, conversation, make_window

pytestmark = pytest.mark.gui
SIZES = (QSize(1240, 800), QSize(1024, 700))


@pytest.fixture
def large_letters(qapp: QApplication) -> Iterator[None]:
    """Letters of 200 %."""
    usual = qapp.font()
    large = qapp.font()
    large.setPointSizeF(2 * usual.pointSizeF())
    qapp.setFont(large)
    yield
    qapp.setFont(usual)


@pytest.fixture(params=SIZES, ids=lambda size: f"{size.width()}x{size.height()}")
def large_window(
    request: pytest.FixtureRequest, large_letters: None, qtbot: QtBot, tmp_path: Path
) -> Iterator[WindowParts]:
    """A window with long texts in large letters, all models ready, nothing recorded."""
    del large_letters
    with pseudo_locale():
        parts = make_window(tmp_path)
        parts.window.resize(request.param)
        parts.window.show()
        parts.controller.attach(parts.session.as_session())
        parts.session.post(*BACKENDS)
        qtbot.waitUntil(parts.window.toolbar.record_button.isEnabled)
        qtbot.waitUntil(lambda: len(parts.state.backends) == len(BACKENDS))
        yield parts
        close_window(parts, qtbot)


def _cut(root: QWidget) -> list[str]:
    """Return the texts in a widget of which something cannot be read."""
    kinds = (QAbstractButton, QLabel, QTabBar, QComboBox)
    widgets = [w for kind in kinds for w in root.findChildren(kind) if w.isVisible()]
    return [
        f"{type(w).__name__} {_text(w)!r}: {w.size().toTuple()}"
        for w in widgets
        if _text(w) and not (_has_room(w) and _is_in_view(w))
    ]


def _text(widget: QWidget) -> str:
    match widget:
        case QLabel() | QAbstractButton():
            return widget.text()
        case QComboBox():
            return widget.currentText()
        case QTabBar():
            return " ".join(widget.tabText(i) for i in range(widget.count()))
        case _:
            return ""


def _has_room(widget: QWidget) -> bool:
    needed, given = widget.sizeHint(), widget.size()
    match widget:
        case ElidedLabel() if widget.is_cut:
            return widget.text() in widget.whole_tip()
        case ElidedChoice() if widget.is_cut:
            return widget.currentText() in widget.toolTip()
        case QLabel() if widget.wordWrap():
            least = widget.minimumSizeHint().width()
            return given.width() >= least and given.height() >= widget.heightForWidth(given.width())
        case ElidedChoice():
            return given.height() >= needed.height()
        case _:
            return given.width() >= needed.width() and given.height() >= needed.height()


def _is_in_view(widget: QWidget) -> bool:
    """Return whether all of a widget can be seen, be it after scrolling."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(widget, 0, 0)
        parent = parent.parentWidget()
    return bool(widget.visibleRegion().boundingRect() == widget.rect())


def _wait_until_whole(qtbot: QtBot, root: QWidget) -> None:
    def is_whole() -> None:
        assert _cut(root) == []

    qtbot.waitUntil(is_whole)


def _record(parts: WindowParts, qtbot: QtBot) -> None:
    parts.session.enter(SessionState.STARTING)
    parts.session.post(*conversation())
    parts.session.enter(SessionState.RECORDING)
    qtbot.waitUntil(lambda: len(parts.state.document.lines) > 0)
    qtbot.waitUntil(lambda: parts.state.session_state is SessionState.RECORDING)


def test_welcome_page_with_long_texts_in_large_letters_is_whole(
    large_window: WindowParts, qtbot: QtBot
) -> None:
    window, size = large_window.window, large_window.window.size()
    window.welcome.missing.show_missing(["Whisper tiny.en", "Voice clusters"], "120 MB")
    assert window.welcome.no_input.isVisible()
    _wait_until_whole(qtbot, window)
    assert window.size() == size, "the texts must not push the window wider"


def test_window_while_recording_with_long_texts_in_large_letters_is_whole(
    large_window: WindowParts, qtbot: QtBot
) -> None:
    parts, window, size = large_window, large_window.window, large_window.window.size()
    _record(parts, qtbot)
    window.speak_panel.text.setPlainText("Hello there.")
    parts.session.post(UtteranceChanged(1, UtteranceState.SPEAKING, text_end=5))
    window.speak_panel.position.set_place(SpeechPlace(1, 2.0, 0.0, 9.0, is_complete=True))
    _wait_until_whole(qtbot, window)
    bar = window.menuBar()
    ends = [bar.actionGeometry(action).right() for action in bar.actions()]
    assert max(ends) < bar.width()
    assert window.size() == size


@pytest.mark.parametrize(
    "state", [SessionState.PAUSED, SessionState.STOPPING], ids=lambda state: state.value
)
def test_window_in_other_states_with_long_texts_in_large_letters_is_whole(
    large_window: WindowParts, qtbot: QtBot, state: SessionState
) -> None:
    parts, window = large_window, large_window.window
    _record(parts, qtbot)
    parts.session.enter(state, "finishing the text, 3.0 s left")
    qtbot.waitUntil(lambda: parts.state.session_state is state)
    _wait_until_whole(qtbot, window)


def test_bars_over_and_under_the_words_with_long_texts_in_large_letters_are_whole(
    large_window: WindowParts, qtbot: QtBot
) -> None:
    parts, window = large_window, large_window.window
    _record(parts, qtbot)
    stored = TranscriptDocument()
    for event in conversation():
        stored.apply(event)
    parts.state.show_stored(stored, "Interview with Zoë about the garden", "x")
    for number in range(2):
        parts.state.add_notice(Notice(Severity.ERROR, f"Failure {number}.", "Do something."))
    window.search_bar.begin()
    window.search_bar.field.setText("the")
    assert window.reading.banner.isVisible()
    assert window.notice_bar.isVisible()
    _wait_until_whole(qtbot, window)


def test_question_what_to_keep_with_long_texts_in_large_letters_is_whole(
    large_window: WindowParts, qtbot: QtBot
) -> None:
    large_window.window.dialogs.ask_what_to_keep()
    dialog = large_window.window.findChild(KeepDialog)
    assert dialog is not None
    _wait_until_whole(qtbot, dialog)
    room = dialog.screen().availableSize()
    assert dialog.width() <= room.width()
    assert dialog.height() <= room.height()
    dialog.reject()


class _Info(NamedTuple):
    id: str
    title: str
    started_at: str
    duration_s: float = 61.0
    num_words: int = 1
    is_closed: bool = True
    is_active: bool = False
    is_recovered: bool = False


def _titles(panel: SessionsPanel) -> list[str]:
    items = [panel.list.item(row) for row in range(panel.list.count())]
    return [item.text().partition("\n")[0] for item in items]


def test_filter_finds_recordings_by_title_and_by_date_as_it_is_shown(qtbot: QtBot) -> None:
    panel = SessionsPanel()
    qtbot.addWidget(panel)
    panel.set_sessions(
        [
            _Info("2026-03-02_08-00-00", "Stand-up", "2026-03-02T08:00:00+00:00"),
            _Info("2026-03-02_09-30-00", "", "2026-03-02T09:30:00+00:00", is_closed=False),
            _Info("2025-11-30_10-00-00", "Interview", "2025-11-30T10:00:00+00:00", num_words=2),
        ]
    )
    untitled = short_date(datetime.fromisoformat("2026-03-02T09:30:00+00:00"))
    assert _titles(panel) == ["Stand-up", untitled, "Interview"]
    march = untitled.partition(",")[0]
    for wanted, found in (
        ("STAND", ["Stand-up"]),
        (march, ["Stand-up", untitled]),
        (f"{march} stand", ["Stand-up"]),
        ("08:00", ["Stand-up"]),
        ("2025-11", ["Interview"]),
        ("broke", [untitled]),
        ("2 words", ["Interview"]),
        (" ", ["Stand-up", untitled, "Interview"]),
        ("nothing of all this", ["None matches."]),
    ):
        panel.filter.setText(wanted)
        panel.end_search()
        qtbot.waitUntil(lambda found=found: _titles(panel) == found)
    assert panel.list.item(0).flags() == Qt.ItemFlag.NoItemFlags


def test_recording_in_the_list_tells_its_count_in_words(qtbot: QtBot) -> None:
    assert describe(_Info("x", "", "no date")) == ("x", "1\xa0min\xa001\xa0s · 1 word")
    assert describe(_Info("x", "A", "no date", 3.0, 0)) == ("A", "x · 3\xa0s · 0 words")


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_label_with_little_room_ends_in_dots_and_tells_the_whole(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText("from a microphone with a long name")
    label.setToolTip("where the sound comes from")
    label.resize(60, 20)
    label.show()
    assert label.is_cut
    assert label.whole_tip().splitlines() == [
        "from a microphone with a long name",
        "where the sound comes from",
    ]
    point = QPoint(3, 3)
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, point, label.mapToGlobal(point)))
    assert QToolTip.text() == label.whole_tip()
    QToolTip.hideText()
    label.resize(label.sizeHint())
    assert not label.is_cut
    assert label.whole_tip() == "where the sound comes from"


def test_device_with_a_long_name_ends_in_dots_and_tells_the_whole(qtbot: QtBot) -> None:
    name = "Built-in Audio Analog Stereo of the second card"
    chooser = DeviceChooser("Microphone", name)
    qtbot.addWidget(chooser)
    chooser.set_names([(name, name)])
    chooser.resize(100, chooser.sizeHint().height())
    chooser.show()
    assert chooser.is_cut
    assert chooser.toolTip() == f"Microphone: {name}"
    chooser.resize(chooser.sizeHint().width() + 400, chooser.height())
    assert not chooser.is_cut


def test_row_folds_where_its_parts_do_not_fit_and_unfolds_again(qtbot: QtBot) -> None:
    first, second = QPushButton("first"), QPushButton("second")
    window = QWidget()
    qtbot.addWidget(window)
    row = FoldingRow(first, second)
    row.setParent(window)
    window.show()
    wide = row.unfolded_width()
    row.resize(wide, 100)
    assert not row.is_folded
    row.resize(wide - 1, 100)
    assert row.is_folded
    qtbot.waitUntil(lambda: second.y() > first.y())
    assert row.minimumSizeHint().width() < wide
    assert row.minimumSizeHint().height() > 2 * first.sizeHint().height()
    second.hide()
    qtbot.waitUntil(lambda: not row.is_folded)
    second.show()
    qtbot.waitUntil(lambda: row.is_folded)
    row.resize(wide, 100)
    assert not row.is_folded
    first.setText("a longer text than before")
    qtbot.waitUntil(lambda: row.is_folded)

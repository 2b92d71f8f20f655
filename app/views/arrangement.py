"""Where the parts of the window stand."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QSplitter, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from app.views.main_window import MainWindow

_WIDTHS = (216, 764, 260)


def arrange(window: "MainWindow") -> QWidget:
    """Return everything below the menu bar: the controls on top, the words in the middle."""
    middle = QSplitter(Qt.Orientation.Horizontal)
    middle.setHandleWidth(1)
    middle.setChildrenCollapsible(False)
    reading = _column(window.search_bar, window.stack, stretched=window.stack)
    for part in (window.sessions_panel, reading, window.speak_panel):
        middle.addWidget(part)
        middle.setStretchFactor(middle.count() - 1, int(part is reading))
    middle.setSizes(_WIDTHS)
    return _column(
        window.toolbar,
        window.alarm_line,
        window.banner,
        middle,
        _rule(),
        window.timeline,
        window.delays_panel,
        window.notice_bar,
        window.health_strip,
        stretched=middle,
    )


def _column(*parts: QWidget, stretched: QWidget) -> QWidget:
    column = QWidget()
    layout = QVBoxLayout(column)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    for part in parts:
        layout.addWidget(part, int(part is stretched))
    return column


def _rule() -> QFrame:
    rule = QFrame()
    rule.setFixedHeight(1)
    rule.setObjectName("rule")
    return rule

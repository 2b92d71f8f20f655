"""Where the parts of the window stand."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from app.views.main_window import MainWindow


def arrange(window: "MainWindow") -> QWidget:
    """Return everything below the menu bar: the controls on top, the words in the middle."""
    return _column(
        window.toolbar,
        window.panels,
        _rule(),
        window.timeline,
        window.delays_panel,
        window.notice_bar,
        window.health_strip,
        stretched=window.panels,
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

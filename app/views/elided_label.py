"""A line of text that gives way where there is little room, and says that it did."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QToolTip, QWidget

_MIN_CHARACTERS = 4


class ElidedLabel(QLabel):
    """A label whose text ends in "…" where it does not fit; the pointer is told the whole."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    @property
    def is_cut(self) -> bool:
        """Whether part of the text is not shown."""
        return self._shown() != self.text()

    def whole_tip(self) -> str:
        """Return what a resting pointer is told: the whole text if it is cut, and the tooltip."""
        parts = [self.text()] if self.is_cut else []
        if self.toolTip() and self.toolTip() not in parts:
            parts.append(self.toolTip())
        return "\n".join(parts)

    def minimumSizeHint(self) -> QSize:
        least = self.fontMetrics().averageCharWidth() * _MIN_CHARACTERS if self.text() else 0
        whole = super().minimumSizeHint()
        return QSize(min(least, whole.width()), whole.height())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.whole_tip(), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        option = QStyleOption()
        option.initFrom(self)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(self.alignment()),
            self.palette(),
            self.isEnabled(),
            self._shown(),
            self.foregroundRole(),
        )
        painter.end()

    def _shown(self) -> str:
        room = self.contentsRect().width()
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)

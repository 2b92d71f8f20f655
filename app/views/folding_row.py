"""Parts side by side while there is room, else one under the other."""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

_SPACING = 8


class FoldingRow(QWidget):
    """A row that folds into a column where its parts do not fit side by side.

    Larger type and longer languages then cost height instead of pushing the window wider.

    Args:
        parts: from left to right, or from top to bottom.
        stretched: these share the room that is left over; if none, it stays free at the end.
        spacing: pixels between parts.
    """

    def __init__(
        self, *parts: QWidget, stretched: tuple[QWidget, ...] = (), spacing: int = _SPACING
    ) -> None:
        super().__init__()
        self._parts = parts
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(spacing)
        for part in parts:
            self._row.addWidget(part, int(part in stretched))
        if not stretched:
            self._row.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    @property
    def is_folded(self) -> bool:
        """Whether the parts stand one under the other."""
        return self._row.direction() is QBoxLayout.Direction.TopToBottom

    def unfolded_width(self) -> int:
        """Return the least width at which the parts, and rows within them, need not fold."""
        return self._gaps() + sum(_unfolded_width(part) for part in self._shown())

    def minimumSizeHint(self) -> QSize:
        widths = [part.minimumSizeHint().width() for part in self._shown()]
        return QSize(max(widths, default=0), self._row.minimumSize().height())

    def sizeHint(self) -> QSize:
        widths = [part.sizeHint().width() for part in self._shown()]
        return QSize(self._gaps() + sum(widths), self._row.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def event(self, event: QEvent) -> bool:
        # A part has another text, or is not shown any more.
        if event.type() == QEvent.Type.LayoutRequest:
            self._fold()
        return super().event(event)

    def _shown(self) -> list[QWidget]:
        return [part for part in self._parts if not part.isHidden()]

    def _gaps(self) -> int:
        return self._row.spacing() * max(0, len(self._shown()) - 1)

    def _fold(self) -> None:
        is_tight = self.unfolded_width() > self.width()
        for part in self._shown():
            if isinstance(part, FoldingRow):
                # What is cut gives way before what would fold.
                part.setMinimumWidth(0 if is_tight else part.unfolded_width())
        if is_tight != self.is_folded:
            directions = QBoxLayout.Direction
            self._row.setDirection(directions.TopToBottom if is_tight else directions.LeftToRight)
            self.updateGeometry()


def _unfolded_width(part: QWidget) -> int:
    if isinstance(part, FoldingRow):
        return part.unfolded_width()
    return part.minimumSizeHint().width()

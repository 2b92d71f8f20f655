"""The middle of the window: what is read, and a panel at either side while there is room."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

_LEFT_PX, _RIGHT_PX = 216, 260


class SidePanels(QSplitter):
    """Panels that give way where words would be broken, and come back with the room.

    They become narrower first. What the user has closed stays closed. What the user opens where
    there is no room takes it from the other panel first, then from the words.

    Signals:
        changed: a panel came or went.

    Args:
        left: the panel that gives way first.
        reading: gets the room that is left.
        right: the other panel.
        readable_width: what `reading` is to have, pixels.
    """

    changed = Signal()

    def __init__(
        self, left: QWidget, reading: QWidget, right: QWidget, readable_width: Callable[[], int]
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._panels = (left, right)
        self._reading = reading
        self._readable_width = readable_width
        self._wanted = [left, right]
        self._shown = [left, right]
        self._insisted: QWidget | None = None
        self._least_height = 0
        self._widths = {left: _LEFT_PX, right: _RIGHT_PX}
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        for part in (left, reading, right):
            self.addWidget(part)
            self.setStretchFactor(self.count() - 1, int(part is reading))
        self.splitterMoved.connect(self._note_widths)

    def is_shown(self, panel: QWidget) -> bool:
        """Whether a panel is there."""
        return panel in self._shown

    def show_panel(self, panel: QWidget, is_on: bool) -> None:
        """Show or hide a panel because the user says so."""
        self._wanted = [p for p in self._panels if (is_on if p is panel else p in self._wanted)]
        if is_on:
            self._insisted = panel
        elif self._insisted is panel:
            self._insisted = None
        self.settle()

    @Slot()
    def settle(self) -> None:
        """Show the panels that are wanted and have room."""
        shown = list(self._wanted)
        if self._needed(shown) <= self.width():
            self._insisted = None
        for panel in self._panels:
            if self._needed(shown) > self.width() and panel is not self._insisted:
                shown = [other for other in shown if other is not panel]
        if shown == self._shown:
            return
        self._shown = shown
        for panel in self._panels:
            panel.setVisible(panel in shown)
        self.updateGeometry()
        self._share()
        self.changed.emit()

    def minimumSizeHint(self) -> QSize:
        # Panels that can give way do not hold the window wide.
        least = self._reading.minimumSizeHint().width()
        if self._insisted is not None:
            least += self._insisted.minimumSizeHint().width() + self.handleWidth()
        return QSize(least, max(super().minimumSizeHint().height(), self._least_height))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.settle()
        super().resizeEvent(event)
        self._share()

    def event(self, event: QEvent) -> bool:
        # A part needs more room than before, or less.
        if event.type() == QEvent.Type.LayoutRequest:
            self.settle()
            self._share()
        return super().event(event)

    @Slot()
    def _note_widths(self) -> None:
        self._widths |= {panel: panel.width() for panel in self._shown}

    def _share(self) -> None:
        """Give the panels their widths, or less where the words need it."""
        widths = {p: max(p.minimumSizeHint().width(), self._widths[p]) for p in self._shown}
        for panel in reversed(self._shown):
            free = self.width() - len(widths) * self.handleWidth() - sum(widths.values())
            lack = max(0, self._least_reading() - free)
            widths[panel] = max(panel.minimumSizeHint().width(), widths[panel] - lack)
        rest = self.width() - len(widths) * self.handleWidth() - sum(widths.values())
        left, right = self._panels
        sizes = [widths.get(left, 0), max(0, rest), widths.get(right, 0)]
        if sizes != self.sizes():
            self.setSizes(sizes)
        # Lines that wrap need more height where they are narrow; a splitter does not ask for it.
        layout = self._reading.layout()
        height = layout.minimumHeightForWidth(max(0, rest)) if layout is not None else 0
        if height != self._least_height:
            self._least_height = height
            self.updateGeometry()

    def _least_reading(self) -> int:
        return max(self._readable_width(), self._reading.minimumSizeHint().width())

    def _needed(self, panels: list[QWidget]) -> int:
        widths = [panel.minimumSizeHint().width() + self.handleWidth() for panel in panels]
        return self._least_reading() + sum(widths)

"""How far behind everything is, over the last two minutes, as plots and as figures."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.jobs import Jobs
from app.theme import Appearance, tabular
from app.views.delay_history import GROUPS, PLOT_HEIGHT, Group, History, rows_of

if TYPE_CHECKING:
    from app.views.delay_plots import DelayPlot
    from engine.session.health import Health

_STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
_COLORS = ("text", "focus", "warning")
_SAMPLE = QSize(26, 10)
_LINE_PX = 2


class DelaysPanel(QFrame):
    """The plots above the health strip. Thread: main.

    pyqtgraph takes long to import: that happens on a worker thread when the panel is first shown.

    Signals:
        report_asked: put a report of all this on the clipboard.

    Args:
        appearance: colours.
        jobs: worker threads.
    """

    report_asked = Signal()

    def __init__(self, appearance: Appearance, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("delaysPanel")
        self.setAccessibleName("Delays")
        self._appearance = appearance
        self._jobs = jobs
        self._history = History()
        self._rows = rows_of()
        self._is_asked = False
        self.plots: tuple[DelayPlot, ...] = ()
        self.values = [QLabel() for group in GROUPS for _ in group.series]
        self._samples = [QLabel() for _ in self.values]
        self._places = [QVBoxLayout() for _ in GROUPS]
        self.report_button = QPushButton("Copy report")
        self.message = QLabel()
        self._build()
        self._paint()
        self._show_values()
        appearance.changed.connect(self._paint)
        self.report_button.clicked.connect(self.report_asked)

    def add(self, health: "Health", now_s: float) -> None:
        """Take a snapshot in; drawn only while the panel is seen."""
        self._history.add(health, now_s)
        if self.isVisible():
            self._draw()

    def show_message(self, text: str) -> None:
        """Say something beside the button."""
        self.message.setText(text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.message.clear()
        if self._is_asked:
            self._draw()
            return
        self._is_asked = True
        self._jobs.run(_load_plots, self._make_plots)

    def _draw(self) -> None:
        self._show_values()
        for plot in self.plots:
            plot.show(self._history)

    def _show_values(self) -> None:
        for group, rows in zip(GROUPS, self._rows, strict=True):
            for row, series in zip(range(rows.start, rows.stop), group.series, strict=True):
                value = group.text(self._history.newest(row))
                label = self.values[row]
                if not label.text().endswith(f"  {value}"):
                    label.setText(f"{series.label}  {value}")
                    label.setAccessibleDescription(value)

    def _make_plots(self, make: "Callable[[Group, slice, QFont], DelayPlot]") -> None:
        font = tabular(_small(self.font()))
        self.plots = tuple(
            make(group, rows, font) for group, rows in zip(GROUPS, self._rows, strict=True)
        )
        for place, plot in zip(self._places, self.plots, strict=True):
            hint = place.takeAt(0)
            if hint is not None and (widget := hint.widget()) is not None:
                widget.deleteLater()
            place.addWidget(plot.widget)
        self._paint()
        self._draw()

    @Slot()
    def _paint(self) -> None:
        theme = self._appearance.theme
        for rows in self._rows:
            for index, row in enumerate(range(rows.start, rows.stop)):
                pen = _pen(theme.color(_COLORS[index]), index)
                self._samples[row].setPixmap(_sample(pen, self.devicePixelRatioF()))
        for plot in self.plots:
            pens = [
                _pen(theme.color(_COLORS[index]), index) for index in range(len(plot.group.series))
            ]
            plot.paint(theme, pens)

    def _build(self) -> None:
        heading = QLabel("Delays, last two minutes")
        heading.setProperty("role", "heading")
        self.message.setProperty("role", "muted")
        self.report_button.setToolTip(
            "Copy a report of models, devices and delays as text; no spoken word is in it"
        )
        top = QHBoxLayout()
        top.addWidget(heading)
        top.addStretch(1)
        top.addWidget(self.message)
        top.addWidget(self.report_button)
        groups = QHBoxLayout()
        groups.setSpacing(16)
        for group, rows, place in zip(GROUPS, self._rows, self._places, strict=True):
            groups.addLayout(self._group(group, rows, place), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 6)
        column.setSpacing(4)
        column.addLayout(top)
        column.addLayout(groups)

    def _group(self, group: Group, rows: slice, place: QVBoxLayout) -> QVBoxLayout:
        font = tabular(_small(self.font()))
        title = QLabel(f"{group.title}, {group.unit}")
        title.setProperty("role", "muted")
        hint = QLabel("…")
        hint.setProperty("role", "muted")
        hint.setFixedHeight(PLOT_HEIGHT)
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        place.addWidget(hint)
        legend = QGridLayout()
        legend.setSpacing(2)
        legend.setHorizontalSpacing(6)
        legend.setColumnStretch(1, 1)
        lines = zip(range(rows.start, rows.stop), group.series, strict=True)
        for line, (row, series) in enumerate(lines):
            label = self.values[row]
            label.setAccessibleName(f"{group.title}, {series.label}")
            label.setFont(font)
            legend.addWidget(self._samples[row], line, 0)
            legend.addWidget(label, line, 1)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(title)
        column.addLayout(place)
        column.addLayout(legend)
        column.addStretch(1)
        return column


def _load_plots() -> "Callable[[Group, slice, QFont], DelayPlot]":
    from app.views.delay_plots import DelayPlot

    return DelayPlot


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * 0.85)
    return small


def _pen(color: QColor, index: int) -> QPen:
    pen = QPen(color, _LINE_PX, _STYLES[index])
    pen.setCosmetic(True)
    return pen


def _sample(pen: QPen, ratio: float) -> QPixmap:
    """Return a short piece of a line, as a key to the plot."""
    pixmap = QPixmap(_SAMPLE * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setPen(pen)
    middle = _SAMPLE.height() // 2
    painter.drawLine(0, middle, _SAMPLE.width(), middle)
    painter.end()
    return pixmap

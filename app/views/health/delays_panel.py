"""How far behind everything is and what it costs: plots, and figures with their units."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.fonts import SMALL, scaled, tabular
from app.i18n import tr
from app.theme import Appearance
from app.views.health.delay_history import Group, History, groups, rows_of

if TYPE_CHECKING:
    from app.views.health.delay_plots import DelayPlot
    from engine.session.health import Health

_STYLES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)
_COLORS = ("text", "focus", "warning", "muted")
_SAMPLE = QSize(26, 10)
_LINE_PX = 2


class DelaysPanel(QFrame):
    """Delays, backlogs, cost, memory and losses, above the health strip. Thread: main.

    Signals:
        report_asked: put a report of all this on the clipboard.

    Args:
        appearance: colours.
    """

    report_asked = Signal()

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("delaysPanel")
        self.setAccessibleName(tr("Delays"))
        self._appearance = appearance
        self.groups = groups()
        self._rows = rows_of(self.groups)
        self._series = [series for group in self.groups for series in group.series]
        self._history = History(self.groups)
        self.plots: tuple[DelayPlot, ...] = ()
        self.values = [QLabel() for _ in self._series]
        self._samples = [QLabel() for _ in self._series]
        self._places = [QVBoxLayout() for _ in self.groups]
        self.report_button = QPushButton(tr("Copy report"))
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
        if not self.plots:
            self._make_plots()
        self._draw()

    def _draw(self) -> None:
        self._show_values()
        for plot in self.plots:
            plot.show(self._history)

    def _show_values(self) -> None:
        for group, rows in zip(self.groups, self._rows, strict=True):
            for row in range(rows.start, rows.stop):
                self._show_value(group, row, self._history.newest(row))

    def _show_value(self, group: Group, row: int, value: float | None) -> None:
        series, label = self._series[row], self.values[row]
        if series.is_optional:
            label.setVisible(value is not None)
            self._samples[row].setVisible(value is not None)
        text = group.text(value)
        if text != label.accessibleDescription():
            label.setText(f"{series.label}  {text}")
            label.setAccessibleDescription(text)

    def _make_plots(self) -> None:
        # Late, as it costs about 0.3 s once; here and not on a worker thread, as importing
        # pyqtgraph makes PySide's types, which is not safe beside a running event loop.
        from app.views.health.delay_plots import DelayPlot

        font = tabular(scaled(self.font(), SMALL))
        plots = []
        for group, rows, place in zip(self.groups, self._rows, self._places, strict=True):
            if group.is_plotted:
                plots.append(DelayPlot(group, rows, font))
                place.addWidget(plots[-1].widget)
        self.plots = tuple(plots)
        self._paint()

    @Slot()
    def _paint(self) -> None:
        theme = self._appearance.theme
        for group, rows in zip(self.groups, self._rows, strict=True):
            for index, row in enumerate(range(rows.start, rows.stop)):
                pen = _pen(theme.color(_COLORS[index]), index)
                if group.is_plotted:
                    self._samples[row].setPixmap(_sample(pen, self.devicePixelRatioF()))
        for plot in self.plots:
            pens = [
                _pen(theme.color(_COLORS[index]), index) for index in range(len(plot.group.series))
            ]
            plot.paint(theme, pens)

    def _build(self) -> None:
        heading = QLabel(tr("Delays, last two minutes"))
        heading.setProperty("role", "heading")
        self.message.setProperty("role", "muted")
        self.report_button.setToolTip(
            tr("Copy a report of models, devices and delays as text; no spoken word is in it")
        )
        top = QHBoxLayout()
        top.addWidget(heading)
        top.addStretch(1)
        top.addWidget(self.message)
        top.addWidget(self.report_button)
        columns = QHBoxLayout()
        columns.setSpacing(16)
        for group, rows, place in zip(self.groups, self._rows, self._places, strict=True):
            columns.addLayout(self._group(group, rows, place), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 6)
        column.setSpacing(4)
        column.addLayout(top)
        column.addLayout(columns)

    def _group(self, group: Group, rows: slice, place: QVBoxLayout) -> QVBoxLayout:
        font = tabular(scaled(self.font(), SMALL))
        title = QLabel(_title(group))
        title.setProperty("role", "muted")
        legend = QGridLayout()
        legend.setSpacing(2)
        legend.setHorizontalSpacing(6)
        legend.setColumnStretch(1, 1)
        for line, row in enumerate(range(rows.start, rows.stop)):
            label = self.values[row]
            label.setAccessibleName(f"{group.title}, {self._series[row].label}")
            label.setFont(font)
            if group.is_plotted:
                legend.addWidget(self._samples[row], line, 0)
            legend.addWidget(label, line, 1)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(title)
        column.addLayout(place)
        column.addLayout(legend)
        column.addStretch(1)
        return column


def _title(group: Group) -> str:
    if group.is_whole:
        return tr("{what}, {unit}, from the start", what=group.title, unit=group.unit)
    if group.unit:
        return tr("{what}, {unit}", what=group.title, unit=group.unit)
    return group.title


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

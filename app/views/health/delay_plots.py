"""Draws the delays with pyqtgraph; imported only once they are to be seen."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QPen
from PySide6.QtWidgets import QFrame, QWidget

from app.i18n import tr
from app.theme import Theme
from app.views.health.delay_history import SPAN_S, Group, History, scale_top

_WIDEST = "50000"
_TICK_PX = 8
_LEAST_PX = 64
_LINES_HIGH = 4


@dataclass(slots=True)
class DelayPlot:
    """One plot, which takes its figures from some rows of the history. Thread: main.

    Args:
        group: what it shows.
        rows: where in the history.
        font: of the scale.
    """

    group: Group
    rows: slice
    font: QFont
    _plot: Any = field(init=False)
    _curves: list[Any] = field(init=False)
    _top: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        metrics = QFontMetrics(self.font)
        self._plot = plot = pg.PlotWidget(antialias=False)
        plot.setFrameShape(QFrame.Shape.NoFrame)
        for part in (plot, plot.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        plot.setMinimumWidth(96)
        plot.setFixedHeight(max(_LEAST_PX, _LINES_HIGH * metrics.height()))
        plot.setMouseEnabled(False, False)
        plot.setMenuEnabled(False)
        plot.hideButtons()
        plot.hideAxis("bottom")
        axis = plot.getAxis("left")
        axis.setWidth(metrics.horizontalAdvance(_WIDEST) + _TICK_PX)
        axis.setTickFont(self.font)
        # The unit is in the title; a factor taken out of the numbers would contradict it.
        axis.enableAutoSIPrefix(False)
        plot.getPlotItem().getViewBox().disableAutoRange()
        plot.setXRange(-SPAN_S, 0, padding=0)
        self._curves = [plot.plot() for _ in self.group.series]
        plot.setAccessibleName(_name(self.group))
        self._scale(self.group.least_top)

    @property
    def widget(self) -> QWidget:
        """What is put into the window."""
        widget: QWidget = self._plot
        return widget

    @property
    def pens(self) -> list[QPen]:
        """What the lines are drawn with."""
        return [curve.opts["pen"] for curve in self._curves]

    def paint(self, theme: Theme, pens: list[QPen]) -> None:
        """Use these colours, one pen a line."""
        self._plot.setBackground(theme.ground)
        axis = self._plot.getAxis("left")
        axis.setPen(theme.line)
        axis.setTextPen(theme.muted)
        for curve, pen in zip(self._curves, pens, strict=True):
            curve.setPen(pen)

    def show(self, history: History) -> None:
        """Draw what the history holds."""
        if self.group.is_whole:
            ages_s, values = history.trend.ages_s(), history.trend.values(self.rows)
            self._plot.setXRange(float(np.min(ages_s, initial=-SPAN_S)), 0, padding=0)
            peak = float(np.max(values, initial=0.0, where=np.isfinite(values)))
        else:
            ages_s, values = history.ages_s, history.values[self.rows]
            peak = history.peak(self.rows)
        for curve, line in zip(self._curves, values, strict=True):
            curve.setData(ages_s, line, connect="finite")
        top = scale_top(peak, self.group.least_top)
        if top != self._top:
            self._scale(top)

    def _scale(self, top: float) -> None:
        self._top = top
        # Room for half a number above and below, or the scale's ends would be cut.
        self._plot.setYRange(-0.12 * top, 1.12 * top, padding=0)
        ticks = [(value, f"{value:g}") for value in (0.0, top / 2, top)]
        self._plot.getAxis("left").setTicks([ticks])


def _name(group: Group) -> str:
    if group.is_whole:
        return tr("Plot from the beginning on: {what}", what=group.title)
    return tr("Plot of the last two minutes: {what}", what=group.title)

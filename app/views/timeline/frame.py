"""The timeline's frame: which part stands where, and what it is made from."""

import math

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QFont, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QWidget

from app.fonts import SMALL, scaled, tabular
from app.i18n import tr
from app.views.context import ViewContext
from app.views.timeline.controls import TimelineControls
from app.views.timeline.data import TimelineData
from app.views.timeline.header import name_rect
from app.views.timeline.model import TimelineModel
from app.views.timeline.scene import TimelineScene
from app.views.timeline.sizes import RIGHT, TimelineLayout, TimelineSizes
from engine.text.attribution import ACTIVE

_MOST_SHARE = 0.4
"""Share of the window's height from which on rows are packed, then scrolled."""


class TimelineFrame(QWidget):
    """Gives rows, level strip and controls their places; as high as its rows, within reason.

    Args:
        context: the shown document and its marks.
    """

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._state = context.state
        self._appearance = context.appearance
        self._data = TimelineData(context.state.document, ACTIVE)
        self._small_font = QFont()
        self._window: QWidget | None = None
        self.model = TimelineModel()
        self.controls = TimelineControls(self)
        self.rows_bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.rows_bar.setAccessibleName(tr("Rows of the timeline"))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._take_font()

    @property
    def threshold(self) -> float:
        """A speaker is active where the probability is at least this."""
        return self._data.activity.threshold

    @property
    def can_follow(self) -> bool:
        """Whether a recording runs whose newest moment may be followed."""
        return self._state.is_live_shown and not self._state.document.is_complete

    @property
    def sizes(self) -> TimelineSizes:
        """Sizes for the font in force."""
        return TimelineSizes(self.fontMetrics().height())

    @property
    def layout_now(self) -> TimelineLayout:
        """Where the parts stand now."""
        return TimelineLayout(
            self.sizes,
            self.width(),
            self.height(),
            len(self._data.rows),
            self._data.spans.has_own_voice,
            self.rows_bar.value(),
        )

    @property
    def scene(self) -> TimelineScene:
        """Everything the picture depends on."""
        return TimelineScene(
            self._state.document,
            self._data.rows,
            self._data.activity,
            self._data.words,
            self._data.spans,
            self._state.levels,
            self.layout_now,
            self._appearance.theme,
            self.model.px_s,
            self.model.duration_s,
            self.font(),
            self._small_font,
        )

    def name_rect(self, index: int) -> QRect:
        """Return the place of a row's name."""
        return name_rect(self.scene, index).toRect()

    def x_of(self, sample: int) -> float:
        """Return the pixel of the widget at which a sample is."""
        seconds = self._state.document.seconds(sample)
        return self.layout_now.plot.left() + self.model.x_of(seconds)

    def sample_at(self, x: float) -> int:
        """Return the sample at a pixel of the widget."""
        time_s = self.model.time_at(x - self.layout_now.plot.left())
        return round(time_s * self._state.document.sample_rate)

    # --- Qt events ---

    def sizeHint(self) -> QSize:
        window = self.window()
        most = round(window.height() * _MOST_SHARE) if window is not self else math.inf
        return QSize(600, int(max(self._height(is_least=True), min(self._height(), most))))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizes.header + 120, self._height(is_least=True))

    def resizeEvent(self, event: QResizeEvent) -> None:
        del event
        self._place_parts()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._window is not self.window():
            self._window = self.window()
            self._window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._take_font()
            self._rows_changed()

    # --- changes ---

    def _rows_changed(self) -> None:
        """Give other rows their places."""
        self.updateGeometry()
        self._place_parts()
        self.update()

    def _place_parts(self) -> None:
        layout = self.layout_now
        width = max(1.0, layout.plot.width())
        if width != self.model.width_px:
            self.model.width_px = width
            self.model.set_duration(self.model.duration_s)
        sizes = layout.sizes
        self.controls.setGeometry(0, 0, sizes.header, sizes.top - sizes.overlap)
        self.rows_bar.setGeometry(
            self.width() - RIGHT + 1, sizes.top, RIGHT - 2, round(layout.rows_height)
        )
        self.rows_bar.setRange(0, layout.hidden_px)
        self.rows_bar.setPageStep(max(1, round(layout.rows_height)))
        self.rows_bar.setSingleStep(layout.row_height)
        self.rows_bar.setVisible(layout.hidden_px > 0)

    def _take_font(self) -> None:
        self._small_font = tabular(scaled(self.font(), SMALL))

    def _height(self, *, is_least: bool = False) -> int:
        data = self._data
        return self.sizes.height(
            len(data.rows), has_own_voice=data.spans.has_own_voice, is_least=is_least
        )

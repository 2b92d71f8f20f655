"""The timeline as it is seen: what is in view, painted, and kept in line with the document."""

import math

from PySide6.QtCore import QPointF, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.views.context import ViewContext
from app.views.timeline.bars import MARGIN_PX
from app.views.timeline.data import TimelineData
from app.views.timeline.frame import TimelineFrame
from app.views.timeline.model import TimelineModel
from app.views.timeline.picture import REACH_PX, TimelinePicture

ZOOM_STEP = 1.25


class TimelineView(TimelineFrame):
    """Shows the activity, levels, words and marked stretches of the shown document.

    Args:
        context: the shown document and its marks.
    """

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._picture = TimelinePicture()
        self._pointer_x: float | None = None
        self._reduced_motion = False
        self._connect_state()
        self._replace_document()

    @property
    def painted_row(self) -> int | None:
        """Index of the row to be marked as the current one."""
        return None

    @property
    def reduced_motion(self) -> bool:
        """While following, jump by a third of the view instead of moving all the time."""
        return self._reduced_motion

    @reduced_motion.setter
    def reduced_motion(self, is_on: bool) -> None:
        self._reduced_motion = self.model.reduced_motion = is_on

    # --- commands ---

    def set_duration(self, duration_s: float) -> None:
        """Tell how long the recording is by now; repaints only if it moved by a pixel."""
        if abs(duration_s - self.model.duration_s) >= self.model.px_s:
            if self._data.spans.is_speaking:
                self._picture.forget_from(self.model.duration_s, 0)
            self.model.set_duration(duration_s)
            self._view_moved()

    def set_threshold(self, threshold: float) -> None:
        """Draw active bars from another probability on."""
        self.controls.set_threshold(threshold)

    @Slot(bool)
    def set_following(self, is_following: bool) -> None:
        """Stay at the newest moment, or stand still."""
        self.model.set_following(is_following)
        self._view_moved()

    def show_sample(self, sample: int) -> None:
        """Bring a moment into view."""
        self.model.show(self._state.document.seconds(sample))
        self._view_moved()

    def show_all(self) -> None:
        """Show the whole recording."""
        self.model.show_all()
        self._view_moved()

    def zoom(self, is_in: bool) -> None:
        """Zoom by a step, about the cursor if it is in view."""
        cursor, x = self._context.marks.cursor, None
        if cursor is not None:
            x = self.model.x_of(self._state.document.seconds(cursor))
            x = x if 0 <= x <= self.model.width_px else None
        self.model.zoom(1 / ZOOM_STEP if is_in else ZOOM_STEP, x)
        self._view_moved()

    def zoom_by(self, factor: float, x: float) -> None:
        """Zoom about a pixel of the widget."""
        x -= self.layout_now.plot.left()
        self.model.zoom(factor, min(max(x, 0.0), self.model.width_px))
        self._view_moved()

    def scroll_pages(self, pages: float) -> None:
        """Scroll by shares of what is visible."""
        self.model.scroll_s(pages * self.model.span_s)
        self._view_moved()

    def scroll_px(self, pixels: float) -> None:
        """Scroll by pixels."""
        self.model.scroll_px(pixels)
        self._view_moved()

    def scroll_rows(self, pixels: float) -> None:
        """Move the rows where there are more than fit."""
        self.rows_bar.setValue(self.rows_bar.value() + round(pixels))

    def point_at(self, place: QPointF | None) -> None:
        """Draw the pointer's line, or none."""
        plot = self.layout_now.plot
        x = None if place is None else place.x() - plot.left()
        if x is not None and not (0 <= x <= plot.width() and self._is_known(x)):
            x = None
        if x != self._pointer_x:
            self._pointer_x = x
            self.update()

    # --- Qt events ---

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        marks, row = self._context.marks, self.painted_row
        self._picture.paint(painter, self.scene, self.model, marks, self._pointer_x, row)
        if self.hasFocus():
            painter.setPen(self._appearance.theme.color("focus"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    # --- changes ---

    @Slot()
    def _replace_document(self) -> None:
        document = self._state.document
        self._data = TimelineData(document, self._data.activity.threshold)
        self._picture.forget()
        self.model = TimelineModel()
        self.model.reduced_motion = self._reduced_motion
        self.model.width_px = max(1.0, self.layout_now.plot.width())
        self.model.set_duration(self._known_s())
        if not self.can_follow:
            self.model.set_following(False)
            self.model.show_all()
        self._take_marks()
        self._rows_changed()
        self._view_moved()

    @Slot()
    def _take_activity(self) -> None:
        from_s = self._data.take_activity()
        self._take(from_s, None if self.scene.shows_words else MARGIN_PX)
        self.set_duration(max(self.model.duration_s, self._known_s()))

    @Slot(int)
    def _take_lines(self, first: int) -> None:
        self._take(self._data.take_lines(first))

    @Slot()
    def _take_partial(self) -> None:
        from_s = self._data.take_partial()
        if self.scene.shows_words:
            self._take(from_s)

    @Slot()
    def _take_spans(self) -> None:
        had_own_voice = self._data.spans.has_own_voice
        self._take(self._data.take_spans())
        if self._data.spans.has_own_voice is not had_own_voice:
            self._rows_changed()

    @Slot()
    def _take_speakers(self) -> None:
        self._picture.forget()
        self._take(self._data.take_speakers())

    @Slot(float)
    def _take_threshold(self, threshold: float) -> None:
        self._take(self._data.set_threshold(threshold))

    @Slot()
    def _take_marks(self) -> None:
        self._picture.set_hits(self._context.marks.hits)
        self.update()

    @Slot()
    def _repaint(self) -> None:
        self._picture.forget()
        self.update()

    def _take(self, from_s: float, reach_px: float | None = None) -> None:
        """Paint anew what is out of date from a second on."""
        if math.isfinite(from_s):
            self._picture.forget_from(from_s, REACH_PX if reach_px is None else reach_px)
            if from_s <= 0:
                self._rows_changed()
            self.update()

    def _view_moved(self) -> None:
        """Bring everything that depends on what is in view in line."""
        if self._data.set_view(self.model.start_s, self.model.end_s):
            self._rows_changed()
        self.controls.set_following(self.model.is_following)
        self.controls.follow_button.setVisible(self.can_follow)
        self.update()

    def _rows_changed(self) -> None:
        self._picture.forget_header()
        super()._rows_changed()

    def _is_known(self, x: float) -> bool:
        return 0 <= self.model.time_at(x) <= self.model.duration_s

    def _known_s(self) -> float:
        """Return how long the recording is as far as the document knows."""
        document = self._state.document
        activity_s = document.activity.num_frames * document.activity.frame_ms / 1000
        return max(document.seconds(document.num_samples), activity_s)

    def _connect_state(self) -> None:
        state, marks = self._state, self._context.marks
        state.document_replaced.connect(self._replace_document)
        state.activity_changed.connect(self._take_activity)
        state.spans_changed.connect(self._take_spans)
        state.lines_changed.connect(self._take_lines)
        state.partial_changed.connect(self._take_partial)
        state.speakers_changed.connect(self._take_speakers)
        state.levels_replaced.connect(self._repaint)
        state.session_changed.connect(self._view_moved)
        self._appearance.changed.connect(self._repaint)
        for changed in (marks.cursor_changed, marks.selection_changed, marks.playing_changed):
            changed.connect(self.update)
        marks.hits_changed.connect(self._take_marks)
        self.rows_bar.valueChanged.connect(self._repaint)
        self.controls.follow_asked.connect(self.set_following)
        self.controls.threshold_chosen.connect(self._take_threshold)

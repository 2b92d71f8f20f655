"""Who speaks when, live: a row a speaker, from a second to the whole recording."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QFont,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolButton, QToolTip, QWidget

from app.state import AppState
from app.theme import Appearance, tabular
from app.views.timeline_model import TimelineModel
from app.views.timeline_painter import TimelinePainter, TimelineRows
from app.views.timeline_sizes import TimelineSizes
from app.views.transcript_rows import describe_span
from engine.core.timebase import format_time
from engine.core.types import MAX_SPEAKERS, SpanKind, SpeakerId
from engine.text.attribution import ACTIVE

_ZOOM_STEP = 1.25
_DRAG_PX = 4


class SpeakerTimeline(QWidget):
    """Shows the activity and the marked stretches of `AppState.document`.

    Signals:
        time_chosen: a clicked moment, in samples.

    Args:
        state: what to show.
        appearance: colours.
    """

    time_chosen = Signal(int)

    def __init__(
        self, state: AppState, appearance: Appearance, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._appearance = appearance
        self.model = TimelineModel()
        self.threshold = ACTIVE
        self._rows = TimelineRows()
        self._drag_from: QPointF | None = None
        self._is_dragging = False
        self.follow_button = QToolButton(self)
        self._prepare()
        state.document_replaced.connect(self._replace_document)
        state.activity_changed.connect(self._take_activity)
        state.spans_changed.connect(self._take_spans)
        state.lines_changed.connect(self.update)
        appearance.changed.connect(self.update)
        self._replace_document()

    @property
    def rows(self) -> TimelineRows:
        """The rows there are."""
        return self._rows

    @property
    def sizes(self) -> TimelineSizes:
        """Sizes for the font in force."""
        return TimelineSizes(self.fontMetrics().height())

    def set_duration(self, duration_s: float) -> None:
        """Tell how long the recording is by now; repaints only if it moved by a pixel."""
        per_px = self.model.span_s / self.model.width_px
        if abs(duration_s - self.model.duration_s) >= per_px:
            self.model.set_duration(duration_s)
            self.update()

    def show_sample(self, sample: int) -> None:
        """Bring a moment into view."""
        self.model.show(self._state.document.seconds(sample))
        self._changed()

    @Slot(bool)
    def set_following(self, is_following: bool) -> None:
        """Stay at the newest moment, or stand still."""
        self.model.set_following(is_following)
        self._changed()

    def zoom(self, is_in: bool, x: float | None = None) -> None:
        """Zoom by a step."""
        self.model.zoom(1 / _ZOOM_STEP if is_in else _ZOOM_STEP, x)
        self._changed()

    def scroll_pages(self, pages: float) -> None:
        """Scroll by shares of what is visible."""
        self.model.scroll_s(pages * self.model.span_s)
        self._changed()

    def describe(self, time_s: float) -> str:
        """Return time, speakers and probabilities of a moment, for people."""
        document = self._state.document
        lines = [format_time(max(0.0, time_s), decimals=1)]
        activity = document.activity
        if activity.frame_ms:
            frame = int(time_s * 1000 / activity.frame_ms)
            rows = activity.rows(frame, frame + 1)
            epoch = activity.epoch_at(frame)
            for slot in range(MAX_SPEAKERS) if len(rows) else ():
                if rows[0, slot] >= 0.05:
                    name = document.speaker_name(SpeakerId(epoch, slot))
                    lines.append(f"{name}: {rows[0, slot]:.0%}")
            if len(rows) and frame >= activity.final_until:
                lines.append("may still change")
        sample = int(time_s * document.sample_rate)
        marks = [span for span in document.spans if span.start <= sample < span.end]
        lines += [describe_span(span, document.sample_rate) for span in marks]
        return "\n".join(lines)

    # --- Qt events ---

    def sizeHint(self) -> QSize:
        return QSize(600, self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self._height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        small = QFont(self.font())
        small.setPointSizeF(self.font().pointSizeF() * 0.85)
        TimelinePainter(
            painter,
            self._plot(),
            self._state.document,
            self.model,
            self._rows,
            self.sizes,
            self._appearance,
            self.threshold,
        ).paint(self.font(), tabular(small))
        if self.hasFocus():
            painter.setPen(self._appearance.theme.color("focus"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        del event
        self.model.width_px = max(1.0, self._plot().width())
        self.model.set_duration(self.model.duration_s)
        size = self.follow_button.sizeHint()
        axis = self.sizes.axis
        self.follow_button.setGeometry(10, self.height() - axis - 2, size.width(), axis)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        is_scroll = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) or delta.x()
        if is_scroll:
            self.model.scroll_px(-(delta.x() or delta.y()) / 2)
        else:
            x = event.position().x() - self.sizes.header
            self.model.zoom(_ZOOM_STEP ** (-delta.y() / 120), min(max(x, 0), self.model.width_px))
        self._changed()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag_from, self._is_dragging = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag_from is None:
            return
        moved = event.position().x() - self._drag_from.x()
        if self._is_dragging or abs(moved) >= _DRAG_PX:
            self._is_dragging = True
            self._drag_from = event.position()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.model.scroll_px(-moved)
            self._changed()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._drag_from is not None and not self._is_dragging:
            time_s = self.model.time_at(event.position().x() - self.sizes.header)
            if 0 <= time_s <= self.model.duration_s:
                self.time_chosen.emit(round(time_s * self._state.document.sample_rate))
        self._drag_from, self._is_dragging = None, False
        self.unsetCursor()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = self.model.span_s / 10
        match event.key():
            case Qt.Key.Key_Left:
                self.model.scroll_s(-page)
            case Qt.Key.Key_Right:
                self.model.scroll_s(page)
            case Qt.Key.Key_PageUp:
                self.model.scroll_s(-page * 9)
            case Qt.Key.Key_PageDown:
                self.model.scroll_s(page * 9)
            case Qt.Key.Key_Home:
                self.model.go_to_start()
            case Qt.Key.Key_End:
                self.model.set_following(True)
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.model.zoom(1 / _ZOOM_STEP)
            case Qt.Key.Key_Minus:
                self.model.zoom(_ZOOM_STEP)
            case Qt.Key.Key_0:
                self.model.show_all()
            case _:
                super().keyPressEvent(event)
                return
        self._changed()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            x = event.pos().x() - self.sizes.header
            if x >= 0 and 0 <= self.model.time_at(x) <= self.model.duration_s:
                QToolTip.showText(event.globalPos(), self.describe(self.model.time_at(x)), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    # --- changes ---

    @Slot()
    def _replace_document(self) -> None:
        document = self._state.document
        self.model = TimelineModel()
        self.model.width_px = max(1.0, self._plot().width())
        self.model.set_duration(document.seconds(document.num_samples))
        if not self._state.is_live_shown:
            self.model.set_following(False)
            self.model.show_all()
        self._rows = TimelineRows()
        self._take_spans()
        self._take_activity()
        self._changed()

    @Slot()
    def _take_activity(self) -> None:
        activity = self._state.document.activity
        cells, _, _ = activity.overview(0, activity.num_frames, 1)
        slots = tuple(
            slot for slot in range(MAX_SPEAKERS) if len(cells) and cells[:, slot].max() >= ACTIVE
        )
        self._set_rows(TimelineRows(slots, self._rows.has_own_voice))
        self.set_duration(
            max(self.model.duration_s, activity.num_frames * activity.frame_ms / 1000)
        )
        self.update()

    @Slot()
    def _take_spans(self) -> None:
        has_own = any(span.kind is SpanKind.OWN_VOICE for span in self._state.document.spans)
        self._set_rows(TimelineRows(self._rows.slots, has_own))
        self.update()

    def _set_rows(self, rows: TimelineRows) -> None:
        if rows != self._rows:
            self._rows = rows
            self.updateGeometry()
            self._describe_rows()

    def _changed(self) -> None:
        self.follow_button.setChecked(self.model.is_following)
        self.update()

    def _describe_rows(self) -> None:
        document = self._state.document
        names = [document.speaker_name(SpeakerId(0, slot)) for slot in self._rows.slots]
        self.setAccessibleDescription(
            f"Rows: {', '.join(names) or 'nobody yet'}. Arrow keys scroll, plus and minus zoom, "
            "End follows the newest moment, 0 shows everything."
        )

    def _height(self) -> int:
        rows = self._rows
        return self.sizes.height(len(rows.slots), has_own_voice=rows.has_own_voice)

    def _plot(self) -> QRectF:
        header = self.sizes.header
        return QRectF(header, 0, max(1, self.width() - header - 8), self.height())

    def _prepare(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Speaker timeline")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.follow_button.setText("Follow")
        self.follow_button.setCheckable(True)
        self.follow_button.setChecked(True)
        self.follow_button.setToolTip("Keep the newest moment in view (End)")
        self.follow_button.clicked.connect(self.set_following)

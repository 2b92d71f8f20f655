"""Who speaks when, live: a row a speaker, from a second to the whole recording."""

from PySide6.QtCore import QEvent, QPointF, QRect, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.i18n import tr
from app.names import shown_name
from app.views.context import ViewContext
from app.views.timeline.actions import TimelineActions
from app.views.timeline.describe import describe_moment, describe_row
from app.views.timeline.keys import TimelineKeys
from app.views.timeline.mouse import TimelineMouse
from app.views.timeline.view import TimelineView
from engine.core.types import SpeakerId


class SpeakerTimeline(TimelineView):
    """Shows who speaks when, and lets people go there, select, hear, and say who is who.

    Signals:
        time_chosen: a moment somebody went to, in samples.
        copy_asked: first sample of a stretch whose text is to be copied, and one past its last.
        export_asked: the same of a stretch to be exported.
        current_row_changed: `current_row` is another one.

    Args:
        context: the shown document, its marks, and what changes and plays it.
    """

    time_chosen = Signal(int)
    copy_asked = Signal(int, int)
    export_asked = Signal(int, int)
    current_row_changed = Signal()

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        self._current: SpeakerId | None = None
        self._is_own_current = False
        super().__init__(context, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Speaker timeline"))
        self.commands = TimelineActions(self, context)
        self._mouse = TimelineMouse(self, self.commands)
        self._keys = TimelineKeys(self, self.commands)
        self._describe_rows()

    # --- rows ---

    def speaker_rows(self) -> tuple[SpeakerId | None, ...]:
        """Return whose rows there are from top to bottom; None is the program's own voice."""
        own = (None,) if self._data.spans.has_own_voice else ()
        return (*(row.speaker for row in self._data.rows), *own)

    @property
    def current_row(self) -> int | None:
        """Index of the row the keyboard is at."""
        rows = self.speaker_rows()
        if self._is_own_current:
            return len(rows) - 1 if rows and rows[-1] is None else None
        return rows.index(self._current) if self._current and self._current in rows else None

    @property
    def current_speaker(self) -> SpeakerId | None:
        """Whose row the keyboard is at."""
        return None if self._is_own_current or self.current_row is None else self._current

    @property
    def painted_row(self) -> int | None:
        """The current row, while the keyboard is here."""
        return self.current_row if self.hasFocus() else None

    def choose_row(self, index: int | None) -> None:
        """Make a row the one the keyboard is at, and bring it into view."""
        rows = self.speaker_rows()
        speaker = rows[index] if index is not None and index < len(rows) else None
        is_own = index is not None and index < len(rows) and speaker is None
        if (speaker, is_own) != (self._current, self._is_own_current):
            self._current, self._is_own_current = speaker, is_own
            self.current_row_changed.emit()
            self.update()
        if index is not None and speaker is not None:
            layout = self.layout_now
            top = index * layout.row_height
            low = top + layout.row_height - layout.rows_height
            self.rows_bar.setValue(min(max(self.rows_bar.value(), low), top))

    # --- in words ---

    def describe(self, time_s: float) -> str:
        """Return time, speakers and probabilities, words and marks of a moment, for people."""
        return describe_moment(self.scene, time_s)

    def describe_now(self) -> str:
        """Return what `describe` says of the moment that is heard, the newest or the chosen."""
        return self.describe(self._now_s())

    def describe_row(self, index: int) -> str:
        """Return a row's name, its share of the visible stretch, and whether it is active now."""
        return describe_row(self.scene, index, self.model.start_s, self.model.end_s, self._now_s())

    def row_rect_on_widget(self, index: int) -> QRect:
        """Return a row's place with its name, cut to what is seen of it."""
        layout = self.layout_now
        if index >= layout.num_rows:
            return layout.own_rect.toRect()
        return layout.row_rect(index).intersected(layout.rows_rect).toRect()

    # --- Qt events ---

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._mouse.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._mouse.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._mouse.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._mouse.wheel(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.commands.open_menu()
        else:
            self.commands.open_menu_at(QPointF(event.pos()), event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.point_at(None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._keys.press(event):
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            # Else shortcuts of the window would take keys that do something here.
            if self._keys.is_ours(event):
                event.accept()
                return True
        elif isinstance(event, QHelpEvent) and kind == QEvent.Type.ToolTip:
            self._show_tip(event)
            return True
        elif isinstance(event, QNativeGestureEvent) and self._mouse.gesture(event):
            return True
        return super().event(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        layout = self.layout_now
        x, row = event.pos().x() - layout.plot.left(), layout.row_at(event.pos().y())
        if x >= 0 and self._is_known(x):
            QToolTip.showText(event.globalPos(), self.describe(self.model.time_at(x)), self)
        elif x < 0 and row is not None:
            QToolTip.showText(event.globalPos(), self.describe_row(row), self)
        else:
            QToolTip.hideText()

    # --- changes ---

    def _now_s(self) -> float:
        """Return the moment that counts as now: heard, or recorded, or chosen."""
        marks, document = self._context.marks, self._state.document
        if marks.playing is not None:
            return document.seconds(marks.playing)
        if self.can_follow or marks.cursor is None:
            # The newest frame, not the moment after it.
            return self.model.duration_s - 1e-3
        return document.seconds(marks.cursor)

    def _rows_changed(self) -> None:
        super()._rows_changed()
        self._describe_rows()

    @Slot()
    def _describe_rows(self) -> None:
        document = self._state.document
        names = [shown_name(document, row) for row in self.speaker_rows() if row is not None]
        people = ", ".join(names) if names else tr("nobody yet")
        self.setAccessibleDescription(
            tr(
                "Rows: {people}. Left and Right move in time, with Shift they select; "
                "Up and Down choose a row; plus and minus zoom, 0 shows everything; "
                "Space plays; End follows the newest moment.",
                people=people,
            )
        )

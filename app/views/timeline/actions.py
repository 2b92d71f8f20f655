"""What people do with the timeline, by mouse or by keys."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QPointF, Qt, Slot
from PySide6.QtWidgets import QWidget

from app.names import shown_name
from app.views.context import ViewContext
from app.views.name_editor import NameEditor
from app.views.speaker_menu import SpeakerMenu
from app.views.timeline.menu import TimelineMenu
from engine.core.types import SpeakerId

if TYPE_CHECKING:
    from app.views.timeline.speaker_timeline import SpeakerTimeline


class TimelineActions(QObject):
    """Moves the cursor, selects, plays, names speakers and opens menus. Thread: main.

    Args:
        timeline: what it works on.
        context: document, marks, editing and playback.
    """

    def __init__(self, timeline: "SpeakerTimeline", context: ViewContext) -> None:
        super().__init__(timeline)
        self._timeline = timeline
        self._context = context
        self._marks = context.marks
        # The editor gives the focus to what its parent lies on: the timeline.
        self._name_place = QWidget(timeline)
        self._name_place.hide()
        self._editor = NameEditor(self._name_place)
        self._editor.accepted.connect(context.editing.rename)
        self._editor.closed.connect(self._name_place.hide)
        # Its speaker is nobody, or somebody else, in another document.
        context.state.document_replaced.connect(self._editor.cancel)

    @property
    def selection(self) -> tuple[int, int] | None:
        """The chosen stretch."""
        return self._marks.selection

    @property
    def can_escape(self) -> bool:
        """Whether Escape has anything to end here."""
        return self._marks.selection is not None

    # --- cursor and selection ---

    def click(self, x: float) -> None:
        """Put the cursor where somebody clicked."""
        self._choose(self._sample_at(x))

    def select_to(self, anchor: int, x: float) -> None:
        """Select from a sample to a pixel of the widget."""
        sample = self._sample_at(x)
        self._marks.select(anchor, sample)
        self._marks.set_cursor(min(anchor, sample))

    def step_cursor(self, seconds: float, *, extends: bool) -> None:
        """Move the cursor, or the end of the selection that moves."""
        self._move_to(self._head() + round(seconds * self._rate), extends=extends)

    def go_to_start(self, *, extends: bool) -> None:
        """Move the cursor to the beginning."""
        self._move_to(0, extends=extends)

    def go_to_end(self, *, extends: bool) -> None:
        """Move the cursor to the end; while a recording runs, follow it."""
        if not extends and self._timeline.can_follow:
            self._marks.set_cursor(None)
            self._timeline.set_following(True)
        else:
            self._move_to(self._end, extends=extends)

    def escape(self) -> bool:
        """Select nothing; return whether anything was selected."""
        had_selection = self.can_escape
        self._marks.clear_selection()
        return had_selection

    # --- playing ---

    def play_from(self, x: float) -> None:
        """Play from a pixel of the widget on."""
        sample = self._sample_at(x)
        self._choose(sample)
        self._context.playback.play(sample)

    def toggle_playing(self) -> None:
        """Play from the cursor or the selection, or pause."""
        self._context.playback.toggle()

    def play_selection(self) -> None:
        """Play the chosen stretch."""
        if self._marks.selection is not None:
            self._context.playback.play(*self._marks.selection)

    # --- rows ---

    def step_row(self, step: int) -> None:
        """Go to the next row up or down."""
        rows, current = self._timeline.speaker_rows(), self._timeline.current_row
        if rows:
            row = (0 if step > 0 else len(rows) - 1) if current is None else current + step
            self._timeline.choose_row(min(max(row, 0), len(rows) - 1))

    def rename_current(self) -> None:
        """Let the user name the speaker of the current row in place."""
        speaker = self._timeline.current_speaker
        if speaker is not None:
            self._edit_name(speaker)

    def finish_editing(self) -> None:
        """Take the name that is being written, if one is."""
        self._editor.finish()

    @Slot(object)
    def _edit_name(self, speaker: SpeakerId) -> None:
        rows = self._timeline.speaker_rows()
        if speaker in rows:
            place = self._timeline.name_rect(rows.index(speaker))
            height = max(place.height(), self._editor.sizeHint().height())
            place.setTop(place.center().y() - height // 2)
            place.setHeight(height)
            self._name_place.setGeometry(place)
            self._editor.setGeometry(self._name_place.rect())
            self._name_place.show()
            self._name_place.raise_()
            self._editor.edit(speaker, shown_name(self._context.state.document, speaker))

    # --- menus ---

    def open_menu(self) -> None:
        """Open the menu of the selection, or of the current row, or of the cursor."""
        timeline, current = self._timeline, self._timeline.current_row
        speaker = timeline.current_speaker
        if self._marks.selection is None and speaker is not None and current is not None:
            place = timeline.name_rect(current).bottomLeft()
            self._open_speaker_menu(speaker, timeline.mapToGlobal(place))
            return
        sample = self._marks.selection[0] if self._marks.selection else self._head()
        plot = timeline.layout_now.plot
        x = min(max(timeline.x_of(sample), plot.left()), plot.right() - 20)
        place = QPoint(round(x), timeline.layout_now.sizes.ruler)
        self._open_time_menu(sample, timeline.mapToGlobal(place))

    def open_menu_at(self, place: QPointF, global_place: QPoint) -> None:
        """Open the menu of what lies under the pointer."""
        timeline = self._timeline
        if place.x() >= timeline.layout_now.plot.left():
            self._open_time_menu(self._sample_at(place.x()), global_place)
            return
        timeline.choose_row(timeline.layout_now.row_at(place.y()))
        speaker = timeline.current_speaker
        if speaker is not None:
            self._open_speaker_menu(speaker, global_place)

    def _open_speaker_menu(self, speaker: SpeakerId, place: QPoint) -> None:
        menu = SpeakerMenu(self._context, speaker, parent=self._timeline)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.rename_asked.connect(self._edit_name)
        menu.popup(place)

    def _open_time_menu(self, sample: int, place: QPoint) -> None:
        timeline, selection = self._timeline, self._marks.selection
        has_audio = self._end > 0
        menu = TimelineMenu(
            timeline,
            hear=(lambda: self._context.playback.play(sample)) if has_audio else None,
            hear_selection=self.play_selection if selection else None,
            copy=(lambda: timeline.copy_asked.emit(*selection)) if selection else None,
            export=(lambda: timeline.export_asked.emit(*selection)) if selection else None,
            clear=self._marks.clear_selection if selection else None,
            show_all=timeline.show_all,
            reset_threshold=timeline.controls.reset_threshold,
        )
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    # --- moments ---

    @property
    def _rate(self) -> int:
        return self._context.state.document.sample_rate

    @property
    def _end(self) -> int:
        return round(self._timeline.model.duration_s * self._rate)

    def _sample_at(self, x: float) -> int:
        return min(max(0, self._timeline.sample_at(x)), self._end)

    def _head(self) -> int:
        """Return what moves next: the cursor, what is heard, or the middle of the view."""
        selection, cursor = self._marks.selection, self._marks.cursor
        if selection is not None and cursor in selection:
            return selection[0] if cursor == selection[1] else selection[1]
        if cursor is not None:
            return cursor
        if self._marks.playing is not None:
            return self._marks.playing
        model = self._timeline.model
        middle_s = min((model.start_s + model.end_s) / 2, model.duration_s)
        return round(middle_s * self._rate)

    def _move_to(self, sample: int, *, extends: bool) -> None:
        sample = min(max(0, sample), self._end)
        if not extends:
            self._choose(sample)
            self._timeline.show_sample(sample)
            return
        selection, cursor = self._marks.selection, self._marks.cursor
        anchor = cursor if selection and cursor in selection else self._head()
        self._marks.set_cursor(anchor)
        self._marks.select(anchor, sample)
        self._timeline.show_sample(sample)

    def _choose(self, sample: int) -> None:
        # Else playing would begin at the selection, not where the cursor was put just now.
        self._marks.clear_selection()
        self._marks.set_cursor(sample)
        self._timeline.time_chosen.emit(sample)

"""Opens the editors of names and lines over the transcript, and keeps them in their place."""

from typing import Protocol

from PySide6.QtCore import QObject, QPoint, QRect, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.names import shown_name
from app.text import utf16_length
from app.views.context import ViewContext
from app.views.name_editor import NameEditor
from app.views.transcript.line_editor import LineEditor
from app.views.transcript.places import Place, Spot, spot_of
from app.views.transcript.row_stack import RowStack
from app.views.transcript.rows import Row
from app.views.transcript.text import row_words
from engine.core.events import Notice, Severity

_NAME_WIDTH_PX = 220


class Area(Protocol):
    """Where rows are shown."""

    @property
    def stack(self) -> RowStack:
        """The rows."""
        ...

    def viewport(self) -> QWidget:
        """Return what they are painted on."""
        ...

    def row_rect(self, index: int) -> QRect:
        """Return where a row is on it."""
        ...

    def spot_rect(self, spot: Spot) -> QRect:
        """Return where a word is on it."""
        ...


class TranscriptEditors(QObject):
    """At most one editor, held at its words while rows come and go.

    Signals:
        closed: nothing is being written any more.

    Args:
        area: where it is laid.
        context: takes the changes.
    """

    closed = Signal()

    def __init__(self, area: Area, context: ViewContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._area = area
        self._context = context
        self.name = NameEditor(area.viewport())
        self.line = LineEditor(area.viewport())
        self._place: Place | None = None
        self.name.accepted.connect(context.editing.rename)
        self.line.accepted.connect(context.editing.edit)
        for closed in (self.name.closed, self.line.closed):
            closed.connect(self._close)

    @property
    def spot(self) -> Spot | None:
        """The first word of what is being written over, if anything is."""
        return spot_of(self._area.stack.rows, self._place) if self._place is not None else None

    def edit_line(self, index: int, word: int) -> None:
        """Correct the final words of a row; typing replaces one of them first."""
        row = self._area.stack.row(index)
        if not row.words:
            return
        self.finish()
        self._place = Place(row.words[0].id, row.start)
        text = row_words(row, 0, len(row.words))
        chosen = _place_in_text(row, min(word, len(row.words) - 1))
        self.line.edit([entry.id for entry in row.words], text, chosen)
        self.line.set_frame_color(self._context.appearance.theme.focus)
        self.place()
        self._open(self.line)

    def edit_name(self, index: int) -> None:
        """Name the speaker of a row that has a header."""
        row = self._area.stack.row(index)
        if row.speaker is None:
            return
        self.finish()
        self._place = Place(row.words[0].id if row.words else -1, row.start)
        self.name.edit(row.speaker, shown_name(self._area.stack.document, row.speaker))
        self.place()
        self._open(self.name)
        self.name.selectAll()

    @Slot()
    def finish(self) -> None:
        """Take what is written, if anything is."""
        self.name.finish()
        self.line.finish()

    def abandon(self) -> None:
        """Close because another document is shown; what was written is not lost."""
        if self.line.is_changed:
            QGuiApplication.clipboard().setText(self.line.text())
            self._context.state.add_notice(
                Notice(
                    Severity.WARNING,
                    tr("The line you were correcting is not shown any more."),
                    tr("What you wrote is on the clipboard: open the recording and paste it."),
                )
            )
        self.line.cancel()
        self.name.cancel()

    def place(self) -> None:
        """Put the open editor over its words."""
        spot = self.spot
        if spot is None:
            return
        metrics, viewport = self._area.stack.metrics, self._area.viewport()
        if self.line.word_ids:
            self.line.put(
                QPoint(metrics.text_left, self._area.spot_rect(spot).top()),
                metrics.text_width,
                viewport.height(),
                metrics.words_font,
                metrics.line_height,
            )
        elif self.name.is_open:
            self.name.setFont(metrics.name_font)
            height = metrics.small_height + 14
            wanted = max(_NAME_WIDTH_PX, 14 * metrics.small_height)
            top = self._area.row_rect(spot.row).top() + 6
            # Large names need more than what is left beside a time.
            right = metrics.text_left + metrics.text_width
            left = max(metrics.text_left, min(metrics.name_left, right - wanted))
            width = min(wanted, right - left)
            self.name.setGeometry(left - 8, top, width, height)

    def _open(self, editor: QWidget) -> None:
        editor.show()
        editor.raise_()
        editor.setFocus()

    @Slot()
    def _close(self) -> None:
        self._place = None
        self.closed.emit()


def _place_in_text(row: Row, word: int) -> tuple[int, int]:
    """Return where a word is in the text of a row, in UTF-16 units."""
    before = "".join(entry.text for entry in row.words[:word])
    text = row.words[word].text
    bare = text.strip()
    start = utf16_length(f"{before}{text[: len(text) - len(text.lstrip())]}".lstrip())
    return start, start + utf16_length(bare)

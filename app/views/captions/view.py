"""The words of captions: newest at the bottom, and what is being read stays where it is."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, Qt, Slot
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.captions import CaptionsLook, Scheme
from app.i18n import tr
from app.names import shown_name
from app.state import AppState
from app.views.captions.flow import CaptionFlow, CaptionRow
from app.views.captions.painter import CaptionMetrics, CaptionsPainter, lay_out_row
from app.views.captions.said import SaidTexts

_PLACEHOLDER_PT = 36


class CaptionsView(QWidget):
    """Shows the end of `AppState.live_document`; it is painted only where something changed.

    Args:
        state: what to show.
        said: what the program says for the user.
        look: fonts and sizes.
        scheme: colours.
    """

    def __init__(
        self,
        state: AppState,
        said: SaidTexts,
        look: CaptionsLook,
        scheme: Scheme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._said = said
        self._look = look
        self._scheme = scheme
        self._num_lines, self._size_pt = look.num_lines, look.size_pt
        self._flow = CaptionFlow()
        self._document = state.live_document
        self._rows: tuple[CaptionRow, ...] = ()
        self._num_blank = 0
        self._layouts: dict[CaptionRow, QTextLayout] = {}
        self._placeholder = ""
        self._has_frame = False
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(160, 40)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Captions"))
        self._metrics = self._measure()

    @property
    def rows(self) -> Sequence[CaptionRow]:
        """What is visible, from top to bottom."""
        return self._rows

    @property
    def num_blank(self) -> int:
        """Rows left blank at the bottom, so that words above stay where they are."""
        return self._num_blank

    @property
    def metrics(self) -> CaptionMetrics:
        """Sizes in force."""
        return self._metrics

    @property
    def num_kept(self) -> int:
        """Rows it remembers, visible ones and those just above."""
        return len(self._layouts) + self._flow.num_kept

    @property
    def placeholder(self) -> str:
        """What is said while there are no words."""
        return self._placeholder

    @property
    def shown_from(self) -> int:
        """First sample of what is visible; 0 while there are no final words to be seen."""
        words = self._document.words
        for row in self._rows:
            if row.key[0] == "word":
                return words[self._document.word_index(row.key[1])].word.start
        return words[-1].word.end if words else 0

    def text(self) -> str:
        """Return what is visible as text, each change of speaker on a line of its own."""
        lines: list[str] = []
        for row in self._rows:
            if row.is_start or not lines:
                lines.append(f"{self._name_of(row)} {row.words}".strip())
            else:
                lines[-1] += f" {row.words}"
        return "\n".join(lines)

    def set_look(self, look: CaptionsLook, scheme: Scheme, num_lines: int, size_pt: int) -> None:
        """Show words otherwise."""
        self._look, self._scheme = look, scheme
        self._num_lines, self._size_pt = num_lines, size_pt
        self._relayout()

    def set_placeholder(self, text: str) -> None:
        """Say this while there are no words."""
        if text != self._placeholder:
            self._placeholder = text
            if not self._rows:
                self.update()

    def set_frame(self, is_shown: bool) -> None:
        """Show that the captions have the keyboard's focus, or leave the words alone."""
        if is_shown != self._has_frame:
            self._has_frame = is_shown
            self.update()

    @Slot()
    def refresh(self) -> None:
        """Take in what changed in the document and in what is said."""
        document = self._state.live_document
        if document is not self._document:
            self._document = document
            self._flow.clear()
            self._rows = ()
            self._num_blank = 0
            self.update()
        rows = self._flow.rows(document, self._said.shown, self._metrics.num_rows)
        num_blank = self._blank_rows(rows)
        shown = rows[len(rows) - min(len(rows), self._metrics.num_rows - num_blank) :]
        if (shown, num_blank) == (self._rows, self._num_blank):
            return
        before, self._rows, self._num_blank = self._slots(), shown, num_blank
        self._repaint(before, self._slots())

    @Slot()
    def repaint_speakers(self) -> None:
        """Take in new names and colours."""
        self.refresh()
        self.update()

    # --- Qt events ---

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(self._scheme.ground))
        artist = CaptionsPainter(painter, self._metrics, self._scheme)
        for slot, (row, is_top) in self._slots().items():
            if self._slot_rect(slot).intersects(event.rect()):
                speaker = row.speaker
                color = self._document.speaker_color(speaker) if speaker is not None else None
                has_badge = row.is_start or is_top
                artist.paint(row, self._layout_of(row), slot, color=color, has_badge=has_badge)
        if not self._rows and self._placeholder:
            self._paint_placeholder(painter)
        if self._has_frame and self.hasFocus():
            painter.setPen(QPen(QColor(self._scheme.text), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._relayout()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._relayout()

    # --- rows ---

    def _measure(self) -> CaptionMetrics:
        metrics = CaptionMetrics(
            self.font(), self._look, self._num_lines, self._size_pt, self.width(), self.height()
        )
        names = self._look.shows_names
        self._flow.set_metrics(metrics.font, metrics.text_width, shows_names=names)
        return metrics

    def _relayout(self) -> None:
        self._metrics = self._measure()
        self._layouts.clear()
        self._rows, self._num_blank = (), 0
        self.refresh()
        self.update()

    def _blank_rows(self, rows: Sequence[CaptionRow]) -> int:
        """Return how many rows stay blank so that no committed row moves down.

        Partial words that are taken back leave blank rows, which the next words fill; at most
        half of all, so that what was said before can be read.
        """
        now = {row.key: slot for slot, row in enumerate(reversed(rows))}
        for slot, (row, _) in self._slots().items():
            if row.key[0] != "partial" and row.key in now:
                return max(0, min(slot - now[row.key], self._metrics.num_rows // 2))
        return 0

    def _slots(self) -> dict[int, tuple[CaptionRow, bool]]:
        """Return the visible rows by place, counted from the bottom, and which is the top one."""
        last = len(self._rows) - 1
        return {
            slot + self._num_blank: (row, slot == last)
            for slot, row in enumerate(reversed(self._rows))
        }

    def _repaint(
        self,
        before: dict[int, tuple[CaptionRow, bool]],
        after: dict[int, tuple[CaptionRow, bool]],
    ) -> None:
        visible = set(self._rows)
        self._layouts = {row: each for row, each in self._layouts.items() if row in visible}
        if not before or not after:
            self.update()
            return
        for slot in before.keys() | after.keys():
            if before.get(slot) != after.get(slot):
                self.update(self._slot_rect(slot))

    def _slot_rect(self, slot: int) -> QRect:
        # Marks above and below letters reach into the neighbouring rows.
        spill = self._metrics.row_height // 5
        return self._metrics.row_rect(slot).toAlignedRect().adjusted(0, -spill, 0, spill)

    def _layout_of(self, row: CaptionRow) -> QTextLayout:
        layout = self._layouts.get(row)
        if layout is None:
            layout = self._layouts[row] = lay_out_row(row, self._metrics)
        return layout

    def _name_of(self, row: CaptionRow) -> str:
        if row.is_own:
            return tr("You:")
        if row.speaker is None:
            return ""
        return f"{shown_name(self._document, row.speaker)}:"

    def _paint_placeholder(self, painter: QPainter) -> None:
        font = QFont(self._metrics.font)
        font.setPointSizeF(min(font.pointSizeF(), _PLACEHOLDER_PT))
        painter.setFont(font)
        painter.setPen(QColor(self._scheme.quiet))
        room = self.rect().adjusted(24, 12, -24, -12)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(room, flags, self._placeholder)

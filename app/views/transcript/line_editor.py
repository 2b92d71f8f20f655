"""A text edit laid exactly over a line of the transcript."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QFont, QKeyEvent, QTextBlockFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app.i18n import tr
from app.views.in_place import claims, give_focus_back

MAX_PASTED_CHARACTERS = 10_000
"""Nobody says more in a line; without a limit a book could be pasted by mistake."""
_MARGIN_PX = 4
"""Between the frame and the words."""
_FRAME_PX = 2


class LineEditor(QTextEdit):
    """Corrects a line: Enter or leaving takes the text, Escape does not.

    It knows its words by id and stays theirs whatever happens to the line meanwhile.

    Signals:
        accepted: the ids of the words and the text they give way to.
        closed: it is gone, with or without a new text.
    """

    accepted = Signal(object, str)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._word_ids: tuple[int, ...] = ()
        self._old_text = ""
        self._line_height = 0
        self._place = (QPoint(), 0, 0)
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.Box)
        self.setLineWidth(_FRAME_PX)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setViewportMargins(_MARGIN_PX, 0, _MARGIN_PX, 0)
        self.setAccessibleName(tr("Text of the line"))
        self.setAccessibleDescription(tr("Enter takes the text, Escape leaves it as it was."))
        self.hide()
        self.textChanged.connect(self._fit)

    @property
    def word_ids(self) -> Sequence[int]:
        """Whose text is written; empty while it is closed."""
        return self._word_ids

    @property
    def is_changed(self) -> bool:
        """Whether another text has been written."""
        return bool(self._word_ids) and self.text() != self._old_text

    def text(self) -> str:
        """Return what is written, on one line."""
        return " ".join(self.toPlainText().split())

    def edit(self, word_ids: Sequence[int], text: str, chosen: tuple[int, int]) -> None:
        """Begin with a text; whoever opens it puts it in its place.

        Args:
            word_ids: whose text it is.
            text: what they say.
            chosen: the stretch of it that typing replaces, in UTF-16 units.
        """
        self._word_ids = tuple(word_ids)
        self.setPlainText(text)
        self._old_text = self.text()
        cursor = self.textCursor()
        cursor.setPosition(chosen[0])
        cursor.setPosition(chosen[1], QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def set_frame_color(self, color: str) -> None:
        """Frame it in a colour, "#RRGGBB"."""
        sheet = f"QTextEdit {{ border: {_FRAME_PX}px solid {color}; }}"
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)

    def put(self, place: QPoint, width: int, room: int, font: QFont, line_height: int) -> None:
        """Lay it over a line.

        Args:
            place: where the words begin, in the parent.
            width: of the words, pixels.
            room: the height the parent has, pixels.
            font: of the words.
            line_height: of one line of them.
        """
        if font != self.font():
            self.setFont(font)
        if line_height != self._line_height:
            self._line_height = line_height
            self._set_line_height()
        self._place = (place, width, room)
        self._fit()

    @Slot()
    def finish(self) -> None:
        """Take the text and close."""
        word_ids, text, is_changed = self._word_ids, self.text(), self.is_changed
        if word_ids:
            self._close()
            if is_changed:
                self.accepted.emit(word_ids, text)
            self.closed.emit()

    def cancel(self) -> None:
        """Close and leave the text as it was."""
        if self._word_ids:
            self._close()
            self.closed.emit()

    def event(self, event: QEvent) -> bool:
        keys = (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return claims(event, *keys) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # A line stays one line.
            if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.finish()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.finish()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        self.insertPlainText(" ".join(source.text()[:MAX_PASTED_CHARACTERS].split()))

    def _close(self) -> None:
        had_focus = self.hasFocus()
        self._word_ids = ()
        self.hide()
        if had_focus:
            give_focus_back(self)

    @Slot()
    def _fit(self) -> None:
        """Be as high as the text, within the parent."""
        place, width, room = self._place
        if not self._word_ids or not width:
            return
        frame = self.frameWidth()
        self.resize(width + 2 * (frame + _MARGIN_PX), self.height())
        self.document().setTextWidth(width)
        wanted = max(self._line_height, round(self.document().size().height())) + 2 * frame
        height = max(self._line_height + 2 * frame, min(wanted, room))
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if wanted > height
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        # As far up as it needs to be seen whole while its line is in view.
        top = place.y() - frame - self._lead()
        if 0 <= place.y() < room:
            top = max(0, min(top, room - height))
        self.setGeometry(place.x() - frame - _MARGIN_PX, top, self.width(), height)

    def _lead(self) -> int:
        """Return how much lower words stand in a line here than in the transcript."""
        return max(0, self._line_height - self.fontMetrics().height()) // 2

    def _set_line_height(self) -> None:
        block = QTextBlockFormat()
        block.setLineHeight(self._line_height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.setBlockFormat(block)

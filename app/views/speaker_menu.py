"""What can be done with a speaker, or with who said a line."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QWidget

from app.i18n import tr
from app.names import shown_name
from app.text import shortened
from app.views.context import ViewContext
from app.views.speaker_badge import badge_size, paint_badge
from engine.core.types import MAX_SPEAKERS, SpeakerId

_MAX_NAME_CHARACTERS = 40


class SpeakerMenu(QMenu):
    """Names, merges, parts, colours and locks a speaker, and gives a line to somebody.

    It is made for one opening: it tells how things are when it is made.

    Signals:
        rename_asked: the speaker (a `SpeakerId`) who is to be named.

    Args:
        context: the shown document and what changes it.
        speaker: whom it is about; None for words of nobody known.
        word_ids: the words it was opened on, if it was opened on a line.
        parent: it is deleted with.
    """

    rename_asked = Signal(object)

    def __init__(
        self,
        context: ViewContext,
        speaker: SpeakerId | None,
        word_ids: Sequence[int] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._document = context.state.document
        self._speaker = None if speaker is None else self._document.resolve(speaker)
        self._word_ids = tuple(word_ids)
        self.setAccessibleName(tr("What to do with this line"))
        if self._speaker is not None:
            self.setAccessibleName(self._name(self._speaker))
            self._add_speaker(self._speaker)
        self._add_locks()
        if self._word_ids:
            self._add_givers()

    def _add_speaker(self, speaker: SpeakerId) -> None:
        editing = self._context.editing
        rename = self.addAction(tr("Rename…"))
        _on(rename, partial(self.rename_asked.emit, speaker))
        merge = self._add_menu(tr("Merge into"))
        for other in self._others(speaker):
            action = merge.addAction(self._badge(other), self._label(other))
            _on(action, partial(editing.merge, speaker, other))
        merge.setEnabled(not merge.isEmpty())
        parted = self._document.merged_into(speaker)
        if parted:
            letters = ", ".join(one.letter for one in parted)
            part = self.addAction(tr("Part again: {letters}", letters=letters))
            _on(part, partial(editing.part, speaker))
        self._add_colors(speaker)

    def _add_colors(self, speaker: SpeakerId) -> None:
        menu = self._add_menu(tr("Colour"))
        group = QActionGroup(menu)
        current = self._document.speaker_color(speaker)
        for color in range(MAX_SPEAKERS):
            users = [one for one in self._others(speaker) if self._color(one) == color]
            text = tr("Colour {number}", number=color + 1)
            if users:
                letters = ", ".join(one.letter for one in users)
                text = tr("Colour {number}, as {letters}", number=color + 1, letters=letters)
            action = menu.addAction(self._badge(speaker, color), text)
            action.setCheckable(True)
            action.setChecked(color == current)
            group.addAction(action)
            _on(action, partial(self._context.editing.color, speaker, color))

    def _add_locks(self) -> None:
        """Add what keeps words with who has them, and what gives them back."""
        document, entries = self._document, self._document.words
        if self._word_ids:
            known = (word_id for word_id in self._word_ids if 0 <= word_id < len(entries))
            entries = [entries[document.word_index(word_id)] for word_id in known]
            keep = tr("Keep who said this line")
            give_back = tr("Let the program decide who said this line")
        else:
            entries = [entry for entry in entries if self._speaker in entry.speakers]
            keep = tr("Keep these lines as they are")
            give_back = tr("Let the program decide who said these lines")
        self.addSeparator()
        for text, is_locked in ((keep, True), (give_back, False)):
            word_ids = tuple(e.id for e in entries if e.speakers and e.is_locked is not is_locked)
            action = self.addAction(text)
            action.setEnabled(bool(word_ids))
            _on(action, partial(self._context.editing.lock, word_ids, is_locked=is_locked))

    def _add_givers(self) -> None:
        menu = self._add_menu(tr("This line was said by"))
        assign = self._context.editing.assign
        for speaker in self._document.speakers:
            action = menu.addAction(self._badge(speaker), self._label(speaker))
            action.setCheckable(True)
            action.setChecked(speaker == self._speaker)
            _on(action, partial(assign, self._word_ids, speaker))
        menu.addSeparator()
        new = menu.addAction(tr("Somebody new"))
        _on(new, partial(assign, self._word_ids, None))

    def _add_menu(self, title: str) -> QMenu:
        # With a parent from the beginning: what addMenu makes of a title goes with its wrapper.
        menu = QMenu(title, self)
        menu.setAccessibleName(title)
        self.addMenu(menu)
        return menu

    def _others(self, speaker: SpeakerId) -> Iterable[SpeakerId]:
        return (other for other in self._document.speakers if other != speaker)

    def _color(self, speaker: SpeakerId) -> int:
        return self._document.speaker_color(speaker)

    def _name(self, speaker: SpeakerId) -> str:
        return shortened(shown_name(self._document, speaker), _MAX_NAME_CHARACTERS)

    def _label(self, speaker: SpeakerId) -> str:
        # An ampersand would mark the next letter as a key.
        name = self._name(speaker).replace("&", "&&")
        return tr("{letter} · {name}", letter=speaker.letter, name=name)

    def _badge(self, speaker: SpeakerId, color: int = -1) -> QIcon:
        rect = badge_size(self.fontMetrics().height())
        side, ratio = max(rect.width(), rect.height()), self.devicePixelRatioF()
        pixmap = QPixmap(round(side * ratio), round(side * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        rect = QRectF(QPointF((side - rect.width()) / 2, (side - rect.height()) / 2), rect.size())
        theme = self._context.appearance.theme
        shown = self._color(speaker) if color < 0 else color
        paint_badge(painter, rect, speaker, theme, self.font(), shown)
        painter.end()
        return QIcon(pixmap)


def _on(action: QAction, call: Callable[[], None]) -> None:
    # Without the argument whether it is checked.
    action.triggered.connect(lambda: call())

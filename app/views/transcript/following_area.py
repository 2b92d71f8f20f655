"""A scroll area that stays at its end until the reader moves away."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractScrollArea, QPushButton, QWidget

from app.i18n import tr

_END_MARGIN_PX = 16


class FollowingArea(QAbstractScrollArea):
    """Follows growing content, stands still once scrolled, returns by a button.

    A subclass says how high its content is (`content_height`), makes heights exact where they are
    about to be seen (`measure_end`, `measure_at`), and calls `settle` when the content changed.

    Signals:
        follow_changed: whether it stays at the end.

    Attributes:
        is_growing: whether there is anything to follow; else no way back is offered.
    """

    follow_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_following = True
        self._is_own_scroll = False
        self.is_growing = True
        self.jump_button = QPushButton(tr("↓ Jump to latest"), self)
        self.jump_button.setProperty("role", "float")
        self.jump_button.setToolTip(tr("Follow the newest words again (Ctrl+L)"))
        self.jump_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.jump_button.hide()
        self.jump_button.clicked.connect(self.jump_to_latest)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    @property
    def is_following(self) -> bool:
        """Whether it stays at the end as content comes."""
        return self._is_following

    @property
    def offset(self) -> int:
        """How much of the content lies above the view, pixels."""
        return int(self.verticalScrollBar().value())

    @Slot()
    def jump_to_latest(self) -> None:
        """Go to the end and stay there."""
        self.scrolled_by_reader()
        self.set_following(True)
        self.settle()

    def set_following(self, is_following: bool) -> None:
        """Stay at the end, or stand still; nothing moves before `settle`."""
        if is_following != self._is_following:
            self._is_following = is_following
            self.follow_changed.emit(is_following)

    def settle(self) -> None:
        """Measure what is seen and put the scroll bar where it belongs."""
        height = self.viewport().height()
        if self._is_following:
            self.measure_end(height)
            self.set_offset(self.content_height())
        else:
            # What grew above the view pushes the view down, so that what is read stands still.
            self.set_offset(self.offset + self.measure_at(self.offset, height))
        is_behind = self.is_growing and not self._is_following
        self.jump_button.setVisible(is_behind and self.content_height() > 0)
        self.viewport().update()

    def set_offset(self, offset: int) -> None:
        """Scroll without taking it for the reader's wish."""
        bar, height = self.verticalScrollBar(), self.viewport().height()
        self._is_own_scroll = True
        bar.setPageStep(height)
        bar.setRange(0, max(0, self.content_height() + _END_MARGIN_PX - height))
        bar.setValue(min(offset, bar.maximum()))
        # Without a handle where everything is in view; its room stays, so that nothing moves.
        bar.setEnabled(bar.maximum() > 0)
        self._is_own_scroll = False

    def place_button(self) -> None:
        """Put the button over the lower end of the view."""
        size, area = self.jump_button.sizeHint(), self.viewport().geometry()
        left = area.center().x() - size.width() // 2
        self.jump_button.setGeometry(
            left, area.bottom() - size.height() - 12, size.width(), size.height()
        )

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        del dx, dy
        if not self._is_own_scroll:
            bar = self.verticalScrollBar()
            self.scrolled_by_reader()
            self.set_following(bar.value() >= bar.maximum() - 2)
            self.settle()
        self.viewport().update()

    def scrolled_by_reader(self) -> None:
        """Take in that the reader has scrolled."""

    def content_height(self) -> int:
        """Return the height of everything, pixels."""
        raise NotImplementedError

    def measure_end(self, height: int) -> None:
        """Make the last `height` pixels exact."""
        raise NotImplementedError

    def measure_at(self, offset: int, height: int) -> int:
        """Make what is seen exact; returns how much grew above `offset`."""
        raise NotImplementedError

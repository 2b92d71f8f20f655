"""The bar of choices over captions: it comes when it is wanted, and goes again."""

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPushButton, QWidget

from app.i18n import tr
from app.views.captions.controls import CaptionsControls
from app.views.captions.wrapping import WrappingLayout

_HIDE_AFTER_MS = 4000


class CaptionsBar(QFrame):
    """Lies over the captions at the upper edge.

    Signals:
        box_asked: show or hide the line for typing.
        full_asked: the whole screen.
        small_asked: the small window.
        leave_asked: no captions any more.
        hidden: it has gone.

    Args:
        parent: the captions' window.
    """

    box_asked = Signal(bool)
    full_asked = Signal()
    small_asked = Signal()
    leave_asked = Signal()
    hidden = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self.setObjectName("captionsBar")
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(tr("Choices for captions"))
        self.controls = CaptionsControls(self)
        self.more_button = QPushButton(tr("Choices"))
        self.box_button = QPushButton(tr("Type to speak"))
        self.full_button = QPushButton(tr("Full screen"))
        self.small_button = QPushButton(tr("Small window"))
        self.leave_button = QPushButton(tr("Close captions"))
        self.message = QLabel()
        self._is_small = False
        self._timer = QTimer(self, singleShot=True, interval=_HIDE_AFTER_MS)
        self._timer.timeout.connect(self._hide_if_unused)
        self._build()
        self._connect()
        self.hide()

    @property
    def has_focus(self) -> bool:
        """Whether one of its controls has the keyboard's focus."""
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    @Slot()
    def reveal(self) -> None:
        """Show all of it for a while."""
        self._unfold(True)
        self._come()

    @Slot()
    def reveal_folded(self) -> None:
        """Show it for a while; in the small window not the choices, which would cover the words."""
        if not self.isVisible():
            self._unfold(not self._is_small)
        self._come()

    def hide_after(self, milliseconds: int) -> None:
        """Hide so long after it was last used."""
        self._timer.setInterval(milliseconds)

    def fit(self) -> None:
        """Take the window's width, and the height that needs."""
        width = self._window.width()
        self.setGeometry(0, 0, width, self.heightForWidth(width))

    @Slot()
    def put_away(self) -> None:
        """Hide it now."""
        self._timer.stop()
        if self.isVisible():
            self.hide()
            self.hidden.emit()

    def show_mode(self, *, is_small: bool, has_box: bool) -> None:
        """Show which window it lies in, and whether there is a line for typing."""
        self._is_small = is_small
        self.small_button.setVisible(not is_small)
        self.full_button.setVisible(is_small)
        with QSignalBlocker(self.box_button):
            self.box_button.setChecked(has_box)
        if self.isVisible():
            self.fit()

    def show_message(self, text: str) -> None:
        """Say something about the window; empty to say nothing."""
        self.message.setText(text)
        self.message.setVisible(bool(text))
        if self.isVisible():
            self.fit()

    # --- Qt events ---

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.controls.list_families()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.FocusIn, QEvent.Type.MouseMove):
            self._timer.start()
        return False

    @Slot()
    def _hide_if_unused(self) -> None:
        popup = QApplication.activePopupWidget()
        if self.has_focus or popup is not None:
            self._timer.start()
        else:
            self.put_away()

    def _come(self) -> None:
        if not self.isVisible():
            self.fit()
            self.show()
            self.raise_()
        self._timer.start()

    def _unfold(self, is_whole: bool) -> None:
        self.more_button.setVisible(not is_whole)
        for part in self.controls.parts:
            part.setVisible(is_whole)
        if self.isVisible():
            self.fit()

    def _build(self) -> None:
        self.box_button.setCheckable(True)
        self.more_button.setToolTip(tr("Lines, size, font and colours (F10)"))
        self.box_button.setToolTip(tr("A line for texts that are spoken (F6)"))
        self.full_button.setToolTip(tr("Captions on the whole screen (F11)"))
        self.small_button.setToolTip(tr("A small window that stays on top (Shift+F11)"))
        self.leave_button.setToolTip(tr("Back to the window (Esc)"))
        self.message.setProperty("role", "problem")
        self.message.setWordWrap(True)
        layout = WrappingLayout(self, 10, 10)
        for part in (
            *self.controls.parts,
            self.more_button,
            self.box_button,
            self.full_button,
            self.small_button,
            self.leave_button,
            self.message,
        ):
            layout.addWidget(part)
        for child in self.findChildren(QWidget):
            child.installEventFilter(self)
            child.setMouseTracking(True)
        self.show_message("")

    def _connect(self) -> None:
        self.more_button.clicked.connect(self.reveal)
        self.box_button.toggled.connect(self.box_asked)
        self.full_button.clicked.connect(self.full_asked)
        self.small_button.clicked.connect(self.small_asked)
        self.leave_button.clicked.connect(self.leave_asked)

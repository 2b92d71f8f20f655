"""How a window of captions stands on the desktop: not at all, all over it, or small and on top."""

from enum import Enum

from PySide6.QtCore import QRect, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QSizeGrip, QWidget

from app.captions import CaptionsFile, SmallPlace
from app.views.captions.frame import FramelessMover, reachable

_PLAIN = Qt.WindowType.Window
_ON_TOP = _PLAIN | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint


class CaptionsMode(Enum):
    """How captions are shown."""

    HIDDEN = "hidden"
    FULL = "full"
    SMALL = "small"


class CaptionsShell(QWidget):
    """A top-level window in one of the modes.

    Signals:
        mode_changed: `mode` is another one; told before the window is shown so.

    Args:
        captions_file: told where the small window is left; somebody else saves it.
    """

    mode_changed = Signal()

    def __init__(self, captions_file: CaptionsFile) -> None:
        super().__init__(None, _PLAIN)
        self._file = captions_file
        self._extra_height = 0
        self._mover: FramelessMover | None = None
        self._grip = QSizeGrip(self)
        self._grip.hide()
        self.mode = CaptionsMode.HIDDEN

    @property
    def is_small(self) -> bool:
        """Whether it is the small window."""
        return self.mode is CaptionsMode.SMALL

    @Slot()
    def toggle(self) -> None:
        """Show captions on the whole screen; leave them if they are shown so."""
        if self.mode is CaptionsMode.FULL:
            self.leave()
        else:
            self.show_full()

    @Slot()
    def toggle_small(self) -> None:
        """Show captions in the small window; leave them if they are shown so."""
        if self.is_small:
            self.leave()
        else:
            self.show_small()

    @Slot()
    def show_full(self) -> None:
        """Cover the screen that the small window, or else the active one, is on."""
        active = QGuiApplication.focusWindow()
        screen = active.screen() if active is not None else QGuiApplication.primaryScreen()
        self._enter(CaptionsMode.FULL)
        self._renew(_PLAIN)
        # Where there is no window manager, nobody resizes it.
        self.setGeometry(screen.geometry())
        self.showFullScreen()
        self._come_forward()

    @Slot()
    def show_small(self) -> None:
        """Show a window without a frame that stays on top, where the desktop lets it."""
        self._enter(CaptionsMode.SMALL)
        self._renew(_ON_TOP)
        self.setWindowState(Qt.WindowState.WindowNoState)
        screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
        usual = QGuiApplication.primaryScreen().availableGeometry()
        self.setGeometry(self._with_extra(reachable(self._file.look.small, screens, usual)))
        self.show()
        self._come_forward()

    @Slot()
    def leave(self) -> None:
        """Show no captions any more."""
        if self.mode is not CaptionsMode.HIDDEN:
            self._enter(CaptionsMode.HIDDEN)
            self.hide()

    def make_handles(self, *handles: QWidget) -> None:
        """Let the small window be moved and resized by widgets."""
        self._mover = FramelessMover(self, handles)
        self._mover.moved.connect(self._remember_place)

    def set_extra_height(self, height: int) -> None:
        """Grow the small window upwards for something that is there for a while."""
        if height == self._extra_height:
            return
        base = self._base()
        self._extra_height = height
        if self.is_small:
            self.setGeometry(self._with_extra(base))

    # --- Qt events ---

    def closeEvent(self, event: QCloseEvent) -> None:
        self.leave()
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grip.resize(self._grip.sizeHint())
        self._grip.move(self.rect().bottomRight() - self._grip.rect().bottomRight())
        self._grip.raise_()

    # --- places ---

    def _enter(self, mode: CaptionsMode) -> None:
        self._remember_place()
        self.mode = mode
        if self._mover is not None:
            self._mover.is_on = self.is_small
        self._grip.setVisible(self.is_small)
        self.mode_changed.emit()

    def _renew(self, flags: Qt.WindowType) -> None:
        """Take flags that hold for a new native window alone."""
        if self.windowFlags() != flags:
            self.hide()
            # Qt takes a window that comes back under other flags for one that never lost the
            # focus, and gives it none.
            self.destroy()
            self.setWindowFlags(flags)

    def _come_forward(self) -> None:
        self.activateWindow()

    def _base(self) -> QRect:
        """Return the small window's place as it is without its extra height."""
        return self.geometry().adjusted(0, self._extra_height, 0, 0)

    def _with_extra(self, base: QRect) -> QRect:
        rect = base.adjusted(0, -self._extra_height, 0, 0)
        screen = QGuiApplication.screenAt(base.center()) or QGuiApplication.primaryScreen()
        hidden = screen.availableGeometry().top() - rect.top()
        return rect.translated(0, hidden) if self._extra_height and hidden > 0 else rect

    @Slot()
    def _remember_place(self) -> None:
        if not self.is_small or not self.isVisible():
            return
        base = self._base()
        place = SmallPlace(base.x(), base.y(), max(1, base.width()), max(1, base.height()))
        self._file.change(small=place)

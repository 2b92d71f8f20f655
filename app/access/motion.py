"""Whether things may move: what the desktop prefers, and what the user said here."""

import ctypes
import sys

from PySide6.QtCore import QObject, Signal

_PORTAL = "org.freedesktop.portal.Desktop"
_TIMEOUT_MS = 200
"""The window waits this long at most for a desktop that does not answer."""
_KEYS = (
    ("org.freedesktop.appearance", "reduced-motion", 1),
    ("org.gnome.desktop.interface", "enable-animations", False),
)
"""Settings of Linux desktops, and the value that asks for rest."""
_SPI_GETCLIENTAREAANIMATION = 0x1042


class Motion(QObject):
    """Whether movement is reduced. Thread: main.

    Signals:
        changed: `is_reduced` is another.

    Args:
        choice: "full" or "reduced"; "" for what the desktop prefers.
    """

    changed = Signal(bool)

    def __init__(self, choice: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice = choice
        self.is_reduced = self._wanted()

    def choose(self, choice: str) -> None:
        """Move or rest whatever the desktop says; "" asks the desktop again."""
        self.choice = choice
        is_reduced = self._wanted()
        if is_reduced != self.is_reduced:
            self.is_reduced = is_reduced
            self.changed.emit(is_reduced)

    def _wanted(self) -> bool:
        return self.choice == "reduced" if self.choice else prefers_reduced_motion()


def prefers_reduced_motion() -> bool:
    """Return whether the desktop asks programs to keep still; False where it cannot be asked."""
    if sys.platform == "win32":
        return _windows_prefers()
    if sys.platform.startswith("linux"):
        return any(_portal_value(space, key) == asks for space, key, asks in _KEYS)
    return False


def _portal_value(namespace: str, key: str) -> object:
    """Return a setting of the desktop; None where there is none."""
    from PySide6.QtDBus import QDBus, QDBusConnection, QDBusMessage

    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return None
    question = QDBusMessage.createMethodCall(
        _PORTAL, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings", "Read"
    )
    question.setArguments([namespace, key])
    answer = bus.call(question, QDBus.CallMode.Block, _TIMEOUT_MS)
    if answer.type() != QDBusMessage.MessageType.ReplyMessage or not answer.arguments():
        return None
    value = answer.arguments()[0]
    # The setting comes wrapped, by some portals twice.
    while hasattr(value, "variant"):
        value = value.variant()
    return value


def _windows_prefers() -> bool:
    """Ask Windows whether it moves what is inside windows."""
    moves = ctypes.c_int(1)
    library = ctypes.windll.user32  # type: ignore[attr-defined]
    library.SystemParametersInfoW(_SPI_GETCLIENTAREAANIMATION, 0, ctypes.byref(moves), 0)
    return not moves.value

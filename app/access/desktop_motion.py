"""Whether the desktop asks programs to keep still."""

import ctypes
import sys
from typing import Any

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher

_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.Settings"
_ASKING_FOR_REST = {
    ("org.freedesktop.appearance", "reduced-motion"): 1,
    ("org.gnome.desktop.interface", "enable-animations"): False,
}
"""Settings of Linux desktops, and the value of each that asks for rest."""
_SPI_GETCLIENTAREAANIMATION = 0x1042


class DesktopMotion(QObject):
    """What the desktop prefers; nothing waits for its answer. Thread: main.

    Linux desktops are asked through their settings portal and heard when they change their mind,
    Windows is asked once; elsewhere things may move.

    Signals:
        changed: `is_reduced` is another.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_reduced = sys.platform == "win32" and _windows_prefers()
        self._told: dict[tuple[str, str], object] = {}
        if sys.platform.startswith("linux"):
            self._ask_portal()

    @Slot(QDBusMessage)
    def take_change(self, message: QDBusMessage) -> None:
        """Take in that the desktop changed a setting."""
        space, key, value = message.arguments()
        self._take((str(space), str(key)), value)

    def _ask_portal(self) -> None:
        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return
        slot: Any = SLOT("take_change(QDBusMessage)")
        bus.connect(_SERVICE, _PATH, _INTERFACE, "SettingChanged", self, slot)
        for setting in _ASKING_FOR_REST:
            question = QDBusMessage.createMethodCall(_SERVICE, _PATH, _INTERFACE, "Read")
            question.setArguments(list(setting))
            watcher = QDBusPendingCallWatcher(bus.asyncCall(question), self)
            watcher.finished.connect(lambda done, setting=setting: self._take_answer(setting, done))

    def _take_answer(self, setting: tuple[str, str], done: QDBusPendingCallWatcher) -> None:
        answer = done.reply()
        if answer.type() == QDBusMessage.MessageType.ReplyMessage and answer.arguments():
            self._take(setting, answer.arguments()[0])
        done.deleteLater()

    def _take(self, setting: tuple[str, str], value: object) -> None:
        # A setting comes wrapped, by some portals twice.
        while hasattr(value, "variant"):
            value = value.variant()
        self._told[setting] = value
        is_reduced = any(self._told.get(key) == rest for key, rest in _ASKING_FOR_REST.items())
        if is_reduced != self.is_reduced:
            self.is_reduced = is_reduced
            self.changed.emit()


def _windows_prefers() -> bool:
    """Ask Windows whether it keeps still what is inside windows."""
    moves = ctypes.c_int(1)
    library = ctypes.windll.user32  # type: ignore[attr-defined]
    library.SystemParametersInfoW(_SPI_GETCLIENTAREAANIMATION, 0, ctypes.byref(moves), 0)
    return not moves.value

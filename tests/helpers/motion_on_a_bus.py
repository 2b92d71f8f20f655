"""Asks a settings portal, in a session bus of its own, whether things may move.

The portal is in this process, too, and changes its mind once it was asked. Prints what was heard.
"""

import sys

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusVariant, QDBusVirtualObject

from app.access.motion import Motion

SERVICE = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SETTINGS = "org.freedesktop.portal.Settings"
GNOME = ["org.gnome.desktop.interface", "enable-animations"]


class Portal(QDBusVirtualObject):
    """Knows one setting, and wraps it twice as portals do."""

    def introspect(self, path: str) -> str:
        del path
        return ""

    def handleMessage(self, message: QDBusMessage, connection: QDBusConnection) -> bool:
        if message.arguments() == GNOME:
            connection.send(message.createReply(_twice(False)))
            return True
        return False


def _twice(value: object) -> QDBusVariant:
    outer = QDBusVariant(0)
    outer.setVariant(QDBusVariant(value))
    return outer


def main() -> int:
    application = QCoreApplication(sys.argv)
    bus = QDBusConnection.connectToBus(QDBusConnection.BusType.SessionBus, "portal")
    portal = Portal()
    assert bus.registerVirtualObject(PATH, portal)
    assert bus.registerService(SERVICE)
    motion = Motion()

    def changed(is_reduced: bool) -> None:
        sys.stdout.write(f"{is_reduced}\n")
        if not is_reduced:
            application.quit()
            return
        signal = QDBusMessage.createSignal(PATH, SETTINGS, "SettingChanged")
        signal.setArguments([*GNOME, QDBusVariant(True)])
        bus.send(signal)

    motion.changed.connect(changed)
    QTimer.singleShot(15_000, application.quit)
    application.exec()
    return 0


if __name__ == "__main__":
    sys.exit(main())

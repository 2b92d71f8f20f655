"""Stands in for a screen reader on Linux: reads a program's window over the accessibility bus."""

import re
import subprocess
import time
from dataclasses import dataclass

from PySide6.QtCore import SLOT, QCoreApplication, QObject, Slot
from PySide6.QtDBus import QDBus, QDBusConnection, QDBusMessage

ACCESSIBLE = "org.a11y.atspi.Accessible"
VALUE = "org.a11y.atspi.Value"
_ROOT = "/org/a11y/atspi/accessible/root"
_REGISTRY = "org.a11y.atspi.Registry"
_TIMEOUT_MS = 5000


@dataclass(frozen=True)
class Heard:
    """What a screen reader learns of one thing in a window."""

    depth: int
    bus_name: str
    path: str
    role: str
    name: str
    description: str


class ScreenReader(QObject):
    """Asks on the accessibility bus, and hears announcements. Thread: main.

    Attributes:
        announced: texts that programs asked to be said.
    """

    def __init__(self) -> None:
        super().__init__()
        session = QDBusConnection.sessionBus()
        place = _call(session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
        self._address = str(place)
        self._bus = QDBusConnection.connectToBus(self._address, "reader")
        self.announced: list[str] = []
        registry = "/org/a11y/atspi/registry"
        _call(self._bus, _REGISTRY, registry, _REGISTRY, "RegisterEvent", "object:announcement")
        events = "org.a11y.atspi.Event.Object"
        self._bus.connect("", "", events, "Announcement", self, SLOT("take(QDBusMessage)"))

    @Slot(QDBusMessage)
    def take(self, message: QDBusMessage) -> None:
        """Take an announcement."""
        self.announced.append(message.arguments()[3].variant())

    def wait_for(self, text: str, timeout_s: float = 10.0) -> bool:
        """Return whether a text is announced in time."""
        end_s = time.monotonic() + timeout_s
        while not (found := text in "\n".join(self.announced)) and time.monotonic() < end_s:
            QCoreApplication.processEvents()
            time.sleep(0.02)
        return found

    def find_program(self, timeout_s: float = 20.0) -> tuple[str, str]:
        """Return bus name and path of the first program, once it is there."""
        end_s = time.monotonic() + timeout_s
        while not (programs := self._children(_REGISTRY, _ROOT)):
            if time.monotonic() > end_s:
                raise TimeoutError("no program came to the accessibility bus")
            time.sleep(0.1)
        return programs[0]

    def walk(self, bus_name: str, path: str, depth: int = 0) -> list[Heard]:
        """Return a thing and everything in it, in the order they are read."""
        role = str(_call(self._bus, bus_name, path, ACCESSIBLE, "GetRoleName"))
        name = str(self.value(bus_name, path, ACCESSIBLE, "Name"))
        description = str(self.value(bus_name, path, ACCESSIBLE, "Description"))
        heard = [Heard(depth, bus_name, path, role, name, description)]
        for child_bus, child_path in self._children(bus_name, path):
            heard += self.walk(child_bus, child_path, depth + 1)
        return heard

    def value(self, bus_name: str, path: str, interface: str, name: str) -> object:
        """Return a property."""
        properties = "org.freedesktop.DBus.Properties"
        answer = _call(self._bus, bus_name, path, properties, "Get", interface, name)
        return answer.variant() if hasattr(answer, "variant") else answer

    def _children(self, bus_name: str, path: str) -> list[tuple[str, str]]:
        # PySide cannot take structures apart.
        done = subprocess.run(
            [
                "gdbus",
                "call",
                f"--address={self._address}",
                f"--dest={bus_name}",
                f"--object-path={path}",
                f"--method={ACCESSIBLE}.GetChildren",
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )
        return re.findall(r"\('([^']*)', (?:objectpath )?'([^']*)'\)", done.stdout)


def _call(
    bus: QDBusConnection, service: str, path: str, interface: str, method: str, *arguments: object
) -> object:
    question = QDBusMessage.createMethodCall(service, path, interface, method)
    question.setArguments(list(arguments))
    answer = bus.call(question, QDBus.CallMode.Block, _TIMEOUT_MS)
    if answer.type() != QDBusMessage.MessageType.ReplyMessage:
        raise RuntimeError(f"{method} of {path}: {answer.errorMessage()}")
    return answer.arguments()[0] if answer.arguments() else None

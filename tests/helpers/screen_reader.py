"""Stands in for a screen reader on Linux: reads a program's window over the accessibility bus."""

import re
import subprocess
from dataclasses import dataclass

_ACCESSIBLE = "org.a11y.atspi.Accessible"
_ROOT = "/org/a11y/atspi/accessible/root"
_REGISTRY = "org.a11y.atspi.Registry"
_VALUE = "org.a11y.atspi.Value"


@dataclass(frozen=True)
class Heard:
    """What a screen reader learns of one thing in a window."""

    depth: int
    bus_name: str
    path: str
    role: str
    name: str
    description: str


class ScreenReader:
    """Asks on the accessibility bus of the session in the environment."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        answer = self._run(
            "--session", "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus.GetAddress"
        )
        self.address = re.search(r"'(.*)'", answer)[1]  # type: ignore[index]

    def programs(self) -> list[tuple[str, str]]:
        """Return bus name and path of every program that has windows."""
        return self._children(_REGISTRY, _ROOT)

    def walk(self, bus_name: str, path: str, depth: int = 0) -> list[Heard]:
        """Return a thing and everything in it, in the order they are read."""
        role = _text(self.call(bus_name, path, f"{_ACCESSIBLE}.GetRoleName"))
        name = _text(self.property(bus_name, path, _ACCESSIBLE, "Name"))
        description = _text(self.property(bus_name, path, _ACCESSIBLE, "Description"))
        heard = [Heard(depth, bus_name, path, role, name, description)]
        for child_bus, child_path in self._children(bus_name, path):
            heard += self.walk(child_bus, child_path, depth + 1)
        return heard

    def value(self, heard: Heard) -> float:
        """Return the number a meter or slider is at."""
        text = self.property(heard.bus_name, heard.path, _VALUE, "CurrentValue")
        return float(re.search(r"-?\d+\.?\d*", text)[0])  # type: ignore[index]

    def property(self, bus_name: str, path: str, interface: str, name: str) -> str:
        """Return a property as gdbus writes it."""
        getter = "org.freedesktop.DBus.Properties.Get"
        return self.call(bus_name, path, getter, interface, name)

    def call(self, bus_name: str, path: str, method: str, *arguments: str) -> str:
        """Return an answer as gdbus writes it."""
        return self._run(f"--address={self.address}", bus_name, path, method, *arguments)

    def _children(self, bus_name: str, path: str) -> list[tuple[str, str]]:
        answer = self.call(bus_name, path, f"{_ACCESSIBLE}.GetChildren")
        return re.findall(r"\('([^']*)', (?:objectpath )?'([^']*)'\)", answer)

    def _run(self, bus: str, dest: str, path: str, method: str, *arguments: str) -> str:
        done = subprocess.run(
            ["gdbus", "call", bus, "--dest", dest, "--object-path", path, "--method", method]
            + [*arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )
        return done.stdout.strip()


def _text(answer: str) -> str:
    """Return the one string in an answer of gdbus."""
    found = re.search(r"\(<?(['\"])(.*)\1>?,\)", answer, re.DOTALL)
    return found[2] if found else ""

"""Whether things move: the user's choice, else the desktop's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.access.desktop_motion import DesktopMotion
from app.access.motion import Motion

pytestmark = pytest.mark.unit
ROOT = Path(__file__).parents[3]
GNOME = ("org.gnome.desktop.interface", "enable-animations")
FREEDESKTOP = ("org.freedesktop.appearance", "reduced-motion")


class Desktop(DesktopMotion):
    """A desktop that nobody is asked about."""

    def _ask_portal(self) -> None:
        pass

    def tell(self, setting: tuple[str, str], value: object) -> None:
        self._take(setting, value)


@pytest.fixture
def desktop(qapp: object) -> Desktop:
    assert qapp
    return Desktop()


def test_motion_when_the_desktop_says_nothing_then_things_move(desktop: Desktop) -> None:
    assert not Motion("", None, desktop).is_reduced


@pytest.mark.parametrize(("setting", "rest", "moves"), [(GNOME, False, True), (FREEDESKTOP, 1, 0)])
def test_motion_when_the_desktop_changes_its_mind_then_it_is_followed(
    desktop: Desktop, setting: tuple[str, str], rest: object, moves: object
) -> None:
    motion = Motion("", None, desktop)
    heard: list[bool] = []
    motion.changed.connect(heard.append)
    for value in (rest, rest, moves):
        desktop.tell(setting, value)
    assert heard == [True, False]
    desktop.tell(("org.freedesktop.appearance", "color-scheme"), rest)
    assert not motion.is_reduced


def test_motion_when_the_user_chose_then_the_desktop_does_not_count(desktop: Desktop) -> None:
    motion = Motion("full", None, desktop)
    heard: list[bool] = []
    motion.changed.connect(heard.append)
    desktop.tell(GNOME, False)
    assert heard == []
    motion.choose("")
    assert heard == [True]
    motion.choose("full")
    desktop.tell(GNOME, True)
    motion.choose("reduced")
    assert heard == [True, False, True]


def test_motion_when_there_is_no_session_bus_then_things_move() -> None:
    code = (
        "from PySide6.QtCore import QCoreApplication; app = QCoreApplication([]);"
        "from app.access.motion import Motion; import sys; sys.exit(Motion().is_reduced)"
    )
    nowhere = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=nowhere, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(shutil.which("dbus-run-session") is None, reason="there is no D-Bus")
def test_motion_when_a_portal_answers_and_changes_its_mind_then_both_are_heard() -> None:
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-m", "tests.helpers.motion_on_a_bus"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.split() == ["True", "False"], done.stderr

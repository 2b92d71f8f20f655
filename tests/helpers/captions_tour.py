"""Shows captions on a real display in every mode, and tells what the display made of it.

Usage: python -m tests.helpers.captions_tour FOLDER
Prints one line of JSON. `xprop` and `xdotool`, where they are installed, are asked as well.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.captions import CaptionsFile
from tests.helpers.captions import CaptionParts, make_captions, talk


def main(folder: Path) -> None:
    """Go through the modes."""
    application = QApplication([])
    application.setStyle("Fusion")
    parts = make_captions(folder)
    seen: dict[str, object] = {}
    parts.window.show_full()
    parts.state.take(talk())
    _settle()
    screen = application.primaryScreen()
    seen["screen"] = screen.geometry().getRect()
    seen["full"] = _real_rect(parts)
    seen["full_has_focus"] = parts.window.view.hasFocus()
    parts.window.bar.put_away()
    _settle()
    image = screen.grabWindow(0).toImage()
    seen["full_grounds"] = [image.pixelColor(x, y).name() for x, y in _corners(image)]
    parts.window.show_small()
    parts.window.setGeometry(200, 300, 600, 170)
    _settle()
    seen["small"] = _real_rect(parts)
    seen["small_has_focus"] = parts.window.view.hasFocus()
    seen["small_properties"] = _properties(parts)
    _drag((400, 380), (460, 340))
    seen["dragged"] = _real_rect(parts)
    _drag((858, 340), (898, 340))
    seen["widened"] = _real_rect(parts)
    parts.window.leave()
    seen["is_visible"] = parts.window.isVisible()
    small = CaptionsFile(folder).look.small
    assert small is not None
    seen["kept"] = (small.x, small.y, small.width, small.height)
    print(json.dumps(seen))  # noqa: T201
    parts.jobs.close()
    parts.window.deleteLater()
    QTest.qWait(1)


def _settle() -> None:
    QTest.qWait(300)


def _real_rect(parts: CaptionParts) -> tuple[int, ...]:
    """Return where the display says that the window is."""
    if shutil.which("xdotool") is None:
        return tuple(parts.window.geometry().getRect())
    answer = _ask("xdotool", "getwindowgeometry", "--shell", _window_id(parts))
    values = dict(line.split("=") for line in answer.split())
    return tuple(int(values[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))


def _window_id(parts: CaptionParts) -> str:
    """Return the display's number of the window; it is another one in each mode."""
    handle = parts.window.windowHandle()
    assert handle is not None
    return str(int(handle.winId()))


def _properties(parts: CaptionParts) -> str:
    if shutil.which("xprop") is None:
        return ""
    return _ask("xprop", "-id", _window_id(parts), "_NET_WM_STATE", "_MOTIF_WM_HINTS")


def _drag(start: tuple[int, int], end: tuple[int, int]) -> None:
    """Drag with the display's pointer."""
    if shutil.which("xdotool") is None:
        return
    for command in (
        ("mousemove", str(start[0]), str(start[1])),
        ("mousedown", "1"),
        ("mousemove", str((start[0] + end[0]) // 2), str((start[1] + end[1]) // 2)),
        ("mousemove", str(end[0]), str(end[1])),
        ("mouseup", "1"),
    ):
        _ask("xdotool", *command)
        QTest.qWait(60)
    _settle()


def _ask(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout


def _corners(image: object) -> tuple[tuple[int, int], ...]:
    width, height = image.width(), image.height()  # type: ignore[attr-defined]
    return ((0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

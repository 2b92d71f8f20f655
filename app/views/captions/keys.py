"""Keys of the captions' window."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence, QShortcut

from app.views.captions.phrases import NUM_KEYS

if TYPE_CHECKING:
    from app.views.captions.window import CaptionsWindow

_HELD = ("Ctrl++", "Ctrl+=", "Ctrl+-", "Alt+Up", "Alt+Down")
"""Keys that go on working while they are held down."""


def add_keys(window: "CaptionsWindow") -> None:
    """Give the window its keys. Esc is not among them: whatever has the focus is asked first."""
    choices = window.choices
    keys: dict[str, Callable[[], object]] = {
        "F11": window.toggle,
        "Shift+F11": window.toggle_small,
        "F3": choices.toggle_names,
        "F4": choices.next_scheme,
        "F6": window.toggle_box,
        "Ctrl+T": window.toggle_box,
        "F7": window.toggle_phrases,
        "F10": window.focus_bar,
        "Ctrl++": lambda: choices.change_size(+1),
        "Ctrl+=": lambda: choices.change_size(+1),
        "Ctrl+-": lambda: choices.change_size(-1),
        "Ctrl+0": lambda: choices.change_size(0),
        "Alt+Up": lambda: choices.change_lines(+1),
        "Alt+Down": lambda: choices.change_lines(-1),
        "Ctrl+D": window.box.save_phrase,
        "Ctrl+R": window.record_asked.emit,
        "Ctrl+P": window.pause_asked.emit,
    }
    for number in range(1, NUM_KEYS + 1):
        keys[f"Ctrl+{number}"] = partial(window.say_phrase, number)
    for key, command in keys.items():
        shortcut = QShortcut(QKeySequence(key), window)
        shortcut.activated.connect(command)
        shortcut.setAutoRepeat(key in _HELD)

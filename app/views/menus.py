"""The menu bar: every command by name, with its key."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from app.views.keep_dialog import CHOICES


@dataclass(frozen=True, slots=True)
class Commands:
    """What the menu entries do; each is called on the main thread."""

    record: Callable[[], None]
    pause: Callable[[], None]
    demo: Callable[[], None]
    listen_to_file: Callable[[], None]
    export: Callable[[], None]
    quit: Callable[[], None]
    copy: Callable[[], None]
    select_all: Callable[[], None]
    rename: Callable[[], None]
    larger: Callable[[], None]
    smaller: Callable[[], None]
    usual_size: Callable[[], None]
    jump: Callable[[], None]
    show_live: Callable[[], None]
    zoom_in: Callable[[], None]
    zoom_out: Callable[[], None]
    earlier: Callable[[], None]
    later: Callable[[], None]
    speak: Callable[[], None]
    stop_speaking: Callable[[], None]
    save_wav: Callable[[], None]
    messages: Callable[[], None]
    report: Callable[[], None]
    about: Callable[[], None]
    keep: Callable[[str], None]
    hold_back: Callable[[bool], None]


@dataclass(slots=True)
class MenuActions:
    """Entries whose state the window changes later."""

    pause: QAction
    demo: QAction
    listen_to_file: QAction
    export: QAction
    show_live: QAction
    view: QMenu
    diarizers: QMenu
    keep: dict[str, QAction] = field(default_factory=dict)


def fill_menus(bar: QMenuBar, commands: Commands, *, keep: str, hold_back: bool) -> MenuActions:
    """Make the menus and return the entries that change."""
    file = bar.addMenu("&File")
    listen = _add(file, "Listen to a sound file…", commands.listen_to_file, "Ctrl+O")
    export = _add(file, "Export transcript…", commands.export, "Ctrl+E")
    _add(file, "Save spoken text as WAV…", commands.save_wav, "Ctrl+Shift+S")
    file.addSeparator()
    _add(file, "Quit", commands.quit, "Ctrl+Q")

    edit = bar.addMenu("&Edit")
    # No keys of their own: Ctrl+C and Ctrl+A belong to whatever has the focus.
    _add(edit, "Copy lines of the transcript", commands.copy, "Ctrl+Shift+C")
    _add(edit, "Select whole transcript", commands.select_all)
    edit.addSeparator()
    _add(edit, "Rename speaker", commands.rename, "F2")

    recording = bar.addMenu("&Recording")
    _add(recording, "Record or stop", commands.record, "Ctrl+R")
    pause = _add(recording, "Pause or resume", commands.pause, "Ctrl+P")
    demo = _add(recording, "Play the demo", commands.demo)
    recording.addSeparator()
    kept = _add_keep_menu(recording, commands, keep)
    # Filled once it is known what there is: see `show_diarizers`.
    diarizers = recording.addMenu("Speakers are told apart by")
    diarizers.setEnabled(False)
    _add_switch(recording, "Leave out this program's own voice", commands.hold_back, hold_back)

    view = bar.addMenu("&View")
    show_live = _add(view, "Back to the present recording", commands.show_live, "Ctrl+B")
    _add(view, "Jump to latest words", commands.jump, "Ctrl+L")
    view.addSeparator()
    _add(view, "Larger text", commands.larger, "Ctrl++", "Ctrl+=")
    _add(view, "Smaller text", commands.smaller, "Ctrl+-")
    _add(view, "Usual text size", commands.usual_size, "Ctrl+0")
    view.addSeparator()
    _add(view, "Zoom timeline in", commands.zoom_in, "Alt++", "Alt+=")
    _add(view, "Zoom timeline out", commands.zoom_out, "Alt+-")
    _add(view, "Earlier in the timeline", commands.earlier, "Alt+Left")
    _add(view, "Later in the timeline", commands.later, "Alt+Right")

    speech = bar.addMenu("&Speech")
    _add(speech, "Speak the text", commands.speak, "Ctrl+Return", "Ctrl+Enter")
    _add(speech, "Stop speaking", commands.stop_speaking, "Esc")

    helping = bar.addMenu("&Help")
    _add(helping, "Messages…", commands.messages)
    _add(helping, "Copy health report", commands.report)
    _add(helping, "About Viva Voce", commands.about)
    return MenuActions(pause, demo, listen, export, show_live, view, diarizers, kept)


def add_panel_switch(
    actions: MenuActions, title: str, keys: str, switch: Callable[[bool], None], *, is_on: bool
) -> None:
    """Add an entry to the View menu that shows or hides a panel."""
    _add_switch(actions.view, title, switch, is_on, keys)


def show_diarizers(
    actions: MenuActions,
    choices: Sequence[tuple[str, str]],
    chosen: str,
    choose: Callable[[str], None],
) -> None:
    """Offer what can tell speakers apart.

    Args:
        actions: the entries of the window.
        choices: as (backend id, title).
        chosen: the backend id in force; its argument, if any, stays with its entry.
        choose: called with a backend id.
    """
    menu = actions.diarizers
    menu.clear()
    menu.setEnabled(bool(choices))
    group = QActionGroup(menu)
    chosen_id = chosen.partition(":")[0]
    for backend_id, title in choices:
        value = chosen if backend_id == chosen_id else backend_id
        action = menu.addAction(title)
        action.setCheckable(True)
        action.setChecked(backend_id == chosen_id)
        action.triggered.connect(lambda _=False, value=value: choose(value))
        group.addAction(action)


def _add_keep_menu(menu: QMenu, commands: Commands, keep: str) -> dict[str, QAction]:
    submenu = menu.addMenu("What is kept")
    group = QActionGroup(submenu)
    actions = {}
    for policy, title, _ in CHOICES:
        action = submenu.addAction(title)
        action.setCheckable(True)
        action.setChecked(policy.value == keep)
        action.triggered.connect(lambda _=False, value=policy.value: commands.keep(value))
        group.addAction(action)
        actions[policy.value] = action
    return actions


def _add(menu: QMenu, title: str, command: Callable[[], None], *keys: str) -> QAction:
    action = menu.addAction(title)
    action.setShortcuts([QKeySequence(key) for key in keys])
    action.triggered.connect(lambda _=False: command())
    return action


def _add_switch(
    menu: QMenu, title: str, switch: Callable[[bool], None], is_on: bool, keys: str = ""
) -> QAction:
    action = menu.addAction(title)
    action.setCheckable(True)
    action.setChecked(is_on)
    if keys:
        action.setShortcut(QKeySequence(keys))
    action.triggered.connect(switch)
    return action

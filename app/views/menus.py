"""How menus are made of entries, and the entries whose state changes later."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMenu, QMenuBar

from app.i18n import tr


@dataclass(frozen=True, slots=True)
class Entry:
    """A command in a menu.

    Args:
        title: as shown.
        run: carries it out. Thread: main.
        keys: shortcuts; the first is shown.
        name: under which `MenuActions` holds it; "" for one that never changes.
    """

    title: str
    run: Callable[[], object]
    keys: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Switch:
    """An entry that is on or off.

    Args:
        title: as shown.
        set: told when the user switches.
        is_on: at first.
        keys: shortcuts.
        name: see `Entry`.
    """

    title: str
    set: Callable[[bool], object]
    is_on: bool
    keys: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A submenu of which one entry is in force.

    Args:
        title: as shown.
        options: as (value, title).
        choose: told the value chosen.
        chosen: the value in force.
        name: under which `MenuActions` holds the submenu.
    """

    title: str
    options: tuple[tuple[str, str], ...]
    choose: Callable[[str], object]
    chosen: str
    name: str


MenuItem = Entry | Switch | Choice | QAction | None
"""What a menu is made of; None is a line between groups."""


@dataclass(slots=True)
class MenuActions:
    """Entries by name.

    Args:
        actions: named entries and switches.
        choices: named submenus and their entries by value.
    """

    actions: dict[str, QAction] = field(default_factory=dict)
    choices: dict[str, tuple[QMenu, dict[str, QAction]]] = field(default_factory=dict)

    def action(self, name: str) -> QAction:
        """Return a named entry."""
        return self.actions[name]

    def choose(self, name: str, value: str) -> None:
        """Show which entry of a submenu is in force; tells nobody."""
        entry = self.choices[name][1].get(value)
        if entry is not None:
            entry.setChecked(True)


def add_menu(parent: QMenuBar | QMenu, title: str) -> QMenu:
    """Add a submenu; it lives as long as its parent.

    What `addMenu(title)` returns may die with its Python name.
    """
    menu = QMenu(title, parent)
    parent.addMenu(menu)
    return menu


def fill_menu(menu: QMenu, items: Sequence[MenuItem], known: MenuActions) -> None:
    """Add items to a menu and note the named ones."""
    for item in items:
        match item:
            case None:
                menu.addSeparator()
            case QAction():
                menu.addAction(item)
            case Choice():
                submenu = add_menu(menu, item.title)
                known.choices[item.name] = submenu, {}
                offer(known, item.name, item.options, item.chosen, item.choose)
            case Entry():
                action = _add(menu, item.title, item.keys)
                action.triggered.connect(lambda _=False, run=item.run: run())
                _note(known, item.name, action)
            case Switch():
                action = _add(menu, item.title, item.keys)
                action.setCheckable(True)
                action.setChecked(item.is_on)
                # What Qt itself provides as a slot would be called without whether it is on.
                action.triggered.connect(lambda is_on, item=item: item.set(is_on))
                _note(known, item.name, action)


def offer(
    known: MenuActions,
    name: str,
    options: Sequence[tuple[str, str]],
    chosen: str,
    choose: Callable[[str], object],
) -> None:
    """Fill a named submenu anew; without options it is switched off."""
    submenu, _ = known.choices[name]
    submenu.clear()
    submenu.setEnabled(bool(options))
    group, entries = QActionGroup(submenu), dict[str, QAction]()
    for value, title in options:
        action = submenu.addAction(title)
        action.setCheckable(True)
        action.setChecked(value == chosen)
        action.triggered.connect(lambda _=False, value=value: choose(value))
        group.addAction(action)
        entries[value] = action
    known.choices[name] = submenu, entries


class HistoryAction(QAction):
    """An entry that undoes or redoes, and says what.

    Args:
        history: what was done.
        is_undo: whether it takes back; else it makes again.
        parent: it is deleted with.
    """

    def __init__(self, history: QUndoStack, parent: QObject, *, is_undo: bool) -> None:
        super().__init__(parent)
        self._is_undo = is_undo
        self.triggered.connect(history.undo if is_undo else history.redo)
        (history.undoTextChanged if is_undo else history.redoTextChanged).connect(self._tell)
        (history.canUndoChanged if is_undo else history.canRedoChanged).connect(self.setEnabled)
        self.setEnabled(history.canUndo() if is_undo else history.canRedo())
        self._tell(history.undoText() if is_undo else history.redoText())

    @Slot(str)
    def _tell(self, what: str) -> None:
        # An ampersand would mark the next letter as a key.
        what = what.replace("&", "&&")
        if self._is_undo:
            self.setText(tr("Undo: {what}", what=what) if what else tr("Undo"))
        else:
            self.setText(tr("Redo: {what}", what=what) if what else tr("Redo"))


def _note(known: MenuActions, name: str, action: QAction) -> None:
    if name:
        known.actions[name] = action


def _add(menu: QMenu, title: str, keys: Sequence[str]) -> QAction:
    action = menu.addAction(title)
    action.setShortcuts([QKeySequence(key) for key in keys])
    return action

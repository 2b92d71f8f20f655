"""Looks through a window for what keeps people out: no name, no room, keys that clash."""

from collections import defaultdict
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QScrollBar,
    QWidget,
)

from app.views.elided_label import ElidedLabel

MIN_TARGET_PX = 24
_CONTROLS = (QAbstractButton, QComboBox, QAbstractSlider, QLineEdit)


def unnamed_controls(window: QWidget) -> list[str]:
    """Return controls that a screen reader could not name."""
    return [_where(w) for w in _shown(window) if _is_control(w) and not accessible_name(w)]


def accessible_name(widget: QWidget) -> str:
    """Return what a screen reader calls a widget."""
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def small_targets(window: QWidget) -> list[str]:
    """Return controls that are hard to hit."""
    return [
        f"{_where(w)} {w.width()}x{w.height()}"
        for w in _shown(window)
        if isinstance(w, _CONTROLS)
        and _is_control(w)
        and min(w.width(), w.height()) < MIN_TARGET_PX
    ]


def cut_texts(window: QWidget) -> list[str]:
    """Return labels, buttons and choosers whose text has not the room it needs."""
    found = []
    for widget in _shown(window):
        if isinstance(widget, ElidedLabel):
            is_narrow = widget.sizeHint().width() > widget.width()
            is_cut = bool(widget.text()) and is_narrow and not widget.toolTip()
        elif isinstance(widget, QLabel):
            is_cut = _is_label_cut(widget)
        elif isinstance(widget, QAbstractButton):
            is_low = widget.fontMetrics().height() > widget.height()
            is_cut = is_low or widget.sizeHint().width() > widget.width()
        elif isinstance(widget, QComboBox):
            is_narrow = widget.sizeHint().width() > widget.width()
            is_cut = widget.sizeHint().height() > widget.height() or (
                is_narrow and not widget.toolTip()
            )
        else:
            continue
        if is_cut:
            hint = widget.sizeHint()
            size = f"{widget.width()}x{widget.height()}"
            found.append(f"{_where(widget)} has {size}, needs {hint.width()}x{hint.height()}")
    return found


def clashing_mnemonics(bar: QMenuBar) -> list[str]:
    """Return underlined letters that stand twice in one menu."""
    found = []
    for menu in [bar, *bar.findChildren(QMenu)]:
        letters = [_mnemonic(action.text()) for action in menu.actions()]
        found += [
            f"{letter} in {menu.title() if isinstance(menu, QMenu) else 'the menu bar'}"
            for letter in sorted({letter for letter in letters if letters.count(letter) > 1} - {""})
        ]
    return found


def clashing_shortcuts(window: QWidget) -> list[str]:
    """Return keys that belong to more than one command of the whole window."""
    owners: dict[str, list[str]] = defaultdict(list)
    for action in window.findChildren(QAction):
        for key in action.shortcuts():
            owners[key.toString()].append(action.text())
    for shortcut in window.findChildren(QShortcut):
        if shortcut.context() in (
            Qt.ShortcutContext.WindowShortcut,
            Qt.ShortcutContext.ApplicationShortcut,
        ):
            owners[shortcut.key().toString()].append(_where(shortcut.parent()))
    return [f"{key}: {', '.join(names)}" for key, names in owners.items() if len(names) > 1]


def tab_order(window: QWidget) -> list[QWidget]:
    """Return what Tab reaches, in order, each once."""
    found, widget = [], window.nextInFocusChain()
    while widget is not window:
        takes_tab = widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
        if takes_tab and not _is_part(widget) and _is_shown(widget):
            found.append(widget)
        widget = widget.nextInFocusChain()
    return found


def unnamed_stops(window: QWidget) -> list[str]:
    """Return what Tab reaches and a screen reader could not name."""
    return [_where(widget) for widget in tab_order(window) if not accessible_name(widget)]


def _mnemonic(text: str) -> str:
    return QKeySequence.mnemonic(text).toString()


def _shown(window: QWidget) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        if _is_shown(widget) and widget.window() is window:
            yield widget


def _is_shown(widget: QWidget) -> bool:
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


def _is_part(widget: QWidget) -> bool:
    """Return whether Qt made it within a control."""
    return widget.objectName().startswith("qt_")


def _is_control(widget: QWidget) -> bool:
    """Return whether people operate it; parts that Qt makes within a control do not count."""
    if isinstance(widget, QScrollBar) or _is_part(widget):
        return False
    if isinstance(widget.parentWidget(), QLineEdit | QAbstractScrollArea | QComboBox):
        return isinstance(widget, QAbstractButton) and not isinstance(
            widget.parentWidget(), QLineEdit
        )
    return isinstance(widget, _CONTROLS) or widget.focusPolicy() != Qt.FocusPolicy.NoFocus


def _is_label_cut(label: QLabel) -> bool:
    if not label.text():
        return False
    if label.wordWrap():
        return label.heightForWidth(label.width()) > label.height()
    hint = label.sizeHint()
    return hint.width() > label.width() or hint.height() > label.height()


def _where(widget: object) -> str:
    if not isinstance(widget, QWidget):
        return type(widget).__name__
    name = widget.accessibleName() or widget.objectName() or getattr(widget, "text", str)()
    return f"{type(widget).__name__} “{name}” in {type(widget.parentWidget()).__name__}"

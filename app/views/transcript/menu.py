"""The context menu of a place in the transcript."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QMenu

from app.i18n import tr
from app.views.context import ViewContext
from app.views.speaker_menu import SpeakerMenu
from app.views.transcript.places import Spot

if TYPE_CHECKING:
    from app.views.transcript.view import TranscriptView


def open_menu(view: "TranscriptView", context: ViewContext, event: QContextMenuEvent) -> None:
    """Open the menu of what is under the pointer, or, by a key, of where the cursor is."""
    place, cursor = event.pos(), view.cursor_at
    if event.reason() == QContextMenuEvent.Reason.Mouse:
        _go_to(view, place)
    elif cursor.spot is not None:
        view.reveal(cursor.spot)
        place = view.spot_rect(cursor.spot).bottomLeft()
    if cursor.spot is not None:
        menu = make_menu(view, context)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(view.viewport().mapToGlobal(place))


def make_menu(view: "TranscriptView", context: ViewContext) -> QMenu:
    """Return a menu for the place of the cursor, which must be somewhere, and what is chosen."""
    menu, cursor = QMenu(view), view.cursor_at
    row = view.rows.rows[cursor.row]
    menu.addAction(tr("Hear from here"), view.hear_from_here)
    menu.addSeparator()
    copy = menu.addAction(tr("Copy"), view.copy_plain)
    copy.setEnabled(bool(view.selected_words()))
    menu.addAction(tr("Copy with times and speakers"), view.copy)
    menu.addSeparator()
    correct = menu.addAction(tr("Correct line…"), view.edit_current)
    correct.setEnabled(bool(row.words))
    about = SpeakerMenu(context, row.speaker, cursor.word_ids(), menu)
    about.setTitle(tr("Who said this"))
    about.setEnabled(bool(row.words))
    about.rename_asked.connect(view.rename_current)
    menu.addMenu(about)
    return menu


def _go_to(view: "TranscriptView", point: QPoint) -> None:
    """Put the cursor at a point, unless that is chosen."""
    row, spot, cursor = view.row_at(point), view.spot_at(point), view.cursor_at
    if row is None:
        return
    chosen = cursor.chosen()
    if chosen is not None and chosen[0] <= (spot or Spot(row, chosen[0].word)) <= chosen[1]:
        return
    if spot is not None:
        cursor.put(spot)
    else:
        cursor.choose_row(row)

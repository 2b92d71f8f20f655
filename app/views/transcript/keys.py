"""What keys do in the transcript."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.views.transcript.places import Spot, first_word, last_word, step_word
from engine.core.types import SpeakerId
from engine.text.document import TranscriptDocument

if TYPE_CHECKING:
    from app.views.transcript.view import TranscriptView

_SOMEBODY_NEW = 9


def press_key(view: "TranscriptView", event: QKeyEvent) -> bool:
    """Do what a key means; returns whether it means something."""
    if event.modifiers() & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier):
        return False
    if event.matches(QKeySequence.StandardKey.Copy):
        view.copy_plain()
        return True
    if event.matches(QKeySequence.StandardKey.SelectAll):
        view.select_all()
        return True
    return _move(view, event) or _command(view, event)


def _command(view: "TranscriptView", event: QKeyEvent) -> bool:
    if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return False
    key = Qt.Key(event.key())
    if key == Qt.Key.Key_Space:
        if not event.isAutoRepeat():
            view.hearing.toggle()
    elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        view.edit_current()
    elif key == Qt.Key.Key_F2:
        view.rename_current()
    elif Qt.Key.Key_1.value <= key.value < Qt.Key.Key_0.value + _SOMEBODY_NEW:
        view.assign_slot(key.value - Qt.Key.Key_1.value)
    elif key == Qt.Key.Key_9:
        view.assign_slot(None)
    else:
        return False
    return True


def _move(view: "TranscriptView", event: QKeyEvent) -> bool:
    is_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    is_extending = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    key = Qt.Key(event.key())
    if is_control and not is_extending and key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        # Not by the cursor alone: the end is followed from then on.
        if key == Qt.Key.Key_End:
            view.jump_to_latest()
        else:
            view.go_to_beginning()
            if view.row_count():
                view.cursor_at.put(first_word(view.rows, 0))
        return True
    if key not in _STEPS or not view.row_count():
        return False
    here = view.cursor_at.spot
    if here is None:
        view.cursor_at.put(first_word(view.rows, view.row_to_begin_at()))
        return True
    target = _target(view, key, here, is_control=is_control, is_extending=is_extending)
    view.cursor_at.put(target, extend=is_extending)
    return True


_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -1,
    Qt.Key.Key_PageDown: 1,
    Qt.Key.Key_Home: -1,
    Qt.Key.Key_End: 1,
}


def _target(
    view: "TranscriptView", key: Qt.Key, here: Spot, *, is_control: bool, is_extending: bool
) -> Spot:
    step, last = _STEPS[key], view.row_count() - 1
    if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
        return step_word(view.rows, here, step)
    if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        row = (0 if step < 0 else last) if is_control else here.row
        return first_word(view.rows, row) if step < 0 else last_word(view.rows, row)
    if key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
        row = view.row_a_page_away(here.row, step)
    else:
        row = min(max(here.row + step, 0), last)
    is_end = is_extending and step > 0
    return last_word(view.rows, row) if is_end else first_word(view.rows, row)


def speaker_in_slot(document: TranscriptDocument, word_id: int, slot: int) -> SpeakerId:
    """Return who has a column of the activity rows at the time of a word, through all merges."""
    word = document.words[document.word_index(word_id)].word
    frame_ms = document.activity.frame_ms or 1
    frame = int(document.seconds(word.start) * 1000 // frame_ms)
    return document.resolve(SpeakerId(document.activity.epoch_at(frame), slot))

"""Changes of the shown transcript with undo, and the menu that makes them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.editing import Editing
from app.marks import Marks
from app.names import letter_name, shown_name
from app.playback import Playback
from app.state import AppState
from app.theme import Appearance
from app.views.context import ViewContext
from app.views.speaker_menu import SpeakerMenu
from engine.core.events import SpeakerRenamed, WordsAssigned
from engine.core.types import MAX_SPEAKERS, USER_EPOCH
from engine.text.document import TranscriptDocument
from tests.helpers.pseudo_locale import pseudo, pseudo_locale
from tests.unit.text.talk import NEW, A, B, lines, talk

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.gui

OpenMenu = Callable[..., SpeakerMenu]


@pytest.fixture
def context(qtbot: "QtBot") -> ViewContext:
    """A stored talk of two people, its edits applied at once."""
    state = AppState()
    state.show_stored(talk(), "Talk", "talk")
    editing = Editing(state, state.apply_edits)
    # Nothing here plays.
    return ViewContext(state, Appearance("light"), Marks(), editing, cast("Playback", None))


def document(context: ViewContext) -> TranscriptDocument:
    return context.state.document


@pytest.fixture
def open_menu(qtbot: "QtBot", context: ViewContext) -> OpenMenu:
    """Makes menus; they live as long as the test."""
    parent = QWidget()
    qtbot.addWidget(parent)
    return lambda speaker, word_ids=(): SpeakerMenu(context, speaker, word_ids, parent)


def actions(menu: QMenu) -> dict[str, QAction]:
    return {action.text(): action for action in menu.actions() if not action.isSeparator()}


def submenu(menu: QMenu, title: str) -> dict[str, QAction]:
    found = actions(menu)[title].menu()
    assert isinstance(found, QMenu)
    return actions(found)


def test_edits_when_undone_and_redone_then_the_document_follows(context: ViewContext) -> None:
    editing, plain = context.editing, lines(talk())
    editing.rename(A, "Maria")
    editing.merge(B, A)
    editing.assign([3, 4], None)
    editing.lock([0], is_locked=True)
    editing.edit([5, 6], "six or seven")
    editing.color(A, 7)
    editing.part(A)
    assert editing.history.count() == 7
    assert lines(document(context))[1] == (NEW, "four five.")

    for _ in range(7):
        editing.undo()
    assert lines(document(context)) == plain
    assert document(context).speaker_name(A) == "Speaker A"
    assert document(context).speaker_color(A) == 0
    assert not editing.history.canUndo()
    for _ in range(7):
        editing.redo()
    assert lines(document(context))[-1] == (A, "six or seven")
    assert document(context).speaker_color(A) == 7
    assert not editing.history.canRedo()


def test_edits_when_they_change_nothing_then_there_is_nothing_to_undo(
    context: ViewContext,
) -> None:
    editing = context.editing
    editing.rename(A, "  ")
    editing.merge(A, A)
    editing.part(A)
    editing.color(A, 0)
    editing.assign([], B)
    editing.lock([99], is_locked=True)
    editing.edit([0], "one")
    assert editing.history.count() == 0


def test_history_when_another_document_is_shown_then_is_empty(context: ViewContext) -> None:
    context.editing.rename(A, "Maria")
    assert context.editing.history.undoText() == "Rename Speaker A to Maria"
    context.state.show_stored(talk(), "Other", "other")
    assert not context.editing.history.canUndo()


def test_history_when_edits_are_made_then_each_says_what_it_does(context: ViewContext) -> None:
    editing, titles = context.editing, list[str]()

    def note(edit: Callable[[], None]) -> None:
        edit()
        titles.append(editing.history.undoText())

    note(lambda: editing.rename(A, "Maria"))
    note(lambda: editing.rename(A, "é" * 200))
    note(lambda: editing.merge(B, A))
    note(lambda: editing.part(A))
    note(lambda: editing.color(B, 3))
    note(lambda: editing.assign([2, 3, 4], B))
    note(lambda: editing.lock([0], is_locked=True))
    note(lambda: editing.lock([0], is_locked=False))
    note(lambda: editing.edit([0, 1], "one twin"))
    note(lambda: editing.edit([3, 4], ""))
    short = f"{'é' * 39}…"
    assert titles == [
        "Rename Speaker A to Maria",
        f"Rename Maria to {short}",
        f"Merge Speaker B into {short}",
        f"Part {short} again",
        "Colour of Speaker B",
        "Speaker B said 3 words",
        "Keep who said 1 word",
        "Let the program decide who said 1 word",
        "Correct 1 word",
        "Take out 2 words",
    ]


def test_names_when_another_language_is_spoken_then_letters_are_told_in_it(
    context: ViewContext,
) -> None:
    editing, shown = context.editing, document(context)
    with pseudo_locale():
        assert shown_name(shown, A) == pseudo("Speaker {letter}").format(letter="A")
        editing.rename(A, "Maria")
        assert shown_name(shown, A) == "Maria"
        assert editing.history.undoText().startswith("[Renäme")
        editing.rename(A, letter_name(shown, A))
    assert shown_name(shown, A) == "Speaker A"


def test_assign_when_no_speaker_can_be_added_then_a_notice_says_so(context: ViewContext) -> None:
    for slot in range(MAX_SPEAKERS):
        context.state.apply_edits([SpeakerRenamed(USER_EPOCH, slot, f"Guest {slot}")])
    context.editing.assign([0], None)
    assert context.editing.history.count() == 0
    assert "No more than 8" in context.state.open_notices[-1].notice.message


def test_menu_when_opened_on_a_speaker_then_offers_what_can_be_done(
    open_menu: OpenMenu, context: ViewContext
) -> None:
    menu = open_menu(A)
    assert list(actions(menu)) == [
        "Rename…",
        "Merge into",
        "Colour",
        "Keep these lines as they are",
        "Let the program decide who said these lines",
    ]
    assert menu.accessibleName() == "Speaker A"
    assert list(submenu(menu, "Merge into")) == ["B · Speaker B"]
    assert not submenu(menu, "Merge into")["B · Speaker B"].icon().isNull()
    colors = submenu(menu, "Colour")
    assert list(colors)[:3] == ["Colour 1", "Colour 2, as B", "Colour 3"]
    assert [text for text, action in colors.items() if action.isChecked()] == ["Colour 1"]
    assert not actions(menu)["Let the program decide who said these lines"].isEnabled()


def test_menu_when_rename_is_chosen_then_asks_for_it(qtbot: "QtBot", open_menu: OpenMenu) -> None:
    menu = open_menu(B)
    with qtbot.waitSignal(menu.rename_asked) as asked:
        actions(menu)["Rename…"].trigger()
    assert asked.args == [B]


def test_menu_when_merged_and_parted_then_the_lines_follow(
    open_menu: OpenMenu, context: ViewContext
) -> None:
    submenu(open_menu(B), "Merge into")["A · Speaker A"].trigger()
    assert document(context).speakers == (A,)
    # A row of the merged speaker is about whom it is shown as.
    menu = open_menu(B)
    assert not actions(menu)["Merge into"].isEnabled()
    actions(menu)["Part again: B"].trigger()
    assert lines(document(context)) == lines(talk())


def test_menu_when_a_colour_is_chosen_then_the_speaker_has_it(
    open_menu: OpenMenu, context: ViewContext
) -> None:
    submenu(open_menu(A), "Colour")["Colour 6"].trigger()
    assert document(context).speaker_color(A) == 5
    colors = submenu(open_menu(A), "Colour")
    assert [text for text, action in colors.items() if action.isChecked()] == ["Colour 6"]


def test_menu_when_all_words_are_kept_then_the_diarizer_changes_none(
    open_menu: OpenMenu, context: ViewContext
) -> None:
    actions(open_menu(A))["Keep these lines as they are"].trigger()
    assert [e.is_locked for e in document(context).words] == [True] * 3 + [False] * 2 + [True] * 2
    menu = open_menu(A)
    assert not actions(menu)["Keep these lines as they are"].isEnabled()
    actions(menu)["Let the program decide who said these lines"].trigger()
    assert not any(entry.is_locked for entry in document(context).words)


def test_menu_when_opened_on_a_line_then_gives_it_to_somebody(
    open_menu: OpenMenu, context: ViewContext
) -> None:
    menu = open_menu(B, (3, 4))
    who = submenu(menu, "This line was said by")
    assert list(who) == ["A · Speaker A", "B · Speaker B", "Somebody new"]
    assert who["B · Speaker B"].isChecked()
    who["Somebody new"].trigger()
    assert lines(document(context))[1] == (NEW, "four five.")
    menu = open_menu(NEW, (3, 4))
    submenu(menu, "This line was said by")["A · Speaker A"].trigger()
    assert document(context).speakers == (A,)
    actions(open_menu(A, (3, 4)))["Let the program decide who said this line"].trigger()
    assert lines(document(context)) == lines(talk())


def test_menu_when_nobody_is_known_then_offers_only_who_it_was(
    open_menu: OpenMenu, context: ViewContext
) -> None:
    menu = open_menu(None, (3, 4, 77))
    assert list(actions(menu)) == [
        "Keep who said this line",
        "Let the program decide who said this line",
        "This line was said by",
    ]
    assert menu.accessibleName()


def test_menu_when_names_are_unusual_then_are_short_and_mark_no_keys(
    open_menu: OpenMenu, context: ViewContext
) -> None:
    context.state.apply_edits([SpeakerRenamed(0, 1, "x" * 200), WordsAssigned((0,), (NEW,))])
    context.state.apply_edits([SpeakerRenamed(-1, 0, "דנה & 👩‍🚀")])
    names = list(submenu(open_menu(A), "Merge into"))
    assert names == ["I · דנה && 👩‍🚀", f"B · {'x' * 39}…"]

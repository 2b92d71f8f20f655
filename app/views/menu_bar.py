"""The menu bar: every command by name, with its key."""

from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence

from app.access.choices import motion_titles
from app.controller import Controller
from app.i18n import tr
from app.speech import Speech
from app.views.context import ViewContext
from app.views.keep_dialog import keep_choices
from app.views.menus import (
    Choice,
    Entry,
    HistoryAction,
    MenuActions,
    MenuItem,
    Switch,
    add_menu,
    fill_menu,
)

if TYPE_CHECKING:
    from app.views.main_window import MainWindow


def make_menus(
    window: "MainWindow", context: ViewContext, controller: Controller, speech: Speech
) -> MenuActions:
    """Fill the window's menu bar."""
    known = MenuActions()
    menus = (
        (tr("&File"), _file(window)),
        (tr("&Edit"), _edit(window, context)),
        (tr("&Recording"), _recording(window, controller)),
        (tr("&Listen"), _listen(window, context)),
        (tr("&View"), _view(window, controller)),
        (tr("&Speech"), _speech(window, speech)),
        (tr("&Help"), _help(window)),
    )
    for title, items in menus:
        fill_menu(add_menu(window.menuBar(), title), items, known)
    return known


def _file(window: "MainWindow") -> tuple[MenuItem, ...]:
    dialogs = window.dialogs
    return (
        Entry(tr("Listen to a sound file…"), dialogs.choose_sound_file, ("Ctrl+O",), "listen"),
        Entry(tr("Export transcript…"), dialogs.export_shown, ("Ctrl+E",), "export"),
        Entry(tr("Export selection…"), dialogs.export_selection, ("Ctrl+Shift+E",), "excerpt"),
        Entry(
            tr("Save spoken text as WAV…"),
            window.speak_panel.ask_where_to_save,
            ("Ctrl+Shift+S",),
        ),
        None,
        Entry(tr("Quit"), window.close, ("Ctrl+Q",)),
    )


def _edit(window: "MainWindow", context: ViewContext) -> tuple[MenuItem, ...]:
    view, history, bar = window.transcript, context.editing.history, window.search_bar
    undo = HistoryAction(history, window, is_undo=True)
    undo.setShortcut("Ctrl+Z")
    redo = HistoryAction(history, window, is_undo=False)
    redo.setShortcuts([QKeySequence("Ctrl+Y"), QKeySequence("Ctrl+Shift+Z")])
    # Without keys of their own: Ctrl+C and Ctrl+A belong to whatever has the focus.
    return (
        undo,
        redo,
        None,
        Entry(tr("Copy with times and speakers"), view.copy, ("Ctrl+Shift+C",)),
        Entry(tr("Copy words only"), view.copy_plain, ("Ctrl+Alt+C",)),
        Entry(tr("Select whole transcript"), view.select_all),
        None,
        Entry(tr("Find…"), bar.begin, ("Ctrl+F",), "find"),
        Entry(tr("Find next"), window.search.next, ("F3", "Ctrl+G")),
        Entry(tr("Find previous"), window.search.previous, ("Shift+F3", "Ctrl+Shift+G")),
        None,
        Entry(tr("Correct line"), view.edit_current, ("Ctrl+Shift+K",)),
        Entry(tr("Rename speaker"), view.rename_current, ("F2",)),
    )


def _recording(window: "MainWindow", controller: Controller) -> tuple[MenuItem, ...]:
    settings = controller.settings
    kept = tuple((policy.value, title) for policy, title, _ in keep_choices())
    return (
        Entry(tr("Record or stop"), controller.toggle_record, ("Ctrl+R",)),
        Entry(tr("Pause or resume"), controller.pause_or_resume, ("Ctrl+P",), "pause"),
        Entry(tr("Play the demo"), controller.try_demo, (), "demo"),
        None,
        Entry(tr("Rename recording…"), lambda: window.shown_recording.rename(), (), "rename"),
        None,
        Choice(tr("What is kept"), kept, controller.choose_keep, settings.keep, "keep"),
        # Filled once it is known what there is.
        Choice(
            tr("Speakers are told apart by"),
            (),
            controller.set_diarizer,
            settings.diarizer,
            "diarizers",
        ),
        Switch(
            tr("Leave out this program's own voice"),
            controller.set_hold_back_own_voice,
            settings.hold_back_own_voice,
        ),
    )


def _listen(window: "MainWindow", context: ViewContext) -> tuple[MenuItem, ...]:
    playback = context.playback
    return (
        # Space does it, too, in transcript and timeline.
        Entry(tr("Hear the recording from the cursor, or pause"), playback.toggle, ("Ctrl+Space",)),
        Entry(tr("Stop hearing it"), playback.stop, ("Ctrl+.",)),
        None,
        Switch(tr("Hear a word when it is clicked"), window.set_hears_clicks, _layout(window)[0]),
    )


def _view(window: "MainWindow", controller: Controller) -> tuple[MenuItem, ...]:
    view, timeline = window.transcript, window.timeline
    return (
        Entry(tr("Back to the present recording"), window.show_live, ("Ctrl+B",), "show_live"),
        Entry(tr("Jump to latest words"), view.jump_to_latest, ("Ctrl+L",)),
        None,
        Entry(tr("Captions"), window.captions.toggle, ("F11",), "captions"),
        Entry(tr("Captions in a small window"), window.captions.toggle_small, ("Shift+F11",)),
        None,
        Entry(tr("Larger text"), lambda: controller.change_text_size(1), ("Ctrl++", "Ctrl+=")),
        Entry(tr("Smaller text"), lambda: controller.change_text_size(-1), ("Ctrl+-",)),
        Entry(tr("Usual text size"), lambda: controller.change_text_size(0), ("Ctrl+0",)),
        None,
        Entry(tr("Zoom timeline in"), lambda: timeline.zoom(True), ("Alt++", "Alt+=")),
        Entry(tr("Zoom timeline out"), lambda: timeline.zoom(False), ("Alt+-",)),
        Entry(tr("Whole recording in the timeline"), timeline.show_all, ("Alt+0",)),
        Entry(tr("Earlier in the timeline"), lambda: timeline.scroll_pages(-0.2), ("Alt+Left",)),
        Entry(tr("Later in the timeline"), lambda: timeline.scroll_pages(0.2), ("Alt+Right",)),
        None,
        Switch(
            tr("Tell new lines to a screen reader"),
            window.access.set_announces_lines,
            window.layout_file.layout.announces_lines,
        ),
        Choice(
            tr("Movement"),
            motion_titles(),
            window.access.choose_motion,
            window.layout_file.layout.motion,
            "motion",
        ),
        None,
        Switch(tr("Health and delays"), window.show_delays, _layout(window)[1], ("F8",), "delays"),
        Switch(tr("Recordings"), window.show_sessions, True, ("F9",), "sessions"),
        Switch(tr("Speak panel"), window.show_speak_panel, True, ("F10",), "speak"),
    )


def _speech(window: "MainWindow", speech: Speech) -> tuple[MenuItem, ...]:
    return (
        Entry(tr("Speak the text"), window.speak_panel.speak, ("Ctrl+Return", "Ctrl+Enter")),
        Entry(tr("Stop speaking"), window.escape, ("Esc",)),
    )


def _help(window: "MainWindow") -> tuple[MenuItem, ...]:
    return (
        Entry(tr("Messages…"), window.dialogs.show_messages),
        Entry(tr("Copy health report"), window.copy_report),
        Entry(tr("About Viva Voce"), window.dialogs.show_about),
    )


def _layout(window: "MainWindow") -> tuple[bool, bool]:
    layout = window.layout_file.layout
    return layout.hears_clicks, layout.shows_delays

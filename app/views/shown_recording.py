"""List, window title and strip say of the recording that is shown what is known of it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.lifecycle import Lifecycle
from app.recording_texts import describe
from app.shelf import Shelf
from app.state import AppState

if TYPE_CHECKING:
    from app.views.main_window import MainWindow

APP_TITLE = "Viva Voce"


class ShownRecording(QObject):
    """Follows what is shown and what is listed. Thread: main.

    Args:
        window: holds the views.
        state: tells what is shown.
        shelf: tells what is listed.
        lifecycle: the end has a title of its own.
    """

    def __init__(
        self, window: "MainWindow", state: AppState, shelf: Shelf, lifecycle: Lifecycle
    ) -> None:
        super().__init__(window)
        self._window = window
        self._state = state
        self._shelf = shelf
        self._lifecycle = lifecycle
        self._found = ("", "")
        panel = window.sessions_panel
        # After the panel itself has taken the list, and the views the recording.
        shelf.sessions_listed.connect(self._tell_title)
        shelf.open_failed.connect(self._follow)
        state.document_replaced.connect(self._follow)
        panel.found_opened.connect(self._expect)
        panel.search_asked.connect(shelf.search.begin)
        shelf.search.found.connect(panel.take_found)
        shelf.search.ended.connect(panel.end_search)
        panel.rename_asked.connect(shelf.recordings.rename)
        panel.shown_listed.connect(window.menu_actions.action("rename").setEnabled)
        panel.mark_shown()

    @Slot()
    def rename(self) -> None:
        """Let the user write the title of the recording that is shown, in the list."""
        window = self._window
        if not window.panels.is_shown(window.sessions_panel):
            window.show_sessions(True)
        window.sessions_panel.rename_shown()

    @Slot()
    def _follow(self) -> None:
        self._window.sessions_panel.set_shown(self._state.shown_id)
        self._tell_title()
        self._show_found()
        # Whatever is shown instead was asked for later.
        self._found = ("", "")

    @Slot()
    def _tell_title(self) -> None:
        info = self._shelf.recordings.info(self._state.shown_id)
        is_named = info is not None and (info.title or not self._state.is_live_shown)
        if not self._lifecycle.is_closing:
            title = describe(info)[0] if info is not None and is_named else APP_TITLE
            self._window.setWindowTitle(title)
        self._window.reading.banner.refresh()

    @Slot(str, str)
    def _expect(self, session_id: str, text: str) -> None:
        """Go to what a recording was found by as soon as it is shown."""
        self._found = session_id, text
        self._show_found()

    def _show_found(self) -> None:
        session_id, text = self._found
        if session_id and session_id == self._state.shown_id:
            self._found = ("", "")
            self._window.search_bar.look_for(text)

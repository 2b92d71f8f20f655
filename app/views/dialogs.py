"""Questions and choices that open over the window; none of them stops it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QFileDialog, QMessageBox

import engine
from app.controller import Controller
from app.exports import file_name, format_titles
from app.i18n import tr
from app.shelf import Shelf
from app.views.context import ViewContext
from app.views.file_places import begin_where_last
from app.views.keep_dialog import KeepDialog
from app.views.notice_bar import NoticeHistory
from app.views.unkept_question import ask_about_unkept
from engine.core.config import KeepPolicy

if TYPE_CHECKING:
    from app.views.main_window import MainWindow

_SOUND_PATTERNS = "*.wav *.flac *.ogg *.mp3 *.aiff *.aif"


class Dialogs(QObject):
    """Opens the dialogs of a window and passes on what the user answers.

    Args:
        window: they open over it.
        context: what is shown and marked.
        controller: commands on the session.
        shelf: commands on files.
    """

    def __init__(
        self, window: "MainWindow", context: ViewContext, controller: Controller, shelf: Shelf
    ) -> None:
        super().__init__(window)
        self._window = window
        self._state, self._marks = context.state, context.marks
        self._controller = controller
        self._shelf = shelf

    @Slot()
    def ask_what_to_keep(self) -> None:
        """Ask what stays on disk; the recording that waits for it goes on or is given up."""
        settings = self._controller.settings
        dialog = KeepDialog(
            str(self._shelf.sessions_dir),
            KeepPolicy(settings.keep) if settings.keep else KeepPolicy.AUDIO_AND_TEXT,
            self._window,
        )
        dialog.chosen.connect(self._take_keep)
        dialog.rejected.connect(self._controller.forget_pending)
        dialog.open()

    @Slot()
    def choose_sound_file(self) -> None:
        """Let the user choose a file to listen to."""
        dialog = QFileDialog(self._window, tr("Listen to a sound file"))
        dialog.setNameFilters(
            [f"{tr('Sound files')} ({_SOUND_PATTERNS})", f"{tr('All files')} (*)"]
        )
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        begin_where_last(dialog, self._window.layout_file, "listening")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._controller.listen_to_file(Path(path)))
        dialog.open()

    @Slot()
    def export_shown(self) -> None:
        """Save the transcript that is shown."""
        save, saving = self._shelf.exports.save_shown, self._controller.unkept.saving
        self._choose_export(self._shown_name(), lambda path: save(path, saving()))

    @Slot()
    def ask_about_unkept(self) -> None:
        """Ask what becomes of a transcript that is kept nowhere."""
        unkept = self._controller.unkept
        ask_about_unkept(
            self._window,
            is_recording=self._state.is_busy,
            export=self._export_unkept,
            discard=unkept.discard,
            cancel=unkept.cancel,
        )

    @Slot()
    def export_selection(self) -> None:
        """Save what was said in the chosen stretch."""
        selection = self._marks.selection
        if selection is not None:
            self.export_stretch(*selection)

    @Slot(int, int)
    def export_stretch(self, start: int, end: int) -> None:
        """Save what was said in a stretch, or its sound."""
        self._choose_export(
            tr("{name}-excerpt", name=self._shown_name()),
            lambda path: self._shelf.exports.save_stretch(start, end, path),
        )

    @Slot(str)
    def export_stored(self, session_id: str) -> None:
        """Save a kept recording's transcript."""
        save = self._shelf.exports.save_session
        self._choose_export(self._name(session_id), lambda path: save(session_id, path))

    @Slot()
    def show_messages(self) -> None:
        """Show every notice of this run; then they are read."""
        NoticeHistory(self._state, self._window).open()
        self._state.dismiss_notices()

    @Slot()
    def show_about(self) -> None:
        """Say what this is."""
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle(tr("About Viva Voce"))
        box.setIconPixmap(self._window.windowIcon().pixmap(48, 48))
        box.setText(tr("Viva Voce {version}", version=engine.__version__))
        box.setInformativeText(
            tr(
                "Read speech as it is spoken, see who is speaking, hear text aloud; on your own "
                "machine.\n\nApache-2.0. The models have licences of their own: "
                "see the file NOTICE."
            )
        )
        box.open()

    def _take_keep(self, policy: str) -> None:
        self._window.menu_actions.choose("keep", policy)
        self._controller.choose_keep(policy)

    def _shown_name(self) -> str:
        return self._name(self._state.shown_id)

    def _name(self, session_id: str) -> str:
        """Return what the file of a recording is called."""
        info = self._shelf.recordings.info(session_id)
        if info is not None:
            return file_name(info.title, info.started_at)
        # It is not kept, or was not listed yet.
        recording = self._state.document.recording
        return file_name("", recording.started_at if recording is not None else "")

    def _export_unkept(self) -> None:
        """Save the running or last recording; what waits for it goes on then, or is given up."""
        unkept, state, exports = self._controller.unkept, self._state, self._shelf.exports

        def save(path: Path, on_saved: Callable[[], None]) -> None:
            state.show_live()
            exports.save_shown(path, on_saved)

        state.show_live()
        dialog = self._choose_export(
            self._shown_name(), lambda path: unkept.export(lambda done: save(path, done))
        )
        dialog.rejected.connect(unkept.cancel)

    def _choose_export(self, name: str, save: Callable[[Path], None]) -> QFileDialog:
        dialog = QFileDialog(self._window, tr("Export the transcript"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        begin_where_last(dialog, self._window.layout_file, "saving")
        dialog.selectFile(f"{name}.txt")
        filters = {f"{title} (*.{kind})": kind for kind, title in format_titles().items()}
        dialog.setNameFilters(list(filters))
        dialog.setDefaultSuffix("txt")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(filters[chosen]))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: save(Path(path)))
        dialog.open()
        return dialog

"""Saves transcripts as files other programs read."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.i18n import tr
from app.jobs import Jobs
from app.state import AppState
from engine.core.errors import EngineError
from engine.core.events import Notice, Severity
from engine.store.exporters.options import ExportFormat
from engine.text.document import TranscriptDocument
from engine.text.excerpt import excerpt

if TYPE_CHECKING:
    from engine.store.library import SessionLibrary

_WHOLE = 2**62
"""A sample behind the end of every recording."""


def format_titles() -> dict[ExportFormat, str]:
    """Return what the export formats are called, for people."""
    return {
        ExportFormat.TXT: tr("Plain text"),
        ExportFormat.SRT: tr("SubRip subtitles"),
        ExportFormat.VTT: tr("WebVTT subtitles"),
        ExportFormat.JSON: tr("JSON, with words and probabilities"),
        ExportFormat.RTTM: tr("RTTM, who spoke when"),
        ExportFormat.CTM: tr("CTM, words with times"),
    }


class Exports:
    """Commands that save transcripts; each works on a worker thread. Thread: main.

    Args:
        state: told what is shown, and told what was saved.
        jobs: worker threads.
        library: returns the kept recordings. Thread: a worker.
        show_error: told what went wrong.
    """

    def __init__(
        self,
        state: AppState,
        jobs: Jobs,
        library: "Callable[[], SessionLibrary]",
        show_error: Callable[[EngineError], None],
    ) -> None:
        self._state = state
        self._jobs = jobs
        self._library = library
        self._show_error = show_error

    def save_session(self, session_id: str, path: Path) -> None:
        """Save a kept recording's transcript."""
        self._jobs.run(
            lambda: _export(self._library().open(session_id).document(), path),
            lambda _: self._exported(path),
            self._show_error,
        )

    def save_shown(self, path: Path) -> None:
        """Save the transcript that is shown."""
        if self._state.is_live_shown:
            self.save_stretch(0, _WHOLE, path)
        else:
            # Read anew: the one that is shown may be changed while it is written.
            self.save_session(self._state.stored_id, path)

    def save_stretch(self, start: int, end: int, path: Path) -> None:
        """Save what was said in a stretch of the transcript that is shown."""
        # The copy is made here, where the document grows.
        part = excerpt(self._state.document, start, end)
        self._jobs.run(
            lambda: _export(part, path), lambda _: self._exported(path), self._show_error
        )

    def _exported(self, path: Path) -> None:
        self._state.add_notice(Notice(Severity.INFO, tr("Saved as {path}.", path=path)))


def _export(document: TranscriptDocument, path: Path) -> None:
    from engine.store.exporters.export import export, format_of

    export(document, format_of(path) or ExportFormat.TXT, path)

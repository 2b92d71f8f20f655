"""Saves transcripts as files other programs read."""

import re
from collections.abc import Callable
from datetime import datetime
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

_MAX_NAME_CHARACTERS = 80
_MAX_NAME_BYTES = 200
"""With a suffix and more, what any file system takes."""
_REFUSED = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names of devices under Windows, whatever their suffix."""
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


def file_name(title: str, started_at: str) -> str:
    """Return what the file of a recording is called, without a suffix.

    Args:
        title: of the recording; characters that file systems refuse are replaced.
        started_at: ISO 8601; names a recording without a title.
    """
    name = _REFUSED.sub("-", title)[:_MAX_NAME_CHARACTERS]
    name = name.encode("utf-8", "ignore")[:_MAX_NAME_BYTES].decode("utf-8", "ignore")
    # A dot in front hides a file, and one at the end is lost under Windows.
    name = name.strip(" .-")
    if name:
        return f"_{name}" if _RESERVED.fullmatch(name) else name
    try:
        return f"{datetime.fromisoformat(started_at):%Y-%m-%d %H.%M}"
    except ValueError:
        return tr("transcript")


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

    def save_shown(self, path: Path, on_saved: Callable[[], None] = lambda: None) -> None:
        """Save the transcript that is shown; `on_saved` follows if it is no kept one."""
        if self._state.is_live_shown:
            self._save_copy(0, _WHOLE, path, on_saved)
        else:
            # Read anew: the one that is shown may be changed while it is written.
            self.save_session(self._state.stored_id, path)

    def save_stretch(self, start: int, end: int, path: Path) -> None:
        """Save what was said in a stretch of the transcript that is shown."""
        self._save_copy(start, end, path)

    def _save_copy(
        self, start: int, end: int, path: Path, on_saved: Callable[[], None] = lambda: None
    ) -> None:
        # The copy is made here, where the document grows.
        part = excerpt(self._state.document, start, end)

        def done(_: object) -> None:
            self._exported(path)
            on_saved()

        self._jobs.run(lambda: _export(part, path), done, self._show_error)

    def _exported(self, path: Path) -> None:
        self._state.add_notice(Notice(Severity.INFO, tr("Saved as {path}.", path=path)))


def _export(document: TranscriptDocument, path: Path) -> None:
    from engine.store.exporters.export import export, format_of

    export(document, format_of(path) or ExportFormat.TXT, path)

"""Models and recordings on this machine: what is there, fetched, opened, changed, deleted."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.broken_off import BrokenOff
from app.exports import Exports
from app.i18n import tr
from app.jobs import Jobs
from app.kept_edits import KeptEdits
from app.recording_search import RecordingSearch
from app.recording_texts import describe
from app.recordings import Recordings
from app.state import AppState
from engine.core.config import Settings, folders
from engine.core.errors import EngineError
from engine.core.events import BackendState, EditEvent, Notice, SessionState, Severity
from engine.core.sync import CancelToken
from engine.core.types import BackendKind
from engine.text.document import TranscriptDocument

if TYPE_CHECKING:
    from app.levels import LevelHistory
    from engine.store.library import SessionInfo, SessionLibrary
    from engine.store.models import ModelStatus, ModelStore


_FETCHING = "fetching"


class Shelf(QObject):
    """Commands on files; each works on a worker thread. Thread: main.

    The store is imported there, too: it draws in what fetching needs, which would hold the
    window back at the start.

    Signals:
        missing_listed: titles of missing models and their size, for people.
        pull_progress: fraction (-1 where unknown) and a text.
        models_pulled: all missing models are there now.
        voices_listed: installed voices as (backend id, title).
        diarizers_listed: what can tell speakers apart, likewise.
        sessions_listed: a tuple of `SessionInfo`.
        open_failed: a kept recording cannot be shown; what was shown still is.

    Attributes:
        exports: saves transcripts as files.
        recordings: what is known of the recordings listed last.
        search: finds recordings by their words.

    Args:
        state: told what is shown.
        jobs: worker threads.
        settings: may name folders.
        environment: see `engine.core.config`.
    """

    missing_listed = Signal(object, str)
    pull_progress = Signal(float, str)
    models_pulled = Signal()
    voices_listed = Signal(object)
    diarizers_listed = Signal(object)
    sessions_listed = Signal(object)
    open_failed = Signal()

    def __init__(
        self,
        state: AppState,
        jobs: Jobs,
        settings: Settings,
        environment: Mapping[str, str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._jobs = jobs
        places = folders(settings, environment)
        self._models_dir = places.models
        self.sessions_dir = places.sessions
        self._missing: tuple[ModelStatus, ...] = ()
        self._failed: frozenset[BackendKind] | None = None
        self._was_busy = False
        self._is_listing = self._lists_again = False
        self._edits = KeptEdits(self._library)
        self.exports = Exports(state, jobs, self._written_library, self._show_error)
        self.recordings = Recordings(
            state, jobs, self._library, self.list_sessions, self._show_error
        )
        self.search = RecordingSearch(jobs, self._written_library, self)
        self._broken_off = BrokenOff(state, jobs, self.list_sessions)
        self._cancel = CancelToken()
        state.backends_changed.connect(self._check_models)
        state.session_changed.connect(self._watch_recording)
        state.document_replaced.connect(self.recordings.look_up_live)

    def close(self) -> None:
        """Give up what is being fetched or looked for."""
        self._cancel.cancel()
        self.search.cancel()

    # --- models ---

    def list_voices(self) -> None:
        """Look for installed voices; `voices_listed` follows."""
        self._jobs.run(self._list_models, self._tell_voices)

    def list_diarizers(self) -> None:
        """Look what can tell speakers apart; `diarizers_listed` follows."""
        self._jobs.run(_diarizers, self.diarizers_listed.emit)

    def pull_missing(self) -> None:
        """Fetch the missing models over the network, because the user asked for it."""
        missing = self._missing

        def work() -> None:
            store = self._store()
            for number, status in enumerate(missing):

                def report(fraction: float, text: str, number: int = number) -> None:
                    whole = (number + fraction) / len(missing) if fraction >= 0 else -1.0
                    self._jobs.call_soon(lambda: self.pull_progress.emit(whole, text))

                store.pull(status.entry.id, report, self._cancel)

        if missing:
            self.pull_progress.emit(-1.0, tr("Fetching the models…"))
            self._jobs.run(work, lambda _: self._pulled(), self._not_pulled)

    @Slot()
    def _check_models(self) -> None:
        failed = frozenset(
            kind
            for kind, backend in self._state.backends.items()
            if backend.state is BackendState.FAILED
        )
        if failed != self._failed:
            self._failed = failed
            self._jobs.run(self._list_models, self._tell_missing)

    def _store(self) -> "ModelStore":
        from engine.store.models import ModelStore

        return ModelStore(self._models_dir)

    def _library(self) -> "SessionLibrary":
        from engine.store.library import SessionLibrary

        return SessionLibrary(self.sessions_dir)

    def _written_library(self) -> "SessionLibrary":
        """Return the kept recordings with all changes on disk. Thread: a worker."""
        self.write_edits()
        return self._library()

    def _list_models(self) -> tuple["ModelStatus", ...]:
        return self._store().list()

    def _tell_missing(self, models: tuple["ModelStatus", ...]) -> None:
        reasons = [
            backend.message
            for backend in self._state.backends.values()
            if backend.state is BackendState.FAILED
        ]
        self._missing = tuple(
            status
            for status in models
            if status.state != "installed" and any(status.entry.id in reason for reason in reasons)
        )
        num_bytes = sum(status.entry.size_bytes for status in self._missing)
        is_known = all(status.entry.is_pinned for status in self._missing)
        megabytes = tr("{size} MB", size=f"{num_bytes / 1e6:.0f}")
        size = megabytes if is_known else tr("size not known")
        self.missing_listed.emit([status.entry.title for status in self._missing], size)

    def _tell_voices(self, models: tuple["ModelStatus", ...]) -> None:
        voices = [
            (f"{status.entry.id.partition('-')[0]}:{status.entry.id}", status.entry.title)
            for status in models
            if status.entry.kind is BackendKind.SYNTHESIZER and status.state == "installed"
        ]
        self.voices_listed.emit(voices)

    def _pulled(self) -> None:
        self._failed = None
        self._state.end_notices(_FETCHING)
        self.models_pulled.emit()
        self.list_voices()

    def _not_pulled(self, error: EngineError) -> None:
        self._state.add_notice(Notice(Severity.ERROR, error.message, error.advice, topic=_FETCHING))
        self._jobs.run(self._list_models, self._tell_missing)

    # --- recordings ---

    def list_sessions(self) -> None:
        """Look for kept recordings; `sessions_listed` follows."""
        # One at a time: what was looked up earlier must not be told later.
        self._lists_again = self._is_listing
        if not self._is_listing:
            self._is_listing = True
            self._jobs.run(lambda: self._library().list(), self._tell_sessions, self._not_listed)

    @Slot(str)
    def open_session(self, session_id: str) -> None:
        """Show a kept recording, finished first if it broke off; its levels follow."""
        if self._is_live(session_id):
            # Read from disk, it would be a second copy that does not know of changes of the first.
            self._state.show_live()
            return
        if session_id == self._state.stored_id:
            return

        def work() -> tuple[TranscriptDocument, "SessionInfo"] | None:
            library = self._written_library()
            if not self._broken_off.finish(library, session_id):
                return None
            stored = library.open(session_id)
            return stored.document(), stored.info()

        self._jobs.run(work, self._show_session, self._not_opened)

    def _read_levels(self, session_id: str) -> None:
        def work() -> "LevelHistory | None":
            return self._library().open(session_id).levels()

        self._jobs.run(
            work, lambda levels: self._state.set_stored_levels(session_id, levels), self._show_error
        )

    @Slot(str)
    def delete_session(self, session_id: str) -> None:
        """Delete a kept recording for good; it is not shown any more."""
        if self._is_live(session_id):
            self._state.forget_live()
        elif self._state.stored_id == session_id:
            self._state.show_live()
        self._jobs.run(
            lambda: self._library().delete(session_id),
            lambda _: self.list_sessions(),
            self._show_error,
        )

    def _is_live(self, session_id: str) -> bool:
        recording = self._state.live_document.recording
        return recording is not None and recording.recording_id == session_id

    # --- changes of a kept recording ---

    def edit_stored(self, events: Sequence[EditEvent]) -> None:
        """Change the kept recording that is shown, and keep the change."""
        self._edits.add(self._state.stored_id, events)
        self._state.apply_edits(events)
        self._jobs.run(self.write_edits, on_error=self._show_error)

    def write_edits(self) -> None:
        """Bring every change of kept recordings to disk. Thread: any; it blocks.

        Raises:
            EngineError: a change could not be written.
        """
        self._edits.write()

    def _tell_sessions(self, infos: tuple["SessionInfo", ...]) -> None:
        self._is_listing = False
        if self._lists_again:
            self.list_sessions()
            return
        self.recordings.take(infos)
        shown = self.recordings.info(self._state.stored_id)
        if shown is not None:
            self._state.stored_title = _strip_title(shown)
        self.sessions_listed.emit(infos)
        self._broken_off.offer(infos)

    def _show_session(self, found: tuple[TranscriptDocument, "SessionInfo"] | None) -> None:
        if found is None:
            return
        document, info = found
        if info.id == self._state.stored_id:
            return  # asked for twice: the reader may have begun already
        self._state.show_stored(document, _strip_title(info), info.id)
        if info.has_audio:
            self._read_levels(info.id)

    def _not_listed(self, error: EngineError) -> None:
        self._is_listing = False
        self._show_error(error)

    def _not_opened(self, error: EngineError) -> None:
        self._show_error(error)
        self.open_failed.emit()

    def _show_error(self, error: EngineError) -> None:
        self._state.add_notice(Notice(Severity.ERROR, error.message, error.advice))

    @Slot()
    def _watch_recording(self) -> None:
        is_busy = self._state.is_busy
        if self._was_busy and self._state.session_state is SessionState.IDLE:
            self.list_sessions()
        self._was_busy = is_busy


def _strip_title(info: "SessionInfo") -> str:
    title, detail = describe(info)
    return tr("{title} · {detail}", title=title, detail=detail)


def _diarizers() -> tuple[tuple[str, str], ...]:
    from engine.session.choices import backend_choices

    return backend_choices(BackendKind.DIARIZER)

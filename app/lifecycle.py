"""The end: what is recorded is finished and kept, then the program goes, never the other way."""

import logging
import signal
import socket
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication

from app.controller import Controller
from app.jobs import Jobs
from app.shelf import Shelf
from app.speech import Speech
from app.state import AppState
from engine.core.errors import EngineError
from engine.core.events import SessionState

logger = logging.getLogger(__name__)

LIMIT_MS = 5500
"""When the program goes, whatever does not return: a session closes within five seconds."""
_WORDS_MAY_COME = (SessionState.RECORDING, SessionState.PAUSED, SessionState.STOPPING)
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Lifecycle(QObject):
    """Closes the session on a thread of its own while the window stays alive.

    Whoever closes the window gets every word that was recorded, however long that takes; asked
    again, or if the system wants the program to end, it goes within five seconds. Where words
    would be gone that are kept nowhere, the user is asked first, the system is not.

    Signals:
        closing: the end has begun; True if a recording has to be finished first.
        finished: everything is closed; quit now.

    Args:
        controller: holds the session.
        shelf: may be fetching.
        speech: may be writing a file.
        state: tells whether something is recorded.
        jobs: worker threads.
    """

    closing = Signal(bool)
    finished = Signal()

    def __init__(
        self,
        controller: Controller,
        shelf: Shelf,
        speech: Speech,
        state: AppState,
        jobs: Jobs,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._shelf = shelf
        self._speech = speech
        self._state = state
        self._jobs = jobs
        self.is_closing = False
        self.is_finished = False
        self._is_urgent = False
        self._watchdog = QTimer(self)
        self._watchdog.setSingleShot(True)
        self._watchdog.setInterval(LIMIT_MS)
        self._watchdog.timeout.connect(self._go_anyway)
        self._restore: Callable[[], None] = lambda: None
        controller.build_ended.connect(self._go_on)

    @Slot()
    def close(self) -> None:
        """Begin the end; asked again, do without the words that are still missing."""
        if self.is_closing:
            if self._state.session_state is SessionState.STOPPING:
                self._controller.stop()
                self._watchdog.start()
            return
        unkept = self._controller.unkept
        # Asked again where nobody answers (Ctrl+C in a terminal), it goes.
        if unkept.waiting == self._begin_calmly or _is_session_ending():
            self._begin_calmly()
        else:
            unkept.guard(self._begin_calmly)

    def close_soon(self) -> None:
        """End within five seconds: words that take longer are marked as missing."""
        if not self.is_closing:
            self._begin(is_urgent=True)
            return
        session = self._controller.session
        if session is not None and self._state.session_state is SessionState.STOPPING:
            session.stop(discard_backlog=True)
        self._watchdog.start()

    def _begin_calmly(self) -> None:
        if not self.is_closing:
            self._begin(is_urgent=False)

    def _begin(self, *, is_urgent: bool) -> None:
        self._controller.unkept.cancel()
        self.is_closing = True
        self._is_urgent = is_urgent
        self._shelf.close()
        self._speech.cancel_save()
        self._controller.prepare_close()
        self.closing.emit(self._state.is_busy)
        self._close_session()

    def catch_signals(self) -> None:
        """Close in order on Ctrl+C in a terminal and when the system asks the program to end.

        The exit status is 0 then.
        """
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        reader.setblocking(False)
        notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, self)

        def wake() -> None:
            # Each byte is the number of a signal. Ctrl-C is a person, who can see what goes on.
            if set(reader.recv(64)) - {signal.SIGINT}:
                self.close_soon()
            else:
                self.close()

        notifier.activated.connect(wake)
        # Python runs a handler only between its own instructions; the descriptor wakes Qt.
        old_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        old = {
            number: signal.signal(number, lambda *_: None)
            for number in numbers
            # One that is ignored, as with nohup, stays so.
            if signal.getsignal(number) is not signal.SIG_IGN
        }

        def restore() -> None:
            notifier.setEnabled(False)
            signal.set_wakeup_fd(old_fd)
            for number, handler in old.items():
                signal.signal(number, handler)
            reader.close()
            writer.close()

        self._restore = restore

    def release_signals(self) -> None:
        """Give signals back to whoever had them."""
        self._restore()
        self._restore = lambda: None

    def _close_session(self) -> None:
        session = self._controller.session
        if session is None:
            # One that is being made has threads of its own: it has to be closed once it is there.
            if not self._controller.is_building:
                self._keep_edits()
                self._finish()
            else:
                self._watchdog.start()
            return
        has_words = self._state.session_state in _WORDS_MAY_COME and not self._is_urgent
        if not has_words:
            self._watchdog.start()

        def work() -> None:
            self._keep_edits()
            try:
                if has_words:
                    session.stop().result()
                    self._jobs.call_soon(self._watchdog.start)
                session.close()
            except Exception:
                logger.exception("the session did not close in order")
            self._jobs.call_soon(self._finish)

        threading.Thread(target=work, name="vivavoce-close", daemon=True).start()

    def _keep_edits(self) -> None:
        """Bring to disk what was changed last. Thread: any."""
        try:
            self._shelf.write_edits()
        except EngineError as error:
            logger.warning("a change of a kept recording is lost: %s", error)

    @Slot()
    def _go_on(self) -> None:
        """Close a session that was still being made when the window closed."""
        if self.is_closing:
            self._close_session()

    @Slot()
    def _go_anyway(self) -> None:
        if not self.is_finished:
            logger.warning("something does not return; the program ends without it")
            self._finish()

    def _finish(self) -> None:
        self._watchdog.stop()
        if not self.is_finished:
            self.is_finished = True
            self._controller.detach()
            self._jobs.close()
            self.finished.emit()


def _is_session_ending() -> bool:
    """Return whether the desktop is logging out, and closes every window."""
    application = QGuiApplication.instance()
    return isinstance(application, QGuiApplication) and application.isSavingSession()

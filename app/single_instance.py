"""One window for each user and folder: a second start brings up the first."""

import hashlib
import logging
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from filelock import FileLock, Timeout
from PySide6.QtCore import QObject, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

logger = logging.getLogger(__name__)

_LOCK_NAME = "window.lock"
_SOCKET_NAME = "window.socket"
_MAX_PATH_BYTES = 100
"""Longer names of sockets are refused by the system."""
PATIENCE_S = 6.0
"""What the first may take to answer: it may be starting, or closing."""
_TRY_S = 0.1
_TRY_MS = 100
_SHOW, _SHOWN = b"show\n", b"shown\n"


class Claim(StrEnum):
    """What has become of the wish to open the window."""

    FIRST = "first"  # this process has the window
    SHOWN = "shown"  # another one has it, and has brought it up
    NO_ANSWER = "no answer"  # another one has it, and does not answer


class SingleInstance(QObject):
    """Sees to it that one process has the window, and tells it of the others.

    A lock that the system takes back when a process dies says who is first; a local socket, which
    this user alone may open, carries the wish to be shown. Nothing listens on the network.

    Args:
        folder: of the program's state; instances with another one know nothing of each other.
    """

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._name = _socket_name(folder)
        self._server: QLocalServer | None = None
        self._bring_up: Callable[[], None] = lambda: None
        self._lock = FileLock(folder / _LOCK_NAME, mode=0o600)

    def claim(self, patience_s: float = PATIENCE_S) -> Claim:
        """Become the first, or bring the first up. Blocks for seconds at most.

        Args:
            patience_s: the first may take so long to answer: it may be starting, or closing.
        """
        for _ in range(max(1, round(patience_s / _TRY_S))):
            if self._is_first():
                return Claim.FIRST
            socket = QLocalSocket()
            socket.connectToServer(self._name)
            if socket.waitForConnected(_TRY_MS):
                socket.write(_SHOW)
                socket.flush()
                if socket.waitForReadyRead(round(1000 * patience_s)):
                    is_shown = socket.readAll().data() == _SHOWN
                    return Claim.SHOWN if is_shown else Claim.NO_ANSWER
            # Between its lock and its socket there is nothing of it to wait on.
            time.sleep(_TRY_S)
        return Claim.NO_ANSWER

    def listen(self, bring_up: Callable[[], None]) -> None:
        """Call `bring_up` whenever another instance was started. Thread: main."""
        self._bring_up = bring_up
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        # What a first instance that broke down has left behind; the lock says that it is gone.
        QLocalServer.removeServer(self._name)
        if not server.listen(self._name):
            logger.warning("other instances cannot be heard: %s", server.errorString())
            return
        server.newConnection.connect(self._take_connections)
        self._server = server

    @Slot()
    def stop_listening(self) -> None:
        """The window is about to go: others wait until they can have one of their own."""
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def close(self) -> None:
        """Let another instance be the first; idempotent."""
        self.stop_listening()
        self._lock.release()

    def _is_first(self) -> bool:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        except (OSError, NotImplementedError) as error:
            # Two windows are better than none.
            logger.warning("whether the window is open already cannot be told: %s", error)
        return True

    @Slot()
    def _take_connections(self) -> None:
        server = self._server
        while server is not None and (socket := server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            # Whatever it says, it wants to be shown.
            socket.write(_SHOWN)
            socket.flush()
            self._bring_up()


def _socket_name(folder: Path) -> str:
    path = (folder / _SOCKET_NAME).absolute()
    if sys.platform != "win32" and len(str(path).encode()) <= _MAX_PATH_BYTES:
        return str(path)
    return f"vivavoce-{hashlib.sha256(str(path).encode()).hexdigest()[:24]}"

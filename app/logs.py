"""Where the program writes what went wrong, without a word of any transcript."""

import faulthandler
import logging
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from engine.core.log_file import LOG_FORMAT, LOG_NAME, LogFileHandler, open_private

logger = logging.getLogger(__name__)

QUIET_S = 30.0
"""A fault that comes again is told again, but no more often than that."""
_Place: TypeAlias = tuple[type[BaseException], str, int]


def start_logging(folder: Path) -> Path | None:
    """Write the log and crash traces to files of a folder that rotate at 1 MB.

    Returns:
        The log file; None if the folder cannot be written (the log goes to stderr then).
    """
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    try:
        root.addHandler(LogFileHandler(folder))
        # Kept open for the life of the process: the crash handler writes to it.
        faulthandler.enable(open_private(folder / "crash.log"))
    except OSError:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(LOG_FORMAT))
        root.addHandler(handler)
        return None
    return folder / LOG_NAME


def install_hooks(tell: Callable[[], None], *, now_s: Callable[[], float] = time.monotonic) -> None:
    """Log exceptions nobody caught, on any thread and in Qt's slots, and Qt's messages.

    What fails at the same place again and again, as a slot of a timer may, is told once in
    `QUIET_S` and logged ever more rarely.

    Args:
        tell: shows the user that something unexpected happened. Thread: any.
        now_s: a clock. Thread: any.
    """
    from PySide6.QtCore import QtMsgType, qInstallMessageHandler

    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }

    faults = _Faults(now_s)

    def take_qt(kind: QtMsgType, context: object, message: str) -> None:
        del context
        logging.getLogger("qt").log(levels.get(kind, logging.WARNING), "%s", message)

    def take(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        count, is_due = faults.count(kind, trace)
        if is_due or count.bit_count() == 1:
            logger.error("unexpected error (number %s)", count, exc_info=(kind, error, trace))
        if is_due:
            # At the very end there is nobody to be told any more.
            with suppress(RuntimeError):
                tell()

    def take_unraisable(args: "sys.UnraisableHookArgs") -> None:
        error = args.exc_value
        if isinstance(error, Exception):
            count, _ = faults.count(type(error), args.exc_traceback)
            if count == 1:
                logger.error("an error in a callback", exc_info=error)

    def take_from_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            take(args.exc_type, args.exc_value, args.exc_traceback)

    qInstallMessageHandler(take_qt)
    sys.excepthook = take
    sys.unraisablehook = take_unraisable
    threading.excepthook = take_from_thread


class _Faults:
    """Counts faults by kind and place. Thread: any.

    Args:
        now_s: a clock.
    """

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self._counts: Counter[_Place] = Counter()
        self._told_at_s: dict[_Place, float] = {}

    def count(self, kind: type[BaseException], trace: TracebackType | None) -> tuple[int, bool]:
        """Count one more; return how many there were of it, and whether to tell of this one."""
        place = ("", 0)
        for frame, line in traceback.walk_tb(trace):
            place = frame.f_code.co_filename, line
        with self._lock:
            fault, now_s = (kind, *place), self._now_s()
            self._counts[fault] += 1
            is_due = now_s - self._told_at_s.get(fault, -inf) >= QUIET_S
            if is_due:
                self._told_at_s[fault] = now_s
            return self._counts[fault], is_due

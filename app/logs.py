"""Where the program writes what went wrong, without a word of any transcript."""

import faulthandler
import logging
import logging.handlers
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from app.i18n import tr

logger = logging.getLogger(__name__)

_MAX_BYTES = 1_000_000
_FORMAT = "%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"


def start_logging(folder: Path) -> Path | None:
    """Write the log and crash traces to files of a folder that rotate at 1 MB.

    Returns:
        The log file; None if the folder cannot be written (the log goes to stderr then).
    """
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "vivavoce.log"
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=_MAX_BYTES, backupCount=3, encoding="utf-8"
        )
        # Kept open for the life of the process: the crash handler writes to it.
        crashes = (folder / "crash.log").open("a", encoding="utf-8")
        faulthandler.enable(crashes)
    except OSError:
        handler, path = logging.StreamHandler(), None
    handler.setFormatter(logging.Formatter(_FORMAT))
    root.addHandler(handler)
    return path


def install_hooks(tell: Callable[[str], None]) -> None:
    """Log exceptions nobody caught, on any thread, and Qt's messages.

    Args:
        tell: shows a sentence to the user. Thread: any.
    """
    from PySide6.QtCore import QtMsgType, qInstallMessageHandler

    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }

    def take_qt(kind: QtMsgType, context: object, message: str) -> None:
        del context
        logging.getLogger("qt").log(levels.get(kind, logging.WARNING), "%s", message)

    def take(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        logger.error("unexpected error", exc_info=(kind, error, trace))
        tell(tr("Something went wrong inside the program: {error}.", error=kind.__name__))

    def take_from_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            take(args.exc_type, args.exc_value, args.exc_traceback)

    qInstallMessageHandler(take_qt)
    sys.excepthook = take
    threading.excepthook = take_from_thread

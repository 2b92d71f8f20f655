"""Collects what our loggers warn of, but for what a soak brings about."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_LOGGERS = ("engine", "app")
_MAX_LINES = 50


class SoakLog(logging.Handler):
    """Keeps the warnings that nothing was to bring about, and counts the others.

    Args:
        expected: parts of the messages that the faults bring about.
    """

    def __init__(self, expected: Sequence[str]) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self._expected = tuple(expected)
        self.lines: list[str] = []
        self.num_expected: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        line = self.format(record)
        for part in self._expected:
            if part in line:
                self.num_expected[part] += 1
                return
        if len(self.lines) < _MAX_LINES:
            self.lines.append(line)


@contextmanager
def watched_log(expected: Sequence[str] = ()) -> Iterator[SoakLog]:
    """Collect what our loggers warn of meanwhile."""
    handler = SoakLog(expected)
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    passes_on = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield handler
    finally:
        for logger, does in zip(loggers, passes_on, strict=True):
            logger.removeHandler(handler)
            logger.propagate = does

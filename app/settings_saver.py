"""Brings changed settings to disk, many quick changes in one write."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QTimer, Slot

from engine.core.config import Settings, save_settings
from engine.core.errors import EngineError

_SAVE_AFTER_MS = 300


class SettingsSaver(QObject):
    """Writes the settings a moment after they changed; writes never run side by side. Thread: main.

    Args:
        current: returns the settings in force.
        environment: see `engine.core.config`.
        show_error: told when they cannot be written.
    """

    def __init__(
        self,
        current: Callable[[], Settings],
        environment: Mapping[str, str],
        show_error: Callable[[EngineError], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._current = current
        self._environment = environment
        self._show_error = show_error
        self._saved = current()
        self._timer = QTimer(self, singleShot=True, interval=_SAVE_AFTER_MS)
        self._timer.timeout.connect(self.save)

    @Slot()
    def save_soon(self) -> None:
        """Write once the changes come to rest."""
        self._timer.start()

    @Slot()
    def save(self) -> None:
        """Write what has changed: a small file, written in a moment."""
        self._timer.stop()
        settings = self._current()
        if settings == self._saved:
            return
        try:
            save_settings(settings, self._environment)
        except EngineError as error:
            self._show_error(error)
        else:
            self._saved = settings

"""What the user chooses of captions, for the window as it is: large, or small."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.captions import (
    MAX_LINES,
    MAX_SIZE_PT,
    MIN_LINES,
    MIN_SIZE_PT,
    SCHEMES,
    CaptionsFile,
    CaptionsLook,
)

_SAVE_AFTER_MS = 500
_SIZE_STEP_PT = 4
_OF_WINDOW = ("num_lines", "size_pt")
"""Fields of the look that the small window has for itself."""


class CaptionsChoices(QObject):
    """Changes the look, and brings it to disk once the changes come to rest. Thread: main.

    Signals:
        changed: the look, or which of its sizes are in force.

    Args:
        captions_file: keeps the look.
    """

    changed = Signal()

    def __init__(self, captions_file: CaptionsFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = captions_file
        self._is_small = False
        self._timer = QTimer(self, singleShot=True, interval=_SAVE_AFTER_MS)
        self._timer.timeout.connect(self.save)

    @property
    def look(self) -> CaptionsLook:
        """Everything that was chosen."""
        return self._file.look

    @property
    def num_lines(self) -> int:
        """Lines of the window as it is."""
        return self._value("num_lines", self.look)

    @property
    def size_pt(self) -> int:
        """Size of words of the window as it is."""
        return self._value("size_pt", self.look)

    def set_small(self, is_small: bool) -> None:
        """Tell which window it is."""
        if is_small != self._is_small:
            self._is_small = is_small
            self.changed.emit()

    @Slot(object)
    def choose(self, values: Mapping[str, object]) -> None:
        """Change the look.

        Args:
            values: fields of `CaptionsLook`; `num_lines` and `size_pt` mean the window as it is.
        """
        self._file.change(**{self._field(name): value for name, value in values.items()})
        self._timer.start()
        self.changed.emit()

    def change_size(self, step: int) -> None:
        """Make words larger (+1) or smaller (-1); 0 gives the usual size back."""
        usual = self._value("size_pt", CaptionsLook())
        size = self.size_pt + step * _SIZE_STEP_PT if step else usual
        self.choose({"size_pt": min(max(size, MIN_SIZE_PT), MAX_SIZE_PT)})

    def change_lines(self, step: int) -> None:
        """Show more or fewer lines."""
        self.choose({"num_lines": min(max(self.num_lines + step, MIN_LINES), MAX_LINES)})

    @Slot()
    def next_scheme(self) -> None:
        """Take the next colours."""
        at = SCHEMES.index(self.look.scheme)
        self.choose({"scheme": SCHEMES[(at + 1) % len(SCHEMES)]})

    @Slot()
    def toggle_names(self) -> None:
        """Show or hide speakers' names."""
        self.choose({"shows_names": not self.look.shows_names})

    @Slot()
    def save(self) -> None:
        """Bring it to disk now."""
        self._timer.stop()
        self._file.save()

    def _field(self, name: str) -> str:
        return f"small_{name}" if self._is_small and name in _OF_WINDOW else name

    def _value(self, name: str, look: CaptionsLook) -> int:
        value: int = getattr(look, self._field(name))
        return value

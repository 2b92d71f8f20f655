"""Whether things may move: what the user said here, else what the desktop prefers."""

from PySide6.QtCore import QObject, Signal, Slot

from app.access.desktop_motion import DesktopMotion


class Motion(QObject):
    """Whether movement is reduced. Thread: main.

    Signals:
        changed: `is_reduced` is another.

    Attributes:
        is_reduced: whether things keep still.

    Args:
        choice: "full" or "reduced"; "" for what the desktop prefers.
        desktop: what that is; None to ask this one.
    """

    changed = Signal(bool)

    def __init__(
        self,
        choice: str = "",
        parent: QObject | None = None,
        desktop: DesktopMotion | None = None,
    ) -> None:
        super().__init__(parent)
        self._choice = choice
        self._desktop = desktop or DesktopMotion(self)
        self._desktop.changed.connect(self._follow)
        self.is_reduced = self._wanted()

    def choose(self, choice: str) -> None:
        """Move, or rest, whatever the desktop says; "" follows the desktop again."""
        self._choice = choice
        self._follow()

    @Slot()
    def _follow(self) -> None:
        is_reduced = self._wanted()
        if is_reduced != self.is_reduced:
            self.is_reduced = is_reduced
            self.changed.emit(is_reduced)

    def _wanted(self) -> bool:
        return self._choice == "reduced" if self._choice else self._desktop.is_reduced

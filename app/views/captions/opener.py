"""Opens captions when they are first asked for, and keeps them in line with the recording."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.captions import CaptionsFile
from app.controller import Controller
from app.speech import Speech
from app.views.context import ViewContext

if TYPE_CHECKING:
    from app.views.captions.window import CaptionsWindow
    from engine.session.health import Health


class CaptionsOpener(QObject):
    """Makes the captions window once it is wanted: most people never ask for it.

    Args:
        context: what is shown.
        speech: speaks what is typed there.
        controller: records and pauses.
        captions_file: remembers how captions look.
        parent: owns it.
    """

    def __init__(
        self,
        context: ViewContext,
        speech: Speech,
        controller: Controller,
        captions_file: CaptionsFile,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._speech = speech
        self._controller = controller
        self._file = captions_file
        self._window: CaptionsWindow | None = None

    @property
    def is_shown(self) -> bool:
        """Whether captions are on the screen."""
        return self._window is not None and self._window.isVisible()

    @Slot()
    def toggle(self) -> None:
        """Show captions all over the screen, or leave them."""
        self.window().toggle()

    @Slot()
    def toggle_small(self) -> None:
        """Show captions in a small window on top, or leave them."""
        self.window().toggle_small()

    @Slot()
    def leave(self) -> None:
        """Put captions away: something is asked in the window behind them."""
        if self._window is not None:
            self._window.leave()

    @Slot()
    def close(self) -> None:
        """Leave captions and keep how they looked; idempotent."""
        window, self._window = self._window, None
        if window is not None:
            window.close()
            window.deleteLater()
        self._file.save()

    def set_health(self, health: "Health") -> None:
        """Tell captions how far the words are behind."""
        if self._window is not None:
            self._window.set_health(health)

    def set_alarm(self, text: str) -> None:
        """Tell captions what is wrong with the microphone; "" for nothing."""
        if self._window is not None:
            self._window.set_alarm(text)

    def window(self) -> "CaptionsWindow":
        """Return the captions window, made if there is none."""
        if self._window is None:
            # Imported late: it is not needed at the start.
            from app.views.captions.window import CaptionsWindow

            self._window = CaptionsWindow(self._context, self._speech, self._file)
            self._window.record_asked.connect(self._controller.toggle_record)
            self._window.pause_asked.connect(self._controller.pause_or_resume)
        return self._window

"""Pulls what changes all the time: levels, times, delays; only while it can be seen."""

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app.controller import Controller
from app.i18n import tr
from app.state import AppState
from app.views.health.level_meter import ALARM_TEXTS
from engine.core.events import SessionState

if TYPE_CHECKING:
    from app.views.main_window import MainWindow
    from engine.session.health import Health

_INTERVAL_MS = 33
_HEALTH_EVERY = 15
"""Health changes slowly and costs more to ask for: twice a second."""


class Pulse(QObject):
    """One 30 Hz timer for meters and plots; it stands still while nothing is recorded.

    Args:
        window: its views are fed.
        state: tells whether there is anything to pull.
        controller: holds the session.
    """

    def __init__(self, window: "MainWindow", state: AppState, controller: Controller) -> None:
        super().__init__(window)
        self._window = window
        self._state = state
        self._controller = controller
        self._num_beats = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self._beat)

    @property
    def is_running(self) -> bool:
        """Whether it pulls."""
        return self._timer.isActive()

    @Slot()
    def refresh(self) -> None:
        """Start or stop with the session and the window's visibility."""
        is_seen = not self._window.isMinimized() or self._window.captions.is_shown
        is_wanted = self._state.is_busy and is_seen
        if is_wanted and not self._timer.isActive():
            self._num_beats = 0
            self._timer.start()
        elif not is_wanted:
            self._timer.stop()
            self._rest()

    @Slot()
    def _beat(self) -> None:
        session = self._controller.session
        if session is None:
            return
        levels = session.levels()
        self._window.toolbar.meter.set_levels(levels)
        self._show_alarm(levels.alarm.value if levels is not None else "none")
        self._window.toolbar.set_input_in_use(*session.input_in_use())
        recorded_s = session.recorded_s()
        if recorded_s > 0:
            self._window.toolbar.set_time(recorded_s)
            if self._state.is_live_shown:
                self._window.timeline.set_duration(recorded_s)
        if self._num_beats % _HEALTH_EVERY == 0:
            self._show_health(session.health())
        self._num_beats += 1

    def _show_health(self, health: "Health") -> None:
        # Before the first sound and after the last there are no figures, not figures of zero.
        if health.recorded_s > 0:
            self._window.health_strip.set_health(health)
            self._window.delays_panel.add(health, time.monotonic())
            self._window.captions.set_health(health)

    def _rest(self) -> None:
        self._window.toolbar.meter.set_levels(None)
        self._show_alarm("none")
        if not self._state.is_busy:
            document = self._state.live_document
            self._window.toolbar.set_time(document.seconds(document.num_samples))

    def _show_alarm(self, alarm: str) -> None:
        is_live = self._state.session_state is SessionState.RECORDING
        text = tr(ALARM_TEXTS[alarm]) if is_live and alarm in ALARM_TEXTS else ""
        line = self._window.reading.alarm_line
        if text != line.text():
            line.setText(text)
            line.setVisible(bool(text))
            self._window.captions.set_alarm(text)

"""One line that says what runs where, how far behind it is, and what was lost."""

from typing import Protocol

from PySide6.QtCore import QSize, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QWidget

from app.fonts import SMALL, scaled, tabular
from app.i18n import tr
from app.state import AppState
from app.theme import Appearance
from app.views.elided_label import ElidedLabel
from engine.core.events import BackendChanged, BackendState
from engine.core.types import BackendKind

_KINDS = (BackendKind.RECOGNIZER, BackendKind.DIARIZER, BackendKind.SYNTHESIZER)
_BEHIND_S = 5.0
"""A backlog from which on it is worth a look."""
_WARNING_SIGN = "⚠"


class HealthReading(Protocol):
    """What a session tells about itself; see `engine.session.health.Health`."""

    @property
    def partial_delay_s(self) -> float | None: ...
    @property
    def final_delay_s(self) -> float | None: ...
    @property
    def speaker_delay_s(self) -> float | None: ...
    @property
    def recognizer_backlog_s(self) -> float: ...
    @property
    def diarizer_backlog_s(self) -> float: ...
    @property
    def encoder_backlog_s(self) -> float | None: ...
    @property
    def num_overflows(self) -> int: ...
    @property
    def lost_s(self) -> float: ...
    @property
    def num_underflows(self) -> int: ...
    @property
    def num_device_underflows(self) -> int: ...


class HealthStrip(QFrame):
    """The line at the bottom.

    Args:
        state: the backends.
        appearance: colours.
    """

    def __init__(
        self, state: AppState, appearance: Appearance, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("healthStrip")
        self.setAccessibleName(tr("Health"))
        self._state = state
        self._appearance = appearance
        self._is_bad = False
        self.backends = {kind: ElidedLabel() for kind in _KINDS}
        self.progress = QProgressBar()
        self.delays = ElidedLabel()
        self.losses = ElidedLabel()
        self._build()
        state.backends_changed.connect(self._show_backends)
        appearance.changed.connect(self._paint)
        self._show_backends()
        self.set_health(None)

    def set_health(self, health: HealthReading | None) -> None:
        """Show a snapshot; None while nothing is recorded."""
        if health is None:
            self.delays.setText("")
            self.losses.setText("")
            return
        self._show_delays(health)
        backlog_s = max(
            health.recognizer_backlog_s,
            health.diarizer_backlog_s,
            health.encoder_backlog_s or 0.0,
        )
        drops = health.num_overflows + health.num_underflows + health.num_device_underflows
        is_bad = backlog_s > _BEHIND_S or drops > 0
        text = tr("backlog {seconds} s    drops {drops}", seconds=f"{backlog_s:.1f}", drops=drops)
        self.losses.setText(f"{_WARNING_SIGN} {text}" if is_bad else text)
        self.losses.setToolTip(_losses(health))
        self.losses.setAccessibleDescription(self.losses.toolTip())
        if is_bad != self._is_bad:
            self._is_bad = is_bad
            self._paint_losses()

    def _show_delays(self, health: HealthReading) -> None:
        text = tr(
            "text {partial} → final {final}    speakers {speakers}",
            partial=_seconds(health.partial_delay_s),
            final=_seconds(health.final_delay_s),
            speakers=_seconds(health.speaker_delay_s),
        )
        self.delays.setText(text)
        meaning = tr(
            "From the end of a word to its first showing and to its last form, and from a moment "
            "to knowing who spoke; medians of the newest"
        )
        self.delays.setToolTip(f"{text}\n{meaning}")
        self.delays.setAccessibleDescription(meaning)

    @Slot()
    def _paint(self) -> None:
        self._show_backends()
        self._paint_losses()

    def _paint_losses(self) -> None:
        theme = self._appearance.theme
        self.losses.setStyleSheet(f"color: {theme.warning if self._is_bad else theme.muted};")

    @Slot()
    def _show_backends(self) -> None:
        loading: list[BackendChanged] = []
        for kind, label in self.backends.items():
            backend = self._state.backends.get(kind)
            label.setText(_describe(kind, backend))
            label.setToolTip(backend.message or label.text() if backend else "")
            is_failed = backend is not None and backend.state is BackendState.FAILED
            theme = self._appearance.theme
            label.setStyleSheet(f"color: {theme.warning if is_failed else theme.muted};")
            if backend is not None and backend.state is BackendState.LOADING:
                loading.append(backend)
        self.progress.setVisible(bool(loading))
        if loading:
            known = loading[0].progress >= 0
            self.progress.setRange(0, 100 if known else 0)
            self.progress.setValue(round(100 * loading[0].progress) if known else 0)

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 12, 4)
        row.setSpacing(20)
        font = tabular(scaled(self.font(), SMALL))
        for backend_label in self.backends.values():
            row.addWidget(backend_label)
        self.progress.setTextVisible(False)
        self.progress.setFixedSize(QSize(80, 4))
        self.progress.setAccessibleName(tr("Loading"))
        row.addWidget(self.progress)
        row.addStretch(1)
        row.addWidget(self.delays)
        row.addWidget(self.losses)
        for label in (*self.backends.values(), self.delays, self.losses):
            label.setFont(font)


def _describe(kind: BackendKind, backend: BackendChanged | None) -> str:
    titles = {
        BackendKind.RECOGNIZER: tr("Text"),
        BackendKind.DIARIZER: tr("Speakers"),
        BackendKind.SYNTHESIZER: tr("Voice"),
    }
    return tr("{kind}: {backend}", kind=titles[kind], backend=_state_of(backend))


def _state_of(backend: BackendChanged | None) -> str:
    if backend is None:
        return "…"
    name = backend.title or backend.backend_id
    match backend.state:
        case BackendState.LOADING if backend.progress >= 0:
            return tr("{name}, loading {percent}", name=name, percent=f"{backend.progress:.0%}")
        case BackendState.LOADING:
            return tr("{name}, loading", name=name)
        case BackendState.FAILED:
            return tr("{name}, not available", name=name)
        case BackendState.OFF:
            return (
                tr("off") if backend.backend_id == "none" else tr("{name}, not loaded", name=name)
            )
        case BackendState.READY:
            place = f"{name} · {backend.device}" if backend.device else name
            return place if backend.is_trained else tr("{name} · UNTRAINED", name=place)


def _losses(health: HealthReading) -> str:
    lines = [
        tr("Waiting for the text: {seconds} s", seconds=f"{health.recognizer_backlog_s:.1f}"),
        tr("Waiting for the speakers: {seconds} s", seconds=f"{health.diarizer_backlog_s:.1f}"),
    ]
    if health.encoder_backlog_s is not None:
        waiting = f"{health.encoder_backlog_s:.1f}"
        lines.append(tr("Waiting to settle the speakers: {seconds} s", seconds=waiting))
    lines += [
        tr(
            "Microphone lost sound {number} times, {seconds} s in all",
            number=health.num_overflows,
            seconds=f"{health.lost_s:.2f}",
        ),
        tr("Loudspeaker ran dry {number} times", number=health.num_underflows),
        tr("Sound system was late {number} times", number=health.num_device_underflows),
    ]
    return "\n".join(lines)


def _seconds(value: float | None) -> str:
    return "–" if value is None else tr("{seconds} s", seconds=f"{value:.1f}")

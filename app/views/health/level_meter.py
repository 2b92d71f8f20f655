"""The input's level in decibels, with a held peak and a mark for clipping."""

from typing import Protocol

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.i18n import tr
from app.theme import Appearance

FLOOR_DB = -60.0
_QUIET_DB = -100.0
_HOT_DB = -6.0
_MARKS_DB = (-48, -36, -24, -12)

ALARM_TEXTS = {
    "no_blocks": (
        "No sound reaches me: the microphone has stopped delivering. "
        "Is it still plugged in? Another input can be chosen above: recording goes on there."
    ),
    "all_zero": (
        "No sound reaches me: the microphone delivers nothing but silence. It may be muted, or "
        "this program may not be allowed to use it (see the system's privacy settings)."
    ),
    "silent": (
        "No sound reaches me: only faint noise comes in. Is this the right microphone, and is its "
        "gain high enough?"
    ),
}
"""What is wrong with an input, by the value of its alarm."""


class LevelReading(Protocol):
    """What a session tells of its input."""

    @property
    def peak_db(self) -> float:
        """DBFS."""
        ...

    @property
    def rms_db(self) -> float:
        """DBFS."""
        ...

    @property
    def is_clipped(self) -> bool:
        """Whether full scale was touched."""
        ...

    @property
    def alarm(self) -> str:
        """What is wrong, or "none"."""
        ...


class LevelMeter(QWidget):
    """A horizontal meter from -60 dB to full scale. Its last pixels are the clip mark."""

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._peak_db = self._rms_db = _QUIET_DB
        self._is_clipped = False
        self._shown: tuple[int, int, bool] = (-1, -1, False)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Input level"))
        self.setToolTip(
            tr("Input level, dB below full scale; the mark at the right means clipping")
        )
        appearance.changed.connect(self.update)
        self._describe()

    def set_levels(self, levels: LevelReading | None) -> None:
        """Show a reading, None for silence; repaints only what can be seen to change."""
        self._peak_db = levels.peak_db if levels else _QUIET_DB
        self._rms_db = levels.rms_db if levels else _QUIET_DB
        self._is_clipped = levels.is_clipped if levels else False
        seen = (round(self._x(self._rms_db)), round(self._x(self._peak_db)), self._is_clipped)
        if seen != self._shown:
            self._shown = seen
            self._describe()
            self.update()

    @property
    def level_db(self) -> float:
        """What is shown, dB below full scale, within the scale."""
        return min(max(self._rms_db, FLOOR_DB), 0.0)

    def sizeHint(self) -> QSize:
        return QSize(148, 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(64, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme, painter = self._appearance.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        track = QRectF(0, 6, self._track(), self.height() - 12)
        painter.setBrush(theme.color("line"))
        painter.drawRoundedRect(track, 3, 3)
        hot = self._x(_HOT_DB)
        rms = self._x(self._rms_db)
        if rms > 0:
            painter.setBrush(theme.color("good"))
            painter.drawRoundedRect(QRectF(0, track.top(), min(rms, hot), track.height()), 3, 3)
        if rms > hot:
            painter.setBrush(theme.color("warning"))
            painter.drawRect(QRectF(hot, track.top(), rms - hot, track.height()))
        peak = self._x(self._peak_db)
        if peak > 0:
            painter.setBrush(theme.color("warning" if peak > hot else "text"))
            painter.drawRect(QRectF(peak - 1.5, 4, 2, self.height() - 8))
        painter.setBrush(theme.color("faint"))
        for mark_db in _MARKS_DB:
            painter.drawRect(QRectF(self._x(mark_db), self.height() - 4, 1, 3))
        painter.setBrush(theme.color("record" if self._is_clipped else "line"))
        painter.drawRoundedRect(QRectF(self.width() - 9, 4, 9, self.height() - 8), 2, 2)
        painter.end()

    def _track(self) -> float:
        return self.width() - 13

    def _x(self, level_db: float) -> float:
        share = (min(max(level_db, FLOOR_DB), 0.0) - FLOOR_DB) / -FLOOR_DB
        return share * self._track()

    def _describe(self) -> None:
        level_db = f"{self._rms_db:.0f}"
        if self._rms_db <= FLOOR_DB:
            text = tr("silence")
        elif self._is_clipped:
            text = tr("{level} decibels, clipping", level=level_db)
        else:
            text = tr("{level} decibels", level=level_db)
        self.setAccessibleDescription(text)

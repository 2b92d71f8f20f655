"""What the delays panel shows: which figures, the last two minutes of them, and memory longer."""

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.i18n import tr

if TYPE_CHECKING:
    from engine.session.health import Health

SPAN_S = 120.0
_NUM_POINTS = 288
"""Two minutes at two points a second, with room for the marks of breaks."""
_BREAK_S = 2.0
_NUM_TREND_POINTS = 240


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot, or one figure.

    Args:
        label: for people.
        read: the figure in the group's unit; None while there is none.
        is_optional: whether it is left out as long as there is no figure.
    """

    label: str
    read: Callable[["Health"], float | None]
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Figures of one unit that are shown together.

    Args:
        title: for people.
        unit: of all its figures; "" for counts.
        least_top: the top of the scale is never lower.
        decimals: of its values as text.
        series: its lines.
        is_whole: whether its plot goes back to the beginning, not two minutes.
        is_plotted: whether there is a plot; else figures alone.
    """

    title: str
    unit: str
    least_top: float
    decimals: int
    series: tuple[Series, ...]
    is_whole: bool = False
    is_plotted: bool = True

    def text(self, value: float | None) -> str:
        """Return a figure as people read it."""
        return "–" if value is None else f"{value:.{self.decimals}f} {self.unit}".rstrip()


def groups() -> tuple[Group, ...]:
    """Return what is shown, in the user's language."""
    return (
        Group(tr("Delay"), "s", 2.0, 1, _delays()),
        Group(
            tr("Backlog"),
            "s",
            2.0,
            1,
            (
                Series(tr("text"), lambda health: health.recognizer_backlog_s),
                Series(tr("speakers"), lambda health: health.diarizer_backlog_s),
                Series(tr("settling"), lambda health: health.encoder_backlog_s, True),
            ),
        ),
        Group(
            tr("Real-time factor"),
            "×",
            1.0,
            2,
            (
                Series(tr("text"), lambda health: health.recognizer_load),
                Series(tr("speakers"), lambda health: health.diarizer_load),
                Series(tr("settling"), lambda health: health.encoder_load, True),
            ),
        ),
        Group(
            tr("Memory"),
            "MB",
            500.0,
            0,
            (
                Series(tr("this program"), lambda health: health.rss_bytes / 1e6),
                Series(tr("on the GPU"), _gpu_mb, True),
            ),
            is_whole=True,
        ),
        Group(
            tr("Lost"),
            "",
            1.0,
            0,
            (
                Series(tr("input, times"), lambda health: health.num_overflows),
                Series(tr("input, ms"), lambda health: 1000.0 * health.lost_s),
                Series(
                    tr("output, times"),
                    lambda health: health.num_underflows + health.num_device_underflows,
                ),
            ),
            is_plotted=False,
        ),
    )


def _delays() -> tuple[Series, ...]:
    return (
        Series(tr("text shown"), lambda health: health.partial_delay_s),
        Series(tr("text final"), lambda health: health.final_delay_s),
        Series(tr("speakers"), lambda health: health.speaker_delay_s),
        Series(tr("first sound"), lambda health: health.first_sound_delay_s),
    )


def _gpu_mb(health: "Health") -> float | None:
    return None if health.gpu_bytes is None else health.gpu_bytes / 1e6


class History:
    """The newest figures of all lines, in arrays that are made once.

    Attributes:
        ages_s: (N,) float64, seconds before the newest point, 0 or less; NaN where there is none.
        values: (S, N) float64, one row a line in the order of the groups; NaN where there is none.
        trend: the same lines from the beginning on.
    """

    def __init__(self, shown: tuple[Group, ...]) -> None:
        self._series = tuple(series for group in shown for series in group.series)
        self._times_s = np.full(_NUM_POINTS, np.nan)
        self.ages_s = np.full(_NUM_POINTS, np.nan)
        self.values = np.full((len(self._series), _NUM_POINTS), np.nan)
        self.trend = Trend(len(self._series))

    def add(self, health: "Health", now_s: float) -> None:
        """Add a snapshot; after a pause the lines begin anew."""
        if now_s - self._times_s[-1] > _BREAK_S:
            self._shift(now_s)
        self._shift(now_s)
        for row, series in enumerate(self._series):
            value = series.read(health)
            self.values[row, -1] = np.nan if value is None else value
        np.subtract(self._times_s, now_s, out=self.ages_s)
        self.trend.add(self.values[:, -1], now_s)

    def newest(self, row: int) -> float | None:
        """Return the newest figure of a line; None if there is none."""
        value = float(self.values[row, -1])
        return None if np.isnan(value) else value

    def peak(self, rows: slice) -> float:
        """Return the highest figure of some lines within the span; 0 if there is none."""
        values = self.values[rows][:, self.ages_s >= -SPAN_S]
        return float(np.max(values, initial=0.0, where=np.isfinite(values)))

    def _shift(self, now_s: float) -> None:
        self._times_s[:-1] = self._times_s[1:]
        self._times_s[-1] = now_s
        self.values[:, :-1] = self.values[:, 1:]
        self.values[:, -1] = np.nan


class Trend:
    """Figures from the beginning to now in a bounded number of points, evenly spread.

    Whenever the points are used up, every other is given up and later ones come half as often.

    Attributes:
        num_points: how many there are.
    """

    def __init__(self, num_rows: int) -> None:
        self._times_s = np.full(_NUM_TREND_POINTS, np.nan)
        self._values = np.full((num_rows, _NUM_TREND_POINTS), np.nan)
        self._every_s = 0.0
        self.num_points = 0

    def add(self, values: NDArray[np.float64], now_s: float) -> None:
        """Take figures in; a point is made of them if it is time for one."""
        if not self._is_due(now_s):
            return
        if self.num_points == _NUM_TREND_POINTS:
            self._thin()
            if not self._is_due(now_s):
                return
        self._times_s[self.num_points] = now_s
        self._values[:, self.num_points] = values
        self.num_points += 1

    def ages_s(self) -> NDArray[np.float64]:
        """Return (n,) seconds before the newest point, 0 or less."""
        times_s = self._times_s[: self.num_points]
        return times_s - times_s[-1] if self.num_points else times_s

    def values(self, rows: slice) -> NDArray[np.float64]:
        """Return (S, n) figures of some lines; NaN where there is none."""
        return self._values[rows, : self.num_points]

    def _is_due(self, now_s: float) -> bool:
        newest_s = self._times_s[self.num_points - 1] if self.num_points else -np.inf
        return bool(now_s - newest_s >= self._every_s)

    def _thin(self) -> None:
        kept = self._times_s[::2].copy(), self._values[:, ::2].copy()
        self.num_points = len(kept[0])
        self._times_s[: self.num_points], self._values[:, : self.num_points] = kept
        # Less than the step, or a figure that comes a little early would be left out.
        self._every_s = 0.9 * float(self._times_s[1] - self._times_s[0])


def rows_of(shown: tuple[Group, ...]) -> tuple[slice, ...]:
    """Return which lines belong to each group."""
    ends: list[int] = []
    for group in shown:
        ends.append((ends[-1] if ends else 0) + len(group.series))
    return tuple(
        slice(end - len(group.series), end) for group, end in zip(shown, ends, strict=True)
    )


def scale_top(peak: float, least: float) -> float:
    """Return a round top of a scale, 1, 2 or 5 times a power of ten, that holds `peak`."""
    if peak <= least:
        return least
    power = 10.0 ** floor(log10(peak))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if peak <= step * power)

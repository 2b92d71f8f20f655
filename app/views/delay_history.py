"""What the delays panel plots: which figures, and the last two minutes of them."""

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from engine.session.health import Health

SPAN_S = 120.0
PLOT_HEIGHT = 64
_NUM_POINTS = 288
"""Two minutes at two points a second, with room for the marks of breaks."""
_BREAK_S = 2.0


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot.

    Args:
        label: for people.
        read: the figure in the group's unit; None while there is none.
    """

    label: str
    read: Callable[["Health"], float | None]


@dataclass(frozen=True, slots=True)
class Group:
    """One plot.

    Args:
        title: for people.
        unit: of all its lines.
        least_top: the top of the scale is never lower.
        decimals: of its values as text.
        series: its lines.
    """

    title: str
    unit: str
    least_top: float
    decimals: int
    series: tuple[Series, ...]

    def text(self, value: float | None) -> str:
        """Return a figure as people read it."""
        return "–" if value is None else f"{value:.{self.decimals}f} {self.unit}"


GROUPS = (
    Group(
        "Delay",
        "s",
        2.0,
        1,
        (
            Series("text shown", lambda health: health.partial_delay_s),
            Series("text final", lambda health: health.final_delay_s),
            Series("speakers", lambda health: health.speaker_delay_s),
        ),
    ),
    Group(
        "Backlog",
        "s",
        2.0,
        1,
        (
            Series("text", lambda health: health.recognizer_backlog_s),
            Series("speakers", lambda health: health.diarizer_backlog_s),
        ),
    ),
    Group(
        "Load",
        "%",
        100.0,
        0,
        (
            Series("text", lambda health: 100.0 * health.recognizer_load),
            Series("speakers", lambda health: 100.0 * health.diarizer_load),
        ),
    ),
    Group(
        "Memory", "MB", 500.0, 0, (Series("this program", lambda health: health.rss_bytes / 1e6),)
    ),
)


class History:
    """The newest figures of all lines, in arrays that are made once.

    Attributes:
        ages_s: (N,) float64, seconds before the newest point, 0 or less; NaN where there is none.
        values: (S, N) float64, one row a line in the order of the groups; NaN where there is none.
    """

    def __init__(self, groups: tuple[Group, ...] = GROUPS) -> None:
        self._series = tuple(series for group in groups for series in group.series)
        self._times_s = np.full(_NUM_POINTS, np.nan)
        self.ages_s = np.full(_NUM_POINTS, np.nan)
        self.values = np.full((len(self._series), _NUM_POINTS), np.nan)

    def add(self, health: "Health", now_s: float) -> None:
        """Add a snapshot; after a pause the lines begin anew."""
        if now_s - self._times_s[-1] > _BREAK_S:
            self._shift(now_s)
        self._shift(now_s)
        for row, series in enumerate(self._series):
            value = series.read(health)
            self.values[row, -1] = np.nan if value is None else value
        np.subtract(self._times_s, now_s, out=self.ages_s)

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


def rows_of(groups: tuple[Group, ...] = GROUPS) -> tuple[slice, ...]:
    """Return which lines belong to each group."""
    ends: list[int] = []
    for group in groups:
        ends.append((ends[-1] if ends else 0) + len(group.series))
    return tuple(
        slice(end - len(group.series), end) for group, end in zip(groups, ends, strict=True)
    )


def scale_top(peak: float, least: float) -> float:
    """Return a round top of a scale, 1, 2 or 5 times a power of ten, that holds `peak`."""
    if peak <= least:
        return least
    power = 10.0 ** floor(log10(peak))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if peak <= step * power)

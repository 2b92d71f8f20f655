"""Which stretch of time a timeline shows: zoom, scroll, follow, ticks. Seconds and pixels."""

from dataclasses import dataclass

MIN_SPAN_S = 1.0
DEFAULT_SPAN_S = 30.0
_AHEAD = 0.04
"""Share of the view kept free at the right of the newest moment while following."""
_JUMP = 1 / 3
"""Share of the view that is new after a jump."""
_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of the time axis: which moment it marks and what it says."""

    time_s: float
    label: str


class TimelineModel:
    """The visible stretch of a recording; it follows the newest moment until it is moved."""

    def __init__(self) -> None:
        self.reduced_motion = False
        """While following, jump by a third of the view instead of moving with every picture."""
        self.duration_s = 0.0
        self.width_px = 1.0
        self.span_s = DEFAULT_SPAN_S
        self.is_following = True
        self._start_s = 0.0

    @property
    def start_s(self) -> float:
        """Time at the left edge."""
        return self._start_s

    @property
    def end_s(self) -> float:
        """Time at the right edge."""
        return self._start_s + self.span_s

    @property
    def px_s(self) -> float:
        """How long a pixel is."""
        return self.span_s / self.width_px

    @property
    def start_px(self) -> int:
        """The left edge in pixels from the beginning of the recording."""
        return round(self._start_s / self.px_s)

    @property
    def max_span_s(self) -> float:
        """The widest view: the whole recording."""
        return max(DEFAULT_SPAN_S, self.duration_s / (1 - _AHEAD))

    def set_duration(self, duration_s: float) -> None:
        """Tell how long the recording is."""
        self.duration_s = duration_s
        self._settle()

    def set_following(self, is_following: bool) -> None:
        """Stay at the newest moment, or stand still."""
        self.is_following = is_following
        self._settle()

    def x_of(self, time_s: float) -> float:
        """Return the pixel of a time."""
        return (time_s - self._start_s) / self.span_s * self.width_px

    def time_at(self, x: float) -> float:
        """Return the time at a pixel."""
        return self._start_s + x / self.width_px * self.span_s

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Show `factor` times as much time; what is at `x` stays there.

        While following, the newest moment stays instead.
        """
        anchor = self.time_at(self.width_px / 2 if x is None else x)
        share = 0.5 if x is None else x / self.width_px
        self.span_s = min(max(self.span_s * factor, MIN_SPAN_S), self.max_span_s)
        self._start_s = anchor - share * self.span_s
        self._settle()

    def show_all(self) -> None:
        """Show the whole recording."""
        self.span_s = self.max_span_s
        self._start_s = 0.0
        self._settle()

    def scroll_px(self, pixels: float) -> None:
        """Move the view by pixels and stop following."""
        self.scroll_s(pixels / self.width_px * self.span_s)

    def scroll_s(self, seconds: float) -> None:
        """Move the view by seconds and stop following."""
        self.is_following = False
        self._start_s += seconds
        self._settle()

    def show(self, time_s: float) -> None:
        """Bring a moment into view; nothing moves if it is there."""
        if not self._start_s <= time_s <= self.end_s:
            self.is_following = False
            self._start_s = time_s - self.span_s / 3
            self._settle()

    def go_to_start(self) -> None:
        """Show the beginning and stop following."""
        self.is_following = False
        self._start_s = 0.0

    def _settle(self) -> None:
        self.span_s = min(max(self.span_s, MIN_SPAN_S), self.max_span_s)
        latest = max(0.0, self.duration_s - self.span_s * (1 - _AHEAD))
        if not self.is_following:
            start_s = min(self._start_s, latest)
        else:
            start_s = self._jump() if self.reduced_motion else latest
        # Whole pixels, so that what was painted can be moved instead of painted again.
        self._start_s = round(max(start_s, 0.0) / self.px_s) * self.px_s

    def _jump(self) -> float:
        """Return where the view begins that stands still until the newest moment leaves it."""
        if self._start_s <= self.duration_s <= self.end_s:
            return self._start_s
        return max(0.0, self.duration_s - self.span_s * (1 - _JUMP))


def axis_ticks(start_s: float, end_s: float, px_s: float, min_distance_px: float) -> list[Tick]:
    """Return the marks of the axis from start to end, at least so many pixels apart."""
    step = next((s for s in _STEPS_S if s >= min_distance_px * px_s), _STEPS_S[-1])
    first = max(0, int(-(-start_s // step)))
    return [Tick(n * step, _label(n * step, step)) for n in range(first, int(end_s // step) + 1)]


def _label(seconds: float, step_s: float) -> str:
    whole = int(seconds + 1e-6)
    hours, minutes = whole // 3600, whole // 60 % 60
    text = f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
    if step_s < 1:
        text += f".{round((seconds - whole) * 10)}"
    return text

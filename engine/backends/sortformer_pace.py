"""Which profile the speaker model runs in: the fastest that the machine keeps up with."""

from collections.abc import Mapping

from engine.core.errors import BackendError
from engine.models.stream_profiles import PROFILES, StreamProfile

DEFAULT_PROFILE = "cpu"
"""Where nothing was measured: two cores keep up with it."""
FILE_PROFILE = "high"
"""Where nobody waits for an answer: the cheapest and the surest."""

FRAME_MS = 80
"""The model also has rows of 10 ms. Its published accuracy, and what it decides by itself, is on
rows of 80 ms; words are placed no better than that, and an hour of events stays at 2 MB, not 17."""
_FRAME_S = FRAME_MS / 1000
MAX_LOAD = 0.75
"""Share of its threads' time that a profile may need; the rest is for bad moments."""

_PATIENCE_S = 3.0
_CALM_S = 1.5
_SETTLING_S = 8.0
"""A new profile is given this long to work off what it found, and then its own latency."""
_FIRST_WAIT_S = 30.0
_MAX_WAIT_S = 600.0
_ORDER = tuple(PROFILES)


def step_cost(profile: StreamProfile, d_model: int) -> float:
    """Return the cost of a step with full cache and fifo, in an arbitrary unit.

    A frame costs 24 d² a layer in projections and 4 T d in attention over T frames.
    """
    return profile.step_frames * (1.0 + profile.step_frames / (6.0 * d_model))


def fastest_affordable(measured: StreamProfile, step_s: float, d_model: int) -> str:
    """Return the profile of least delay that needs at most `MAX_LOAD` of the time there is.

    Never "high": half a minute of delay is for a machine that was seen to fall behind.

    Args:
        measured: the profile whose step was timed.
        step_s: seconds of that step; 0 where there is no clock.
        d_model: width of the encoder.
    """
    if step_s <= 0.0:
        return DEFAULT_PROFILE
    for name in _ORDER[: _ORDER.index(DEFAULT_PROFILE)]:
        profile = PROFILES[name]
        cost_s = step_s * step_cost(profile, d_model) / step_cost(measured, d_model)
        if cost_s <= MAX_LOAD * profile.chunk_frames * _FRAME_S:
            return name
    return DEFAULT_PROFILE


class Pacer:
    """Follows a stream's backlog, and moves to a slower profile and back.

    It moves when the backlog is longer than half of the slower profile's latency, at least 3 s,
    and back when there was next to none for half a minute. Each fall doubles that wait, so that a
    machine at its limit does not swing.

    Args:
        fastest: the profile it starts in and goes back to.
    """

    def __init__(self, fastest: str) -> None:
        self._fastest = _ORDER.index(fastest)
        self._at = self._fastest
        self._wait_s = _FIRST_WAIT_S
        self._settling_s = 0.0
        self._calm_s = 0.0

    @property
    def profile(self) -> StreamProfile:
        """The profile to run in."""
        return PROFILES[_ORDER[self._at]]

    def follow(self, backlog_s: float, passed_s: float) -> bool:
        """Take what waits now and what audio was pushed since; return whether the profile moved."""
        self._settling_s = max(0.0, self._settling_s - passed_s)
        is_calm = backlog_s < max(_CALM_S, latency_s(self.profile) / 4)
        self._calm_s = self._calm_s + passed_s if is_calm else 0.0
        if self._settling_s == 0.0 and self._is_behind(backlog_s):
            self._at += 1
            self._settling_s = _SETTLING_S + latency_s(self.profile)
            self._calm_s = 0.0
            return True
        if self._at > self._fastest and self._calm_s >= self._wait_s:
            self._at -= 1
            self._wait_s = min(_MAX_WAIT_S, 2 * self._wait_s)
            self._calm_s = 0.0
            return True
        return False

    def _is_behind(self, backlog_s: float) -> bool:
        if self._at + 1 == len(_ORDER):
            return False
        slower = PROFILES[_ORDER[self._at + 1]]
        return backlog_s > max(_PATIENCE_S, latency_s(slower) / 2)


def latency_s(profile: StreamProfile) -> float:
    """Return how long after a sound a profile answers at the latest, computing not counted."""
    return profile.latency_frames * _FRAME_S


def chosen_profile(options: Mapping[str, str]) -> str | None:
    """Return the profile that the options force, or None to measure.

    Raises:
        BackendError: there is no such profile.
    """
    name = options.get("profile", "")
    if not name:
        return FILE_PROFILE if options.get("pace") == "file" else None
    if name not in PROFILES:
        raise BackendError(
            f'The diarizer "sortformer" has no profile "{name}".',
            advice=f"Choose one of: {', '.join(_ORDER)}.",
        )
    return name

"""How far behind the audio the speaker branch answers, against what it costs.

Free of torch, so that a backend can tell its latency before anything is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.models.sortformer_config import CacheGeometry


@dataclass(frozen=True, slots=True)
class StreamProfile:
    """A balance of delay against cost, in frames of 80 ms.

    Args:
        name: what it is known by.
        chunk_frames: frames that a step answers for.
        right_context_frames: frames that it sees ahead.
        cache: what it remembers.
    """

    name: str
    chunk_frames: int
    right_context_frames: int
    cache: CacheGeometry

    @property
    def latency_frames(self) -> int:
        """Frames that must be there before a step."""
        return self.chunk_frames + self.right_context_frames

    @property
    def step_frames(self) -> int:
        """Frames that a step encodes once cache and fifo are full."""
        return self.cache.spkcache_len + self.cache.fifo_len + self.latency_frames


PROFILES: Mapping[str, StreamProfile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            StreamProfile("ultra_low", 3, 1, CacheGeometry(264, 264, 222)),
            StreamProfile("very_low", 6, 2, CacheGeometry(264, 264, 222)),
            StreamProfile("low", 9, 4, CacheGeometry(264, 264, 222)),
            StreamProfile("cpu", 32, 4, CacheGeometry(40, 264, 300)),
            StreamProfile("high", 340, 40, CacheGeometry(40, 264, 300)),
        )
    }
)
"""By name, from the least delay to the least cost."""

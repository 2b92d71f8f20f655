"""What the views need of a recording's levels over time."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class LevelHistory(Protocol):
    """Peaks of a whole recording; see `engine.audio.level_track.LevelTrack`. Thread: any."""

    @property
    def num_samples(self) -> int:
        """Samples it covers."""
        ...

    @property
    def sample_rate(self) -> int:
        """Hz."""
        ...

    def overview(
        self, start: int, end: int, max_cells: int
    ) -> tuple[NDArray[np.float32], int, int]:
        """Return (peaks, 0 to 1; sample of the first; samples a peak covers)."""
        ...

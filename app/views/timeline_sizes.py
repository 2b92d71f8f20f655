"""How large the parts of the timeline are, for the font in force."""

from dataclasses import dataclass

TOP = 8
_USUAL_FONT_HEIGHT = 18
"""Fonts up to this many pixels high fit the sizes as they are."""
_AXIS, _HEADER, _ROW, _OWN = 22, 132, 26, 18


@dataclass(frozen=True, slots=True)
class TimelineSizes:
    """Pixels; larger fonts make everything larger.

    Args:
        font_height: of the names.
    """

    font_height: int = _USUAL_FONT_HEIGHT

    @property
    def axis(self) -> int:
        """Height of the axis."""
        return self._scaled(_AXIS)

    @property
    def header(self) -> int:
        """Width of the names."""
        return self._scaled(_HEADER)

    @property
    def row(self) -> int:
        """Height of a speaker's row."""
        return self._scaled(_ROW)

    @property
    def own(self) -> int:
        """Height of the row of the program's own voice."""
        return self._scaled(_OWN)

    def height(self, num_speakers: int, *, has_own_voice: bool) -> int:
        """Height of all rows and the axis."""
        own = self.own if has_own_voice else 0
        return TOP + max(2, num_speakers) * self.row + own + self.axis + 4

    def _scaled(self, size: int) -> int:
        return round(size * max(1.0, self.font_height / _USUAL_FONT_HEIGHT))

"""Parts side by side while there is room, else one under the other."""

from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

_SPACING = 8


class FoldingRow(QWidget):
    """A row that folds into a column where its parts would not fit side by side.

    Larger type and longer languages then cost height instead of pushing the window wider.

    Args:
        parts: from left to right, or from top to bottom.
        stretched: gets the room that is left over; "" free at the end if None.
        spacing: pixels between parts.
    """

    def __init__(
        self, *parts: QWidget, stretched: QWidget | None = None, spacing: int = _SPACING
    ) -> None:
        super().__init__()
        self._parts = parts
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(spacing)
        for part in parts:
            self._layout.addWidget(part, int(part is stretched))
        if stretched is None:
            self._layout.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    @property
    def is_folded(self) -> bool:
        """Whether its parts stand one under the other."""
        return self._layout.direction() is QBoxLayout.Direction.TopToBottom

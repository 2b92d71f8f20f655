"""The level meter, told to screen readers when they ask; it never speaks by itself."""

from typing import Any

from PySide6.QtGui import QAccessible, QAccessibleValueInterface
from PySide6.QtWidgets import QAccessibleWidget
from shiboken6 import VoidPtr

from app.views.health.level_meter import FLOOR_DB, LevelMeter


class MeterInterface(QAccessibleWidget):
    """A level between the floor and full scale."""

    def __init__(self, meter: LevelMeter) -> None:
        super().__init__(meter, QAccessible.Role.ProgressBar)
        self._meter = meter
        self._value = _Level(meter)

    def interface_cast(self, kind: QAccessible.InterfaceType, /) -> int:
        if kind == QAccessible.InterfaceType.ValueInterface:
            # Declared as an address; PySide takes the object and finds its address itself.
            return self._value  # type: ignore[return-value]
        found: Any = super().interface_cast(kind)
        # None would make PySide crash where an address is due.
        return VoidPtr(0) if found is None else found  # type: ignore[return-value]

    def text(self, kind: QAccessible.Text, /) -> str:
        if kind == QAccessible.Text.Value:
            return self._meter.accessibleDescription()
        return super().text(kind)


class _Level(QAccessibleValueInterface):
    def __init__(self, meter: LevelMeter) -> None:
        super().__init__()
        self._meter = meter

    def currentValue(self) -> float:
        return self._meter.level_db

    def minimumValue(self) -> float:
        return FLOOR_DB

    def maximumValue(self) -> float:
        return 0.0

    def minimumStepSize(self) -> float:
        return 1.0

    def setCurrentValue(self, value: object, /) -> None:
        del value

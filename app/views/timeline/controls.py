"""The timeline's own controls: follow, and from which probability on somebody is active."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSlider, QToolButton, QWidget

from app.i18n import tr
from app.views.elided_label import ElidedLabel
from engine.text.attribution import ACTIVE

_LEAST, _MOST, _STEP = 5, 95, 5


class TimelineControls(QWidget):
    """Stands above the names.

    Signals:
        follow_asked: stay at the newest moment, or stand still.
        threshold_chosen: 0.05 to 0.95.
    """

    follow_asked = Signal(bool)
    threshold_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.follow_button = QToolButton()
        self.threshold_label = ElidedLabel()
        self.value_label = QLabel()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self._prepare()
        grid = QGridLayout(self)
        grid.setContentsMargins(8, 1, 12, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.follow_button, 0, 0)
        grid.addWidget(self.threshold_label, 0, 1)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.slider, 1)
        row.addWidget(self.value_label)
        grid.addLayout(row, 1, 0, 1, 2)
        self.follow_button.clicked.connect(self.follow_asked)
        self.slider.valueChanged.connect(self._choose)
        self.slider.installEventFilter(self)
        self.set_following(True)
        self._tell(self.slider.value())

    def set_following(self, is_following: bool) -> None:
        """Show whether the view stays at the newest moment."""
        self.follow_button.setChecked(is_following)
        self.follow_button.setText(tr("Follow") if is_following else tr("Paused"))
        self.follow_button.setToolTip(
            tr("The newest moment is kept in view")
            if is_following
            else tr("Keep the newest moment in view again (End)")
        )

    def set_threshold(self, threshold: float) -> None:
        """Show a threshold; what lies outside of the slider is brought to its end."""
        self.slider.setValue(round(threshold * 100))

    @Slot()
    def reset_threshold(self) -> None:
        """Go back to the usual threshold."""
        self.set_threshold(ACTIVE)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_double = event.type() == QEvent.Type.MouseButtonDblClick
        if watched is self.slider and is_double and isinstance(event, QMouseEvent):
            self.reset_threshold()
            return True
        return super().eventFilter(watched, event)

    def _prepare(self) -> None:
        self.follow_button.setCheckable(True)
        self.follow_button.setAccessibleName(tr("Follow the newest moment"))
        for label in (self.threshold_label, self.value_label):
            label.setProperty("role", "muted")
        self.threshold_label.setText(tr("Threshold"))
        self.threshold_label.setAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        self.threshold_label.setBuddy(self.slider)
        self.slider.setRange(_LEAST, _MOST)
        self.slider.setSingleStep(_STEP)
        self.slider.setPageStep(2 * _STEP)
        self.slider.setValue(round(ACTIVE * 100))
        self.slider.setAccessibleName(tr("Threshold"))
        self.slider.setToolTip(
            tr(
                "From which probability on somebody counts as speaking here. "
                "Nothing is computed again, and the text does not change. "
                "Double click for the usual one."
            )
        )

    @Slot(int)
    def _choose(self, percent: int) -> None:
        self._tell(percent)
        self.threshold_chosen.emit(percent / 100)

    def _tell(self, percent: int) -> None:
        text = tr("{percent} %", percent=percent)
        self.value_label.setText(text)
        self.slider.setAccessibleDescription(text)

"""A choice whose text gives way where there is little room, and says that it did."""

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from app.i18n import tr

_MIN_CHARACTERS = 4
_USUAL_CHARACTERS = 15


class ElidedChoice(QComboBox):
    """A combo box that ends its text in "…" where Qt would cut it in the middle of a sign.

    Its list is as wide as its widest entry, whatever the width of the box.

    Args:
        title: what is chosen here; its name, and with the whole choice its tooltip.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self.setAccessibleName(title)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(_USUAL_CHARACTERS)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.currentTextChanged.connect(self._tell)
        self._tell()

    @property
    def is_cut(self) -> bool:
        """Whether part of the choice is not shown."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return self._elided(option) != self.currentText()

    def minimumSizeHint(self) -> QSize:
        whole = super().minimumSizeHint()
        spared = (_USUAL_CHARACTERS - _MIN_CHARACTERS) * self.fontMetrics().averageCharWidth()
        return QSize(max(1, whole.width() - spared), whole.height())

    def showPopup(self) -> None:
        view = self.view()
        widest = view.sizeHintForColumn(0) + view.verticalScrollBar().sizeHint().width()
        view.setMinimumWidth(min(widest, self.screen().availableSize().width() // 2))
        super().showPopup()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self._elided(option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def _elided(self, option: QStyleOptionComboBox) -> str:
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self,
        )
        # Styles leave a pixel free at both sides.
        room = field.width() - 2
        return option.fontMetrics.elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)

    @Slot()
    def _tell(self) -> None:
        text = self.currentText()
        tip = tr("{title}: {choice}", title=self._title, choice=text) if text else self._title
        self.setToolTip(tip)

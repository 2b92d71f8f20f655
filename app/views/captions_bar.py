"""The bar of choices over captions: it comes when it is wanted, and goes again."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFontDatabase, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.captions import (
    FOLLOW_THEME,
    MAX_LINES,
    MAX_SIZE_PT,
    MAX_WIDTH_PERCENT,
    MIN_LINES,
    MIN_SIZE_PT,
    MIN_WIDTH_PERCENT,
    SCHEMES,
    CaptionsLook,
)
from app.i18n import tr
from app.views.captions_wrapping import WrappingLayout

HIDE_AFTER_MS = 3000
_MAX_FAMILY_CHARACTERS = 18


class CaptionsBar(QFrame):
    """Lies over the captions at the upper edge.

    Signals:
        chosen: fields of `CaptionsLook` and their new values; `num_lines` and `size_pt` are those
            of the window as it is now.
        box_asked: show or hide the line for typing.
        full_asked: the whole screen.
        small_asked: the small window.
        leave_asked: no captions any more.
        hidden: it has gone.

    Args:
        parent: the captions' window.
    """

    chosen = Signal(object)
    box_asked = Signal(bool)
    full_asked = Signal()
    small_asked = Signal()
    leave_asked = Signal()
    hidden = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self.setObjectName("captionsBar")
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(tr("Choices for captions"))
        self.lines = QSpinBox()
        self.size_pt = QSpinBox()
        self.family = QComboBox()
        self.scheme = QComboBox()
        self.names = QCheckBox(tr("Names"))
        self.width_percent = QSpinBox()
        self.place = QComboBox()
        self.box_button = QPushButton(tr("Type to speak"))
        self.full_button = QPushButton(tr("Full screen"))
        self.small_button = QPushButton(tr("Small window"))
        self.leave_button = QPushButton(tr("Close captions"))
        self.message = QLabel()
        self._has_families = False
        self._family = ""
        self._timer = QTimer(self, singleShot=True, interval=HIDE_AFTER_MS)
        self._timer.timeout.connect(self._hide_if_unused)
        self._fill()
        self._build()
        self._connect()
        self.hide()

    @property
    def has_focus(self) -> bool:
        """Whether one of its controls has the keyboard's focus."""
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    @Slot()
    def reveal(self) -> None:
        """Show it for a while."""
        if not self.isVisible():
            self.fit()
            self.show()
            self.raise_()
        self._timer.start()

    def fit(self) -> None:
        """Take the window's width, and the height that needs."""
        width = self._window.width()
        self.setGeometry(0, 0, width, self.heightForWidth(width))

    @Slot()
    def put_away(self) -> None:
        """Hide it now."""
        self._timer.stop()
        if self.isVisible():
            self.hide()
            self.hidden.emit()

    def show_look(self, look: CaptionsLook, num_lines: int, size_pt: int) -> None:
        """Show what is chosen; tells nobody."""
        blockers = [QSignalBlocker(part) for part in self._choices()]
        self.lines.setValue(num_lines)
        self.size_pt.setValue(size_pt)
        self.width_percent.setValue(look.width_percent)
        self.names.setChecked(look.shows_names)
        for box, value in ((self.scheme, look.scheme), (self.place, look.place)):
            box.setCurrentIndex(max(0, box.findData(value)))
        self._family = look.family
        self._show_family()
        for blocker in blockers:
            blocker.unblock()

    def show_mode(self, *, is_small: bool, has_box: bool) -> None:
        """Show which window it lies in, and whether there is a line for typing."""
        self.small_button.setVisible(not is_small)
        self.full_button.setVisible(is_small)
        with QSignalBlocker(self.box_button):
            self.box_button.setChecked(has_box)
        if self.isVisible():
            self.fit()

    def show_message(self, text: str) -> None:
        """Say something about the window; empty to say nothing."""
        self.message.setText(text)
        self.message.setVisible(bool(text))
        if self.isVisible():
            self.fit()

    # --- Qt events ---

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_families:
            # Late: asking for all fonts of a machine takes a while.
            self._has_families = True
            for family in QFontDatabase.families():
                if not QFontDatabase.isPrivateFamily(family):
                    self.family.addItem(family, family)
            with QSignalBlocker(self.family):
                self._show_family()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.FocusIn, QEvent.Type.MouseMove):
            self._timer.start()
        return False

    @Slot()
    def _hide_if_unused(self) -> None:
        popup = QApplication.activePopupWidget()
        if self.has_focus or self.underMouse() or popup is not None:
            self._timer.start()
        else:
            self.put_away()

    # --- building ---

    def _choices(self) -> tuple[QWidget, ...]:
        return (
            self.lines,
            self.size_pt,
            self.family,
            self.scheme,
            self.names,
            self.width_percent,
            self.place,
        )

    def _show_family(self) -> None:
        index = self.family.findData(self._family)
        if index < 0:
            # One that this machine does not have stays the choice for one that has.
            self.family.addItem(self._family, self._family)
            index = self.family.count() - 1
        self.family.setCurrentIndex(index)

    def _fill(self) -> None:
        self.lines.setRange(MIN_LINES, MAX_LINES)
        self.size_pt.setRange(MIN_SIZE_PT, MAX_SIZE_PT)
        self.size_pt.setSingleStep(4)
        self.size_pt.setSuffix(tr(" pt"))
        self.width_percent.setRange(MIN_WIDTH_PERCENT, MAX_WIDTH_PERCENT)
        self.width_percent.setSingleStep(5)
        self.width_percent.setSuffix(tr(" %"))
        for spin in (self.lines, self.size_pt, self.width_percent):
            # Half a number that is being typed is not what is wanted.
            spin.setKeyboardTracking(False)
            spin.setMinimumHeight(self.scheme.sizeHint().height())
        self.family.addItem(tr("As the window"), "")
        self.family.setMinimumContentsLength(_MAX_FAMILY_CHARACTERS)
        self.family.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        titles = scheme_titles()
        for name in SCHEMES:
            self.scheme.addItem(titles[name], name)
        for value, title in (
            ("left", tr("At the left")),
            ("middle", tr("In the middle")),
            ("right", tr("At the right")),
        ):
            self.place.addItem(title, value)

    def _build(self) -> None:
        self.box_button.setCheckable(True)
        self.names.setToolTip(tr("Show the names of speakers (F3)"))
        self.box_button.setToolTip(tr("A line for texts that are spoken (F6)"))
        self.full_button.setToolTip(tr("Captions on the whole screen (F11)"))
        self.small_button.setToolTip(tr("A small window that stays on top (Shift+F11)"))
        self.leave_button.setToolTip(tr("Back to the window (Esc)"))
        self.message.setProperty("role", "problem")
        layout = WrappingLayout(self, 10, 10)
        choices: tuple[tuple[str, QWidget, str], ...] = (
            (tr("&Lines"), self.lines, tr("Lines shown at once (Alt+Up, Alt+Down)")),
            (tr("&Size"), self.size_pt, tr("Size of the words (Ctrl++, Ctrl+-, Ctrl+0)")),
            (tr("&Font"), self.family, tr("Font of the words")),
            (tr("&Colours"), self.scheme, tr("Colours of words and ground (F4)")),
            (tr("&Width"), self.width_percent, tr("Room that words fill")),
            (tr("&Place"), self.place, tr("Where the words stand")),
        )
        for title, control, hint in choices:
            layout.addWidget(_labelled(title, control, hint))
        for part in (
            self.names,
            self.box_button,
            self.full_button,
            self.small_button,
            self.leave_button,
            self.message,
        ):
            layout.addWidget(part)
        for child in self.findChildren(QWidget):
            child.installEventFilter(self)
            child.setMouseTracking(True)
        self.show_message("")

    def _connect(self) -> None:
        self.lines.valueChanged.connect(lambda value: self._choose({"num_lines": value}))
        self.size_pt.valueChanged.connect(lambda value: self._choose({"size_pt": value}))
        self.width_percent.valueChanged.connect(
            lambda value: self._choose({"width_percent": value})
        )
        self.names.toggled.connect(lambda is_on: self._choose({"shows_names": is_on}))
        for box, name in (
            (self.family, "family"),
            (self.scheme, "scheme"),
            (self.place, "place"),
        ):
            box.currentIndexChanged.connect(
                lambda _, box=box, name=name: self._choose({name: box.currentData()})
            )
        self.box_button.toggled.connect(self.box_asked)
        self.full_button.clicked.connect(self.full_asked)
        self.small_button.clicked.connect(self.small_asked)
        self.leave_button.clicked.connect(self.leave_asked)

    def _choose(self, values: Mapping[str, object]) -> None:
        self.chosen.emit(values)


def scheme_titles() -> dict[str, str]:
    """Return the names of the schemes for people."""
    return {
        FOLLOW_THEME: tr("As the window"),
        "white-on-black": tr("White on black"),
        "black-on-white": tr("Black on white"),
        "yellow-on-black": tr("Yellow on black"),
        "green-on-black": tr("Green on black"),
        "cyan-on-black": tr("Cyan on black"),
        "yellow-on-blue": tr("Yellow on blue"),
        "black-on-cream": tr("Black on cream"),
    }


def _labelled(title: str, control: QWidget, hint: str) -> QWidget:
    pair = QWidget()
    label = QLabel(title)
    label.setBuddy(control)
    control.setAccessibleName(title.replace("&", ""))
    control.setToolTip(hint)
    row = QHBoxLayout(pair)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    row.addWidget(label)
    row.addWidget(control)
    control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return pair

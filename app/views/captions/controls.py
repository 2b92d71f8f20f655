"""The controls by which captions are made to look as one likes."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QSpinBox, QWidget

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

_MAX_FAMILY_CHARACTERS = 18


class CaptionsControls(QObject):
    """Makes the controls; whoever holds them places their `parts`.

    Signals:
        chosen: fields of `CaptionsLook` and their new values; `num_lines` and `size_pt` are those
            of the window as it is now.
    """

    chosen = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.lines = QSpinBox()
        self.size_pt = QSpinBox()
        self.family = QComboBox()
        self.scheme = QComboBox()
        self.width_percent = QSpinBox()
        self.place = QComboBox()
        self.names = QCheckBox(tr("Names"))
        self._has_families = False
        self._family = ""
        self._fill()
        self.parts = self._label()
        """Controls with their labels, in order."""
        self._connect()

    def show_look(self, look: CaptionsLook, num_lines: int, size_pt: int) -> None:
        """Show what is chosen; tells nobody."""
        blockers = [QSignalBlocker(part) for part in self._controls()]
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

    def list_families(self) -> None:
        """Offer the fonts of this machine; asking for all of them takes a while."""
        if self._has_families:
            return
        self._has_families = True
        with QSignalBlocker(self.family):
            for family in QFontDatabase.families():
                if not QFontDatabase.isPrivateFamily(family):
                    self.family.addItem(family, family)
            self._show_family()

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

    def _label(self) -> tuple[QWidget, ...]:
        labelled: tuple[tuple[str, QWidget, str], ...] = (
            (tr("&Lines"), self.lines, tr("Lines shown at once (Alt+Up, Alt+Down)")),
            (tr("&Size"), self.size_pt, tr("Size of the words (Ctrl++, Ctrl+-, Ctrl+0)")),
            (tr("&Font"), self.family, tr("Font of the words")),
            (tr("&Colours"), self.scheme, tr("Colours of words and ground (F4)")),
            (tr("&Width"), self.width_percent, tr("Room that words fill")),
            (tr("&Place"), self.place, tr("Where the words stand")),
        )
        self.names.setToolTip(tr("Show the names of speakers (F3)"))
        return (*(_labelled(*each) for each in labelled), self.names)

    def _controls(self) -> tuple[QWidget, ...]:
        boxes = (self.family, self.scheme, self.place)
        return (self.lines, self.size_pt, self.width_percent, *boxes, self.names)

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

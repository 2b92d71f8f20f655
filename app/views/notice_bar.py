"""What the user should know, shown without stopping the work: the newest, the rest a click away."""

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.i18n import tr, tr_n
from app.icons import icon
from app.state import AppState
from app.theme import Appearance
from engine.core.events import Severity

_HELD_MS = 1000
"""How soon information whose time is over leaves once nobody holds it any more."""


class NoticeBar(QFrame):
    """A bar that is there only while a notice is open.

    Plain information leaves by itself, but not while it is pointed at or has the focus.

    Signals:
        history_asked: show all notices so far.
    """

    history_asked = Signal()

    def __init__(
        self, state: AppState, appearance: Appearance, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("noticeBar")
        self._state = state
        self._appearance = appearance
        self._mark = QLabel()
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.more_button = QToolButton()
        self.more_button.setToolTip(tr("Show all messages"))
        self.all_button = QToolButton()
        self.all_button.setText(tr("Dismiss all"))
        self.all_button.setToolTip(tr("Put all messages away; they stay in the list of messages"))
        self.close_button = QToolButton()
        self.close_button.setToolTip(tr("Put this message away"))
        self.close_button.setAccessibleName(tr("Put this message away"))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.text, 1)
        for button in (self.more_button, self.all_button, self.close_button):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.let_go)
        self.close_button.clicked.connect(state.dismiss_notice)
        self.all_button.clicked.connect(state.dismiss_notices)
        self.more_button.clicked.connect(self.history_asked)
        state.notices_changed.connect(self._show)
        appearance.changed.connect(self._show)
        self._show()

    @Slot()
    def let_go(self) -> None:
        """Let information go whose time is over, unless somebody is at it."""
        if self._is_held():
            self._timer.start(_HELD_MS)
            return
        next_s = self._state.expire_notices()
        if next_s is not None:
            self._timer.start(round(1000 * next_s) + 1)

    def _is_held(self) -> bool:
        focus = QApplication.focusWidget()
        has_focus = focus is not None and self.isAncestorOf(focus)
        return self.underMouse() or has_focus or self.window().isMinimized()

    @Slot()
    def _show(self) -> None:
        notices = self._state.open_notices
        self.setVisible(bool(notices))
        if not notices:
            self._timer.stop()
            return
        # What leaves next is seen then: this may be a part of its leaving.
        self._timer.start(_HELD_MS)
        notice = notices[-1].notice
        self.setProperty("severity", notice.severity.value)
        self.style().unpolish(self)
        self.style().polish(self)
        self.text.setText(f"{notice.message} {notice.advice}".strip())
        self.setAccessibleName(
            tr("{severity}: {text}", severity=_title(notice.severity), text=self.text.text())
        )
        others = len(notices) - 1
        self.more_button.setVisible(others > 0)
        self.all_button.setVisible(others > 0)
        self.more_button.setText(tr_n("{n} more", "{n} more", others))
        theme = self._appearance.theme
        is_info = notice.severity is Severity.INFO
        color = theme.color("muted" if is_info else "warning")
        name = "info" if is_info else "warning"
        self._mark.setPixmap(icon(name, color).pixmap(QSize(18, 18)))
        self.close_button.setIcon(icon("close", theme.color("muted")))


class NoticeHistory(QDialog):
    """All notices of this run, to be read and copied."""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Messages"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        text = QPlainTextEdit()
        text.setReadOnly(True)
        text.setAccessibleName(tr("Messages"))
        lines = [
            tr(
                "{time}  {severity}: {text}",
                time=dated.time,
                severity=_title(dated.notice.severity),
                text=f"{dated.notice.message} {dated.notice.advice}".rstrip(),
            )
            for dated in reversed(state.history)
        ]
        text.setPlainText("\n\n".join(lines) or tr("There were no messages."))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(text)
        column.addWidget(buttons)
        self.resize(560, 320)


def _title(severity: Severity) -> str:
    match severity:
        case Severity.INFO:
            return tr("info")
        case Severity.WARNING:
            return tr("warning")
        case Severity.ERROR:
            return tr("error")

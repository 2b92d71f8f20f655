"""Text to be spoken: what, by which voice, aloud or into a file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QLabel,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.i18n import tr
from app.icons import icon
from app.state import AppState
from app.text import utf16_length
from app.theme import Appearance
from app.views.elided_choice import ElidedChoice
from app.views.folding_row import FoldingRow
from app.views.scroll_column import ScrollColumn
from app.views.speech_position import SpeechPosition
from engine.core.events import BackendState, UtteranceState
from engine.core.types import BackendKind

_TEXT_CHARACTERS = 20
_TEXT_LINES = 4
_AT_WORK = (
    UtteranceState.QUEUED,
    UtteranceState.RENDERING,
    UtteranceState.SPEAKING,
    UtteranceState.PAUSED,
)


class SpeakPanel(QFrame):
    """The panel at the right.

    Signals:
        speak_asked: say this text.
        stop_asked: be silent.
        save_asked: write this text, spoken, to this file.
        voice_chosen: the backend id of a voice.

    Attributes:
        place_dialog: chooses the folder in which a dialog for a file begins.

    Args:
        state: what is being spoken.
        appearance: colours.
    """

    speak_asked = Signal(str)
    stop_asked = Signal()
    save_asked = Signal(str, object)
    voice_chosen = Signal(str)

    def __init__(
        self, state: AppState, appearance: Appearance, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("speakPanel")
        self._state = state
        self._appearance = appearance
        self.place_dialog: Callable[[QFileDialog], None] = lambda _: None
        self._spoken_text = ""
        self._voices: tuple[tuple[str, str], ...] = ()
        self.text = QPlainTextEdit()
        self.voice = ElidedChoice(tr("Voice"))
        self.speak_button = QPushButton(tr("Speak"))
        self.stop_button = QPushButton(tr("Stop"))
        self.save_button = QPushButton(tr("Save WAV…"))
        self.message = QLabel()
        self.progress = QProgressBar()
        self.position = SpeechPosition(appearance)
        self._is_saving = False
        self._build()
        self._connect()
        self._paint_icons()
        self._refresh()

    def set_voices(self, voices: Sequence[tuple[str, str]], current: str) -> None:
        """Offer voices as (backend id, title)."""
        self._voices = tuple(voices)
        self.voice.clear()
        for backend_id, title in self._voices:
            self.voice.addItem(title, backend_id)
        self.choose_voice(current)
        self._refresh()

    def choose_voice(self, current: str) -> None:
        """Show a voice as chosen, by its backend id."""
        self.voice.setCurrentIndex(max(0, self.voice.findData(current)))

    @Slot(object)
    def set_save_progress(self, fraction: float | None) -> None:
        """Show how much of a file is written; None when none is being written."""
        self._is_saving = fraction is not None
        self.progress.setVisible(fraction is not None)
        self.progress.setValue(round(100 * (fraction or 0.0)))
        if fraction is not None:
            self.message.setText(tr("Writing the file…"))

    def show_message(self, text: str, *, is_problem: bool = False) -> None:
        """Say how it went, below the buttons."""
        self.message.setProperty("role", "problem" if is_problem else "muted")
        self.message.style().polish(self.message)
        self.message.setText(text)

    @Slot()
    def speak(self) -> None:
        """Ask for the text to be spoken."""
        text = self.text.toPlainText()
        if text.strip():
            self._spoken_text = text
            self.speak_asked.emit(text)

    @Slot()
    def ask_where_to_save(self) -> None:
        """Let the user name a file."""
        text = self.text.toPlainText()
        if not text.strip():
            return
        dialog = QFileDialog(self, tr("Save the spoken text"))
        dialog.setNameFilter(f"{tr('WAV audio')} (*.wav)")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("wav")
        self.place_dialog(dialog)
        dialog.selectFile(f"{tr('speech')}.wav")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.save_asked.emit(text, Path(path)))
        dialog.open()

    @Slot()
    def _take_utterance(self) -> None:
        self._refresh()
        utterance = self._state.utterance
        if utterance is None:
            return
        match utterance.state:
            case UtteranceState.FAILED:
                self.show_message(utterance.message, is_problem=True)
            case UtteranceState.QUEUED | UtteranceState.RENDERING:
                is_slow = utterance.progress >= 0
                self.show_message(tr("Rendering first…") if is_slow else tr("Preparing…"))
            case UtteranceState.SPEAKING:
                self.show_message(tr("Speaking"))
            case UtteranceState.PAUSED:
                self.show_message(tr("Paused"))
            case UtteranceState.CANCELLED:
                self.show_message(tr("Stopped"))
            case UtteranceState.DONE:
                self.show_message("")
        self._show_rendering(utterance.progress)
        self.position.set_state(utterance.state)
        is_heard = utterance.state in (UtteranceState.SPEAKING, UtteranceState.PAUSED)
        self._highlight(utterance.text_start, utterance.text_end if is_heard else 0)

    @Slot()
    def _refresh(self) -> None:
        voice = self._state.backends.get(BackendKind.SYNTHESIZER)
        utterance = self._state.utterance
        is_at_work = utterance is not None and utterance.state in _AT_WORK
        has_text = bool(self.text.toPlainText().strip())
        is_usable = voice is not None and voice.state in (BackendState.READY, BackendState.LOADING)
        self.speak_button.setEnabled(has_text and is_usable)
        self.save_button.setEnabled(has_text and is_usable)
        self.stop_button.setEnabled(is_at_work)
        if not self._voices and voice is not None:
            self.voice.clear()
            self.voice.addItem(voice.title or voice.backend_id, voice.backend_id)
        self.voice.setEnabled(len(self._voices) > 1)

    def _show_rendering(self, progress: float) -> None:
        if not self._is_saving:
            self.progress.setVisible(progress >= 0)
            self.progress.setValue(round(100 * max(0.0, progress)))

    def _highlight(self, start: int, end: int) -> None:
        """Mark the sentence being heard, unless the text was changed meanwhile."""
        selections: list[QTextEdit.ExtraSelection] = []
        if end > start and self.text.toPlainText() == self._spoken_text:
            cursor = QTextCursor(self.text.document())
            cursor.setPosition(_utf16(self._spoken_text, start))
            cursor.setPosition(_utf16(self._spoken_text, end), QTextCursor.MoveMode.KeepAnchor)
            style = QTextCharFormat()
            style.setBackground(self._appearance.theme.color("selection"))
            selection = QTextEdit.ExtraSelection()
            selection.cursor, selection.format = cursor, style
            selections.append(selection)
        self.text.setExtraSelections(selections)

    def _build(self) -> None:
        heading = QLabel(tr("Speak"))
        heading.setProperty("role", "heading")
        self.text.setPlaceholderText(tr("Text to be read aloud"))
        self.text.setAccessibleName(tr("Text to be spoken"))
        self.text.setTabChangesFocus(True)
        self.speak_button.setProperty("role", "primary")
        self.speak_button.setToolTip(tr("Read the text aloud (Ctrl+Enter)"))
        self.stop_button.setToolTip(tr("Be silent (Esc)"))
        self.save_button.setToolTip(tr("Write the spoken text to a sound file"))
        self.message.setWordWrap(True)
        self.message.setProperty("role", "muted")
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Progress"))
        self.progress.hide()
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(heading)
        column.addWidget(self.text, 1)
        column.addWidget(self.voice)
        column.addWidget(
            FoldingRow(self.speak_button, self.stop_button, stretched=(self.speak_button,))
        )
        column.addWidget(self.position)
        column.addWidget(self.save_button)
        column.addWidget(self.progress)
        column.addWidget(self.message)
        metrics = self.text.fontMetrics()
        self.text.setMinimumWidth(_TEXT_CHARACTERS * metrics.averageCharWidth())
        self.text.setMinimumHeight(_TEXT_LINES * metrics.lineSpacing())
        # It takes the room there is, and asks for none: buttons come before empty lines.
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(ScrollColumn(content))

    def _connect(self) -> None:
        self.speak_button.clicked.connect(self.speak)
        self.stop_button.clicked.connect(self.stop_asked)
        self.save_button.clicked.connect(self.ask_where_to_save)
        self.voice.activated.connect(
            lambda index: self.voice_chosen.emit(str(self.voice.itemData(index)))
        )
        self.text.textChanged.connect(self._refresh)
        self._state.utterance_changed.connect(self._take_utterance)
        self._state.backends_changed.connect(self._refresh)
        self._appearance.changed.connect(self._paint_icons)

    @Slot()
    def _paint_icons(self) -> None:
        theme = self._appearance.theme
        self.speak_button.setIcon(icon("play", theme.color("on_focus"), theme.color("faint")))
        self.stop_button.setIcon(icon("stop", theme.color("text"), theme.color("faint")))


def _utf16(text: str, index: int) -> int:
    """Return a position in Python's text as Qt counts it."""
    return utf16_length(text[:index])

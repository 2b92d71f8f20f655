"""A line to type in for people who speak by typing, with their saved phrases."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.i18n import tr
from app.phrases import PhraseBook, clean
from app.speech import Speech
from app.state import AppState
from app.views.captions.phrases import PhraseList
from app.views.captions.said import SaidTexts
from app.views.elided_label import ElidedLabel
from engine.core.events import UtteranceState

_LINE_PT = 20.0
_MAX_HISTORY = 100
_AT_WORK = (
    UtteranceState.QUEUED,
    UtteranceState.RENDERING,
    UtteranceState.SPEAKING,
    UtteranceState.PAUSED,
)


class TypeToSpeak(QFrame):
    """Speaks what is typed on Enter; Up and Down bring back what was spoken before.

    Signals:
        resized: it needs more or less height than before.

    Args:
        state: what is being spoken.
        speech: takes what is typed.
        said: what was taken, and how much of it has been heard.
        book: saved phrases.
    """

    resized = Signal()

    def __init__(
        self,
        state: AppState,
        speech: Speech,
        said: SaidTexts,
        book: PhraseBook,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("typeToSpeak")
        self.setAutoFillBackground(True)
        self._state = state
        self._speech = speech
        self._said = said
        self._history: list[str] = []
        self._place = 0
        self._draft = ""
        self._is_taken = False
        self.line = QLineEdit()
        self.speak_button = QPushButton(tr("Speak"))
        self.stop_button = QPushButton(tr("Stop"))
        self.phrases_button = QPushButton(tr("Phrases"))
        self.message = ElidedLabel()
        self.phrases = PhraseList(book)
        self._build()
        self._connect()
        self._refresh()

    @property
    def is_speaking(self) -> bool:
        """Whether anything is being spoken, or will be at once."""
        utterance = self._state.utterance
        return utterance is not None and utterance.state in _AT_WORK

    @Slot()
    def speak(self) -> None:
        """Speak what is typed."""
        text = self.line.text()
        if self.say(text):
            self.line.clear()

    @Slot(str)
    def say(self, text: str) -> bool:
        """Speak a text and return whether the voice took it; if not, a message says why."""
        text = clean(text)
        if not text:
            return False
        self._is_taken = False
        self._speech.speak(text)
        if not self._is_taken:
            utterance = self._state.utterance
            is_failed = utterance is not None and utterance.state is UtteranceState.FAILED
            self._show(
                utterance.message
                if utterance is not None and is_failed
                else tr("The voice is not there yet. Try again in a moment."),
                is_problem=True,
            )
            return False
        self._remember(text)
        return True

    @Slot(int)
    def say_phrase(self, number: int) -> None:
        """Speak the phrase with a key, 1 to 9."""
        text = self.phrases.phrase(number)
        if text:
            self.say(text)
        else:
            self._show(tr("There is no phrase {number} yet.", number=number), is_problem=False)

    @Slot()
    def save_phrase(self) -> None:
        """Save what is typed, or else what was spoken last, as a phrase."""
        text = clean(self.line.text()) or (self._history[-1] if self._history else "")
        if self.phrases.add(text):
            self._show(tr("Saved as a phrase: {text}", text=text), is_problem=False)
            self.resized.emit()

    @Slot(bool)
    def show_phrases(self, is_on: bool) -> None:
        """Show or hide the saved phrases."""
        self.phrases_button.setChecked(is_on)
        self.phrases.setVisible(is_on)
        self.resized.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            watched is self.line
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        ):
            key = Qt.Key(event.key())
            if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                self._recall(-1 if key == Qt.Key.Key_Up else +1)
                return True
        return False

    def _recall(self, step: int) -> None:
        """Go through what was spoken; behind the newest stands what was being typed."""
        if self._place == len(self._history):
            self._draft = self.line.text()
        place = min(max(self._place + step, 0), len(self._history))
        if place != self._place:
            self._place = place
            self.line.setText([*self._history, self._draft][place])

    @Slot(str)
    def _remember(self, text: str) -> None:
        if not self._history or self._history[-1] != text:
            self._history = [*self._history[-_MAX_HISTORY + 1 :], text]
        self._place, self._draft = len(self._history), ""

    @Slot(int, str)
    def _take_text(self, utterance_id: int, text: str) -> None:
        self._is_taken = True

    @Slot()
    def _refresh(self) -> None:
        has_text = bool(self.line.text().strip())
        self.speak_button.setEnabled(has_text)
        self.phrases.set_can_add(has_text or bool(self._history))
        self.stop_button.setEnabled(self.is_speaking)

    @Slot()
    def _take_utterance(self) -> None:
        self._refresh()
        utterance = self._state.utterance
        if utterance is None:
            return
        said = self._said.current
        text = said.text if said is not None else ""
        match utterance.state:
            case UtteranceState.FAILED:
                self._show(utterance.message, is_problem=True)
            case UtteranceState.QUEUED | UtteranceState.RENDERING:
                self._show(tr("Preparing: {text}", text=text), is_problem=False)
            case UtteranceState.SPEAKING:
                heard = text[utterance.text_start : utterance.text_end].strip() or text
                self._show(tr("Speaking: {text}", text=heard), is_problem=False)
            case UtteranceState.PAUSED:
                self._show(tr("Paused: {text}", text=text), is_problem=False)
            case UtteranceState.CANCELLED:
                self._show(tr("Stopped."), is_problem=False)
            case UtteranceState.DONE:
                self._show("", is_problem=False)

    def _show(self, text: str, *, is_problem: bool) -> None:
        role = "problem" if is_problem else "muted"
        if self.message.property("role") != role:
            self.message.setProperty("role", role)
            self.message.style().polish(self.message)
        self.message.setText(text)
        self.message.setToolTip(text)

    def _build(self) -> None:
        font = self.line.font()
        font.setPointSizeF(max(_LINE_PT, font.pointSizeF()))
        self.line.setFont(font)
        self.line.setPlaceholderText(tr("Type here, then press Enter"))
        self.line.setAccessibleName(tr("Text to be spoken"))
        self.line.setClearButtonEnabled(True)
        self.line.installEventFilter(self)
        self.speak_button.setToolTip(tr("Speak what is typed (Enter)"))
        self.speak_button.setProperty("role", "primary")
        self.stop_button.setToolTip(tr("Be silent (Esc)"))
        self.phrases_button.setToolTip(tr("Show saved phrases (F7)"))
        self.phrases_button.setCheckable(True)
        for button in (self.speak_button, self.stop_button, self.phrases_button):
            button.setAutoDefault(False)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.speak_button)
        row.addWidget(self.stop_button)
        row.addWidget(self.phrases_button)
        self._show(" ", is_problem=False)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 16, 8)
        column.setSpacing(6)
        column.addWidget(self.phrases)
        column.addLayout(row)
        column.addWidget(self.message)
        self.phrases.hide()

    def _connect(self) -> None:
        self.line.returnPressed.connect(self.speak)
        self.line.textChanged.connect(self._refresh)
        self.speak_button.clicked.connect(self.speak)
        self.stop_button.clicked.connect(self._speech.stop_speaking)
        self.phrases_button.toggled.connect(self.show_phrases)
        self.phrases.chosen.connect(self.say)
        self.phrases.add_asked.connect(self.save_phrase)
        self.phrases.removed.connect(self._remember)
        self._speech.text_taken.connect(self._take_text)
        self._state.utterance_changed.connect(self._take_utterance)

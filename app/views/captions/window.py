"""Captions in a window of their own, for people who read what is said from afar."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout

from app.captions import CaptionsFile, Scheme, caption_scheme
from app.i18n import tr
from app.phrases import PhraseBook
from app.speech import Speech
from app.theme import load_themes
from app.views.captions.bar import CaptionsBar
from app.views.captions.choices import CaptionsChoices
from app.views.captions.frame import desktop_limits
from app.views.captions.keys import add_keys
from app.views.captions.said import SaidTexts
from app.views.captions.shell import CaptionsMode, CaptionsShell
from app.views.captions.state import quiet_line
from app.views.captions.type_to_speak import TypeToSpeak
from app.views.captions.view import CaptionsView
from app.views.elided_label import ElidedLabel
from engine.core.events import Notice, Severity

if TYPE_CHECKING:
    from app.views.context import ViewContext
    from engine.session.health import Health

_MIN_QUIET_PT, _QUIET_SHARE = 12.0, 0.3


class CaptionsWindow(CaptionsShell):
    """Shows what is being said in very large words; everything in it works by keyboard.

    Signals:
        record_asked: begin or end a recording.
        pause_asked: pause it, or go on.

    Args:
        context: what is shown.
        speech: speaks what is typed.
        captions_file: remembers how captions look; saved phrases lie beside it.
    """

    record_asked = Signal()
    pause_asked = Signal()

    def __init__(self, context: "ViewContext", speech: Speech, captions_file: CaptionsFile) -> None:
        super().__init__(captions_file)
        self._state = context.state
        self.appearance = context.appearance
        self._speech = speech
        self._themes = load_themes()
        self._said = SaidTexts()
        self._book = PhraseBook(captions_file.folder)
        self._has_told_problem = False
        self._backlog_s, self._alarm = 0.0, ""
        self._document = self._state.live_document
        self.choices = CaptionsChoices(captions_file, self)
        self.view = CaptionsView(self._state, self._said, self.choices.look, self.scheme)
        self.quiet = ElidedLabel()
        self.box = TypeToSpeak(self._state, speech, self._said, self._book)
        self.bar = CaptionsBar(self)
        self.setWindowTitle(tr("Captions – Viva Voce"))
        self._build()
        self._connect(context)
        add_keys(self)
        self._apply_look()

    @property
    def scheme(self) -> Scheme:
        """Colours in force."""
        return caption_scheme(self.choices.look.scheme, self.appearance.theme, self._themes)

    # --- commands ---

    @Slot()
    def escape(self) -> None:
        """Stop speaking; then close what is open, one thing at a time; then leave."""
        if self.box.is_speaking:
            self._speech.stop_speaking()
        elif self.bar.has_focus:
            self._focus_words()
            self.bar.put_away()
        elif self.box.isVisible() and self.box.phrases.isVisible():
            self.box.show_phrases(False)
            self.box.line.setFocus()
        elif self.box.isVisible():
            self.show_box(False)
        else:
            self.leave()

    @Slot(bool)
    def show_box(self, is_on: bool) -> None:
        """Show or hide the line for texts to be spoken."""
        self.box.setVisible(is_on)
        self.bar.show_mode(is_small=self.is_small, has_box=is_on)
        self._fit()
        self._focus_words()

    @Slot()
    def toggle_box(self) -> None:
        """Show or hide the line for texts to be spoken."""
        self.show_box(self.box.isHidden())

    @Slot()
    def toggle_phrases(self) -> None:
        """Show or hide the saved phrases, and the line with them."""
        is_on = self.box.isHidden() or self.box.phrases.isHidden()
        if self.box.isHidden():
            self.show_box(True)
        self.box.show_phrases(is_on)
        (self.box.phrases.tree if is_on and self._book.phrases else self.box.line).setFocus()

    def say_phrase(self, number: int) -> None:
        """Speak a saved phrase by its number, from 1, and show that it is spoken."""
        if self.box.isHidden():
            self.show_box(True)
        self.box.say_phrase(number)

    @Slot()
    def focus_bar(self) -> None:
        """Show the choices and go to the first."""
        self.bar.reveal()
        self.bar.controls.lines.setFocus(Qt.FocusReason.TabFocusReason)

    def set_health(self, health: "Health") -> None:
        """Take in how far the words are behind."""
        self._backlog_s = health.recognizer_backlog_s
        self._refresh_quiet()

    @Slot(str)
    def set_alarm(self, text: str) -> None:
        """Say what is wrong with the input; empty if nothing is."""
        self._alarm = text
        self._refresh_quiet()

    # --- Qt events ---

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._focus_words()
        self.bar.reveal_folded()
        if self._book.problem and not self._has_told_problem:
            self._has_told_problem = True
            self._state.add_notice(Notice(Severity.WARNING, self._book.problem))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.bar.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escape()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        # What is hidden cannot be reached by Tab.
        self.bar.reveal()
        self.view.set_frame(True)
        return super().focusNextPrevChild(is_next)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseMove:
            self._show_pointer(True)
            self.bar.reveal_folded()
        return False

    # --- what is shown ---

    @Slot()
    def _refresh(self) -> None:
        if self._state.live_document is not self._document:
            self._document = self._state.live_document
            self._said.clear()
        if self.mode is not CaptionsMode.HIDDEN:
            self.view.refresh()
            self._refresh_quiet()

    @Slot()
    def _take_utterance(self) -> None:
        utterance, words = self._state.utterance, self._state.live_document.words
        end = words[-1].word.end if words else 0
        if utterance is not None:
            self._said.take(utterance, end)
            self._refresh()

    @Slot()
    def _refresh_quiet(self) -> None:
        if self.mode is CaptionsMode.HIDDEN:
            return
        text = quiet_line(
            self._state,
            shown_from=self.view.shown_from,
            backlog_s=self._backlog_s,
            alarm=self._alarm,
        )
        has_words = bool(self.view.rows)
        self.view.set_placeholder("" if has_words else text)
        line = text if has_words else ""
        if line != self.quiet.text():
            self.quiet.setText(line)
            self.quiet.setToolTip(line)

    @Slot()
    def _apply_mode(self) -> None:
        self.choices.set_small(self.is_small)
        if self.mode is CaptionsMode.HIDDEN:
            self.choices.save()
            self.bar.put_away()
            return
        self.bar.show_mode(is_small=self.is_small, has_box=not self.box.isHidden())
        self.bar.show_message(desktop_limits() if self.is_small else "")
        self._apply_look()
        self._fit()

    @Slot()
    def _apply_look(self) -> None:
        look, num_lines, size_pt = self.choices.look, self.choices.num_lines, self.choices.size_pt
        scheme = self.scheme
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, QColor(scheme.ground))
        palette.setColor(QPalette.ColorRole.WindowText, QColor(scheme.quiet))
        self.setPalette(palette)
        self.quiet.setPalette(palette)
        font = self.quiet.font()
        font.setPointSizeF(max(_MIN_QUIET_PT, size_pt * _QUIET_SHARE))
        self.quiet.setFont(font)
        self.quiet.setFixedHeight(round(self.quiet.fontMetrics().height() * 1.4))
        self.view.set_look(look, scheme, num_lines, size_pt)
        self.bar.controls.show_look(look, num_lines, size_pt)
        self._refresh_quiet()

    @Slot()
    def _fit(self) -> None:
        """Make room for the line for typing, so that it takes none from the words."""
        self.set_extra_height(0 if self.box.isHidden() else self.box.sizeHint().height())

    @Slot()
    def _put_pointer_away(self) -> None:
        self.view.set_frame(False)
        self._show_pointer(self.mode is not CaptionsMode.FULL)

    def _show_pointer(self, is_shown: bool) -> None:
        shape = Qt.CursorShape.ArrowCursor if is_shown else Qt.CursorShape.BlankCursor
        if self.view.cursor().shape() != shape and not (is_shown and self.is_small):
            self.view.setCursor(shape)

    def _focus_words(self) -> None:
        (self.view if self.box.isHidden() else self.box.line).setFocus()

    # --- building ---

    def _build(self) -> None:
        self.setAutoFillBackground(True)
        self.quiet.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.quiet.setAccessibleName(tr("State"))
        self.quiet.setMouseTracking(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.view, 1)
        column.addWidget(self.quiet)
        column.addWidget(self.box)
        self.box.hide()
        self.bar.raise_()
        self.make_handles(self.view, self.quiet, self.bar)
        for part in (self.view, self.quiet):
            part.installEventFilter(self)
        self.setTabOrder(self.view, self.bar)
        self.setTabOrder(self.bar, self.box)

    def _connect(self, context: "ViewContext") -> None:
        state, bar = self._state, self.bar
        self._speech.text_taken.connect(self._said.add)
        state.live_changed.connect(self._refresh)
        state.speakers_changed.connect(self.view.repaint_speakers)
        state.session_changed.connect(self._refresh_quiet)
        state.backends_changed.connect(self._refresh_quiet)
        state.utterance_changed.connect(self._take_utterance)
        context.appearance.changed.connect(self._apply_look)
        self.mode_changed.connect(self._apply_mode)
        self.box.resized.connect(self._fit)
        bar.controls.chosen.connect(self.choices.choose)
        self.choices.changed.connect(self._apply_look)
        bar.box_asked.connect(self.show_box)
        bar.full_asked.connect(self.show_full)
        bar.small_asked.connect(self.show_small)
        bar.leave_asked.connect(self.leave)
        bar.hidden.connect(self._put_pointer_away)

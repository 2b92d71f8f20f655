"""The one quiet line below captions: how things are, where that is not what the words say."""

from app.i18n import tr
from app.state import AppState
from engine.core.events import BackendState, SessionState, SpanMarked, UtteranceState
from engine.core.types import BackendKind, SpanKind
from engine.text.document import TranscriptDocument

_BEHIND_S = 3.0
"""A text this far behind the sound is worth a word."""
_MIN_SPAN_S = 0.2
_HEARD = (UtteranceState.SPEAKING, UtteranceState.PAUSED)


def quiet_line(state: AppState, *, shown_from: int, backlog_s: float, alarm: str) -> str:
    """Return what to say; empty where words come as they are spoken.

    Args:
        state: of the session.
        shown_from: first sample of the words on the screen; what was lost before them is passed
            over.
        backlog_s: sound that waits for the recognizer.
        alarm: what is wrong with the input, for people; empty if nothing is.
    """
    match state.session_state:
        case SessionState.IDLE | SessionState.CLOSED:
            if state.live_document.words:
                return tr("The recording has ended. Press Ctrl+R for a new one.")
            return tr("Listening has not begun: press Ctrl+R.")
        case SessionState.STARTING:
            return tr("Opening the microphone…")
        case SessionState.PAUSED:
            return tr("Paused: nothing is heard. Press Ctrl+P to go on.")
        case SessionState.STOPPING:
            return tr("Not listening any more. The last words are being written…")
        case _:
            return _while_recording(state, shown_from, backlog_s, alarm)


def _while_recording(state: AppState, shown_from: int, backlog_s: float, alarm: str) -> str:
    if not all(backend.is_trained for backend in state.backends.values()):
        return tr("Untrained weights: what you read here means nothing.")
    if state.utterance is not None and state.utterance.state in _HEARD:
        return tr("This program is speaking and does not write down its own voice.")
    if alarm:
        return alarm
    recognizer = state.backends.get(BackendKind.RECOGNIZER)
    is_failed = recognizer is not None and recognizer.state is BackendState.FAILED
    if is_failed or state.is_wordless:
        return tr("No words can be written: the recognizer could not be loaded.")
    if recognizer is not None and recognizer.state is BackendState.LOADING:
        return tr("Listening. What is said is written as soon as the model is loaded.")
    if backlog_s >= _BEHIND_S:
        return tr("Catching up: the words are {seconds} s behind.", seconds=round(backlog_s))
    lost = _last_loss(state.live_document, shown_from)
    if lost is not None:
        return _describe(lost, state.live_document)
    document = state.live_document
    return "" if document.words or document.partial else tr("Listening. Words appear here.")


def _last_loss(document: TranscriptDocument, shown_from: int) -> SpanMarked | None:
    least = _MIN_SPAN_S * document.sample_rate
    for span in reversed(document.spans):
        if span.end <= shown_from:
            continue
        if span.kind in (SpanKind.GAP, SpanKind.UNTRANSCRIBED) and span.end - span.start >= least:
            return span
    return None


def _describe(span: SpanMarked, document: TranscriptDocument) -> str:
    seconds = f"{document.seconds(span.end - span.start):.1f}"
    if span.kind is SpanKind.GAP:
        return tr("{seconds} s of sound were lost here: words are missing.", seconds=seconds)
    return tr("{seconds} s were not written down, to keep up.", seconds=seconds)

"""What stands where no word is yet, or where none will be."""

from app.i18n import tr
from app.state import AppState
from engine.core.events import BackendState, SessionState
from engine.core.types import BackendKind


def lacks_recognizer(state: AppState) -> bool:
    """Whether nothing writes down what is heard now, or in the last recording."""
    recognizer = state.backends.get(BackendKind.RECOGNIZER)
    is_failed = recognizer is not None and recognizer.state is BackendState.FAILED
    return state.is_live_shown and (is_failed or state.is_wordless)


def placeholder(state: AppState, *, has_models: bool, has_sound: bool) -> str:
    """Return what stands in place of the transcript.

    Args:
        state: what is shown.
        has_models: what is missing can be fetched right below.
        has_sound: what was recorded can be heard.
    """
    if not state.is_live_shown:
        return _without_words(has_sound=has_sound)
    match state.session_state:
        case SessionState.STARTING:
            return tr("Opening the input…")
        case SessionState.RECORDING | SessionState.PAUSED if lacks_recognizer(state):
            return _wordless(state, has_models=has_models)
        case SessionState.RECORDING:
            return _listening(state)
        case SessionState.PAUSED:
            return tr("Paused.")
        case SessionState.STOPPING:
            return tr("Finishing the text…")
        case _ if state.is_wordless:
            text = tr("This recording has no words: the model that writes them was not there.")
            return _with_sound(text, has_sound=has_sound)
        case _:
            return _without_words(has_sound=has_sound)


def _listening(state: AppState) -> str:
    recognizer = state.backends.get(BackendKind.RECOGNIZER)
    if recognizer is not None and recognizer.state is BackendState.LOADING:
        return tr(
            "Listening. The model is still loading; what you say is written as soon as it is ready."
        )
    return tr("Listening. Words appear here as they are spoken.")


def _wordless(state: AppState, *, has_models: bool) -> str:
    recognizer = state.backends.get(BackendKind.RECOGNIZER)
    if recognizer is None or recognizer.state is not BackendState.FAILED:
        return tr(
            "This recording began without the model that writes words, and stays without them. "
            "Stop it and record again."
        )
    if has_models:
        return tr(
            "No words can be written: the model for that is not on this computer. Fetch it below, "
            "then stop and record again."
        )
    return tr("No words can be written. {reason}", reason=recognizer.message)


def _without_words(*, has_sound: bool) -> str:
    return _with_sound(tr("No words were recognized in this recording."), has_sound=has_sound)


def _with_sound(text: str, *, has_sound: bool) -> str:
    if not has_sound:
        return text
    how = tr("Its sound is kept: Space plays it, or a double click in the timeline below.")
    return f"{text}\n{how}"

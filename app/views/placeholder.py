"""What stands where no word is yet."""

from app.state import AppState
from engine.core.events import BackendState, SessionState
from engine.core.types import BackendKind


def placeholder(state: AppState) -> str:
    """Return what stands in place of the transcript."""
    match state.session_state:
        case SessionState.STARTING:
            return "Opening the input…"
        case SessionState.RECORDING:
            recognizer = state.backends.get(BackendKind.RECOGNIZER)
            if recognizer is not None and recognizer.state is BackendState.LOADING:
                return (
                    "Listening. The model is still loading; what you say is written as soon "
                    "as it is ready."
                )
            return "Listening. Words appear here as they are spoken."
        case SessionState.PAUSED:
            return "Paused."
        case SessionState.STOPPING:
            return "Finishing the text…"
        case _:
            return "No words."

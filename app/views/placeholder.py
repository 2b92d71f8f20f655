"""What stands where no word is yet."""

from app.i18n import tr
from app.state import AppState
from engine.core.events import BackendState, SessionState
from engine.core.types import BackendKind


def placeholder(state: AppState) -> str:
    """Return what stands in place of the transcript."""
    match state.session_state:
        case SessionState.STARTING:
            return tr("Opening the input…")
        case SessionState.RECORDING:
            recognizer = state.backends.get(BackendKind.RECOGNIZER)
            if recognizer is not None and recognizer.state is BackendState.LOADING:
                return tr(
                    "Listening. The model is still loading; what you say is written as soon "
                    "as it is ready."
                )
            return tr("Listening. Words appear here as they are spoken.")
        case SessionState.PAUSED:
            return tr("Paused.")
        case SessionState.STOPPING:
            return tr("Finishing the text…")
        case _:
            return tr("No words were recognized in this recording.")

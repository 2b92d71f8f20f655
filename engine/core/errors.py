"""The errors of the engine. Each message says what happened, why, and what to do."""

_MAX_REASON = 300
"""Characters of what another library says of an error: some list whole files."""


def reason_of(error: BaseException) -> str:
    """Return what an error of the system or of a library says, to stand within a sentence.

    It is one line, never empty, and without a full stop.
    """
    said = getattr(error, "strerror", None) or str(error)
    text = " ".join(said.split()).rstrip(".")
    if not text:
        return "memory ran out" if isinstance(error, MemoryError) else "no reason was given"
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…"


class EngineError(Exception):
    """A fault the engine can name.

    Args:
        message: one or two sentences: what happened and why.
        advice: what the user can do, a sentence in the imperative that fits window and terminal
            alike; may be empty.
        command: the command line that does it; shown in terminals alone. May be empty.
        recoverable: whether the engine goes on without being restarted.
    """

    def __init__(
        self, message: str, *, advice: str = "", command: str = "", recoverable: bool = True
    ) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.command = command
        self.recoverable = recoverable

    @property
    def text(self) -> str:
        """What happened and what to do, for the window."""
        return f"{self.message} {self.advice}".strip()

    def __str__(self) -> str:
        return f"{self.text} Run: {self.command}" if self.command else self.text


class DeviceError(EngineError):
    """An audio device is missing, busy, or refused a format."""


class AudioFileError(EngineError):
    """A file that should hold audio cannot be read as audio, or cannot be written."""


class CodesError(EngineError):
    """Speech codes, or a file of them, are not what their codec takes."""


class ModelMissingError(EngineError):
    """A model's files are not on this machine."""


class ModelFileError(EngineError):
    """A model file is truncated, altered, or not what it claims to be."""


class ModelLoadError(EngineError):
    """A model's files are there, but the model could not be made from them."""


class BackendError(EngineError):
    """A backend is unknown, unavailable, or failed while running."""


class ComputeDeviceError(BackendError):
    """The GPU that a backend runs on has failed, is out of memory, or is gone."""


class ConfigError(EngineError):
    """A setting is unknown or has a value outside its range."""


class StoreError(EngineError):
    """A session cannot be written to or read from disk."""


class CancelledError(EngineError):
    """The user, or the end of the session, cancelled the operation."""

"""What the program's exit status says."""

from typing import Final

from engine.core.errors import (
    AudioFileError,
    CancelledError,
    CodesError,
    ConfigError,
    DeviceError,
    EngineError,
    ModelFileError,
    ModelLoadError,
    ModelMissingError,
)

DONE: Final = 0
BAD_ARGUMENTS: Final = 2
INPUT_PROBLEM: Final = 3
MODEL_MISSING: Final = 4
FAILED: Final = 5
INTERRUPTED: Final = 130


def exit_code_of(error: EngineError) -> int:
    """Return the exit status for an error that ends the program."""
    match error:
        case ConfigError():
            return BAD_ARGUMENTS
        case DeviceError() | AudioFileError() | CodesError():
            return INPUT_PROBLEM
        case ModelMissingError() | ModelFileError() | ModelLoadError():
            return MODEL_MISSING
        case CancelledError():
            return INTERRUPTED
        case _:
            return FAILED

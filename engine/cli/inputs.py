"""What to listen to, as people name it on the command line."""

from dataclasses import dataclass
from pathlib import Path

from engine.audio.files import AudioFileReader
from engine.audio.provider import FILE_PREFIX, NULL
from engine.core.files import expanded
from engine.core.resources import resource_path

DEMO = "demo"
DEMO_FILE = "demo/conversation.flac"
_ROUNDING_S = 0.01


@dataclass(frozen=True, slots=True)
class InputChoice:
    """An input.

    Args:
        device: its name for the session.
        title: its name for people.
        path: of the file, None for devices.
    """

    device: str
    title: str
    path: Path | None = None

    @property
    def is_microphone(self) -> bool:
        """Whether what is not kept of it is lost."""
        return self.path is None and self.device != NULL


def choose_input(name: str) -> InputChoice:
    """Return the input that a name means: "demo", "file:PATH", "null" or a device's name."""
    if name == DEMO:
        path = resource_path(DEMO_FILE)
        return InputChoice(f"{FILE_PREFIX}{path}", "the demo conversation", path)
    if not name.startswith(FILE_PREFIX):
        return InputChoice(name, f"the {name} microphone" if name == "default" else name)
    path = expanded(name.removeprefix(FILE_PREFIX))
    if str(path) == DEMO and not path.exists():
        return choose_input(DEMO)
    return InputChoice(name, path.name, path)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of an audio file before it is read.

    Args:
        path: of the file.
        duration_s: as its header promises; 0 if it does not say.
        least_s: a whole file of this header is no shorter; 0 if it does not say.
        is_truncated: whether there is less than its header promises.
    """

    path: Path
    duration_s: float
    least_s: float
    is_truncated: bool

    def is_cut_off(self, read_s: float) -> bool:
        """Return whether the file ended early, now that so many seconds of it were read.

        Damage in the middle of a file shows only when it is decoded.
        """
        return self.is_truncated or read_s < self.least_s - _ROUNDING_S


def inspect_file(path: Path) -> FileFacts:
    """Open an audio file and see that it is one.

    Raises:
        AudioFileError: it is missing, empty, unreadable, or no audio.
    """
    with AudioFileReader(path) as reader:
        rate = reader.sample_rate
        return FileFacts(
            path, reader.num_promised / rate, reader.num_least / rate, reader.is_truncated
        )

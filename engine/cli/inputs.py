"""What to listen to, as people name it on the command line."""

from dataclasses import dataclass
from pathlib import Path

from engine.audio.files import AudioFileReader
from engine.audio.provider import FILE_PREFIX, NULL
from engine.core.files import expanded
from engine.core.resources import resource_path

DEMO = "demo"
DEMO_FILE = "demo/conversation.flac"


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
    """

    path: Path
    duration_s: float


def inspect_file(path: Path) -> FileFacts:
    """Open an audio file and see that it is one.

    Raises:
        AudioFileError: it is missing, empty, unreadable, or no audio.
    """
    with AudioFileReader(path) as reader:
        return FileFacts(path, reader.num_promised / reader.sample_rate)

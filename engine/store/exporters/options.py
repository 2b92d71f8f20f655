"""What can be chosen about an export, and names that text formats can carry."""

import re
from dataclasses import dataclass, field
from enum import StrEnum

from engine.text.activity import TurnPolicy
from engine.text.document import TranscriptDocument


class ExportFormat(StrEnum):
    """The formats a transcript can be saved in."""

    TXT = "txt"
    SRT = "srt"
    VTT = "vtt"
    JSON = "json"
    RTTM = "rttm"
    CTM = "ctm"


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Choices for all formats; each uses what concerns it.

    Args:
        name: of the recording, in RTTM and CTM; the recording's id by default.
        with_speakers: whether speakers are named (TXT, SRT, VTT).
        with_times: whether lines begin with their time (TXT).
        max_line_chars: characters in a line of a cue (SRT, VTT).
        max_lines: lines in a cue (SRT, VTT).
        min_cue_s: seconds a cue stays, if the next leaves room (SRT, VTT).
        max_cue_s: seconds of speech in a cue (SRT, VTT).
        turns: how speaker probabilities become turns (RTTM, JSON).
    """

    name: str = ""
    with_speakers: bool = True
    with_times: bool = True
    max_line_chars: int = 42
    max_lines: int = 2
    min_cue_s: float = 1.0
    max_cue_s: float = 7.0
    turns: TurnPolicy = field(default_factory=TurnPolicy)

    def __post_init__(self) -> None:
        if self.max_line_chars < 10 or self.max_lines < 1:
            raise ValueError("a cue needs 1 line or more of 10 characters or more")
        if not 0 < self.min_cue_s <= self.max_cue_s:
            raise ValueError("cue times must satisfy 0 < min_cue_s <= max_cue_s")


UNTRAINED_NOTE = "Made with untrained (random) model weights: this is no transcript."


def without_blanks(text: str) -> str:
    """Return text as one field of a format whose fields are parted by blanks."""
    return re.sub(r"\s+", "_", text.strip())


def recording_name(document: TranscriptDocument, options: ExportOptions) -> str:
    """Return the recording's name as one field; it ends in -untrained for random weights."""
    recorded = document.recording.recording_id if document.recording else ""
    name = without_blanks(options.name) or without_blanks(recorded) or "recording"
    # These formats have no comment that all their readers skip.
    return name if document.is_trained else f"{name}-untrained"


def one_line(text: str) -> str:
    """Return text with every run of white space, line ends too, as one blank."""
    return " ".join(text.split())

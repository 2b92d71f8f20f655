"""What one live transcript remembers between two blocks."""

from dataclasses import dataclass, field

import numpy as np

from engine.backends.whisper_gate import GateState
from engine.core.types import Pcm
from engine.models.voice_activity import VadState
from engine.models.whisper_decoder import DecodedWord
from engine.text.agreement import AgreementState


@dataclass(slots=True)
class LiveState:
    """Everything a stream remembers; bounded by the longest window.

    Args:
        position: samples taken so far.
        pending: (< 512,) samples that do not fill a detector window yet.
        audio: (n,) the samples before `position`.
        vad: the speech detector's.
        gate: where speech began and ended.
        window_start: first sample of the window.
        prefix: final words within the window, at samples of the stream.
        context: tokens of the final text before the window.
        agreement: earlier readings of this utterance.
        tail: words told as partial, at samples of the stream.
        read_until: sample up to which the tail was read.
        next_read: position at which the next reading is due.
        final_until: end of the last final word.
        floor: nothing before this sample is read again.
        language: of this utterance; None where not yet known.
        is_hurried: whether so much audio waits that readings have to be cheap.
    """

    position: int = 0
    pending: Pcm = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    audio: Pcm = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    vad: VadState = field(default_factory=VadState)
    gate: GateState = field(default_factory=GateState)
    window_start: int = 0
    prefix: list[DecodedWord] = field(default_factory=list)
    context: list[int] = field(default_factory=list)
    agreement: AgreementState = field(default_factory=AgreementState)
    tail: tuple[DecodedWord, ...] = ()
    read_until: int = 0
    next_read: int = 0
    final_until: int = 0
    floor: int = 0
    language: str | None = None
    is_hurried: bool = False

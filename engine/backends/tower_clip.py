"""Whole clips through the tower: torch in, arrays out."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from engine.backends.protocols import EncodedAudio
from engine.backends.tower_load import torch_threads
from engine.core.config import Statistics
from engine.core.errors import BackendError
from engine.core.types import Pcm, as_pcm
from engine.models.tower_stream import EncodedWindow, LiveTower
from engine.models.transcribe_tower import Nemotron3_5TranscribeAudioTower

FINE_FRAME_MS = 10
_PUSH_S = 10


def encode_clip(
    tower: Nemotron3_5TranscribeAudioTower,
    pcm: Pcm,
    statistics: Statistics,
    num_threads: int,
    tell: Callable[[float], None],
) -> EncodedAudio:
    """Return what the tower makes of a clip.

    Args:
        tower: on any device.
        pcm: (n,) float32 at the tower's rate.
        statistics: what the recognition branch's features are normalised by.
        num_threads: compute threads.
        tell: told the fraction done; may raise to give up.

    Raises:
        BackendError: the clip is not finite, or shorter than a mel frame.
    """
    audio = as_pcm(pcm)
    check_finite(audio)
    hop = tower.config.preprocessor.hop_length
    if len(audio) < hop:
        raise BackendError(
            f"The audio has {len(audio)} samples; at least {hop} are needed to encode it.",
            advice="Choose a longer recording.",
        )
    with torch_threads(num_threads):
        encode = _encode_exact if statistics is Statistics.EXACT else _encode_running
        return encode(tower, torch.from_numpy(audio.copy()), tell)


def encoded_audio(window: EncodedWindow, first_frame: int = 0) -> EncodedAudio:
    """Return a window as arrays; it must have embeddings."""
    if window.embeddings is None:
        raise ValueError("the window has no embeddings")
    return EncodedAudio(
        first_frame=window.first_frame + first_frame,
        embeddings=as_array(window.embeddings),
        speaker_probs=as_array(window.speaker_probs),
        fine_speaker_probs=as_array(window.fine_speaker_probs),
        fine_frame_ms=FINE_FRAME_MS,
    )


def as_array(values: torch.Tensor) -> NDArray[np.float32]:
    """Return float32 on the host, of memory that is its own."""
    array: NDArray[np.float32] = values.to(device="cpu", dtype=torch.float32, copy=True).numpy()
    return array


def check_finite(audio: Pcm) -> None:
    """Raise BackendError for NaN or infinity: it would stay in the speaker cache for ever."""
    if not bool(np.isfinite(audio).all()):
        raise BackendError(
            "The audio holds samples that are no numbers.", advice="Check where it comes from."
        )


def _encode_exact(
    tower: Nemotron3_5TranscribeAudioTower, audio: torch.Tensor, tell: Callable[[float], None]
) -> EncodedAudio:
    clip = tower.encode_clips([audio], torch.tensor([len(audio)]), progress=tell)[0]
    return encoded_audio(
        EncodedWindow(0, clip.speaker_probs, clip.fine_speaker_probs, clip.embeddings)
    )


def _encode_running(
    tower: Nemotron3_5TranscribeAudioTower, audio: torch.Tensor, tell: Callable[[float], None]
) -> EncodedAudio:
    live = LiveTower.of_tower(tower)
    state = live.init_state()
    windows: list[EncodedAudio] = []
    size = _PUSH_S * tower.config.preprocessor.sample_rate
    for start in range(0, len(audio), size):
        state, encoded = live.push(audio[None, start : start + size], state)
        windows += map(encoded_audio, encoded)
        tell(min(1.0, (start + size) / len(audio)))
    _, encoded = live.flush(state)
    windows += map(encoded_audio, encoded)
    return EncodedAudio(
        first_frame=0,
        embeddings=np.concatenate([window.embeddings for window in windows]),
        speaker_probs=np.concatenate([window.speaker_probs for window in windows]),
        fine_speaker_probs=np.concatenate([window.fine_speaker_probs for window in windows]),
        fine_frame_ms=FINE_FRAME_MS,
    )

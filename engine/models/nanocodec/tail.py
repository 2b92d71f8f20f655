"""How speech ends: faded to silence, so that the last sample does not click."""

import torch
from torch import Tensor

LOOKBACK_FRAMES = 8
"""Frames decoded again in front of each window. Approximate: the decoder reaches back 25 frames
(28 at 12.5 frames a second), see `CodecConfig.lookback_frames`; 8 leaves an audible error."""
END_OF_SPEECH_FADE_MS = 0.0
"""Length of the fade at the end of a clip."""
END_OF_SPEECH_SILENCE_MS = 0.0
"""Silence appended behind it."""


def apply_end_of_speech_tail(
    audio: Tensor,
    sample_rate: int,
    fade_ms: float = END_OF_SPEECH_FADE_MS,
    silence_ms: float = END_OF_SPEECH_SILENCE_MS,
) -> Tensor:
    """Fade the end of a clip to zero and append silence.

    It is the fade that removes the click; silence alone would move it.

    Args:
        audio: (..., T), left as it is.
        sample_rate: Hz.
        fade_ms: length of the fade; at most the whole clip is faded. 0 or less for none.
        silence_ms: length of the silence, 0 or less for none.

    Returns:
        (..., T + silence); `audio` itself where there is nothing to do.
    """
    num_samples = audio.shape[-1]
    if num_samples == 0 or (fade_ms <= 0 and silence_ms <= 0):
        return audio
    num_silent = samples_of(silence_ms, sample_rate)
    ended = torch.nn.functional.pad(audio, (0, num_silent))
    num_faded = min(num_samples, samples_of(fade_ms, sample_rate))
    if num_faded:
        ramp = torch.linspace(1.0, 0.0, num_faded, dtype=audio.dtype, device=audio.device)
        # A fade of one sample is that sample gone.
        ramp[-1] = 0.0
        if num_silent == 0:
            ended = ended.clone()
        ended[..., num_samples - num_faded : num_samples] *= ramp
    return ended


def samples_of(duration_ms: float, sample_rate: int) -> int:
    """Return whole samples of a duration, 0 for a negative one."""
    return max(0, int(sample_rate * duration_ms / 1000.0))


class HeldTail:
    """Holds back the end of a stream until it is known whether the clip ends there.

    Without it, a clip whose end falls between two chunks could not be faded any more: its last
    samples would be at the loudspeaker already.

    Args:
        sample_rate: Hz.
        fade_ms: held back, and faded at the end.
        silence_ms: appended at the end.
    """

    def __init__(self, sample_rate: int, fade_ms: float, silence_ms: float) -> None:
        self._sample_rate = sample_rate
        self._fade_ms = fade_ms
        self._silence_ms = silence_ms
        self._num_held = samples_of(fade_ms, sample_rate)
        self._held: Tensor | None = None

    def push(self, audio: Tensor) -> Tensor:
        """Take the next samples (T,) and return what can be heard whatever follows."""
        joined = audio if self._held is None else torch.cat((self._held, audio))
        num_free = max(0, len(joined) - self._num_held)
        # A copy, so that a long chunk is not kept alive by its end.
        self._held = joined[num_free:].clone()
        return joined[:num_free]

    def finish(self) -> Tensor:
        """Return the rest, faded: the clip ends here. The next push begins a new clip."""
        held = self._held
        self.reset()
        if held is None:
            return torch.zeros(0)
        if len(held) == 0:
            # Everything was heard already (no fade): the silence still belongs behind it.
            return held.new_zeros(samples_of(self._silence_ms, self._sample_rate))
        return apply_end_of_speech_tail(held, self._sample_rate, self._fade_ms, self._silence_ms)

    def reset(self) -> None:
        """Drop what is held back."""
        self._held = None

"""Features brought to mean 0 and deviation 1, a band at a time.

`normalize_per_feature` looks at a whole clip. `FeatureStatistics` looks at what has been heard so
far, for live use; after the last frame the two agree.
"""

from dataclasses import dataclass

import torch

_EPSILON = 1e-5


def normalize_per_feature(x: torch.Tensor, seq_len: torch.Tensor) -> torch.Tensor:
    """Return features normalised over each row's own valid frames.

    The deviation is the unbiased one, and 0 where a row has a single frame; 1e-5 is added to it.
    A row's result does not depend on the rows beside it.

    Args:
        x: (B, C, T), any floating dtype.
        seq_len: (B,) valid frames.

    Returns:
        (B, C, T) in x's dtype; 0 from each row's length on.
    """
    result = torch.zeros_like(x)
    for row, length in enumerate(seq_len.tolist()):
        valid = x[row, :, :length]
        if valid.shape[1] < 2:  # one frame equals its mean
            continue
        std, mean = torch.std_mean(valid, dim=1, keepdim=True)
        torch.div(valid - mean, std + _EPSILON, out=result[row, :, :length])
    return result


@dataclass(frozen=True, slots=True)
class FeatureStatistics:
    """Running mean and deviation of each band, float64; constant size.

    Args:
        num_frames: frames seen.
        mean: (C,) float64.
        squares: (C,) float64, sum of squared distances from the mean.
    """

    num_frames: int
    mean: torch.Tensor
    squares: torch.Tensor

    @classmethod
    def empty(cls, num_bands: int) -> "FeatureStatistics":
        """Return the statistics of nothing."""
        zeros = torch.zeros(num_bands, dtype=torch.float64)
        return cls(0, zeros, zeros)

    def updated(self, mel: torch.Tensor) -> "FeatureStatistics":
        """Return the statistics with more frames in them.

        Merges by Chan, Golub and LeVeque's rule, which loses no precision over hours.

        Args:
            mel: (C, T), any floating dtype.
        """
        num_new = mel.shape[1]
        if num_new == 0:
            return self
        frames = mel.to(device="cpu", dtype=torch.float64)
        new_mean = frames.mean(1)
        new_squares = (frames - new_mean.unsqueeze(1)).square().sum(1)
        total = self.num_frames + num_new
        shift = new_mean - self.mean
        mean = self.mean + shift * (num_new / total)
        between = shift.square() * (self.num_frames * num_new / total)
        return FeatureStatistics(total, mean, self.squares + new_squares + between)

    def normalize(self, mel: torch.Tensor) -> torch.Tensor:
        """Return (B, C, T) features normalised by what was seen, in their own dtype and place."""
        degrees = max(self.num_frames - 1, 1)
        std = (self.squares / degrees).sqrt() + _EPSILON
        mean, std = (
            value.to(device=mel.device, dtype=mel.dtype).unsqueeze(1) for value in (self.mean, std)
        )
        return (mel - mean) / std

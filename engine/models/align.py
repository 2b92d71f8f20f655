"""Speaker probabilities fitted to a frame grid."""

import torch


def align_frames(preds: torch.Tensor, target_len: int) -> torch.Tensor:
    """Return exactly `target_len` frames: cut at the end, or the last frame repeated.

    Args:
        preds: (B, T, S) probabilities.
        target_len: frames wanted.

    Returns:
        (B, target_len, S).

    Raises:
        ValueError: there is no frame to repeat.
    """
    missing = target_len - preds.shape[1]
    if missing <= 0:
        return preds[:, :target_len]
    if preds.shape[1] == 0:
        raise ValueError(f"preds must have a frame to make {target_len} frames of, got none")
    return torch.cat([preds, preds[:, -1:].expand(-1, missing, -1)], dim=1)


def downsample_preds(preds: torch.Tensor, factor: int) -> torch.Tensor:
    """Return the mean of each `factor` frames; the last mean is of the frames that are left.

    Args:
        preds: (B, T, S) probabilities.
        factor: frames averaged.

    Returns:
        (B, ceil(T / factor), S).
    """
    if factor == 1 or preds.shape[1] == 0:
        return preds
    num_whole, rest = divmod(preds.shape[1], factor)
    B, _, S = preds.shape
    whole = preds[:, : num_whole * factor].reshape(B, num_whole, factor, S).mean(2)
    if rest == 0:
        return whole
    return torch.cat([whole, preds[:, -rest:].mean(1, keepdim=True)], dim=1)

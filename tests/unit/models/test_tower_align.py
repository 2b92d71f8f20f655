"""Probabilities fitted to a frame grid."""

import pytest
import torch

from engine.models.align import align_frames, downsample_preds


def test_align_when_there_are_too_many_cuts_the_end() -> None:
    preds = torch.arange(12.0).reshape(1, 6, 2)
    assert torch.equal(align_frames(preds, 4), preds[:, :4])


def test_align_when_there_are_too_few_repeats_the_last() -> None:
    preds = torch.arange(4.0).reshape(1, 2, 2)
    assert align_frames(preds, 4)[0].tolist() == [[0, 1], [2, 3], [2, 3], [2, 3]]


def test_align_when_there_is_nothing_to_repeat_is_refused() -> None:
    with pytest.raises(ValueError, match="got none"):
        align_frames(torch.zeros(1, 0, 2), 1)
    assert align_frames(torch.zeros(1, 0, 2), 0).shape == (1, 0, 2)


def test_downsample_when_frames_are_left_over_averages_those_alone() -> None:
    preds = torch.arange(7.0).reshape(1, 7, 1)
    assert downsample_preds(preds, 3)[0, :, 0].tolist() == [1.0, 4.0, 6.0]
    assert downsample_preds(preds[:, :6], 3)[0, :, 0].tolist() == [1.0, 4.0]
    assert downsample_preds(preds[:, :2], 3)[0, :, 0].tolist() == [0.5]


def test_downsample_when_there_is_nothing_to_do_returns_what_it_got() -> None:
    preds = torch.rand(2, 5, 3)
    assert downsample_preds(preds, 1) is preds
    assert downsample_preds(preds[:, :0], 4).shape == (2, 0, 3)

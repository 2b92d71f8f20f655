"""Codes between the layouts that language models write."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.nanocodec.config import (
    NANOCODEC_12HZ,
    NANOCODEC_12HZ_SMALL,
    NANOCODEC_21HZ,
    RELEASED,
    CodecConfig,
)
from engine.models.nanocodec.layout import CodeLayout, CodesError, convert_codes, whole_frames

PER_DIMENSION, PACKED, FLAT = CodeLayout.PER_DIMENSION, CodeLayout.PACKED, CodeLayout.FLAT


@given(st.sampled_from(list(RELEASED.values())), st.integers(0, 20), st.integers(0, 2**32 - 1))
def test_convert_codes_when_going_round_all_layouts_then_same_codes(
    config: CodecConfig, num_frames: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    levels = config.levels * config.num_groups
    codes = rng.integers(0, levels, (num_frames, config.num_dims))
    packed = convert_codes(codes, PER_DIMENSION, PACKED, config)
    flat = convert_codes(packed, PACKED, FLAT, config)
    assert packed.shape == (num_frames, config.num_groups)
    assert flat.shape == (num_frames * config.num_groups,)
    assert np.array_equal(convert_codes(flat, FLAT, PER_DIMENSION, config), codes)
    assert np.array_equal(convert_codes(codes, PER_DIMENSION, FLAT, config), flat)


def test_convert_codes_when_packing_then_first_dimension_varies_fastest() -> None:
    codes = np.zeros((1, 32), dtype=np.int32)
    codes[0, 4:8] = 7, 6, 5, 4
    packed = convert_codes(codes, PER_DIMENSION, PACKED, NANOCODEC_21HZ)
    assert packed[0].tolist() == [0, 7 + 8 * 6 + 56 * 5 + 336 * 4, 0, 0, 0, 0, 0, 0]


def test_convert_codes_when_flattening_then_each_group_has_its_own_numbers() -> None:
    packed = np.array([[1, 2, 3, 4], [4031, 0, 0, 4031]], dtype=np.uint16)
    flat = convert_codes(packed, PACKED, FLAT, NANOCODEC_12HZ_SMALL)
    assert flat.tolist() == [1, 4034, 8067, 12100, 4031, 4032, 8064, 16127]


@pytest.mark.parametrize("value", [7, -1, 255])
def test_convert_codes_when_a_code_is_out_of_range_then_error_names_dimension_and_value(
    value: int,
) -> None:
    codes = np.zeros((3, 32), dtype=np.int64)
    codes[2, 5] = value
    with pytest.raises(CodesError, match=rf"Code {value} in dimension 5 of frame 2 .* 0 to 6"):
        convert_codes(codes, PER_DIMENSION, PACKED, NANOCODEC_21HZ)


def test_convert_codes_when_a_packed_code_is_out_of_range_then_error_names_group() -> None:
    codes = np.zeros((1, 13), dtype=np.int64)
    codes[0, 12] = 2016
    with pytest.raises(CodesError, match="Code 2016 in group 12 of frame 0"):
        convert_codes(codes, PACKED, PER_DIMENSION, NANOCODEC_12HZ)


def test_convert_codes_when_flat_groups_are_out_of_step_then_error_names_group() -> None:
    flat = convert_codes(np.zeros((2, 4), np.int64), PACKED, FLAT, NANOCODEC_12HZ_SMALL)
    with pytest.raises(CodesError, match="group 0"):
        convert_codes(np.roll(flat, 1), FLAT, PACKED, NANOCODEC_12HZ_SMALL)


@pytest.mark.parametrize(
    ("codes", "layout"),
    [
        (np.zeros((2, 32)), PER_DIMENSION),
        (np.zeros((2, 32), dtype=bool), PER_DIMENSION),
        (np.zeros((32, 2), dtype=int), PER_DIMENSION),
        (np.zeros(32, dtype=int), PER_DIMENSION),
        (np.zeros((2, 9), dtype=int), PACKED),
        (np.zeros((1, 2, 8), dtype=int), PACKED),
        (np.zeros((2, 8), dtype=int), FLAT),
        (np.zeros(9, dtype=int), FLAT),
        (np.full((1, 8), 2**64 - 1, dtype=np.uint64), PACKED),
    ],
)
def test_convert_codes_when_type_or_shape_is_wrong_then_refused(
    codes: np.ndarray, layout: CodeLayout
) -> None:
    with pytest.raises(CodesError):
        convert_codes(codes, layout, PER_DIMENSION, NANOCODEC_21HZ)


def test_whole_frames_when_the_last_frame_is_incomplete_then_it_is_dropped() -> None:
    assert whole_frames(list(range(11)), NANOCODEC_12HZ_SMALL).tolist() == list(range(8))

"""The ways language models write codec frames, and exact conversion between them.

One frame is D = groups x dimensions small numbers. Models write them one a dimension, or one a
group as a mixed-radix number, or group after group as a stream of tokens with an offset a group.
Everything is integer arithmetic: in half precision most packed codes come out wrong.
"""

from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import CodesError as CodesError
from engine.models.nanocodec.config import CodecConfig

Codes: TypeAlias = NDArray[np.int64]

_OTHER_CODES = "Check that they are codes of this codec, in the layout said."


class CodeLayout(StrEnum):
    """How the codes of T frames are laid out, with G groups of d dimensions, D = G * d."""

    PER_DIMENSION = "per_dim"  # (T, D), each 0 to levels - 1, group after group
    PACKED = "packed"  # (T, G), each 0 to codebook_size - 1, first dimension varying fastest
    FLAT = "flat"  # (T * G,), packed codes of a frame in order, plus codebook_size * group


def convert_codes(codes: Any, source: CodeLayout, target: CodeLayout, config: CodecConfig) -> Codes:
    """Lay codes out anew.

    Args:
        codes: integers in the layout `source`.
        source: what they are in.
        target: what to return.
        config: the codec that they are for.

    Raises:
        CodesError: they are no integers, have another shape, or one is out of range; names it.
    """
    per_dimension = _to_per_dimension(codes, source, config)
    if target is CodeLayout.PER_DIMENSION:
        return per_dimension
    grouped = per_dimension.reshape(-1, config.num_groups, len(config.levels))
    packed: Codes = (grouped * _radix(config)).sum(axis=2)
    if target is CodeLayout.PACKED:
        return packed
    return (packed + _group_offsets(config)).reshape(-1)


def whole_frames(tokens: Any, config: CodecConfig) -> Codes:
    """Return flat tokens without those of a last frame that was not completed."""
    flat = _integers(tokens, 1, "flat codes")
    return flat[: len(flat) - len(flat) % config.num_groups]


def check_codes(codes: Codes, config: CodecConfig) -> None:
    """Refuse per-dimension codes that are out of range.

    Args:
        codes: (T, D).
        config: the codec that they are for.

    Raises:
        CodesError: names the first frame, dimension and value that is wrong.
    """
    limits = np.tile(np.asarray(config.levels), config.num_groups)
    wrong = np.argwhere((codes < 0) | (codes >= limits))
    if len(wrong):
        frame, dimension = (int(index) for index in wrong[0])
        raise code_out_of_range(
            int(codes[frame, dimension]), int(limits[dimension]), frame, f"dimension {dimension}"
        )


def code_out_of_range(value: int, limit: int, frame: int, place: str) -> CodesError:
    """Return the error for a code at a place ("dimension 3") that has too high a value, or none."""
    return CodesError(
        f"Code {value} in {place} of frame {frame} is out of range: 0 to {limit - 1}.",
        advice="Check that the codes are for this codec and in the layout said.",
    )


def _to_per_dimension(codes: Any, source: CodeLayout, config: CodecConfig) -> Codes:
    if source is CodeLayout.PER_DIMENSION:
        array = _integers(codes, 2, "per-dimension codes")
        _expect_columns(array, config.num_dims, "per-dimension codes")
        check_codes(array, config)
        return array
    if source is CodeLayout.FLAT:
        flat = _integers(codes, 1, "flat codes")
        if len(flat) % config.num_groups:
            raise CodesError(
                f"{len(flat)} flat codes are no whole number of frames of {config.num_groups}.",
                advice="Drop the codes of the last, incomplete frame.",
            )
        packed = flat.reshape(-1, config.num_groups) - _group_offsets(config)
    else:
        packed = _integers(codes, 2, "packed codes")
        _expect_columns(packed, config.num_groups, "packed codes")
    _check_packed(packed, source, config)
    unfolded = (packed[:, :, np.newaxis] // _radix(config)) % np.asarray(config.levels)
    per_dimension: Codes = unfolded.reshape(len(packed), config.num_dims)
    return per_dimension


def _check_packed(packed: Codes, source: CodeLayout, config: CodecConfig) -> None:
    wrong = np.argwhere((packed < 0) | (packed >= config.codebook_size))
    if len(wrong):
        frame, group = (int(index) for index in wrong[0])
        value = int(packed[frame, group])
        place = f"group {group}"
        if source is CodeLayout.FLAT:
            place += f" (less its offset {group * config.codebook_size})"
        raise code_out_of_range(value, config.codebook_size, frame, place)


def _integers(codes: Any, num_axes: int, what: str) -> Codes:
    array = np.asarray(codes)
    if not np.issubdtype(array.dtype, np.integer):
        raise CodesError(
            f"{what} must be integers, not {array.dtype}.".capitalize(), advice=_OTHER_CODES
        )
    if array.ndim != num_axes:
        raise CodesError(
            f"{what} must have {num_axes} axes, got the shape {array.shape}.".capitalize(),
            advice=_OTHER_CODES,
        )
    # Unsigned 64-bit numbers beyond the signed range would wrap to negative ones: refused below.
    converted: Codes = array.astype(np.int64, copy=False)
    return converted


def _expect_columns(array: Codes, num_columns: int, what: str) -> None:
    if array.shape[1] != num_columns:
        raise CodesError(
            f"{what} need {num_columns} columns, got the shape {array.shape}.".capitalize(),
            advice="Check that the codes are for this codec, with frames as rows.",
        )


def _radix(config: CodecConfig) -> Codes:
    return np.cumprod(np.asarray([1, *config.levels[:-1]], dtype=np.int64))


def _group_offsets(config: CodecConfig) -> Codes:
    return np.arange(config.num_groups, dtype=np.int64) * config.codebook_size

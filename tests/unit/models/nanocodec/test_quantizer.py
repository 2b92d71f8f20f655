"""Finite scalar quantization."""

import pytest
import torch

from engine.models.nanocodec.config import NANOCODEC_12HZ_SMALL, NANOCODEC_21HZ
from engine.models.nanocodec.layout import CodesError
from engine.models.nanocodec.quantizer import FiniteScalarQuantizer
from tests.unit.models.nanocodec.small import IDS, SMALL, random_codes


def test_dequantize_when_codes_are_at_their_ends_then_published_values() -> None:
    quantizer = FiniteScalarQuantizer(NANOCODEC_21HZ)
    highest = torch.tensor(NANOCODEC_21HZ.levels * 8)[None, :, None] - 1
    assert torch.equal(
        quantizer.dequantize(highest)[0, :4, 0], torch.tensor([0.75, 1.0, 2 / 3, 2 / 3])
    )
    assert torch.equal(quantizer.dequantize(highest * 0), -torch.ones(1, 32, 1))


@pytest.mark.parametrize("config", SMALL, ids=IDS)
def test_quantize_when_given_dequantized_codes_undone_by_tanh_then_same_codes(config) -> None:
    quantizer = FiniteScalarQuantizer(config)
    codes = random_codes(config, 200)
    levels = torch.tensor(config.levels * config.num_groups)[:, None]
    offset = torch.where(levels % 2 == 0, 0.5, 0.0)
    scale = (levels - 1) / 2 * (1 - 1e-3)
    # The values whose compression lands on the middle of each level.
    middle = ((codes - levels // 2 + offset) / scale).clamp(-0.9999, 0.9999)
    latents = torch.atanh(middle) - torch.tan(offset / scale)
    assert torch.equal(quantizer.quantize(latents), codes)
    assert torch.equal(quantizer.unpack(quantizer.pack(codes)), codes)


def test_quantize_when_latents_are_huge_then_codes_in_range() -> None:
    quantizer = FiniteScalarQuantizer(NANOCODEC_12HZ_SMALL)
    latents = torch.tensor([-1e30, -50.0, 50.0, 1e30]).expand(1, 16, 4)
    quantizer.check(quantizer.quantize(latents))


@pytest.mark.parametrize(
    ("codes", "named"),
    [
        (torch.zeros(1, 32, 2), "float32"),
        (torch.zeros(1, 32, 2, dtype=torch.bool), "bool"),
        (torch.zeros(32, 2, dtype=torch.int64), r"\(32, 2\)"),
        (torch.zeros(1, 52, 2, dtype=torch.int64), r"\(1, 52, 2\)"),
    ],
)
def test_check_when_type_or_shape_is_wrong_then_error_names_it(codes, named) -> None:
    with pytest.raises(CodesError, match=named):
        FiniteScalarQuantizer(NANOCODEC_21HZ).check(codes)


@pytest.mark.parametrize(("dimension", "value"), [(0, 8), (1, 7), (31, 6), (4, -1)])
def test_check_when_a_code_is_out_of_range_then_error_names_dimension_and_value(
    dimension: int, value: int
) -> None:
    codes = random_codes(NANOCODEC_21HZ, 5).to(torch.int8)
    codes[0, dimension, 3] = value
    with pytest.raises(CodesError, match=f"Code {value} in dimension {dimension} of frame 3"):
        FiniteScalarQuantizer(NANOCODEC_21HZ).check(codes)

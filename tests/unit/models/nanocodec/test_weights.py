"""Tensors as they are taken from a checkpoint."""

import pytest
import torch

from engine.core.errors import ModelLoadError
from engine.models.nanocodec.decoder import CodecDecoder
from engine.models.nanocodec.encoder import CodecEncoder
from engine.models.nanocodec.weights import CodecWeights, random_tensors
from tests.unit.models.nanocodec.small import SMALLEST

FIRST = "audio_decoder.pre_conv.conv"


def test_kernel_when_weight_norm_is_apart_then_torch_s_own_product() -> None:
    convolution = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(3, 5, 7))
    with torch.no_grad():
        convolution.parametrizations.weight.original0.mul_(1.7)
    tensors = {f"c.{name}": value for name, value in convolution.state_dict().items()}
    kernel = CodecWeights(tensors, "test").kernel("c", (5, 3, 7))
    assert torch.allclose(kernel.float(), convolution.weight, rtol=1e-6, atol=1e-7)


def test_kernel_when_a_direction_is_zero_then_no_nan() -> None:
    tensors = {
        "c.parametrizations.weight.original0": torch.zeros(2, 1, 1),
        "c.parametrizations.weight.original1": torch.zeros(2, 3, 1),
    }
    assert torch.equal(
        CodecWeights(tensors, "test").kernel("c", (2, 3, 1)),
        torch.zeros(2, 3, 1, dtype=torch.float64),
    )


@pytest.mark.parametrize("part", ["audio_decoder", "audio_encoder"])
def test_build_when_any_tensor_is_missing_then_error_names_it(part: str) -> None:
    tensors = random_tensors(SMALLEST)
    build = CodecDecoder if part == "audio_decoder" else CodecEncoder
    for name in (name for name in tensors if name.startswith(part)):
        rest = {key: value for key, value in tensors.items() if key != name}
        missing = name.removesuffix(".weight") if name.endswith(".weight") else name
        with pytest.raises(ModelLoadError, match=missing):
            build(SMALLEST, CodecWeights(rest, "test"))


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        (f"{FIRST}.weight", torch.zeros(8, 32, 5), r"\(8, 32, 5\), expected \(8, 32, 7\)"),
        (f"{FIRST}.bias", torch.zeros(9), r"\(9,\), expected \(8,\)"),
        (f"{FIRST}.bias", torch.full((8,), torch.nan), "no finite numbers"),
        (f"{FIRST}.bias", torch.zeros(8, dtype=torch.int64), "no finite numbers"),
        (f"{FIRST}.bias", "a text", "lacks the tensor"),
    ],
)
def test_build_when_a_tensor_is_wrong_then_error_names_it(
    name: str, value: torch.Tensor, named: str
) -> None:
    tensors = random_tensors(SMALLEST) | {name: value}
    with pytest.raises(ModelLoadError, match=named) as caught:
        CodecDecoder(SMALLEST, CodecWeights(tensors, "codec.nemo"))
    assert name in str(caught.value)
    assert "codec.nemo" in str(caught.value)

"""Packed layers give what plain ones do."""

import pytest
import torch

from engine.models.packed_linear import PackableLinear, pack_linears
from tests.unit.models.tower_models import noise, tiny_tower


def _layers(width_in: int, width_out: int) -> tuple[PackableLinear, PackableLinear]:
    plain, packed = PackableLinear(width_in, width_out), PackableLinear(width_in, width_out)
    packed.load_state_dict(plain.state_dict())
    for layer in (plain, packed):
        layer.requires_grad_(False)
    packed.pack_()
    if not packed.is_packed:
        pytest.skip("this build of torch has no packed layers")
    return plain, packed


@pytest.mark.parametrize("num_rows", [1, 3, 600])
def test_pack_when_done_every_sum_stays_what_it_was(num_rows: int) -> None:
    plain, packed = _layers(48, 80)
    x, residual = torch.randn(2, num_rows, 48), torch.randn(2, num_rows, 80)
    for ours, theirs in (
        (packed(x), plain(x)),
        (packed.gelu(x), torch.nn.functional.gelu(plain(x))),
        (packed.add_to(residual.clone(), x), residual + plain(x)),
        (plain.add_to(residual.clone(), x), residual + plain(x)),
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_pack_when_done_the_plain_weight_comes_back() -> None:
    plain, packed = _layers(48, 80)
    assert torch.equal(packed.weight.to_dense(), plain.weight)


def test_pack_when_not_float32_leaves_the_layer_alone() -> None:
    layer = PackableLinear(8, 8).to(torch.bfloat16).requires_grad_(False)
    layer.pack_()
    assert not layer.is_packed
    assert layer(torch.ones(1, 2, 8, dtype=torch.bfloat16)).dtype is torch.bfloat16


def test_tower_when_packed_encodes_as_before() -> None:
    tower, audio = tiny_tower(), noise(80_000)
    before = tower.encode_clips([audio], torch.tensor([80_000]))[0]
    pack_linears(tower)
    after = tower.encode_clips([audio], torch.tensor([80_000]))[0]
    torch.testing.assert_close(after.asr_states, before.asr_states, atol=1e-4, rtol=0)
    torch.testing.assert_close(after.speaker_probs, before.speaker_probs, atol=1e-4, rtol=0)

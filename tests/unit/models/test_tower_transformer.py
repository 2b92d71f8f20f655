"""The encoder of both branches, its rotary positions and its stacking of frames."""

import math
from dataclasses import replace

import pytest
import torch

from engine.models.rotary import RotaryEmbedding
from engine.models.tower_config import EncoderConfig
from engine.models.transformer import FeatureStacking, TransformerEncoder
from tests.unit.models.tower_models import livened

CONFIG = EncoderConfig(d_model=32, n_heads=4, n_layers=2, feat_in=6, subsampling_factor=4)


def _encoder(config: EncoderConfig = CONFIG) -> TransformerEncoder:
    return livened(TransformerEncoder(config).requires_grad_(False))


def _random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_rotary_when_shifted_keeps_products_of_pairs() -> None:
    rope = RotaryEmbedding(8, 1.0, 10_000.0)
    cos, sin = rope.cos_sin(50, torch.float64, torch.device("cpu"))
    q, k = _random(8).double().expand(1, 50, 1, 8), _random(8, seed=1).double().expand(1, 50, 1, 8)
    turned_q, turned_k = rope.apply(q, cos, sin)[0, :, 0], rope.apply(k, cos, sin)[0, :, 0]
    products = turned_q @ turned_k.T
    torch.testing.assert_close(products[3, 7], products[33, 37], atol=1e-6, rtol=0)
    torch.testing.assert_close(turned_q.norm(dim=1), q[0, :, 0].norm(dim=1), atol=1e-6, rtol=0)
    assert torch.equal(turned_q[0], q[0, 0, 0])


def test_rotary_when_partial_leaves_the_rest_and_its_argument_alone() -> None:
    rope = RotaryEmbedding(8, 0.5, 10_000.0)
    t = _random(2, 5, 3, 8)
    before = t.clone()
    turned = rope.apply(t, *rope.cos_sin(5, t.dtype, t.device))
    assert torch.equal(t, before)
    assert torch.equal(turned[..., 4:], t[..., 4:])
    assert not torch.equal(turned[:, 1:, :, :4], t[:, 1:, :, :4])


def test_rotary_when_asked_in_bfloat16_rounds_angles_made_in_float32() -> None:
    rope = RotaryEmbedding(8, 1.0, 10_000.0)
    fine, _ = rope.cos_sin(2000, torch.float32, torch.device("cpu"))
    coarse, _ = rope.cos_sin(2000, torch.bfloat16, torch.device("cpu"))
    assert torch.equal(coarse, fine.bfloat16())
    assert fine[1999, 0, 0].item() == pytest.approx(math.cos(1999.0), abs=1e-4)


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.4])
def test_rotary_when_the_share_is_odd_or_nothing_is_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match="even and positive"):
        RotaryEmbedding(8, fraction, 10_000.0)


def test_stacking_when_frames_do_not_fill_a_stack_adds_zeros() -> None:
    stacking = FeatureStacking(4, 6, 10).requires_grad_(False)
    x = _random(2, 6, 9)
    embeddings, lengths = stacking(x, torch.tensor([9, 4]))
    assert embeddings.shape == (2, 3, 10)
    assert lengths.tolist() == [3, 1]
    last = torch.cat([x[:, :, 8], torch.zeros(2, 18)], dim=1)
    torch.testing.assert_close(embeddings[:, 2], stacking.proj(last))


def test_encoder_when_a_row_is_padded_gives_what_it_gives_alone() -> None:
    encoder = _encoder()
    x = _random(3, 6, 40)
    states, lengths = encoder(x, torch.tensor([40, 17, 0]))
    assert lengths.tolist() == [10, 5, 0]
    # The stack that is partly padding counts; what it was padded with does too.
    alone, _ = encoder(x[1:2, :, :20], torch.tensor([20]))
    torch.testing.assert_close(states[1, :, :5], alone[0], atol=1e-5, rtol=1e-5)
    assert bool(torch.isfinite(states).all())


def test_encoder_when_padding_changes_does_not_change_valid_frames() -> None:
    encoder = _encoder()
    x, y = _random(2, 6, 40), _random(2, 6, 40)
    y[1, :, 20:] += 100.0
    lengths = torch.tensor([40, 20])
    torch.testing.assert_close(
        encoder(x, lengths)[0][1, :, :5], encoder(y, lengths)[0][1, :, :5], atol=1e-5, rtol=1e-5
    )


def test_encoder_when_given_embeddings_skips_the_stacking() -> None:
    encoder = _encoder()
    x = _random(1, 6, 24)
    embeddings, lengths = encoder.pre_encode(x, torch.tensor([24]))
    whole, _ = encoder(x, torch.tensor([24]))
    bypassed, bypassed_lengths = encoder(embeddings, lengths, bypass_pre_encode=True)
    assert torch.equal(whole, bypassed)
    assert bypassed_lengths.tolist() == [6]


@pytest.mark.parametrize("qk_norm", [True, False])
@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_encoder_when_only_the_last_frames_are_wanted_gives_the_same_ones(
    qk_norm: bool, n_layers: int
) -> None:
    encoder = _encoder(replace(CONFIG, qk_norm=qk_norm, n_layers=n_layers))
    x, lengths = _random(2, 6, 40), torch.tensor([40, 36])
    whole, _ = encoder(x, lengths)
    last, last_lengths = encoder(x, lengths, first=7)
    torch.testing.assert_close(last, whole[:, :, 7:], atol=1e-5, rtol=1e-5)
    assert last_lengths.tolist() == [10, 9]


def test_encoder_when_it_works_in_place_leaves_its_argument_alone() -> None:
    encoder = _encoder(replace(CONFIG, pre_block_norm=False))
    x = _random(1, 5, 32)
    before = x.clone()
    encoder(x, torch.tensor([5]), bypass_pre_encode=True)
    assert torch.equal(x, before)


def test_encoder_when_scaling_multiplies_embeddings_by_the_root_of_its_width() -> None:
    config = replace(CONFIG, xscaling=True, pre_block_norm=False)
    scaled, plain = _encoder(config), _encoder(replace(config, xscaling=False))
    x = _random(1, 5, 32)
    lengths = torch.tensor([5])
    expected = plain(x * math.sqrt(32), lengths, bypass_pre_encode=True)[0]
    torch.testing.assert_close(scaled(x, lengths, bypass_pre_encode=True)[0], expected)


def test_encoder_when_it_has_no_norm_before_its_blocks_has_no_weights_for_one() -> None:
    assert "embed_norm.weight" in _encoder().state_dict()
    assert "embed_norm.weight" not in _encoder(replace(CONFIG, pre_block_norm=False)).state_dict()


@pytest.mark.parametrize("qk_norm", [True, False])
def test_encoder_when_computed_a_plain_way_gives_the_same(qk_norm: bool) -> None:
    config = replace(CONFIG, n_layers=1, qk_norm=qk_norm)
    encoder = _encoder(config).double()
    x = _random(1, 7, 32).double()
    states, _ = encoder(x, torch.tensor([7]), bypass_pre_encode=True)
    torch.testing.assert_close(states, _plain_encoder(encoder, x, config), atol=1e-9, rtol=0)


def _plain_encoder(
    encoder: TransformerEncoder, x: torch.Tensor, config: EncoderConfig
) -> torch.Tensor:
    """One block written out a head at a time."""
    w = encoder.state_dict()
    norm = torch.nn.functional.layer_norm
    x = norm(x, (32,), w["embed_norm.weight"], w["embed_norm.bias"])[0]
    y = norm(x, (32,), w["layers.0.norm1.weight"], w["layers.0.norm1.bias"])
    q, k, v = (y @ w["layers.0.attn.w_qkv.weight"].T).chunk(3, dim=1)
    heads = []
    for head in range(4):
        span = slice(8 * head, 8 * head + 8)
        hq, hk = q[:, span], k[:, span]
        if config.qk_norm:
            hq = norm(hq, (8,), w["layers.0.attn.q_norm.weight"], w["layers.0.attn.q_norm.bias"])
            hk = norm(hk, (8,), w["layers.0.attn.k_norm.weight"], w["layers.0.attn.k_norm.bias"])
        hq, hk = _turned(hq), _turned(hk)
        heads.append(torch.softmax(hq @ hk.T / math.sqrt(8), dim=1) @ v[:, span])
    out = torch.cat(heads, dim=1) @ w["layers.0.attn.out_proj.weight"].T
    x = x + out + w["layers.0.attn.out_proj.bias"]
    y = norm(x, (32,), w["layers.0.norm2.weight"], w["layers.0.norm2.bias"])
    y = y @ w["layers.0.ffn.net.0.weight"].T + w["layers.0.ffn.net.0.bias"]
    y = y * 0.5 * (1 + torch.erf(y / math.sqrt(2)))
    x = x + y @ w["layers.0.ffn.net.3.weight"].T + w["layers.0.ffn.net.3.bias"]
    return norm(x, (32,), w["final_norm.weight"], w["final_norm.bias"]).T[None]


def _turned(t: torch.Tensor) -> torch.Tensor:
    """Rotate dimensions 0 to 3 of (T, 8) in pairs (0, 2) and (1, 3)."""
    t = t.clone()
    for position in range(t.shape[0]):
        for pair in range(2):
            angle = float(
                torch.tensor(position, dtype=torch.float32) * (1.0 / 10_000.0 ** (pair / 2))
            )
            a, b = float(t[position, pair]), float(t[position, pair + 2])
            cos = float(torch.tensor(angle, dtype=torch.float32).cos())
            sin = float(torch.tensor(angle, dtype=torch.float32).sin())
            t[position, pair], t[position, pair + 2] = a * cos - b * sin, b * cos + a * sin
    return t

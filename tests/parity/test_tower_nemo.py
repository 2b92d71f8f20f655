"""Single parts of the tower against NeMo, whose release has no more of it."""

from typing import Any

import pytest
import torch

from engine.models.mel import MelSpectrogram
from engine.models.normalize import normalize_per_feature
from engine.models.sortformer_cache import gather_cache_frames, select_cache_frames
from engine.models.sortformer_config import SortformerConfig
from engine.models.tower_config import MelConfig
from tests.unit.models.tower_models import noise

pytestmark = [pytest.mark.parity, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def sortformer() -> Any:
    pytest.importorskip("nemo.collections.asr")
    from nemo.collections.asr.modules.sortformer_modules import SortformerModules

    return SortformerModules(
        num_spks=4, fc_d_model=16, tf_d_model=8, spkcache_len=40, spkcache_sil_frames_per_spk=1
    ).eval()


@pytest.mark.parametrize("seed", range(20))
def test_compression_when_frames_overflow_keeps_what_nemo_keeps(sortformer: Any, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(2, 90, 16, generator=generator)
    # A double sigmoid of noise: clear speech, overlap and silence.
    probs = torch.sigmoid(4.0 * torch.randn(2, 90, 4, generator=generator) - seed / 5.0)
    silence = torch.randn(16, generator=generator)
    theirs, their_probs, *_ = sortformer._compress_spkcache(
        emb_seq=embeddings, preds=probs, mean_sil_emb=silence.expand(2, -1)
    )
    kept = select_cache_frames(probs, 40, SortformerConfig(num_speakers=4))
    ours, our_probs = gather_cache_frames(embeddings, probs, kept, silence)
    assert torch.equal(ours, theirs)
    assert torch.equal(our_probs, their_probs)


def test_normalisation_when_rows_differ_gives_what_nemo_gives() -> None:
    pytest.importorskip("nemo.collections.asr")
    from nemo.collections.asr.parts.preprocessing.features import normalize_batch

    x = 3.0 * torch.randn(3, 16, 200, generator=torch.Generator().manual_seed(0)) - 12.0
    lengths = torch.tensor([200, 57, 2])
    theirs, _, _ = normalize_batch(x, lengths, "per_feature")
    torch.testing.assert_close(normalize_per_feature(x, lengths), theirs, atol=2e-5, rtol=1e-5)


def test_mel_when_computed_by_nemo_is_the_same() -> None:
    pytest.importorskip("nemo.collections.asr")
    from nemo.collections.asr.modules import AudioToMelSpectrogramPreprocessor

    theirs = AudioToMelSpectrogramPreprocessor(
        sample_rate=16_000, normalize="NA", window_size=0.025, window_stride=0.01, window="hann",
        features=128, n_fft=512, dither=0.0, pad_to=0,
    ).eval()  # fmt: skip
    audio = torch.stack([noise(40_000, 1), noise(40_000, 2)])
    lengths = torch.tensor([40_000, 30_001])
    audio[1, 30_001:] = 0.0
    expected, expected_lengths = theirs(input_signal=audio, length=lengths)
    ours, seq_len = MelSpectrogram(MelConfig())(audio, lengths)
    assert seq_len.tolist() == expected_lengths.tolist()
    for row, length in enumerate(seq_len.tolist()):
        torch.testing.assert_close(
            ours[row, :, :length], expected[row, :, :length], atol=1e-4, rtol=0
        )

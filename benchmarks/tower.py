"""The audio tower beside transformers' implementation: `python -m benchmarks.tower`.

Full size, random weights, fp32, the same weights and audio on both sides. Ours and theirs take
turns in every round, and the fastest round of each counts, so that a busy machine disturbs neither
more than the other. `--parts` chooses what is measured.
"""

import argparse
import copy
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from engine.models.checkpoints import untrained_speaker_model, untrained_tower
from engine.models.packed_linear import pack_linears
from engine.models.sortformer import SpeakerActivity
from engine.models.sortformer_cache import SpeakerCacheState
from engine.models.sortformer_stream import SpeakerModel
from engine.models.stream_profiles import PROFILES, StreamProfile
from engine.models.tower_config import OnlineConfig, TowerConfig
from tests.parity.tower_reference import reference_diarizer, reference_tower, share_weights

RATE = 16_000
FACTOR = 8
PARTS = ("offline", "memory", "live", "stream")
Run = Callable[[], object]


def speech_like(seconds: float) -> torch.Tensor:
    """Return noise whose loudness comes and goes."""
    generator = torch.Generator().manual_seed(5)
    num_samples = round(seconds * RATE)
    swell = torch.sin(torch.arange(num_samples) / 5000.0).abs()
    return 0.3 * swell * torch.randn(num_samples, generator=generator)


def best_times(ways: dict[str, Run], num_rounds: int) -> dict[str, float]:
    """Return seconds, the least of all rounds after one to warm up."""
    best = dict.fromkeys(ways, float("inf"))
    for number in range(num_rounds + 1):
        for name, run in ways.items():
            start_s = time.perf_counter()
            run()
            elapsed_s = time.perf_counter() - start_s
            if number:
                best[name] = min(best[name], elapsed_s)
    return best


def feature_extractor() -> Any:
    from transformers.models.nemotron_asr_streaming import (
        feature_extraction_nemotron_asr_streaming as features,
    )

    return features.NemotronAsrStreamingFeatureExtractor(feature_size=128)


def their_offline(reference: nn.Module, audio: torch.Tensor) -> torch.Tensor:
    features = torch.as_tensor(
        feature_extractor()(audio.numpy(), sampling_rate=RATE).input_features
    )
    num_frames = len(audio) // 160
    missing = -num_frames % FACTOR
    padded = nn.functional.pad(features[:, :num_frames], (0, 0, 0, missing))
    mask = (torch.arange(num_frames + missing) < num_frames).long()[None]
    states: torch.Tensor = reference(padded, mask).last_hidden_state
    return states


def offline(seconds: float, num_rounds: int) -> None:
    """Print wall time of a whole clip: audio to fused states."""
    config = TowerConfig()
    reference, tower = reference_tower(config), untrained_tower(config)
    share_weights(reference, tower, "tower", lively=False)
    packed = copy.deepcopy(tower)
    pack_linears(packed)
    audio = speech_like(seconds)
    length = torch.tensor([len(audio)])

    def ours(model: Any) -> torch.Tensor:
        mel, _ = model.preprocessor(audio[None], length)
        lengths = model.preprocessor.featurizer.get_seq_len(length)
        fused: torch.Tensor = model.encoder.encode(mel, lengths, int(lengths)).fused
        return fused

    difference = (ours(packed) - their_offline(reference, audio)).abs().max()
    ways: dict[str, Run] = {
        "transformers": lambda: their_offline(reference, audio),
        "plain": lambda: ours(tower),
        "packed": lambda: ours(packed),
    }
    best = best_times(ways, num_rounds)
    print(f"\noffline tower, {seconds:g} s of audio (largest difference {difference:.1e})")
    for name, elapsed_s in best.items():
        print(
            f"{name:16}{elapsed_s:8.2f} s{elapsed_s / seconds:8.3f} x real time"
            f"{elapsed_s / best['transformers']:8.2f} of transformers"
        )


def memory(seconds: float) -> None:
    """Print peak memory of an offline clip, each side in a process of its own."""
    print(f"\npeak memory, {seconds:g} s of audio offline")
    for side in ("transformers", "packed"):
        command = [sys.executable, "-m", "benchmarks.tower", "--peak-of", side]
        command += ["--seconds", str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"{side:16}{done.stdout.strip()}")


def print_peak(side: str, seconds: float) -> None:
    config, audio = TowerConfig(), speech_like(seconds)
    if side == "transformers":
        reference = reference_tower(config)
        loaded_gib = _peak_gib()
        their_offline(reference, audio)
    else:
        tower = untrained_tower(config)
        pack_linears(tower)
        loaded_gib = _peak_gib()
        tower.encode_clips([audio], torch.tensor([len(audio)]))
    print(f"{_peak_gib():6.2f} GiB, {loaded_gib:.2f} GiB once loaded")


def _peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


@dataclass(slots=True)
class LivePair:
    """The speaker branch of both sides in one profile, with the states of a stream's middle."""

    profile: StreamProfile
    reference: Any
    model: SpeakerModel
    state: SpeakerCacheState
    cache: Any = None

    def mel(self, index: int) -> torch.Tensor:
        """Return the features of a step."""
        generator = torch.Generator().manual_seed(index)
        return torch.randn(1, 128, self.profile.latency_frames * FACTOR, generator=generator) - 5.0

    def theirs(self, index: int, cache: Any) -> Any:
        """Make a step; the cache may be worked on in place."""
        return self.reference(
            self.mel(index).transpose(1, 2),
            speaker_cache=cache,
            num_lookahead_frames=self.profile.right_context_frames,
        )

    def ours(
        self, index: int, state: SpeakerCacheState
    ) -> tuple[SpeakerCacheState, SpeakerActivity]:
        """Make a step and return the state behind it."""
        mel = self.mel(index)
        right = self.profile.right_context_frames * FACTOR
        lengths = torch.tensor([mel.shape[2]])
        return self.model.diarization_model.advance(
            mel, lengths, state, 0, right, self.profile.cache
        )

    def advance(self, index: int) -> float:
        """Move both sides on, and return the largest difference of their probabilities."""
        theirs = self.theirs(index, self.cache)
        self.cache = theirs.speaker_cache
        self.state, activity = self.ours(index, self.state)
        return float((theirs.logits.sigmoid() - activity.fine).abs().max())


def live_pair(name: str) -> LivePair:
    profile = PROFILES[name]
    online = OnlineConfig(profile.chunk_frames, 0, profile.right_context_frames, profile.cache)
    config = replace(TowerConfig.speaker_only(), online=online)
    reference, model = reference_diarizer(config), untrained_speaker_model(config)
    share_weights(reference, model, "speaker", lively=False)
    pack_linears(model)
    return LivePair(profile, reference, model, model.diarization_model.init_state())


def live(name: str, num_rounds: int) -> None:
    """Print the time of a step over one round of fifo and cache."""
    pair = live_pair(name)
    chunk, geometry = pair.profile.chunk_frames, pair.profile.cache
    num_warm = -(-(geometry.fifo_len + geometry.spkcache_len + 2 * chunk) // chunk)
    num_steps = max(3, min(8, geometry.spkcache_update_period // chunk))
    stride = max(1, geometry.spkcache_update_period // chunk // num_steps)
    difference = max(pair.advance(index) for index in range(num_warm))
    print(f"\nlive step, profile {name} (largest difference {difference:.1e})")
    totals = {"transformers": 0.0, "packed": 0.0}
    for index in range(num_warm, num_warm + num_steps * stride):
        if (index - num_warm) % stride == 0:
            state, caches = pair.state, [copy.deepcopy(pair.cache) for _ in range(num_rounds + 1)]
            best = best_times(
                {
                    "transformers": lambda index=index, caches=caches: pair.theirs(
                        index, caches.pop()
                    ),
                    "packed": lambda index=index, state=state: pair.ours(index, state),
                },
                num_rounds,
            )
            for side, elapsed_s in best.items():
                totals[side] += elapsed_s / num_steps
        pair.advance(index)
    step_s = chunk * 0.08
    for side, elapsed_s in totals.items():
        print(
            f"{side:16}{elapsed_s * 1e3:8.1f} ms for {step_s:.2f} s, {elapsed_s / step_s:.3f} x"
            f" real time{elapsed_s / totals['transformers']:8.2f} of transformers"
        )
    featurizer = pair.model.preprocessor.featurizer
    mel_state, audio = featurizer.init_state(), speech_like(step_s)[None]
    mel_s = best_times({"mel": lambda: featurizer.step(audio, mel_state)}, 5 * num_rounds)["mel"]
    print(f"mel             {mel_s * 1e3:8.1f} ms, {mel_s / totals['packed']:.2%} of a step")


def stream(seconds: float) -> None:
    """Print the cost of the profile `cpu` over a stretch of audio in blocks of 100 ms."""
    model = untrained_speaker_model(TowerConfig.speaker_only())
    pack_linears(model)
    audio, state = speech_like(seconds), model.init_state()
    start_s = time.perf_counter()
    for start in range(0, len(audio), RATE // 10):
        block = audio[None, start : start + RATE // 10]
        state, _ = model.push(block, state, PROFILES["cpu"])
    elapsed_s = time.perf_counter() - start_s
    print(f"\nprofile cpu over {seconds:g} s: {elapsed_s / seconds:.3f} x real time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--parts", default=",".join(PARTS), help="offline, memory, live, stream")
    parser.add_argument("--peak-of", help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(args.threads)
    torch.set_grad_enabled(False)
    if args.peak_of:
        print_peak(args.peak_of, args.seconds)
        return
    parts = args.parts.split(",")
    print(f"{args.threads} threads of {os.cpu_count()}, load {os.getloadavg()[0]:.1f} at the start")
    if "offline" in parts:
        offline(args.seconds, args.rounds)
    if "memory" in parts:
        memory(args.seconds)
    if "live" in parts:
        for name in ("low", "cpu"):
            live(name, 2 * args.rounds)
    if "stream" in parts:
        stream(2 * args.seconds)


if __name__ == "__main__":
    main()

"""Cost of decoding NanoCodec speech in chunks: `python -m benchmarks.codec`.

Full size, random weights, fp32. All ways of decoding take turns in every round, and the fastest
round of each counts, so that a busy machine disturbs none more than another. With NeMo installed
its own decoder is measured beside ours, on the same weights.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import psutil
import torch

from engine.models.nanocodec.config import NANOCODEC_21HZ
from engine.models.nanocodec.decoder import CodecDecoder
from engine.models.nanocodec.weights import CodecWeights, random_weights

CONFIG = NANOCODEC_21HZ
EXACT = CONFIG.lookback_frames
CHUNKS = (1, 2, 4, 10, 86)
WINDOWED_CHUNKS = (4, 10, 86)
ONE_SHOT_FRAMES = 86
Run = Callable[[], object]


def random_codes(num_frames: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(num_frames)
    levels = CONFIG.levels * CONFIG.num_groups
    rows = [torch.randint(0, n, (1, num_frames), generator=generator) for n in levels]
    return torch.stack(rows, dim=1)


def native_ways(decoder: CodecDecoder) -> dict[str, tuple[Run, int]]:
    """Return what to run and how many new frames it yields, by name."""
    # A state from the middle of a stream: the first chunk of one costs the same.
    _, middle = decoder.step(random_codes(EXACT), decoder.initial_state())
    ways: dict[str, tuple[Run, int]] = {}

    def add(name: str, codes: torch.Tensor, num_new: int) -> None:
        ways[name] = (lambda: decoder.step(codes, middle), num_new)

    for chunk in CHUNKS:
        add(f"native stateful, chunk {chunk}", random_codes(chunk), chunk)
    for lookback in (8, EXACT):
        add(f"native window L={lookback}, chunk 10", random_codes(10 + lookback), 10)
    return ways


def nemo_ways(model: object) -> dict[str, tuple[Run, int]]:
    """Likewise for NeMo's decoder in lookback windows, and one-shot."""
    ways: dict[str, tuple[Run, int]] = {}

    def add(name: str, num_frames: int, num_new: int) -> None:
        codes = random_codes(num_frames)
        half = torch.tensor(CONFIG.levels * CONFIG.num_groups)[:, None] // 2
        latents, lengths = (codes - half) / half, torch.tensor([num_frames])
        decode = model.decode_audio  # type: ignore[attr-defined]
        ways[name] = (lambda: decode(inputs=latents, input_len=lengths), num_new)

    for lookback in (8, EXACT):
        for chunk in WINDOWED_CHUNKS:
            add(f"NeMo window L={lookback}, chunk {chunk}", chunk + lookback, chunk)
    add(f"NeMo one-shot, {ONE_SHOT_FRAMES} frames", ONE_SHOT_FRAMES, ONE_SHOT_FRAMES)
    return ways


def frame_times_ms(ways: dict[str, tuple[Run, int]], num_rounds: int) -> dict[str, float]:
    """Return milliseconds a new frame, the least of all rounds after one to warm up."""
    best = dict.fromkeys(ways, float("inf"))
    for number in range(num_rounds + 1):
        for name, (run, num_new) in ways.items():
            start_s = time.perf_counter()
            run()
            elapsed_ms = (time.perf_counter() - start_s) * 1e3 / num_new
            if number:
                best[name] = min(best[name], elapsed_ms)
    return best


def print_times(best: dict[str, float]) -> None:
    frame_ms = 1e3 / CONFIG.frame_rate_hz
    print(f"\n{'':34}{'ms a frame':>12}{'x real time':>13}")
    for name, elapsed_ms in best.items():
        print(f"{name:34}{elapsed_ms:12.1f}{frame_ms / elapsed_ms:13.2f}")
    print(f"\nfirst chunk of 2 frames: {best['native stateful, chunk 2'] * 2:.0f} ms")
    ours = best["native stateful, chunk 10"]
    print(f"chunk 4 against chunk 10: {best['native stateful, chunk 4'] / ours:.2f}")
    for lookback in (8, EXACT):
        theirs = best.get(f"NeMo window L={lookback}, chunk 10")
        if theirs is not None:
            print(f"NeMo L={lookback} against native stateful, chunk 10: {theirs / ours:.2f}")


def print_memory(decoder: CodecDecoder, minutes: float) -> None:
    process, codes = psutil.Process(), random_codes(10)
    state = decoder.initial_state()
    num_chunks = round(minutes * 60 * CONFIG.frame_rate_hz / 10)
    warm_bytes = highest_bytes = 0
    start_s = time.perf_counter()
    for number in range(num_chunks):
        _, state = decoder.step(codes, state)
        if number % 20 == 19:
            highest_bytes = max(highest_bytes, process.memory_info().rss)
            warm_bytes = warm_bytes or highest_bytes
    elapsed_s = time.perf_counter() - start_s
    growth = (highest_bytes - warm_bytes) / 2**20
    print(
        f"\n{minutes:g} min of audio in {elapsed_s:.0f} s; "
        f"resident {highest_bytes / 2**20:.0f} MiB, growth {growth:.1f} MiB; "
        f"state {state.num_bytes / 2**20:.2f} MiB"
    )


def print_import_cost() -> None:
    """Time and memory of the imports, each in a process of its own."""
    measure = (
        "import time, psutil, torch; resident=lambda: psutil.Process().memory_info().rss/2**20;"
        "before, start = resident(), time.perf_counter(); import {module};"
        "print(f'{{time.perf_counter()-start:.1f}} s, {{resident()-before:.0f}} MiB beyond torch')"
    )
    modules = ["engine.models.nanocodec.codec"]
    if find_spec("nemo"):
        modules.append("nemo.collections.tts.models")
    print()
    for module in modules:
        command = [sys.executable, "-W", "ignore", "-c", measure.format(module=module)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"import {module}: {done.stdout.splitlines()[-1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=1.0, help="of audio for the memory check")
    parser.add_argument("--native-only", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    print(f"{args.threads} threads of {os.cpu_count()}, load {os.getloadavg()[0]:.1f} at the start")
    model = None
    if find_spec("nemo") and not args.native_only:
        from tests.parity.nemo_codec import build_nemo_codec

        model = build_nemo_codec(CONFIG)
        weights = CodecWeights(dict(model.state_dict()), "NeMo's model")
    else:
        weights = random_weights(CONFIG)
    decoder = CodecDecoder(CONFIG, weights)
    with torch.inference_mode():
        ways = native_ways(decoder)
        if model is not None:
            ways |= nemo_ways(model)
        print_times(frame_times_ms(ways, args.rounds))
        if args.minutes:
            print_memory(decoder, args.minutes)
    print_import_cost()


if __name__ == "__main__":
    main()

"""WAV files whose headers lie, and sound that nobody says."""

import struct
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import FAKES, RATE, command, tone, transcribe

_RATES_HZ = (0, 1, 1999, 192_000, 768_001, 2**31 - 1, 2**31, 2**32 - 1)
_CHANNELS = (0, 1, 2, 64, 65_535)
_BITS = (0, 1, 7, 8, 16, 24, 32, 64, 65_535)
_TAGS = (0, 1, 2, 3, 6, 7, 0x11, 0x55, 0xFFFE, 0xFFFF)
_SIZES = (0, 1, 31_999, 32_001, 2**31 - 1, 2**31, 2**32 - 257, 2**32 - 256, 2**32 - 1)
_PCM = (tone(1.0) * 32_767).astype("<i2").tobytes()
_HOUR_S = 3600


def cases(seed: int) -> Iterator[Case]:
    """Yield headers that say something else than there is, and strange samples."""
    rng = np.random.default_rng(seed)
    for rate, channels in product(_RATES_HZ, _CHANNELS):
        yield _header_case(f"{rate} Hz, {channels} channels", rate=rate, channels=channels)
    for bits, tag in product(_BITS, _TAGS):
        if rng.random() < 0.5:
            yield _header_case(f"{bits} bits, format {tag}", bits=bits, tag=tag)
    for size in _SIZES:
        is_more = len(_PCM) < size < 2**32 - 256
        yield _header_case(
            f"data of {size} bytes",
            size=size,
            expects=Expects.TOLD if is_more else Expects.EITHER,
        )
        yield _header_case(f"RIFF of {size} bytes", riff=size)
        yield _header_case(f"format chunk of {size} bytes", chunk=size)
        yield _header_case(f"a chunk of {size} bytes before", before=size)
    yield from _strange_samples()


def _header_case(name: str, expects: Expects = Expects.EITHER, **lies: int) -> Case:
    def prepare(folder: Path) -> Run:
        path = folder / "sound.wav"
        path.write_bytes(_wav(**lies))
        return transcribe(path)

    return Case("audio headers", name, prepare, expects)


def _wav(
    *,
    rate: int = RATE,
    channels: int = 1,
    bits: int = 16,
    tag: int = 1,
    size: int = len(_PCM),
    riff: int | None = None,
    chunk: int = 16,
    before: int | None = None,
) -> bytes:
    align = max(1, channels * max(1, bits // 8)) & 0xFFFF
    per_second = min(rate * align, 2**32 - 1)
    head = b"" if before is None else b"junk" + struct.pack("<I", before) + b"\0" * 8
    head += b"fmt " + struct.pack("<IHHIIHH", chunk, tag, channels, rate, per_second, align, bits)
    body = b"WAVE" + head + b"data" + struct.pack("<I", size) + _PCM
    return b"RIFF" + struct.pack("<I", len(body) if riff is None else riff) + body


def _strange_samples() -> Iterator[Case]:
    def wav(pcm: np.ndarray, rate: int = RATE, subtype: str = "FLOAT") -> Callable[[Path], Run]:
        def prepare(folder: Path) -> Run:
            soundfile.write(folder / "sound.wav", pcm, rate, subtype=subtype)
            return transcribe(folder / "sound.wav")

        return prepare

    second = tone(1.0)
    yield Case("samples", "one sample", wav(second[:1]), Expects.WHOLE)
    yield Case("samples", "no sample", wav(second[:0]), Expects.REFUSED)
    for name, value in (("NaN", np.nan), ("+Inf", np.inf), ("-Inf", -np.inf), ("1e38", 1e38)):
        some = second.copy()
        some[::7] = value
        yield Case("samples", f"{name} among others", wav(some), Expects.WHOLE)
        yield Case("samples", f"all {name}", wav(np.full_like(second, value)), Expects.WHOLE)
    huge = np.full(RATE, 1e300)
    yield Case("samples", "beyond float32", wav(huge, subtype="DOUBLE"), Expects.WHOLE)
    yield Case("samples", "denormal", wav(np.full_like(second, 1e-40)), Expects.WHOLE)
    yield Case("samples", "64 channels", wav(np.tile(second[:, None], 64)), Expects.WHOLE)
    yield Case("samples", "1024 channels", wav(np.tile(second[:2000, None], 1024)), Expects.WHOLE)
    for rate in (2000, 44_100, 192_000, 768_000):
        yield Case("samples", f"{rate} Hz", wav(tone(1.0, rate), rate), Expects.WHOLE)
    yield Case("samples", "an hour of silence", _hour, Expects.WHOLE, is_slow=True)


def _hour(folder: Path) -> Run:
    path = folder / "silence.flac"
    with soundfile.SoundFile(path, "w", RATE, 1, "PCM_16") as file:
        for _ in range(_HOUR_S // 60):
            file.write(np.zeros(60 * RATE, np.float32))
    return command("listen", "--input", f"file:{path}", "--fast", "--keep", "text", *FAKES)

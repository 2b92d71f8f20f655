"""Audio of every container that the decoders can write, cut short and altered."""

from collections.abc import Callable, Iterator
from pathlib import Path

import av
import numpy as np
import soundfile
from av.container import OutputContainer

from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import RATE, tone, transcribe

_SECONDS = 4.0
_CUTS = (0.002, 0.1, 0.5, 0.9)
_NUM_ALTERED = 3
# Needs parameters, or a file of its own beside it.
_LEFT_OUT = ("RAW", "SD2")
_AV = {  # container: codec, sample format, suffix, rate
    "mp4": ("aac", "fltp", "m4a", RATE), "mov": ("pcm_s16le", "s16", "mov", RATE),
    "matroska": ("libopus", "s16", "mkv", 48_000), "webm": ("libopus", "s16", "webm", 48_000),
    "ogg": ("libopus", "s16", "opus", 48_000), "adts": ("aac", "fltp", "aac", RATE),
    "mp3": ("libmp3lame", "fltp", "mp3", RATE), "asf": ("libmp3lame", "fltp", "asf", RATE),
    "avi": ("pcm_s16le", "s16", "avi", RATE), "flv": ("aac", "fltp", "flv", RATE),
    "mpegts": ("aac", "fltp", "ts", RATE), "caf": ("alac", "s16p", "caf", RATE),
    "ac3": ("ac3", "fltp", "ac3", 48_000), "mp2": ("mp2", "s16", "mp2", 48_000),
    "nut": ("pcm_s16le", "s16", "nut", RATE), "tta": ("tta", "s16", "tta", RATE),
    "wv": ("wavpack", "s16p", "wv", RATE), "3gp": ("aac", "fltp", "3gp", RATE),
}  # fmt: skip
# Their ends look like any other place, and nothing in them says how much there should be, or
# nothing that a decoder tells.
_WITHOUT_LENGTH = (
    "adts", "mpegts", "ac3", "mp2", "nut", "asf",
    "HTK", "IRCAM", "MAT5", "MPC2K", "PAF", "PVF", "SDS", "XI",
)  # fmt: skip


def cases(seed: int) -> Iterator[Case]:
    """Yield every container cut at several places, and with bytes changed."""
    rng = np.random.default_rng(seed)
    for name, suffix, content in _containers():
        yield Case("audio", f"{name} whole", _write(suffix, content), Expects.WHOLE)
        for cut in _CUTS:
            kept = content[: max(1, round(cut * len(content)))]
            # Less than a header is refused, or ends early like the rest.
            knows = name not in _WITHOUT_LENGTH and cut >= 0.1
            expects = Expects.TOLD if knows else Expects.EITHER
            shows = ("cut off",) if knows else ()
            yield Case(
                "audio cut short", f"{name} at {cut:.1%}", _write(suffix, kept), expects, shows
            )
        for number in range(_NUM_ALTERED):
            altered = bytearray(content)
            # Once in the head, where sizes and rates are; else anywhere.
            end = min(64, len(content)) if number == 0 else len(content)
            for at in rng.integers(0, end, 12):
                altered[at] = rng.integers(256)
            yield Case("audio altered", f"{name} {number}", _write(suffix, bytes(altered)))


def _write(suffix: str, content: bytes) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        path = folder / f"sound.{suffix}"
        path.write_bytes(content)
        return transcribe(path)

    return prepare


def _containers() -> Iterator[tuple[str, str, bytes]]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        for name in soundfile.available_formats():
            path = Path(scratch) / f"sound.{name.lower()}"
            if name in _LEFT_OUT:
                continue
            try:
                soundfile.write(path, tone(_SECONDS), RATE, format=name)
                soundfile.info(path)
            except soundfile.LibsndfileError:  # can be written and not read: HTK of this rate
                continue
            yield name, path.suffix[1:], path.read_bytes()
        for name, (codec, sample_format, suffix, rate) in _AV.items():
            path = Path(scratch) / f"sound.{suffix}"
            _encode(path, name, codec, sample_format, rate)
            label = f"{name}-av" if name in ("mp3", "caf", "ogg") else name
            yield label, suffix, path.read_bytes()


def _encode(path: Path, container: str, codec: str, sample_format: str, rate: int) -> None:
    options = {"movflags": "+faststart"} if container in ("mp4", "mov", "3gp") else {}
    opened = av.open(str(path), "w", format=container, options=options)
    assert isinstance(opened, OutputContainer), container
    with opened:
        stream = opened.add_stream(codec, rate=rate, layout="mono", format=sample_format)
        frame = av.AudioFrame.from_ndarray(tone(_SECONDS, rate)[np.newaxis], "flt", "mono")
        frame.sample_rate = rate
        for packet in (*stream.encode(frame), *stream.encode(None)):
            opened.mux(packet)

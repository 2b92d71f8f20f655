"""Encodes and decodes for `vivavoce codec`."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.audio.files import TRUNCATED_ADVICE, AudioFileReader, truncated_message
from engine.audio.resample import StreamResampler
from engine.audio.wav import WavWriter
from engine.backends import registry
from engine.backends.protocols import BackendContext
from engine.backends.protocols_codec import Codec
from engine.cli.console import Console, system_console
from engine.cli.exit_codes import DONE, INPUT_PROBLEM, INTERRUPTED
from engine.cli.interrupts import Interrupts
from engine.cli.preflight import check_output, open_store
from engine.cli.startup import Startup
from engine.core.errors import ConfigError
from engine.core.sync import CancelToken
from engine.core.types import BackendKind, Pcm
from engine.models.nanocodec.codes_file import CodesFile, write_codes
from engine.models.nanocodec.layout import CodeLayout

MAX_S = 120.0
"""The encoder sees a clip whole: some 30 MB a second."""
_DECODERS = ("stateful", "lookback")
_MAX_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class CodecRequest:
    """What was asked for on the command line.

    Args:
        startup: the command's surroundings.
        file: the audio.
        out: WAV file for what was decoded.
        codes_out: file for the codes; None for none.
        codec_id: a published codec; "" for the default.
        chunk_frames: decoded at a time.
        decoder: "stateful" or "lookback".
        lookback: a number, or "exact".
        is_untrained: whether random weights will do.
    """

    startup: Startup
    file: Path
    out: Path
    codes_out: Path | None
    codec_id: str
    chunk_frames: int
    decoder: str
    lookback: str
    is_untrained: bool


def run_codec(request: CodecRequest) -> int:
    """Do it and return the exit status.

    Raises:
        ConfigError: an option makes no sense, or an output cannot be written.
        EngineError: the audio or the weights are not what they should be.
    """
    lookback = _check(request)
    console = system_console()
    store = open_store(request.startup.settings(), request.startup.environment)
    context = BackendContext(
        model_path=store.path, now_s=time.monotonic, allow_untrained=request.is_untrained
    )
    name = f"nanocodec:{request.codec_id}" if request.codec_id else "nanocodec"
    codec = registry.create(BackendKind.CODEC, name, context)
    pcm, is_cut_off = _read(request.file, codec.spec.sample_rate)
    with Interrupts() as interrupts:
        codec.load(lambda _, text: console.status(text), interrupts.stop)
        if not codec.spec.is_trained:
            console.note(f"{codec.spec.title} has untrained weights: its output is noise.")
        console.status("Encoding")
        codes = codec.encode(pcm)
        if request.codes_out is not None:
            content = CodesFile(codec.codec_id, CodeLayout.PER_DIMENSION, codes)
            write_codes(request.codes_out, content)
        began_s = time.monotonic()
        streamed = _decode(codec, codes, request, lookback, interrupts.stop, console)
        spent_s = time.monotonic() - began_s
        if interrupts.stop.is_cancelled:
            console.status("")
            return INTERRUPTED
        console.status("Decoding whole")
        whole = codec.decode(codes)
    console.status("")
    _write(request.out, streamed, codec.spec.sample_rate)
    _report(console, codec, codes, spent_s, streamed, whole)
    if is_cut_off:
        console.note(f"{truncated_message(request.file)} {TRUNCATED_ADVICE}")
        return INPUT_PROBLEM
    return DONE


def _check(request: CodecRequest) -> int | None:
    """Return frames of lookback, None for exact."""
    if request.decoder not in _DECODERS:
        raise ConfigError(
            f'There is no decoder "{request.decoder}".', advice=f"Use {' or '.join(_DECODERS)}."
        )
    if not 1 <= request.chunk_frames <= _MAX_CHUNK:
        raise ConfigError(
            f"The option --chunk cannot be {request.chunk_frames}.",
            advice=f"Give 1 to {_MAX_CHUNK} frames.",
        )
    check_output(request.out, request.file, suffix=".wav")
    if request.codes_out is not None:
        check_output(request.codes_out, request.file, suffix=".npz")
    if request.lookback == "exact":
        return None
    if not request.lookback.isascii() or not request.lookback.isdigit():
        raise ConfigError(
            f'The option --lookback cannot be "{request.lookback}".',
            advice="Give a number of frames, or exact.",
        )
    return min(int(request.lookback[:6]), _MAX_CHUNK)


def _read(path: Path, sample_rate: int) -> tuple[Pcm, bool]:
    """Return the samples, and whether some are missing at the end."""
    with AudioFileReader(path) as reader:
        pcm = reader.read(round(MAX_S * reader.sample_rate) + 1)
        if len(pcm) > MAX_S * reader.sample_rate:
            raise ConfigError(f"{path} is longer than {MAX_S:.0f} s.", advice="Cut a piece out.")
        resampler = StreamResampler(reader.sample_rate, sample_rate)
        reader.read(1)  # whatever is wrong with the end shows there
        whole = np.concatenate((resampler.push(pcm), resampler.flush()))
        return whole, reader.is_truncated


def _decode(
    codec: Codec,
    codes: NDArray[np.int64],
    request: CodecRequest,
    lookback: int | None,
    cancel: CancelToken,
    console: Console,
) -> Pcm:
    stream = codec.open_stream(request.decoder, lookback)
    parts = []
    for start in range(0, len(codes), request.chunk_frames):
        if cancel.is_cancelled:
            break
        console.status(f"Decoding {start / len(codes):.0%}")
        parts.append(stream.push(codes[start : start + request.chunk_frames]))
    parts.append(stream.finish())
    return np.concatenate(parts)


def _write(path: Path, pcm: Pcm, sample_rate: int) -> None:
    partial = path.with_name(f".{path.name}.part")
    try:
        writer = WavWriter(partial, sample_rate)
        try:
            writer.append(pcm)
        finally:
            writer.close()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _report(
    console: Console,
    codec: Codec,
    codes: NDArray[np.int64],
    spent_s: float,
    streamed: Pcm,
    whole: Pcm,
) -> None:
    seconds = len(streamed) / codec.spec.sample_rate
    console.line(f"codec       {codec.codec_id}")
    console.line(f"frames      {len(codes)}, {seconds:.2f} s")
    console.line(f"decoding    {1000 * spent_s / len(codes):.1f} ms a frame")
    if len(streamed) != len(whole):
        console.line(f"difference  {len(streamed) - len(whole)} samples in length")
        return
    error = float(np.abs(streamed - whole).max())
    signal = max(float(np.sqrt(np.mean(whole.astype(np.float64) ** 2))), 1e-9)
    relative = float(np.sqrt(np.mean((streamed - whole).astype(np.float64) ** 2))) / signal
    decibels = f", {20 * np.log10(relative):.0f} dB of the signal" if relative > 0 else ""
    console.line(f"difference  {error:.1e} at most from a whole decode{decibels}")

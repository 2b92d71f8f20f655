"""Loads an encoder, encodes a file, and writes what came out, for `vivavoce encode`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

import engine
from engine.audio.files import TRUNCATED_ADVICE, AudioFileReader, truncated_message
from engine.audio.resample import StreamResampler
from engine.backends import registry
from engine.backends.protocols import BackendContext, BackendSpec, EncodedAudio
from engine.cli.console import Console, system_console
from engine.cli.exit_codes import DONE, INPUT_PROBLEM
from engine.cli.inputs import DEMO, choose_input, inspect_file
from engine.cli.interrupts import Interrupts
from engine.cli.preflight import check_output, open_store, spec_of
from engine.cli.startup import Startup
from engine.core.config import Statistics
from engine.core.errors import ConfigError
from engine.core.files import expanded
from engine.core.types import BackendKind, Pcm
from engine.store.private import write_whole

FORMAT = "vivavoce-encoding/1"
MAX_S = 4 * 3600.0
"""A clip lies in memory whole, with all that is made of it: a small file can hold days."""


@dataclass(frozen=True, slots=True)
class EncodeRequest:
    """What was asked for on the command line.

    Args:
        startup: the command's surroundings.
        file: the audio, or "demo".
        out: where to write.
        encoder: backend id, with its argument.
        statistics: what features are normalised by.
        allow_untrained: random weights where there are none.
    """

    startup: Startup
    file: Path
    out: Path
    encoder: str
    statistics: Statistics
    allow_untrained: bool = False


def encode_file(request: EncodeRequest) -> int:
    """Encode a file and return the exit status.

    Raises:
        ConfigError: the encoder or the place to write cannot be used.
        EngineError: the audio or the model cannot be had.
    """
    console = system_console()
    path = _audio_path(request.file)
    check_output(request.out, path, suffix=".safetensors")
    inspect_file(path)
    settings = request.startup.settings()
    store = open_store(settings, request.startup.environment)
    spec = spec_of(
        store, BackendKind.ENCODER, request.encoder, allow_untrained=request.allow_untrained
    )
    for model in spec.models:
        store.path(model)
    backend = registry.create(
        BackendKind.ENCODER,
        request.encoder,
        BackendContext(
            model_path=store.path,
            num_threads=settings.thread_budget,
            options=(("use", "clips"),),
            allow_untrained=request.allow_untrained,
        ),
    )
    pcm, is_cut_off = _read(path, spec.sample_rate)
    with Interrupts() as interrupts:

        def tell(fraction: float, text: str) -> None:
            share = f" {fraction:.0%}" if fraction >= 0 else ""
            console.status(f"{spec.title}: {text}{share}")

        try:
            backend.load(tell, interrupts.stop)
            encoded = backend.encode(pcm, request.statistics, tell, interrupts.stop)
            spec = backend.spec
        finally:
            console.status("")
            backend.close()
    write_whole(request.out, save(_tensors(encoded, len(pcm)), _metadata(request, spec, encoded)))
    _report(console, request, spec, encoded)
    if is_cut_off:
        console.note(f"{truncated_message(path)} {TRUNCATED_ADVICE}")
        return INPUT_PROBLEM
    return DONE


def _audio_path(file: Path) -> Path:
    if str(file) == DEMO and not file.exists():
        choice = choose_input(DEMO)
        if choice.path is None:
            raise ConfigError(
                "The demo conversation is not installed.",
                advice="Install the program again, or name a file of yours.",
            )
        return choice.path
    return expanded(file)


def _read(path: Path, sample_rate: int) -> tuple[Pcm, bool]:
    """Return the samples, and whether some are missing at the end."""
    parts, num_left = [], round(MAX_S * sample_rate)
    with AudioFileReader(path) as reader:
        resampler = StreamResampler(reader.sample_rate, sample_rate)
        while len(block := reader.read(reader.sample_rate)):
            parts.append(resampler.push(block))
            num_left -= len(parts[-1])
            if num_left < 0:
                raise ConfigError(
                    f"{path} is longer than {MAX_S / 3600:.0f} h.", advice="Cut a piece out."
                )
        parts.append(resampler.flush())
        return np.concatenate(parts), reader.is_truncated


def _tensors(encoded: EncodedAudio, num_samples: int) -> dict[str, NDArray[np.generic]]:
    return {
        "embeddings": np.ascontiguousarray(encoded.embeddings),
        "speaker_probs": np.ascontiguousarray(encoded.speaker_probs),
        "fine_speaker_probs": np.ascontiguousarray(encoded.fine_speaker_probs),
        "lengths": np.array([len(encoded.embeddings)], dtype=np.int64),
        "num_samples": np.array([num_samples], dtype=np.int64),
    }


def _metadata(request: EncodeRequest, spec: BackendSpec, encoded: EncodedAudio) -> dict[str, str]:
    return {
        "format": FORMAT,
        "version": engine.__version__,
        "model": spec.title,
        "encoder": request.encoder,
        "is_trained": str(spec.is_trained).lower(),
        "statistics": request.statistics.value,
        "sample_rate_hz": str(spec.sample_rate),
        "frame_ms": str(spec.frame_ms),
        "fine_frame_ms": str(encoded.fine_frame_ms),
        "device": spec.device,
    }


def _report(
    console: Console, request: EncodeRequest, spec: BackendSpec, encoded: EncodedAudio
) -> None:
    num_frames, width = encoded.embeddings.shape
    console.note(
        f"{request.out}: {num_frames} embeddings of {width} numbers,"
        f" one every {spec.frame_ms} ms, and {encoded.speaker_probs.shape[1]} speakers."
    )
    if not spec.is_trained:
        console.note(f"{spec.title} has untrained weights: its output means nothing.")

"""Audio files of any common kind, read as mono blocks."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import soundfile

from engine.audio.lengths import log_tells_a_cut, promises_too_much, says_exact_length
from engine.audio.quiet_stderr import quiet_stderr
from engine.core.errors import AudioFileError, reason_of
from engine.core.types import Pcm

MIN_RATE_HZ = 2_000
MAX_RATE_HZ = 768_000

_EMPTY = np.zeros(0, dtype=np.float32)
# Of a block that ends in damage, nothing comes: small, and a divisor of what codecs make at once.
_READ_SIZE = 1024
_MAX_PADDING_S = 0.15
_OTHER_FILE = "Choose a file that plays in a media player."
TRUNCATED_TOPIC = "truncated input"
TRUNCATED_ADVICE = "What is there was used; copy or record it again to have the rest."


def truncated_message(name: object) -> str:
    """Return what to say of a file that ended early; `TRUNCATED_ADVICE` follows it."""
    return f"{name} was cut off or is damaged: it ends before its header says it should."


def clean(samples: np.ndarray) -> Pcm:
    """Return samples ((n,) or (n, channels)) as mono float32 without NaN or infinity."""
    pcm = np.asarray(samples, dtype=np.float32)
    if not np.isfinite(pcm).all():
        pcm = np.nan_to_num(pcm, nan=0.0, posinf=0.0, neginf=0.0)
    if pcm.ndim == 2:
        pcm = pcm[:, 0] if pcm.shape[1] == 1 else pcm.mean(axis=1, dtype=np.float32)
    return np.ascontiguousarray(pcm)


class AudioFileReader:
    """A file read from front to end as mono float32 at its own rate.

    A file that ends before its header says, or whose rest is damaged, is read as far as it goes;
    `is_truncated` then says so, at the latest when its end was read. `num_promised` is the length
    that the header gives, in samples, 0 where it gives none. Thread: one at a time.

    Args:
        path: WAV, FLAC, OGG, MP3, or what PyAV decodes (M4A, MP4, WEBM, ...).

    Raises:
        AudioFileError: missing, unreadable, empty, not audio, or without a single sample.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        _check_readable(self.path)
        opened = _open_with_soundfile(self.path) or _open_with_av(self.path)
        self.sample_rate, self._blocks, self._close = opened.rate, opened.blocks, opened.close
        self.num_promised = opened.num_promised
        self.is_truncated = opened.is_cut or promises_too_much(self.path)
        self._pending = _EMPTY
        self._num_read = 0
        try:
            _check_rate(self.path, self.sample_rate)
            self._pending = self._next_block()
            if len(self._pending) == 0:
                what = "holds no audio"
                if self.is_truncated:
                    what = "is damaged or cut off before its first sound"
                raise AudioFileError(f"{self.path} {what}.", advice=_OTHER_FILE)
        except BaseException:
            self.close()
            raise

    @property
    def num_read(self) -> int:
        """Samples returned so far."""
        return self._num_read

    def read(self, n: int) -> Pcm:
        """Return the next `n` samples; fewer, and then none, at the end."""
        parts = [self._pending]
        num_held = len(self._pending)
        while num_held < n:
            block = self._next_block()
            if len(block) == 0:
                break
            parts.append(block)
            num_held += len(block)
        held = np.concatenate(parts) if len(parts) > 1 else parts[0]
        self._pending = held[n:]
        self._num_read += len(held[:n])
        return held[:n]

    def close(self) -> None:
        """Close the file; idempotent."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _next_block(self) -> Pcm:
        try:
            for block in self._blocks:
                if len(block):
                    return clean(block)
        except (OSError, RuntimeError, ValueError) as error:
            # Decoders report damage in the middle so; what came before it stays good.
            if isinstance(error, OSError) and error.errno == errno.EIO:
                raise AudioFileError(
                    f"{self.path} cannot be read: {reason_of(error)}.", advice=_OTHER_FILE
                ) from error
            self.is_truncated = True
        return _EMPTY


def read_audio(path: str | os.PathLike[str]) -> tuple[Pcm, int]:
    """Return a whole file as (mono samples, rate in Hz).

    Raises:
        AudioFileError: see `AudioFileReader`.
    """
    with AudioFileReader(path) as reader:
        blocks = []
        while len(block := reader.read(1 << 20)):
            blocks.append(block)
        return np.concatenate(blocks), reader.sample_rate


@dataclass(frozen=True, slots=True)
class _Opened:
    """A file as its decoder opened it.

    Args:
        rate: Hz.
        blocks: (n, channels) each; raises ValueError where it ends early.
        close: lets go of the file.
        num_promised: samples that the header speaks of; 0 for none.
        is_cut: whether it is known to be cut short.
    """

    rate: int
    blocks: Iterator[np.ndarray]
    close: Callable[[], None]
    num_promised: int
    is_cut: bool = False


def _check_readable(path: Path) -> None:
    try:
        # A pipe would be waited for, and a device has no end.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise AudioFileError(f"{path} is a folder.", advice="Name a file in it.")
        if not stat.S_ISREG(mode):
            raise AudioFileError(
                f"{path} is a device or a pipe, not a file.", advice="Copy the audio into a file."
            )
        # Files of the kernel say they are empty, and can be waited for without end.
        is_empty = path.stat().st_size == 0
        if not is_empty:
            path.open("rb").close()
    except FileNotFoundError as error:
        raise AudioFileError(
            f"{path} does not exist.", advice="Check the name and the folder."
        ) from error
    except (OSError, ValueError) as error:
        reason = reason_of(error)
        raise AudioFileError(
            f"{path} cannot be read: {reason}.", advice="Check its name and its permissions."
        ) from error
    if is_empty:
        raise AudioFileError(f"{path} is empty (0 bytes).", advice=_OTHER_FILE)


def _check_rate(path: Path, rate: int) -> None:
    if not MIN_RATE_HZ <= rate <= MAX_RATE_HZ:
        raise AudioFileError(
            f"{path} says it has {rate} samples a second; "
            f"{MIN_RATE_HZ} to {MAX_RATE_HZ} can be used.",
            advice="The file is damaged, or no speech; convert it to 16000 Hz.",
        )


def _open_with_soundfile(path: Path) -> _Opened | None:
    try:
        with quiet_stderr():  # its MP3 decoder says on the terminal what it dislikes
            file = soundfile.SoundFile(str(path))
    except (soundfile.LibsndfileError, TypeError):
        return None
    if file.format == "MP3":
        # soundfile seeks after every block, and MP3 decoded from a seek is wrong at first.
        file.close()
        return None
    if file.channels < 1:
        file.close()
        raise AudioFileError(f"{path} has no audio channel.", advice=_OTHER_FILE)
    if file.frames == 0 and file.format == "OGG":
        # Vorbis without its last page: soundfile finds nothing, though all of it is there.
        file.close()
        return None

    def blocks() -> Iterator[np.ndarray]:
        num_left = file.frames
        while len(block := file.read(_READ_SIZE, dtype="float32", always_2d=True)):
            num_left -= len(block)
            yield block
        if num_left > 0:
            raise ValueError("the file ended before its header says")

    is_cut = log_tells_a_cut(file.extra_info)
    return _Opened(int(file.samplerate), blocks(), file.close, int(file.frames), is_cut)


def _open_with_av(path: Path) -> _Opened:
    not_audio = AudioFileError(f"{path} is not audio, or damaged.", advice=_OTHER_FILE)
    try:
        import av
    except ImportError as error:
        raise not_audio from error
    try:
        # Without the word before it a file named "pipe:0" or "http:…" would be an address.
        container = av.open(f"file:{path}")
    except (av.FFmpegError, OSError, ValueError) as error:
        raise not_audio from error
    # A stream of a codec that nobody knows has no context.
    decodable = [each for each in container.streams.audio if each.codec_context is not None]
    if not decodable:
        container.close()
        raise not_audio
    stream = decodable[0]
    rate = int(stream.codec_context.sample_rate or 0)
    if stream.codec_context.channels < 1:
        container.close()
        raise AudioFileError(f"{path} has no audio channel.", advice=_OTHER_FILE)

    # Some containers give their own length and not that of each stream.
    stream_s = (stream.duration or 0) * (stream.time_base or 0)
    num_promised = int((stream_s or (container.duration or 0) / av.time_base) * rate)
    # Codecs pad and drop a few frames at both ends; an estimate can be off by much more.
    is_exact = says_exact_length(path, container.format.name)
    num_least = num_promised - _MAX_PADDING_S * rate if is_exact else 0.9 * num_promised
    num_least = max(0, round(num_least))

    def blocks() -> Iterator[np.ndarray]:
        resampler = av.AudioResampler(format="fltp")
        num_given = 0
        try:
            for frame in container.decode(stream):
                for planes in resampler.resample(frame):
                    num_given += planes.samples
                    yield planes.to_ndarray().T
        except av.FFmpegError as error:
            raise ValueError(f"damaged: {reason_of(error)}") from error
        if num_given < num_least:
            raise ValueError("the file ended before its header says")

    return _Opened(rate, blocks(), container.close, num_promised)

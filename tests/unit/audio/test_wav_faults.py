"""WAV files on a disk that refuses."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.wav import WavWriter
from engine.core.errors import AudioFileError
from tests.helpers.full_disk import file_limit

RATE = 16_000
PCM = np.linspace(-0.9, 0.9, RATE, dtype=np.float32)


def _read(path: Path) -> np.ndarray:
    return soundfile.read(path, dtype="float32")[0]


@pytest.mark.skipif(os.name == "nt", reason="the limit is one of POSIX")
@pytest.mark.parametrize("limit", [44, 45, 1044, 1045])
def test_writer_when_the_disk_was_full_then_whole_samples_stay_and_the_next_follow_them(
    tmp_path: Path, limit: int
) -> None:
    path = tmp_path / "out.wav"
    writer = WavWriter(path, RATE)
    with file_limit(limit), pytest.raises(AudioFileError, match="cannot be written"):
        writer.append(PCM)
    num_kept = (limit - 44) // 2
    assert writer.num_samples == num_kept
    writer.append(PCM)
    writer.close()
    np.testing.assert_allclose(_read(path), np.concatenate((PCM[:num_kept], PCM)), atol=1e-4)


def test_writer_when_a_sync_failed_then_the_next_samples_come_where_they_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.wav"
    writer = WavWriter(path, RATE)
    writer.append(PCM)

    def fail(_descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(AudioFileError, match="Input/output"):
            writer.sync()
    writer.append(PCM)
    writer.close()
    np.testing.assert_allclose(_read(path), np.tile(PCM, 2), atol=1e-4)

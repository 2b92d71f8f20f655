"""What files say of their own length: a file that is cut short is told from a whole one."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.files import AudioFileReader, read_audio
from engine.audio.lengths import log_tells_a_cut, promises_too_much
from engine.audio.wav import write_wav
from engine.core.errors import AudioFileError

pytestmark = pytest.mark.unit

RATE = 16_000
_FORMATS = (
    "WAV", "WAVEX", "AIFF", "AU", "AVR", "CAF", "FLAC", "MP3", "NIST", "OGG", "RF64", "SVX",
    "VOC", "W64", "WVE", "MAT4",
)  # fmt: skip


def _write(path: Path, container: str, seconds: float = 4.0) -> Path:
    # Noise, as a tone is a few bytes in most codecs, and a cut of those takes nothing.
    pcm = np.random.default_rng(3).normal(0, 0.1, round(seconds * RATE))
    soundfile.write(path, pcm, RATE, format=container)
    return path


def _read_to_the_end(path: Path) -> tuple[int, bool]:
    with AudioFileReader(path) as reader:
        while len(reader.read(RATE)):
            pass
        return reader.num_read, reader.is_truncated


@pytest.mark.parametrize("container", _FORMATS)
def test_file_when_whole_then_is_not_called_cut(tmp_path: Path, container: str) -> None:
    num_read, is_cut = _read_to_the_end(_write(tmp_path / "x", container))
    assert num_read == pytest.approx(4 * RATE, abs=2500)
    assert not is_cut


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("container", _FORMATS)
def test_file_when_cut_short_then_says_so_and_gives_what_is_there(
    tmp_path: Path, container: str, share: float
) -> None:
    path = _write(tmp_path / "x", container)
    os.truncate(path, round(share * path.stat().st_size))
    num_read, is_cut = _read_to_the_end(path)
    assert is_cut
    # Compressed formats lose the block that was cut; Vorbis the page.
    assert num_read >= (share - 0.3) * 4 * RATE


def test_vorbis_when_its_last_page_is_missing_then_the_rest_is_read(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.ogg", "OGG", seconds=20.0)
    os.truncate(path, path.stat().st_size * 3 // 4)
    num_read, is_cut = _read_to_the_end(path)
    assert is_cut
    assert num_read > 10 * RATE


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0xFFFFFF00])
def test_wav_when_its_size_is_not_known_then_is_no_cut(tmp_path: Path, size: int) -> None:
    path = tmp_path / "x.wav"
    write_wav(path, np.zeros(RATE, np.float32), RATE)
    content = bytearray(path.read_bytes())
    content[40:44] = struct.pack("<I", size)
    path.write_bytes(content)
    assert _read_to_the_end(path) == (RATE, False)


def test_log_when_only_the_outer_chunk_is_wrong_then_nothing_is_missing() -> None:
    assert not log_tells_a_cut("RIFF : 160036 (should be 96018)\n")
    assert log_tells_a_cut("data : 160000 (should be 95982)\n")
    assert not log_tells_a_cut("data : 4294967295 (should be 95982)\n")


def test_length_when_the_file_is_none_of_these_then_nothing_is_promised(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for head in (b"", b"RIFF", b"OggX" * 9, b"NIST_1A\n   x\n", b"2BIT", b"caff"):
        path.write_bytes(head)
        assert not promises_too_much(path)


def test_read_when_the_codec_is_unknown_then_is_not_audio(tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    head = struct.pack("<IHHIIHH", 16, 0xFFFF, 1, RATE, 2 * RATE, 2, 0)
    body = b"WAVEfmt " + head + b"data" + struct.pack("<I", 2000) + bytes(2000)
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    with pytest.raises(AudioFileError, match="is not audio, or damaged"):
        read_audio(path)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/random", "/dev/null"])
def test_read_when_it_is_a_device_then_refused_at_once(tmp_path: Path, target: str) -> None:
    path = tmp_path / "x.wav"
    path.symlink_to(target)
    with pytest.raises(AudioFileError, match="a device or a pipe"):
        read_audio(path)


@pytest.mark.timeout(10)
def test_read_when_it_is_a_pipe_then_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.wav")
    with pytest.raises(AudioFileError, match="a device or a pipe"):
        read_audio(tmp_path / "x.wav")


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"])
def test_read_when_the_name_is_impossible_then_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(AudioFileError, match="cannot be read"):
        read_audio(tmp_path / name)


def test_read_when_a_link_leads_to_itself_then_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.wav").symlink_to(tmp_path / "x.wav")
    with pytest.raises(AudioFileError, match="cannot be read"):
        read_audio(tmp_path / "x.wav")

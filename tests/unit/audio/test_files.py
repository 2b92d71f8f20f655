import os
import signal
import stat
import struct
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from engine.audio.files import AudioFileReader, read_audio
from engine.audio.wav import WavWriter, write_wav
from engine.core.errors import AudioFileError

pytestmark = pytest.mark.unit

RATE = 16_000


def _sine(num_samples: int = RATE) -> np.ndarray:
    return (0.3 * np.sin(2 * np.pi * 440 * np.arange(num_samples) / RATE)).astype(np.float32)


def _write_m4a(path: Path, pcm: np.ndarray) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(pcm[np.newaxis], format="fltp", layout="mono")
        frame.sample_rate = RATE
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3", "aiff"])
def test_read_when_a_common_format_then_is_mono_at_its_own_rate(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"tone.{suffix}"
    soundfile.write(path, np.stack([_sine(), _sine()], axis=1), RATE)
    pcm, rate = read_audio(path)
    assert rate == RATE
    assert pcm.dtype == np.float32
    assert len(pcm) == pytest.approx(RATE, abs=2000)
    assert np.sqrt(np.mean(pcm**2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.05)


def test_read_when_only_pyav_knows_the_format_then_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tone.m4a"
    _write_m4a(path, _sine())
    pcm, rate = read_audio(path)
    assert rate == RATE
    assert len(pcm) == pytest.approx(RATE, abs=3000)
    assert np.sqrt(np.mean(pcm**2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.1)


@pytest.mark.timeout(20)
@pytest.mark.skipif(os.name == "nt", reason="no file can be called so there")
def test_read_when_the_name_looks_like_an_address_then_it_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_m4a(tmp_path / "tone.m4a", _sine())
    (tmp_path / "tone.m4a").rename(tmp_path / "pipe:0")
    monkeypatch.chdir(tmp_path)
    assert read_audio("pipe:0")[1] == RATE


def test_read_when_asked_for_blocks_then_they_join_to_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "tone.wav"
    write_wav(path, _sine(), RATE)
    with AudioFileReader(path) as reader:
        blocks = []
        while len(block := reader.read(777)):
            blocks.append(block)
        assert reader.num_read == reader.num_promised == RATE
        assert not reader.is_truncated
    assert {len(block) for block in blocks[:-1]} == {777}
    np.testing.assert_allclose(np.concatenate(blocks), _sine(), atol=1 / 32767)


def test_read_when_samples_are_not_finite_then_they_are_silence(tmp_path: Path) -> None:
    path = tmp_path / "bad.wav"
    pcm = _sine(1000)
    pcm[[3, 4, 5]] = np.nan, np.inf, -np.inf
    soundfile.write(path, pcm, RATE, subtype="FLOAT")
    read, _ = read_audio(path)
    assert read[3:6].tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(read[6:], pcm[6:])


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
def test_read_when_in_blocks_then_is_as_clean_as_in_one_piece(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tone.{suffix}"
    soundfile.write(path, _sine(4 * RATE), RATE)
    whole, _ = soundfile.read(path, dtype="float32")
    pcm, _ = read_audio(path)
    # Two MP3 decoders differ in rounding; a lost block would differ by the tone itself.
    np.testing.assert_allclose(pcm[: len(whole)], whole[: len(pcm)], atol=2e-3)


@pytest.mark.parametrize("suffix", ["wav", "flac", "mp3"])
def test_read_when_the_file_is_cut_short_then_gives_what_is_there_and_says_so(
    tmp_path: Path, suffix: str
) -> None:
    whole = tmp_path / f"whole.{suffix}"
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, 4 * RATE)
    soundfile.write(whole, noise, RATE)
    cut = tmp_path / f"cut.{suffix}"
    data = whole.read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    with AudioFileReader(cut) as reader:
        num_samples = 0
        while len(block := reader.read(4000)):
            num_samples += len(block)
        assert reader.is_truncated
    assert RATE < num_samples < 3 * RATE


def _missing(path: Path) -> None:
    pass


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("This is not audio.\n" * 300)


def _folder(path: Path) -> None:
    path.mkdir()


def _header_only(path: Path) -> None:
    write_wav(path, np.zeros(0, dtype=np.float32), RATE)


def _half_a_header(path: Path) -> None:
    write_wav(path, _sine(100), RATE)
    path.write_bytes(path.read_bytes()[:20])


def _no_audio_after_the_header(path: Path) -> None:
    write_wav(path, _sine(100), RATE)
    path.write_bytes(path.read_bytes()[:44])


def _no_channels(path: Path) -> None:
    write_wav(path, _sine(100), RATE)
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, 22, 0)
    path.write_bytes(bytes(data))


def _absurd_rate(path: Path) -> None:
    write_wav(path, _sine(100), 3)


@pytest.mark.parametrize(
    "make",
    [
        _missing,
        _empty,
        _text,
        _folder,
        _header_only,
        _half_a_header,
        _no_audio_after_the_header,
        _no_channels,
        _absurd_rate,
    ],
)
def test_read_when_the_file_is_no_audio_then_says_which_and_what_to_do(
    tmp_path: Path, make
) -> None:
    path = tmp_path / "some.wav"
    make(path)
    with pytest.raises(AudioFileError) as caught:
        AudioFileReader(path)
    assert str(path) in caught.value.message
    assert caught.value.advice


def test_writer_when_closed_then_the_file_is_the_owners_and_clipped_to_full_scale(
    tmp_path: Path,
) -> None:
    path = tmp_path / "out.wav"
    writer = WavWriter(path, RATE)
    writer.append(np.array([0.0, 0.5, 2.0, -2.0], dtype=np.float32))
    assert writer.num_samples == 4
    writer.close()
    writer.close()
    pcm, rate = soundfile.read(path, dtype="float32")
    assert rate == RATE
    np.testing.assert_allclose(pcm, [0.0, 0.5, 1.0, -1.0], atol=1e-4)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_writer_when_the_process_is_killed_then_all_up_to_the_sync_can_be_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "killed.wav"
    script = (
        "import os, signal, sys, numpy as np\n"
        "from engine.audio.wav import WavWriter\n"
        f"writer = WavWriter(sys.argv[1], {RATE})\n"
        "writer.append(np.full(8000, 0.25, dtype=np.float32))\n"
        "writer.sync()\n"
        "writer.append(np.full(100_000, 0.25, dtype=np.float32))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False, env=_child_env())
    assert done.returncode == -signal.SIGKILL
    pcm, _ = read_audio(path)
    assert len(pcm) >= 8000
    np.testing.assert_allclose(pcm[:8000], 0.25, atol=1e-4)


def _child_env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


def test_writer_when_the_folder_is_missing_then_says_so(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match="cannot be written"):
        WavWriter(tmp_path / "no" / "out.wav", RATE)


def test_writer_when_the_disk_is_full_then_says_so() -> None:
    with pytest.raises(AudioFileError, match="cannot be written"):
        write_wav("/dev/full", _sine(), RATE)

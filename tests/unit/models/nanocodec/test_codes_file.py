"""Files of codes."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from engine.models.nanocodec.codes_file import CodesFile, read_codes, write_codes
from engine.models.nanocodec.config import NANOCODEC_12HZ_SMALL as CONFIG
from engine.models.nanocodec.layout import CodeLayout, CodesError, convert_codes


def _flat_file(path: Path, num_frames: int = 300) -> np.ndarray:
    rng = np.random.default_rng(0)
    frames = rng.integers(0, CONFIG.levels * CONFIG.num_groups, (num_frames, CONFIG.num_dims))
    flat = convert_codes(frames, CodeLayout.PER_DIMENSION, CodeLayout.FLAT, CONFIG)
    write_codes(path, CodesFile(CONFIG.codec_id, CodeLayout.FLAT, flat))
    return frames


def test_read_codes_when_written_before_then_same_frames(tmp_path: Path) -> None:
    frames = _flat_file(tmp_path / "a.npz")
    content = read_codes(tmp_path / "a.npz")
    assert content.codec_id == CONFIG.codec_id
    assert content.layout is CodeLayout.FLAT
    assert np.array_equal(content.frames(CONFIG), frames)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_read_codes_when_cut_short_then_refused(tmp_path: Path, part: float) -> None:
    path = tmp_path / "a.npz"
    _flat_file(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(CodesError, match=r"a\.npz"):
        read_codes(path)


@pytest.mark.parametrize(
    "arrays",
    [
        {"codes": np.zeros(4, int), "layout": np.array("flat")},
        {"codes": np.zeros(4, int), "layout": np.array("sideways"), "codec_id": np.array("x")},
        {"codes": np.zeros(4), "layout": np.array("flat"), "codec_id": np.array("x")},
        {"codes": np.array([{}]), "layout": np.array("flat"), "codec_id": np.array("x")},
    ],
)
def test_read_codes_when_content_is_wrong_then_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray]
) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(CodesError, match=r"a\.npz"):
        read_codes(tmp_path / "a.npz")


def test_read_codes_when_there_is_no_file_then_error(tmp_path: Path) -> None:
    with pytest.raises(CodesError, match="no file"):
        read_codes(tmp_path / "a.npz")


def test_read_codes_when_a_small_file_unpacks_to_a_huge_one_then_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("codec_id.npy", "layout.npy"):
            archive.writestr(name, b"")
        with archive.open("codes.npy", "w", force_zip64=True) as stream:
            for _ in range(257):
                stream.write(bytes(2**20))
    with pytest.raises(CodesError, match="too large"):
        read_codes(path)


def test_read_codes_when_it_is_one_array_then_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(4, int))
    with pytest.raises(CodesError, match="one array"):
        read_codes(tmp_path / "a.npy")

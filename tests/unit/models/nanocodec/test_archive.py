"""`.nemo` files, also those made to do harm."""

import os
import tarfile
from pathlib import Path

import pytest
import torch

from engine.core.errors import ModelFileError, ModelMissingError
from engine.models.nanocodec.archive import NemoArchive
from engine.models.nanocodec.config import config_from_nemo
from engine.models.nanocodec.weights import random_tensors
from tests.unit.models.nanocodec.nemo_files import (
    CONFIG,
    WEIGHTS,
    checkpoint_bytes,
    write_nemo,
)
from tests.unit.models.nanocodec.small import SMALLEST


class _Payload:
    """Runs a command when unpickled without care."""

    def __init__(self, witness: Path) -> None:
        self._witness = witness

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._witness),)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_read_when_archive_is_whole_then_config_and_tensors(tmp_path: Path, mode: str) -> None:
    archive = NemoArchive(write_nemo(tmp_path / "a.nemo", SMALLEST, mode=mode))
    archive.check()
    assert config_from_nemo(archive.read_config(), SMALLEST.codec_id) == SMALLEST
    tensors = archive.read_tensors()
    expected = random_tensors(SMALLEST)
    assert tensors.keys() == expected.keys()
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)


def _link(name: str, kind: bytes, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    ("info", "why"),
    [
        (tarfile.TarInfo("../evil.txt"), "leads out"),
        (tarfile.TarInfo("./a/../../evil.txt"), "leads out"),
        (tarfile.TarInfo("/tmp/evil.txt"), "leads out"),
        (tarfile.TarInfo("..\\evil.txt"), "leads out"),
        (_link("a", tarfile.SYMTYPE, "/etc/passwd"), "link"),
        (_link("a", tarfile.LNKTYPE, "model_config.yaml"), "link"),
        (_link("a", tarfile.FIFOTYPE, ""), "device"),
        (tarfile.TarInfo(CONFIG), "two members"),
    ],
)
def test_check_when_a_member_would_do_harm_then_archive_is_refused(
    tmp_path: Path, info: tarfile.TarInfo, why: str
) -> None:
    path = write_nemo(tmp_path / "a.nemo", SMALLEST, added=((info, b""),))
    archive = NemoArchive(path)
    for read in (archive.check, archive.read_config, archive.read_tensors):
        with pytest.raises(ModelFileError, match=why):
            read()


def test_read_tensors_when_checkpoint_runs_code_then_refused_and_nothing_ran(
    tmp_path: Path,
) -> None:
    witness = tmp_path / "ran"
    evil = checkpoint_bytes({"audio_decoder.x": _Payload(witness)})
    path = write_nemo(tmp_path / "a.nemo", SMALLEST, replaced={WEIGHTS: evil})
    with pytest.raises(ModelFileError, match="more than tensors"):
        NemoArchive(path).read_tensors()
    assert not witness.exists()


def test_read_config_when_yaml_makes_objects_then_refused_and_nothing_ran(tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    evil = f"!!python/object/apply:os.mkdir ['{witness}']".encode()
    path = write_nemo(tmp_path / "a.nemo", SMALLEST, replaced={CONFIG: evil})
    with pytest.raises(ModelFileError, match="no plain YAML"):
        NemoArchive(path).read_config()
    assert not witness.exists()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        (CONFIG, None, "no model_config.yaml"),
        (WEIGHTS, None, "no model_weights.ckpt"),
        (CONFIG, b"\xff\xfe\x00", "no plain YAML"),
        (CONFIG, b"- a\n- list", "no settings"),
        (CONFIG, b" " * (5 * 2**20), "unreasonably large"),
        (WEIGHTS, b"<html>not found</html>", "cannot be read|more than tensors"),
        (WEIGHTS, checkpoint_bytes([torch.zeros(1)]), "no named tensors"),
        (WEIGHTS, checkpoint_bytes(random_tensors(SMALLEST))[:2000], "cannot be read"),
    ],
)
def test_read_when_a_member_is_missing_or_wrong_then_error_says_so(
    tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    path = write_nemo(tmp_path / "a.nemo", SMALLEST, replaced={name: content})
    archive = NemoArchive(path)
    with pytest.raises(ModelFileError, match=why):
        archive.read_config() if name == CONFIG else archive.read_tensors()


def test_read_when_a_member_is_a_folder_then_refused(tmp_path: Path) -> None:
    folder = tarfile.TarInfo(WEIGHTS)
    folder.type = tarfile.DIRTYPE
    path = write_nemo(
        tmp_path / "a.nemo", SMALLEST, replaced={WEIGHTS: None}, added=((folder, b""),)
    )
    for read in (NemoArchive(path).check, NemoArchive(path).read_tensors):
        with pytest.raises(ModelFileError, match="no model_weights"):
            read()


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("kept", [0, 700, 20_000])
def test_read_when_file_is_cut_short_then_refused(tmp_path: Path, kept: int, mode: str) -> None:
    path = write_nemo(tmp_path / "a.nemo", SMALLEST, mode=mode)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ModelFileError, match=r"a\.nemo was refused"):
        NemoArchive(path).read_tensors()


def test_read_when_there_is_no_file_then_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="no file"):
        NemoArchive(tmp_path / "a.nemo").check()

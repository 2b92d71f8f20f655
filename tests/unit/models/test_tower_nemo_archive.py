"""`.nemo` archives: whole, cut short, and made to do harm."""

import io
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from engine.core.errors import EngineError, ModelFileError, ModelLoadError
from engine.models.checkpoints import load_speaker_model
from tests.unit.models.tower_models import (
    nemo_diarizer_config,
    nemo_diarizer_tensors,
    tiny_speaker_config,
    tiny_speaker_model,
)


def _bytes_of(tensors: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _write(
    path: Path,
    mode: str = "w",
    prefix: str = "./",
    config: bytes | None = None,
    weights: bytes | None = None,
    more: Callable[[tarfile.TarFile], Any] | None = None,
) -> Path:
    if config is None:
        config = yaml.safe_dump(nemo_diarizer_config(tiny_speaker_config())).encode()
    if weights is None:
        weights = _bytes_of(nemo_diarizer_tensors(tiny_speaker_model()))
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        folder = tarfile.TarInfo(prefix or "./")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        _add(tar, f"{prefix}model_config.yaml", config)
        if more is not None:
            more(tar)
        _add(tar, f"{prefix}model_weights.ckpt", weights)
    return path


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("prefix", ["", "./"])
def test_archive_when_whole_gives_the_model(tmp_path: Path, mode: str, prefix: str) -> None:
    path = _write(tmp_path / "model.nemo", mode, prefix)
    loaded, model = load_speaker_model(path).state_dict(), tiny_speaker_model().state_dict()
    assert loaded.keys() == model.keys()
    assert all(torch.equal(loaded[name], model[name]) for name in model)


def test_archive_when_alone_in_a_folder_is_found(tmp_path: Path) -> None:
    _write(tmp_path / "model.nemo")
    assert load_speaker_model(tmp_path).num_speakers == 4


def test_archive_when_weights_lie_in_a_state_dict_are_found(tmp_path: Path) -> None:
    tensors = nemo_diarizer_tensors(tiny_speaker_model())
    path = _write(tmp_path / "model.nemo", weights=_bytes_of({"state_dict": tensors, "epoch": 3}))
    assert load_speaker_model(path).num_speakers == 4


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_archive_when_cut_short_is_refused(tmp_path: Path, share: float) -> None:
    path = _write(tmp_path / "model.nemo")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelFileError, match=r"model\.nemo"):
        load_speaker_model(path)


def test_archive_when_compressed_and_cut_short_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "model.nemo", "w:gz")
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ModelFileError, match=r"model\.nemo"):
        load_speaker_model(path)


class _Touch:
    """Makes a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self._path,))


def test_archive_when_its_pickle_would_run_code_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    for number, weights in enumerate((_bytes_of({"a": _Touch(trap)}), pickle.dumps(_Touch(trap)))):
        path = _write(tmp_path / f"model{number}.nemo", weights=weights)
        with pytest.raises(ModelFileError, match="does not hold plain tensors"):
            load_speaker_model(path)
    assert not trap.exists()


def _link(tar: tarfile.TarFile) -> None:
    info = tarfile.TarInfo("link")
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    tar.addfile(info)


def _pipe(tar: tarfile.TarFile) -> None:
    info = tarfile.TarInfo("pipe")
    info.type = tarfile.FIFOTYPE
    tar.addfile(info)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (lambda tar: _add(tar, "../outside", b"x"), "lies outside"),
        (lambda tar: _add(tar, "/etc/outside", b"x"), "lies outside"),
        (lambda tar: _add(tar, "a\\..\\outside", b"x"), "lies outside"),
        (_link, "no plain file"),
        (_pipe, "no plain file"),
        (lambda tar: _add(tar, "model_config.yaml", b"x"), "twice"),
    ],
)
def test_archive_when_a_member_could_do_harm_is_refused(
    tmp_path: Path, more: Callable[[tarfile.TarFile], Any], told: str
) -> None:
    with pytest.raises(ModelFileError, match=told):
        load_speaker_model(_write(tmp_path / "model.nemo", more=more))


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (b"a: [1, 2", "model_config.yaml"),
        (b"- 1\n- 2\n", "model_config.yaml"),
        (b"a: !!python/object/apply:os.system ['true']\n", "model_config.yaml"),
        (b"\xff\xfe\x00", "model_config.yaml"),
        (b"x" * (5 * 2**20), "unreasonably large"),
        (b"encoder: {}\n", "neither an audio tower's nor a diarizer's"),
    ],
)
def test_archive_when_its_configuration_is_bad_is_refused(
    tmp_path: Path, config: bytes, told: str
) -> None:
    with pytest.raises(EngineError, match=told):
        load_speaker_model(_write(tmp_path / "model.nemo", config=config))


def test_archive_when_a_member_is_missing_names_it(tmp_path: Path) -> None:
    path = tmp_path / "model.nemo"
    with tarfile.open(path, "w") as tar:
        _add(tar, "model_config.yaml", b"a: 1\n")
    with pytest.raises(ModelFileError, match=r"no member model_weights\.ckpt"):
        load_speaker_model(path)


def test_archive_when_it_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.nemo"
    path.write_text("<!doctype html>" * 100)
    with pytest.raises(ModelFileError, match="no whole archive"):
        load_speaker_model(path)


def test_archive_when_it_holds_no_named_tensors_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "model.nemo", weights=_bytes_of([torch.ones(2)]))
    with pytest.raises(ModelLoadError, match="no named tensors"):
        load_speaker_model(path)


def test_archive_when_it_is_of_an_older_diarizer_says_which_part_differs(tmp_path: Path) -> None:
    config = nemo_diarizer_config(tiny_speaker_config())
    config["encoder"]["self_attention_model"] = "rel_pos"
    path = _write(tmp_path / "model.nemo", config=yaml.safe_dump(config).encode())
    with pytest.raises(ModelLoadError, match="self_attention_model is 'rel_pos'"):
        load_speaker_model(path)

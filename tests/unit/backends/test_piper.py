import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.backends import piper, registry
from engine.backends.piper import CHUNK_S, DEFAULT_MODEL, create
from engine.backends.protocols import BackendContext
from engine.core.errors import (
    BackendError,
    EngineError,
    ModelFileError,
    ModelLoadError,
    ModelMissingError,
)
from engine.core.types import BackendKind
from tests.helpers.backends import load, make_context, model_path, no_models


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """A voice's settings, of a shape that piper takes, beside a file that is no model."""
    path = tmp_path / "voice.onnx.json"
    path.write_text(
        json.dumps(
            {
                "audio": {"sample_rate": 16_000},
                "espeak": {"voice": "en-us"},
                "num_symbols": 1,
                "num_speakers": 1,
                "phoneme_id_map": {"_": [0]},
            }
        )
    )
    (tmp_path / "voice.onnx").write_bytes(b"<html>not found</html>")
    return path


@pytest.mark.unit
def test_create_when_package_is_missing_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(piper, "find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"pip install 'vivavoce\[piper\]'"):
        create(make_context(), "")
    listing = {item.id: item for item in registry.available(BackendKind.SYNTHESIZER)}["piper"]
    assert not listing.is_available
    assert "piper-tts" in listing.reason


@pytest.mark.unit
def test_load_when_model_is_missing_says_so() -> None:
    with pytest.raises(ModelMissingError, match=DEFAULT_MODEL):
        load(create(BackendContext(model_path=no_models), ""))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nowhere.onnx", ModelMissingError, "no voice at"),
        ("", ModelMissingError, "no voice in"),
    ],
)
def test_load_when_path_has_no_voice_says_so(
    tmp_path: Path, name: str, error: type[EngineError], message: str
) -> None:
    with pytest.raises(error, match=message):
        load(create(make_context(), f"{tmp_path}/{name}"))


@pytest.mark.unit
def test_load_when_settings_are_missing_names_the_file(settings: Path) -> None:
    settings.unlink()
    with pytest.raises(ModelMissingError, match=r"voice\.onnx\.json"):
        load(create(make_context(), str(settings.parent / "voice.onnx")))


@pytest.mark.unit
@pytest.mark.parametrize("content", ["", "<html>", "[]", "{}", '{"audio": 3}', "\ufeff{"])
def test_load_when_settings_are_damaged_refuses_them(settings: Path, content: str) -> None:
    settings.write_text(content)
    with pytest.raises(ModelFileError, match=r"voice\.onnx"):
        load(create(make_context(), str(settings.parent)))


@pytest.mark.unit
@pytest.mark.parametrize("rate", [0, -1, "fast", None, 10**9])
def test_load_when_sample_rate_is_impossible_refuses_it(settings: Path, rate: object) -> None:
    content = json.loads(settings.read_text())
    settings.write_text(json.dumps(content | {"audio": {"sample_rate": rate}}))
    with pytest.raises(ModelFileError, match="lack what piper needs"):
        load(create(make_context(), str(settings.parent)))


@pytest.mark.unit
def test_load_when_package_is_damaged_says_so(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "piper.config", None)
    with pytest.raises(ModelLoadError, match="piper-tts is installed, but"):
        load(create(make_context(), str(settings.parent)))


@pytest.mark.unit
def test_load_when_model_is_no_model_refuses_it(settings: Path) -> None:
    with pytest.raises(ModelFileError, match="damaged or no ONNX model"):
        load(create(make_context(), str(settings.parent)))


@pytest.mark.unit
def test_load_when_voice_would_fetch_dictionaries_refuses_it(settings: Path) -> None:
    content = json.loads(settings.read_text())
    settings.write_text(json.dumps(content | {"phoneme_type": "pinyin"}))
    with pytest.raises(EngineError, match="network"):
        load(create(make_context(), str(settings.parent)))


@pytest.mark.models
def test_load_when_voice_is_a_path_takes_rate_and_language_from_it(tmp_path: Path) -> None:
    folder = model_path(DEFAULT_MODEL)
    shutil.copy(folder / "en_US-joe-medium.onnx", tmp_path / "joe.onnx")
    content = json.loads((folder / "en_US-joe-medium.onnx.json").read_text(encoding="utf-8"))
    content["audio"]["sample_rate"] = 16_000
    (tmp_path / "joe.onnx.json").write_text(json.dumps(content))
    voice = create(make_context(), str(tmp_path / "joe.onnx"))
    load(voice)
    assert voice.spec.sample_rate == 16_000
    assert voice.spec.languages == ("en-US",)
    assert voice.spec.models == ()
    assert voice.spec.title == "Piper (joe)"
    voice.close()


@pytest.mark.models
def test_load_when_model_is_truncated_refuses_it(tmp_path: Path) -> None:
    folder = model_path(DEFAULT_MODEL)
    whole = (folder / "en_US-joe-medium.onnx").read_bytes()
    (tmp_path / "joe.onnx").write_bytes(whole[: len(whole) // 2])
    shutil.copy(folder / "en_US-joe-medium.onnx.json", tmp_path / "joe.onnx.json")
    with pytest.raises(ModelFileError, match="damaged"):
        load(create(make_context(), str(tmp_path)))


@pytest.mark.models
def test_speak_when_sentences_follow_each_other_pauses_between_them() -> None:
    voice = create(make_context(), "")
    load(voice)
    rate = voice.spec.sample_rate
    chunks = list(voice.open_stream().speak("One. Two."))
    assert max(len(chunk.pcm) for chunk in chunks) <= CHUNK_S * rate + 1
    sound = np.concatenate([chunk.pcm for chunk in chunks])
    loud = np.flatnonzero(np.abs(sound) > 0.02)
    longest_silence_s = np.diff(loud).max() / rate
    assert 0.2 < longest_silence_s < 0.45
    assert len(sound) - loud[-1] < 0.2 * rate, "no pause after the last"
    voice.close()

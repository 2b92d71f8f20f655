import errno
import os
import threading

import pytest

from engine.core.config import (
    KeepPolicy,
    Settings,
    folders,
    load_settings,
    save_settings,
    with_overrides,
)
from engine.core.errors import ConfigError


@pytest.fixture
def environment(tmp_path):
    return {"VIVAVOCE_HOME": str(tmp_path)}


@pytest.mark.unit
def test_settings_when_saved_and_loaded_then_are_the_same(environment):
    settings = Settings(input="Mic", keep="text", text_size_pt=20, hold_back_own_voice=False)
    save_settings(settings, environment)

    assert load_settings(environment) == settings


@pytest.mark.unit
def test_settings_when_there_is_no_file_then_are_the_defaults(environment):
    assert load_settings(environment) == Settings()
    assert Settings().keep_policy is KeepPolicy.AUDIO_AND_TEXT


@pytest.mark.unit
def test_environment_when_it_names_a_setting_then_wins_over_the_file(environment):
    save_settings(Settings(text_size_pt=20), environment)
    found = load_settings({**environment, "VIVAVOCE_TEXT_SIZE_PT": "30"})

    assert found.text_size_pt == 30
    assert with_overrides(found, text_size_pt=40, keep=None).text_size_pt == 40


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("colour = 'red'\n", "colour"),
        ("text_size_pt = 'big'\n", "text_size_pt"),
        ("text_size_pt = 500\n", "8 to 72"),
        ("keep = 'everything'\n", "everything"),
        ("lookback_frames = 'all'\n", "lookback_frames"),
        ("lookback_frames = -3\n", "lookback_frames"),
        ("end_of_speech_fade_ms = -1.0\n", "end_of_speech_fade_ms"),
        ("codec_decoder = 'quick'\n", "codec_decoder"),
        ("input = [\n", "settings.toml"),
        ("\xff\xfe", "settings.toml"),
    ],
)
def test_settings_file_when_wrong_then_the_error_names_what(environment, text, named):
    path = folders(Settings(), environment).settings_file
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(ConfigError, match=named):
        load_settings(environment)


@pytest.mark.unit
def test_environment_when_a_value_is_wrong_then_the_error_says_where(environment):
    with pytest.raises(ConfigError, match="environment"):
        load_settings({**environment, "VIVAVOCE_NUM_THREADS": "many"})


@pytest.mark.unit
def test_settings_when_saved_from_many_threads_then_the_file_is_whole(environment):
    errors = []

    def save(size: int) -> None:
        try:
            save_settings(Settings(text_size_pt=size), environment)
        except ConfigError as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(size,)) for size in range(10, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert 10 <= load_settings(environment).text_size_pt < 30
    left = [p.name for p in folders(Settings(), environment).config.iterdir()]
    assert left == ["settings.toml"]


@pytest.mark.unit
def test_settings_when_the_folder_cannot_be_written_then_says_so(tmp_path):
    (tmp_path / "config").write_text("a file where the folder should be")

    with pytest.raises(ConfigError, match="cannot be saved"):
        save_settings(Settings(text_size_pt=20), {"VIVAVOCE_HOME": str(tmp_path)})


@pytest.mark.unit
def test_settings_when_the_disk_is_full_then_the_old_ones_stay_and_nothing_else(
    environment, monkeypatch
):
    save_settings(Settings(text_size_pt=20), environment)

    def refuse(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(ConfigError, match="No space left on device"):
        save_settings(Settings(text_size_pt=30), environment)
    assert load_settings(environment).text_size_pt == 20
    left = [p.name for p in folders(Settings(), environment).config.iterdir()]
    assert left == ["settings.toml"]


@pytest.mark.unit
def test_folders_when_settings_name_their_own_then_those_count(environment, tmp_path):
    chosen = folders(Settings(models_dir=str(tmp_path / "m")), environment)

    assert chosen.models == tmp_path / "m"
    assert chosen.sessions == tmp_path / "data" / "sessions"


@pytest.mark.unit
def test_codec_settings_when_in_file_and_environment_then_are_read(environment):
    save_settings(Settings(lookback_frames=12, end_of_speech_fade_ms=5.0), environment)
    assert load_settings(environment).lookback_frames == 12

    found = load_settings(
        {
            **environment,
            "VIVAVOCE_LOOKBACK_FRAMES": "8",
            "VIVAVOCE_END_OF_SPEECH_SILENCE_MS": "250",
        }
    )
    assert str(found.lookback_frames) == "8"
    assert found.end_of_speech_silence_ms == 250.0
    assert found.end_of_speech_fade_ms == 5.0

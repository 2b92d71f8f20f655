"""Settings and folders: one validated TOML file, shared by window and command line.

Precedence: command-line option, then environment (`VIVAVOCE_…`), then file, then default.
"""

import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
import platformdirs
import tomli_w

from engine.core.errors import ConfigError, reason_of
from engine.core.files import expanded, read_small

APP_NAME = "vivavoce"
ENVIRONMENT_PREFIX = "VIVAVOCE_"
_HOME = f"{ENVIRONMENT_PREFIX}HOME"


class KeepPolicy(StrEnum):
    """What of a recording stays on disk once it is closed."""

    AUDIO_AND_TEXT = "audio-and-text"
    TEXT = "text"  # audio is on disk while recording, against a crash, and deleted at the end
    NOTHING = "nothing"  # no journal is made at all


class Statistics(StrEnum):
    """What features are normalised by."""

    EXACT = "exact"  # the whole clip: what models are trained with
    RUNNING = "running"  # what was heard up to each window: what live streams have


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that changes what the program does.

    Args:
        input: microphone: "default", a device's name, "null" or "file:PATH".
        output: loudspeaker, likewise.
        recognizer: backend id, with an argument after a colon where it takes one.
        diarizer: backend id, or "none".
        diarizer_profile: how far behind the audio a diarizer that has profiles answers; "" for
            what this machine keeps up with.
        synthesizer: backend id.
        codec_decoder: how speech codes are decoded: "stateful" (exact), or "lookback" (windows).
        lookback_frames: frames decoded again before each window: "exact" for the codec's whole
            reach, or a number; fewer frames than that are an approximation.
        end_of_speech_fade_ms: fade at the end of decoded speech, against a click.
        end_of_speech_silence_ms: silence behind it.
        encoder: backend id, or "none"; it settles the speakers of each 40 s, and encodes clips.
        keep: see `KeepPolicy`; "" until the user was asked.
        hold_back_own_voice: do not transcribe the microphone while the program speaks; off for
            headphones.
        num_threads: compute threads over all backends; 0 for as many as there are cores.
        text_size_pt: of the transcript's words, 8 to 72.
        models_dir: folder of model files; "" for the user's data folder.
        sessions_dir: folder of recordings; "" for the user's data folder.
    """

    input: str = "default"
    output: str = "default"
    recognizer: str = "whisper"
    diarizer: str = "cluster"
    diarizer_profile: str = ""
    synthesizer: str = "piper"
    codec_decoder: str = "stateful"
    lookback_frames: int | str = "exact"
    end_of_speech_fade_ms: float = 10.0
    end_of_speech_silence_ms: float = 0.0
    encoder: str = "none"
    keep: str = ""
    hold_back_own_voice: bool = True
    num_threads: int = 0
    text_size_pt: int = 13
    models_dir: str = ""
    sessions_dir: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            # No name and no folder holds one; file systems answer with errors of all kinds.
            if isinstance(value, str) and any(ord(character) < 32 for character in value):
                raise ConfigError(
                    f"The setting {field.name} holds a control character.",
                    advice="Write it again by hand.",
                )
        if self.keep and self.keep not in tuple(KeepPolicy):
            raise ConfigError(
                f'The setting keep has the unknown value "{self.keep}".',
                advice=f"Use one of: {', '.join(KeepPolicy)}.",
            )
        if not 0 <= self.num_threads <= 256:
            raise _out_of_range("num_threads", self.num_threads, "0 to 256")
        if not 8 <= self.text_size_pt <= 72:
            raise _out_of_range("text_size_pt", self.text_size_pt, "8 to 72")
        if self.codec_decoder not in ("stateful", "lookback"):
            allowed = '"stateful" or "lookback"'
            raise _out_of_range("codec_decoder", self.codec_decoder, allowed)
        lookback = str(self.lookback_frames)
        if lookback != "exact" and not (lookback.isdecimal() and int(lookback) <= 1000):
            raise _out_of_range("lookback_frames", lookback, '"exact" or 0 to 1000')
        for name in ("end_of_speech_fade_ms", "end_of_speech_silence_ms"):
            if not 0 <= getattr(self, name) <= 10_000:
                raise _out_of_range(name, getattr(self, name), "0 to 10000")

    @property
    def keep_policy(self) -> KeepPolicy:
        """The choice made, or audio and text while none was."""
        return KeepPolicy(self.keep or KeepPolicy.AUDIO_AND_TEXT)

    @property
    def thread_budget(self) -> int:
        """Compute threads to share among the backends."""
        return self.num_threads or os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Folders:
    """Where the program keeps things.

    Args:
        config: holds settings.toml.
        models: a folder a model.
        sessions: a folder a recording.
        state: logs.
    """

    config: Path
    models: Path
    sessions: Path
    state: Path

    @property
    def settings_file(self) -> Path:
        """Path of settings.toml."""
        return self.config / "settings.toml"


def folders(settings: Settings, environment: Mapping[str, str]) -> Folders:
    """Return the folders in force.

    Args:
        settings: may name folders of their own for models and recordings.
        environment: `VIVAVOCE_HOME` puts everything under one folder.
    """
    home = environment.get(_HOME)
    if home:
        root = expanded(home).absolute()
        config, data, state = root / "config", root / "data", root / "state"
    else:
        config = platformdirs.user_config_path(APP_NAME)
        data = platformdirs.user_data_path(APP_NAME)
        state = platformdirs.user_state_path(APP_NAME)
    return Folders(
        config=config,
        models=_folder(settings.models_dir, data / "models"),
        sessions=_folder(settings.sessions_dir, data / "sessions"),
        state=state,
    )


def load_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings of the file, overridden by the environment.

    Raises:
        ConfigError: names the file or variable, the key and what is wrong with it.
    """
    path = folders(Settings(), environment).settings_file
    values: dict[str, Any] = {}
    try:
        values = tomllib.loads(read_small(path).decode("utf-8"))
    except FileNotFoundError:
        pass
    # Text that is no UTF-8 and no TOML are ValueErrors; lists in lists can be too deep.
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"The settings file {path} cannot be read: {reason_of(error)}.",
            advice="Mend or delete it.",
        ) from error
    settings = _convert(values, f"The settings file {path}")
    overrides = {
        name.removeprefix(ENVIRONMENT_PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX) and name != _HOME
    }
    if not overrides:
        return settings
    known = {field.name: getattr(settings, field.name) for field in fields(Settings)}
    return _convert({**known, **overrides}, "The environment", strict=False)


def save_settings(settings: Settings, environment: Mapping[str, str]) -> None:
    """Write what differs from the defaults, atomically.

    Raises:
        ConfigError: the file cannot be written.
    """
    path = folders(settings, environment).settings_file
    default = Settings()
    values = {
        field.name: getattr(settings, field.name)
        for field in fields(Settings)
        if getattr(settings, field.name) != getattr(default, field.name)
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A name of its own, so that two programs that save at once do not meet in one file.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(tomli_w.dumps(values).encode())
                file.flush()
                # A power cut must find the old file or the new one, never an empty one.
                os.fsync(file.fileno())
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(
            f"The settings cannot be saved to {path}: {reason_of(error)}.",
            advice="Check the folder's permissions.",
        ) from error


def with_overrides(settings: Settings, **values: Any) -> Settings:
    """Return settings with every value that is not None replaced (command-line options)."""
    return replace(settings, **{key: value for key, value in values.items() if value is not None})


def _out_of_range(name: str, value: object, allowed: str) -> ConfigError:
    return ConfigError(
        f'The setting {name} has the value "{value}", which it cannot have.',
        advice=f"Set it to {allowed}.",
    )


def _folder(chosen: str, default: Path) -> Path:
    return expanded(chosen).absolute() if chosen else default


def _convert(values: Mapping[str, Any], source: str, *, strict: bool = True) -> Settings:
    known = {field.name for field in fields(Settings)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ConfigError(
            f"{source} has the unknown setting {unknown[0]}.",
            advice=f"Settings are: {', '.join(sorted(known))}.",
        )
    try:
        return msgspec.convert(dict(values), Settings, strict=strict)
    except (msgspec.ValidationError, UnicodeError) as error:
        reason = _in_words(error)
        raise ConfigError(
            f"{source} has a wrong value: {reason}.", advice="Mend it, or take it out."
        ) from error


def _in_words(error: Exception) -> str:
    """Return what a value should be, of the kinds that settings have."""
    said = re.fullmatch(r"Expected `(\w+)`, got `\w+` - at `\$\.(\w+)`", str(error))
    if said is None:
        return reason_of(error)
    kinds = {"int": "a whole number", "float": "a number", "bool": "true or false"}
    kind, setting = kinds.get(said[1], "text in quotes"), said[2]
    return f"{setting} must be {kind}"

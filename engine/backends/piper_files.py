"""The two files of a piper voice, its model and its settings: found, read, and checked."""

import json
from pathlib import Path
from typing import Any

from engine.core.errors import ModelFileError, ModelLoadError, ModelMissingError, reason_of
from engine.core.files import read_small

_PHONEME_TYPES = ("espeak", "text")
"""Other kinds make the package fetch dictionaries over the network while it speaks."""


def is_path(argument: str) -> bool:
    """Return whether an argument names a file or folder, not a model of the manifest."""
    return argument.endswith(".onnx") or "/" in argument or "\\" in argument


def only_voice(folder: Path) -> Path:
    """Return the one .onnx file in a folder.

    Raises:
        ModelMissingError: there is none, or a choice.
    """
    found = sorted(folder.glob("*.onnx"))
    if len(found) != 1:
        problem = "no voice" if not found else "more than one voice"
        raise ModelMissingError(
            f"There is {problem} in {folder}.", advice="Give the path of one .onnx file."
        )
    return found[0]


def read_settings(onnx_path: Path) -> dict[str, Any]:
    """Return the voice's own settings, its .onnx.json.

    Raises:
        ModelMissingError, ModelFileError: the file is missing or damaged.
        ModelLoadError: the voice needs what only the network has.
    """
    path = onnx_path.with_name(onnx_path.name + ".json")
    again = "Fetch the voice again; it comes as two files, .onnx and .onnx.json."
    try:
        settings = json.loads(read_small(path))
    except FileNotFoundError:
        raise ModelMissingError(f"The voice's settings {path} are missing.", advice=again) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The voice's settings {path} are damaged.", advice=again) from error
    if not isinstance(settings, dict):
        raise ModelFileError(f"The voice's settings {path} are damaged.", advice=again)
    kind = settings.get("phoneme_type", "espeak")
    if kind not in _PHONEME_TYPES:
        raise ModelLoadError(
            f'The voice {onnx_path.name} needs the phonemes "{kind}", which need parts from the '
            "network while it speaks.",
            advice="Choose a voice that uses espeak.",
        )
    return settings


def load_voice(onnx_path: Path, settings: dict[str, Any], num_threads: int) -> tuple[Any, Any]:
    """Return the `PiperConfig` and the onnxruntime session of a voice.

    Raises:
        ModelFileError: one of its two files is damaged.
        ModelLoadError: piper itself is damaged.
    """
    try:
        import onnxruntime
        from piper.config import PiperConfig
    except ImportError as error:
        raise ModelLoadError(
            f"The package piper-tts is installed, but cannot be used: {reason_of(error)}.",
            advice="Run: pip install --force-reinstall piper-tts",
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, num_threads)
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        config = PiperConfig.from_dict(settings)
        if not 8000 <= int(config.sample_rate) <= 48_000:
            raise ValueError(f"a sample rate of 8000 to 48000 Hz, not {config.sample_rate}")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(
            f"The settings of the voice {onnx_path.name} lack what piper needs: "
            f"{reason_of(error)}.",
            advice="Fetch the voice again.",
        ) from error
    try:
        session = onnxruntime.InferenceSession(
            str(onnx_path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise ModelFileError(
            f"The voice {onnx_path} cannot be read: it is damaged or no ONNX model.",
            advice="Fetch the voice again.",
        ) from error
    return config, session


def languages(settings: dict[str, Any]) -> tuple[str, ...]:
    """Return the BCP 47 code of a voice, from its code or its espeak voice."""
    language, espeak = settings.get("language"), settings.get("espeak")
    code = language.get("code") if isinstance(language, dict) else None
    if not code and isinstance(espeak, dict):
        code = espeak.get("voice")
    if not isinstance(code, str) or not code:
        return ()
    base, _, region = code.replace("_", "-").partition("-")
    return (f"{base}-{region.upper() if len(region) == 2 else region}" if region else base,)

"""A plain text report of how the program is doing, in English for whoever helps: no spoken word."""

import os
import platform
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import engine
from app.state import AppState
from engine.core.config import Settings
from engine.core.events import BackendChanged

if TYPE_CHECKING:
    from engine.session.health import Health

_PACKAGES = (
    "PySide6-Essentials",
    "pyqtgraph",
    "numpy",
    "sounddevice",
    "rtmixer",
    "ctranslate2",
    "faster-whisper",
    "onnxruntime",
    "torch",
    "piper-tts",
)


def health_report(state: AppState, settings: Settings, health: "Health | None") -> str:
    """Return the report.

    Args:
        state: the models, and the device of the present recording.
        settings: the devices chosen.
        health: a snapshot; None if there is no engine.
    """
    sections = [
        ("Viva Voce health report", [f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}"]),
        ("Program", _program()),
        ("Models", [_model(backend) for backend in state.backends.values()] or ["none yet"]),
        ("Devices", _devices(state, settings)),
    ]
    if health is not None:
        sections.append(("Health", _health(state, health)))
    return "\n\n".join(
        "\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections
    )


def _program() -> list[str]:
    packages = [f"{name} {found}" for name in _PACKAGES if (found := _version(name))]
    return [
        f"Viva Voce {engine.__version__}, Python {platform.python_version()}",
        f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores",
        ", ".join(packages),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _model(backend: BackendChanged) -> str:
    name = f"{backend.title or backend.backend_id} ({backend.backend_id})"
    parts = [f"{backend.kind.value}: {name}", backend.device, backend.state.value, backend.message]
    if not backend.is_trained:
        parts.append("untrained weights")
    return ", ".join(part for part in parts if part)


def _devices(state: AppState, settings: Settings) -> list[str]:
    lines = [f"input chosen: {settings.input}", f"output chosen: {settings.output}"]
    recording = state.live_document.recording
    if recording is not None:
        lines.append(f"last recorded from: {recording.device}, {recording.sample_rate} Hz")
    return lines


def _health(state: AppState, health: "Health") -> list[str]:
    lines = [
        f"state: {state.session_state.value}, {health.recorded_s:.1f} s recorded",
        f"delays: text shown {_seconds(health.partial_delay_s)}, "
        f"text final {_seconds(health.final_delay_s)}, "
        f"speakers {_seconds(health.speaker_delay_s)}, "
        f"first sound {_seconds(health.first_sound_delay_s)}",
        f"backlog: text {_seconds(health.recognizer_backlog_s)}, "
        f"speakers {_seconds(health.diarizer_backlog_s)}, "
        f"settling {_seconds(health.encoder_backlog_s)}",
        f"real-time factor: text {_factor(health.recognizer_load)}, "
        f"speakers {_factor(health.diarizer_load)}, settling {_factor(health.encoder_load)}",
        f"drops: the microphone lost sound {health.num_overflows} times, "
        f"{health.lost_s:.2f} s in all",
        f"underflows: the loudspeaker ran dry {health.num_underflows} times, "
        f"the sound system {health.num_device_underflows} times",
        f"memory: {health.rss_bytes / 1e6:.0f} MB",
    ]
    if health.gpu_bytes is not None:
        lines.append(f"GPU memory: {health.gpu_bytes / 1e6:.0f} MB")
    return lines


def _seconds(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f} s"


def _factor(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f}"

"""What a session is made of, and what it gives its backends."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.audio.device import DeviceProvider
from engine.backends.protocols import BackendContext
from engine.core.config import Settings
from engine.core.suspend import suspended_s
from engine.core.timebase import Clock
from engine.core.types import BackendKind
from engine.session.pool import CreateBackend


@dataclass(frozen=True, slots=True)
class Services:
    """What a session is made of; a composition root puts it together.

    Args:
        devices: finds and opens inputs and outputs.
        create_backend: makes a backend by kind and id.
        model_path: the verified folder of a model.
        sessions_dir: where recordings are kept.
        clock: host time.
        is_fast: whether inputs are read as fast as the models take them: then nobody waits for
            a word, and backends prefer few errors to little delay.
        allow_untrained: whether backends without weights may use random ones.
        slept_s: seconds that the computer has slept in all, which the clock leaves out.
    """

    devices: DeviceProvider
    create_backend: CreateBackend
    model_path: Callable[[str], Path]
    sessions_dir: Path
    clock: Clock
    is_fast: bool = False
    allow_untrained: bool = False
    slept_s: Callable[[], float] = suspended_s


def chosen_backends(settings: Settings) -> dict[BackendKind, str]:
    """Return the backend id of each kind that a session loads."""
    return {
        BackendKind.RECOGNIZER: settings.recognizer,
        BackendKind.DIARIZER: settings.diarizer,
        BackendKind.SYNTHESIZER: settings.synthesizer,
        BackendKind.ENCODER: settings.encoder,
    }


def backend_context(kind: BackendKind, settings: Settings, services: Services) -> BackendContext:
    """Return what a backend of a kind is given."""
    options = [("pace", "file")] if services.is_fast else []
    if kind is BackendKind.DIARIZER and settings.diarizer_profile:
        options.append(("profile", settings.diarizer_profile))
    if kind is BackendKind.SYNTHESIZER:
        options += [
            ("decoder", settings.codec_decoder),
            ("lookback", str(settings.lookback_frames)),
            ("fade_ms", str(settings.end_of_speech_fade_ms)),
            ("silence_ms", str(settings.end_of_speech_silence_ms)),
        ]
    # Two lanes work side by side; a second thread in one of them costs more than it saves.
    return BackendContext(
        model_path=services.model_path,
        num_threads=max(1, settings.thread_budget // 2),
        now_s=services.clock.now_s,
        options=tuple(options),
        allow_untrained=services.allow_untrained,
    )

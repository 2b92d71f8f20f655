"""Puts a session together from what this machine has."""

from collections.abc import Mapping

from engine.audio.provider import SystemDevices
from engine.backends import registry
from engine.core.config import Settings, folders
from engine.core.timebase import Clock, MonotonicClock
from engine.session.services import Services
from engine.session.session import Session
from engine.store.manifest import load_manifest
from engine.store.models import ModelStore


def build_session(
    settings: Settings,
    environment: Mapping[str, str],
    *,
    clock: Clock | None = None,
    is_fast: bool = False,
    allow_untrained: bool = False,
) -> Session:
    """Return a session on this machine's devices, models and folders.

    Args:
        settings: the settings in force.
        environment: see `engine.core.config`.
        clock: host time; the monotonic clock if None.
        is_fast: files are read as fast as the models take them, not at the pace of the clock.
        allow_untrained: backends without weights use random ones.

    Raises:
        EngineError: the model manifest is damaged.
    """
    clock = clock or MonotonicClock()
    places = folders(settings, environment)
    store = ModelStore(places.models, load_manifest())
    return Session(
        settings,
        Services(
            devices=SystemDevices(clock, is_fast=is_fast),
            create_backend=registry.create,
            model_path=store.path,
            sessions_dir=places.sessions,
            clock=clock,
            is_fast=is_fast,
            allow_untrained=allow_untrained,
        ),
    )

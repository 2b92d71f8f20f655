"""Finds backends by name, without importing what they are made of.

Built-in ones stand in one table; packages add theirs through the entry point group
`vivavoce.backends`, named "KIND.ID" and pointing at a function `create(context, argument)`.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, cast, overload

from engine.backends.protocols import (
    Backend,
    BackendContext,
    BackendSpec,
    Diarizer,
    Encoder,
    Recognizer,
    Synthesizer,
)
from engine.backends.protocols_codec import Codec
from engine.core.errors import BackendError, EngineError, ModelMissingError, reason_of
from engine.core.types import BackendKind

_log = logging.getLogger(__name__)

ENTRY_POINT_GROUP = "vivavoce.backends"

BUILT_INS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        BackendKind.RECOGNIZER: MappingProxyType(
            {
                "whisper": "engine.backends.whisper:create",
                "fake": "engine.backends.fake_recognizer:create",
            }
        ),
        BackendKind.DIARIZER: MappingProxyType(
            {
                "cluster": "engine.backends.cluster_diarizer:create",
                "sortformer": "engine.backends.sortformer_diarizer:create",
                "fake": "engine.backends.fake_diarizer:create",
            }
        ),
        BackendKind.SYNTHESIZER: MappingProxyType(
            {
                "piper": "engine.backends.piper:create",
                "nanocodec-file": "engine.backends.nanocodec_file:create",
                "fake": "engine.backends.fake_synthesizer:create",
            }
        ),
        BackendKind.CODEC: MappingProxyType({"nanocodec": "engine.backends.nanocodec:create"}),
        BackendKind.ENCODER: MappingProxyType({"tower": "engine.backends.tower_encoder:create"}),
    }
)
"""The function that makes each built-in backend, "module:name" by kind and id; best first."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A backend as a list shows it.

    Args:
        kind: what it does.
        id: its name in the registry.
        spec: what it is; None where it cannot be had.
        reason: why it cannot be had, and what to do; empty where it can.
    """

    kind: BackendKind
    id: str
    spec: BackendSpec | None
    reason: str = ""

    @property
    def is_available(self) -> bool:
        """Whether `create` will return it (its model may still be missing)."""
        return self.spec is not None


def available(
    kind: BackendKind,
    context: BackendContext | None = None,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> tuple[Listing, ...]:
    """Return every backend of a kind, those that cannot be had with the reason.

    Args:
        kind: what they do.
        context: given to the backends; without one they see no models.
        plugins: entry points to use in place of the installed ones.
    """
    context = context or BackendContext(model_path=_no_model)
    listings = []
    for id_, target in _targets(kind, plugins).items():
        try:
            spec = _make(kind, id_, "", target, context).spec
        except EngineError as error:
            listings.append(Listing(kind, id_, None, str(error)))
        else:
            listings.append(Listing(kind, id_, spec))
    return tuple(listings)


@overload
def create(
    kind: Literal[BackendKind.RECOGNIZER],
    backend_id: str,
    context: BackendContext,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> Recognizer: ...
@overload
def create(
    kind: Literal[BackendKind.DIARIZER],
    backend_id: str,
    context: BackendContext,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> Diarizer: ...
@overload
def create(
    kind: Literal[BackendKind.SYNTHESIZER],
    backend_id: str,
    context: BackendContext,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> Synthesizer: ...
@overload
def create(
    kind: Literal[BackendKind.ENCODER],
    backend_id: str,
    context: BackendContext,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> Encoder: ...
@overload
def create(
    kind: Literal[BackendKind.CODEC],
    backend_id: str,
    context: BackendContext,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> Codec: ...
@overload
def create(
    kind: BackendKind,
    backend_id: str,
    context: BackendContext,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> Backend: ...
def create(
    kind: BackendKind,
    backend_id: str,
    context: BackendContext,
    *,
    plugins: Iterable[EntryPoint] | None = None,
) -> Backend:
    """Return a backend, not loaded.

    Args:
        kind: what it does.
        backend_id: "ID" or "ID:ARGUMENT"; what an argument means is the backend's own, a model
            id or a path mostly.
        context: what the backend may use.
        plugins: entry points to use in place of the installed ones.

    Raises:
        BackendError: there is no such backend, or it cannot be had here.
    """
    id_, _, argument = backend_id.partition(":")
    targets = _targets(kind, plugins)
    if id_ not in targets:
        names = ", ".join(targets) or "none"
        raise BackendError(
            f'There is no {kind.value} called "{id_}".', advice=f"Choose one of: {names}."
        )
    return _make(kind, id_, argument, targets[id_], context)


def _targets(
    kind: BackendKind, plugins: Iterable[EntryPoint] | None
) -> dict[str, str | EntryPoint]:
    """Return what makes each backend of a kind; built-in names cannot be taken over."""
    targets: dict[str, str | EntryPoint] = dict(BUILT_INS.get(kind, {}))
    found = entry_points(group=ENTRY_POINT_GROUP) if plugins is None else plugins
    for plugin in found:
        plugin_kind, _, id_ = plugin.name.partition(".")
        if plugin_kind != kind or not id_:
            continue
        if id_ in targets:
            _log.warning("plug-in %s is ignored: the name is taken", plugin.name)
            continue
        targets[id_] = plugin
    return targets


def _make(
    kind: BackendKind,
    id_: str,
    argument: str,
    target: str | EntryPoint,
    context: BackendContext,
) -> Backend:
    try:
        factory: Any
        if isinstance(target, EntryPoint):
            factory = target.load()
        else:
            module, _, name = target.partition(":")
            factory = getattr(import_module(module), name)
        return cast(Backend, factory(context, argument))
    except EngineError:
        raise
    except Exception as error:  # a plug-in may fail in any way at all
        _log.warning("%s %s cannot be used: %s", kind.value, id_, type(error).__name__)
        _log.debug("%s %s", kind.value, id_, exc_info=True)
        raise BackendError(
            f'The {kind.value} "{id_}" cannot be used: {reason_of(error)}.',
            advice="Reinstall the package it comes from, or choose another.",
        ) from error


def _no_model(model_id: str) -> Path:
    raise ModelMissingError(
        f'The model "{model_id}" is not looked for here.',
        advice="Fetch it.",
        command=f"vivavoce models pull {model_id}",
    )

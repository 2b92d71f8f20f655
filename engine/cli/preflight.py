"""Sees that backends and models are there before anything is opened or begun."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.backends import registry
from engine.backends.protocols import BackendContext, BackendSpec
from engine.core.config import Settings, folders
from engine.core.errors import BackendError, ConfigError
from engine.core.types import BackendKind
from engine.session.pool import LOAD_ORDER, NO_BACKEND
from engine.store.manifest import load_manifest
from engine.store.models import ModelStore


def open_store(settings: Settings, environment: Mapping[str, str]) -> ModelStore:
    """Return the models of this user.

    Raises:
        ConfigError: the list of models is damaged.
    """
    return ModelStore(folders(settings, environment).models, load_manifest())


def chosen_backend(settings: Settings, kind: BackendKind) -> str:
    """Return the id that the settings choose for a kind."""
    return {
        BackendKind.RECOGNIZER: settings.recognizer,
        BackendKind.DIARIZER: settings.diarizer,
        BackendKind.SYNTHESIZER: settings.synthesizer,
        BackendKind.ENCODER: settings.encoder,
    }[kind]


def spec_of(
    store: ModelStore, kind: BackendKind, backend_id: str, *, allow_untrained: bool = False
) -> BackendSpec:
    """Return what a backend is, without loading it.

    Args:
        store: the models of this user.
        kind: what it does.
        backend_id: with its argument, if any.
        allow_untrained: whether it may do without its weights.

    Raises:
        ConfigError: there is no such backend.
        BackendError: it cannot be had here.
    """
    context = BackendContext(model_path=store.path, allow_untrained=allow_untrained)
    known = [listing.id for listing in registry.available(kind, context)]
    if backend_id.partition(":")[0] not in known:
        off = [] if kind is BackendKind.SYNTHESIZER else [NO_BACKEND]
        raise ConfigError(
            f'There is no {kind} "{backend_id}".',
            advice=f"Choose one of: {', '.join([*known, *off])}.",
        )
    return registry.create(kind, backend_id, context).spec


def check_backends(
    settings: Settings,
    environment: Mapping[str, str],
    kinds: Iterable[BackendKind],
    *,
    allow_untrained: bool = False,
) -> dict[BackendKind, BackendSpec]:
    """Return the specs of the chosen backends once their models were found intact.

    Raises:
        ConfigError: there is no such backend.
        BackendError: one cannot be had here.
        ModelMissingError, ModelFileError: says which command fetches the model.
    """
    store, specs = open_store(settings, environment), {}
    for kind in kinds:
        backend_id = chosen_backend(settings, kind)
        if backend_id == NO_BACKEND:
            continue
        specs[kind] = spec_of(store, kind, backend_id, allow_untrained=allow_untrained)
        for model in specs[kind].models:
            store.path(model)
    return specs


def needed_models(settings: Settings, store: ModelStore) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the models that the chosen backends need, and why some backends cannot be had.

    Raises:
        ConfigError: there is no such backend.
    """
    needed: dict[str, None] = {}
    problems = []
    for kind in LOAD_ORDER:
        backend_id = chosen_backend(settings, kind)
        if backend_id == NO_BACKEND:
            continue
        try:
            needed.update(dict.fromkeys(spec_of(store, kind, backend_id).models))
        except BackendError as error:
            problems.append(str(error))
    return tuple(needed), tuple(problems)


def check_output(path: Path, *read: Path, suffix: str = "") -> None:
    """See that a file can be written before the work for it is done.

    Args:
        path: of the file.
        read: files that the work reads, and must not write over.
        suffix: that it must have, if it has one: nothing else is written.

    Raises:
        ConfigError: it cannot, and why.
    """
    if path.is_dir():
        raise ConfigError(f"{path} is a folder.", advice="Name a file.")
    if not path.parent.is_dir():
        raise ConfigError(f"The folder {path.parent} does not exist.", advice="Make it first.")
    target = path if path.exists() else path.parent
    if not os.access(target, os.W_OK):
        raise ConfigError(f"{target} cannot be written.", advice="Choose another place.")
    if path.exists() and any(other.exists() and path.samefile(other) for other in read):
        raise ConfigError(
            f"{path} is the file that is read; it would be lost.", advice="Name another file."
        )
    if suffix and path.suffix.lower() not in ("", suffix):
        raise ConfigError(
            f"{path} is not named as what is written: a {suffix.lstrip('.').upper()} file.",
            advice=f"End its name in {suffix}.",
        )

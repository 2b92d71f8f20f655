"""Optional models: taken from a hub or a folder as they first come, and checked ever after."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import ModelFileError, ModelMissingError
from engine.core.types import BackendKind
from engine.store.manifest import HubSource, ModelEntry
from engine.store.models import ModelState, ModelStore
from tests.unit.store.helpers import make_folder, manifest

pytestmark = pytest.mark.integration

INDEX = {
    "weight_map": {
        "llm.layers.0.weight": "model-1.safetensors",
        "perception.a": "model-2.safetensors",
        "perception.b": "model-3.safetensors",
        "llm.layers.1.weight": "model-3.safetensors",
    }
}
FILES = {
    "config.json": b'{"model_type": "tiny"}',
    "model.safetensors.index.json": json.dumps(INDEX).encode(),
    "model-1.safetensors": b"words " * 50,
    "model-2.safetensors": b"sound " * 50,
    "model-3.safetensors": b"both " * 50,
    "notes/config.json": b"{}",
}
TOWER = HubSource(
    "owner/name",
    files=(("model.safetensors.index.json", "config.json"),),
    tensors=("perception.",),
)
TOWER_FILES = [
    "config.json",
    "model-2.safetensors",
    "model-3.safetensors",
    "model.safetensors.index.json",
]
EITHER = HubSource("owner/name", files=(("*.safetensors", "config.json"), ("*.nemo",)))


def optional(hub: HubSource) -> ModelEntry:
    return ModelEntry("tiny", "Tiny", BackendKind.DIARIZER, "MIT", "A tiny model.", hub=hub)


class Hub:
    """A model hub on this machine: one repository, and the commits it ever had."""

    def __init__(self) -> None:
        self.commits: dict[str, dict[str, bytes]] = {"c1": dict(FILES)}
        self.head = "c1"
        self.lies: dict[str, bytes] = {}
        self.address = ""

    def answer(self, path: str) -> bytes | None:
        if path == "/api/models/owner/name/revision/main?blobs=true":
            return json.dumps({"sha": self.head, "siblings": self._siblings()}).encode()
        _, _, place = path.partition("/owner/name/resolve/")
        commit, _, name = place.partition("/")
        return self.lies.get(name, self.commits.get(commit, {}).get(name))

    def _siblings(self) -> list[dict[str, Any]]:
        found = []
        for name, content in self.commits[self.head].items():
            sibling: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": "x"}
            if not name.endswith(".json"):
                sha256 = hashlib.sha256(content).hexdigest()
                sibling["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 100}
            found.append(sibling)
        return found


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = hub.answer(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, name="hub")
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    yield hub
    server.shutdown()
    thread.join()
    server.server_close()


def store_of(tmp_path: Path, hub: Hub, source: HubSource = TOWER) -> ModelStore:
    return ModelStore(
        tmp_path / "models", manifest(optional(source)), pip_command=(), hub_endpoint=hub.address
    )


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_model_when_never_fetched_then_missing_and_the_command_is_named(
    tmp_path: Path, hub: Hub
) -> None:
    store = store_of(tmp_path, hub)
    assert store.list()[0].state is ModelState.MISSING
    with pytest.raises(ModelMissingError, match="vivavoce models pull tiny"):
        store.path("tiny")


def test_pull_when_first_then_only_the_files_with_the_tensors_asked_for(
    tmp_path: Path, hub: Hub
) -> None:
    store = store_of(tmp_path, hub)
    assert files_in(store.pull("tiny")) == TOWER_FILES
    store.verify("tiny")
    assert store.list()[0].state is ModelState.INSTALLED
    assert store.list()[0].entry.size_bytes == sum(len(FILES[name]) for name in TOWER_FILES)


def test_verify_when_a_file_was_altered_afterwards_then_refused(tmp_path: Path, hub: Hub) -> None:
    store = store_of(tmp_path, hub)
    altered = store.pull("tiny") / "model-2.safetensors"
    altered.write_bytes(altered.read_bytes().replace(b"sound", b"noise"))
    # Another process, which was not there the first time.
    with pytest.raises(ModelFileError, match=r"model-2\.safetensors"):
        store_of(tmp_path, hub).verify("tiny")
    store.pull("tiny")
    store.verify("tiny")


def test_pull_when_the_repository_has_moved_on_then_what_came_first_counts(
    tmp_path: Path, hub: Hub
) -> None:
    store = store_of(tmp_path, hub)
    folder = store.pull("tiny")
    hub.commits["c2"], hub.head = {**FILES, "model-2.safetensors": b"other " * 50}, "c2"
    (folder / "model-2.safetensors").unlink()
    store.pull("tiny")
    assert (folder / "model-2.safetensors").read_bytes() == FILES["model-2.safetensors"]


def test_pull_when_the_file_is_not_what_the_hub_lists_then_refused_and_nothing_is_recorded(
    tmp_path: Path, hub: Hub
) -> None:
    store = store_of(tmp_path, hub)
    hub.lies["model-2.safetensors"] = b"noise " * 50
    with pytest.raises(ModelFileError, match="damaged or another file"):
        store.pull("tiny")
    assert store.list()[0].state is ModelState.MISSING
    hub.lies.clear()
    store.pull("tiny")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.safetensors", "config.json", "a.nemo"], ["a.safetensors", "config.json"]),
        (["config.json", "a.nemo"], ["a.nemo"]),
    ],
)
def test_pull_when_there_are_two_forms_then_the_first_of_them(
    tmp_path: Path, hub: Hub, names: list[str], expected: list[str]
) -> None:
    hub.commits["c1"] = {name: name.encode() for name in names}
    assert files_in(store_of(tmp_path, hub, EITHER).pull("tiny")) == expected


@pytest.mark.parametrize("content", [{}, {"readme.txt": b"x"}])
def test_pull_when_the_repository_has_no_such_files_then_says_so(
    tmp_path: Path, hub: Hub, content: dict[str, bytes]
) -> None:
    hub.commits["c1"] = content
    with pytest.raises(ModelFileError, match="holds no files of the model tiny"):
        store_of(tmp_path, hub).pull("tiny")


@pytest.mark.parametrize(
    "index",
    [b"not json", b'{"weight_map": 3}', b'{"weight_map": {"perception.a": "../../evil"}}'],
)
def test_pull_when_the_index_is_hostile_then_refused(
    tmp_path: Path, hub: Hub, index: bytes
) -> None:
    hub.commits["c1"]["model.safetensors.index.json"] = index
    with pytest.raises(ModelFileError):
        store_of(tmp_path, hub).pull("tiny")


def test_pull_when_from_a_folder_then_recorded_and_another_folder_is_refused(
    tmp_path: Path, hub: Hub
) -> None:
    store = store_of(tmp_path, hub)
    folder = store.pull("tiny", source=make_folder(tmp_path / "copy", FILES))
    assert files_in(folder) == TOWER_FILES
    store.verify("tiny")
    other = make_folder(tmp_path / "other", {**FILES, "config.json": b'{"model_type": "twin"}'})
    with pytest.raises(ModelFileError, match=r"config\.json"):
        store.pull("tiny", source=other)
    store.verify("tiny")


def test_pull_when_the_hub_answers_with_a_page_then_refused(tmp_path: Path, hub: Hub) -> None:
    hub.answer = lambda _: b"<html>Log in</html>"  # type: ignore[method-assign]
    with pytest.raises(ModelFileError, match="cannot be read"):
        store_of(tmp_path, hub).pull("tiny")

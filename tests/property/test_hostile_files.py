"""Whatever bytes a file holds, its reader raises what it says it raises, and nothing else."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from app.captions import CAPTIONS_NAME, CaptionsFile
from app.layout import LAYOUT_NAME, LayoutFile
from app.phrases import PHRASES_NAME, PhraseBook
from engine.core.config import Settings, load_settings
from engine.core.errors import ConfigError, StoreError
from engine.store.event_json import EVENT_TYPES, EventFile, decode_event, encode_event
from engine.store.header import HEADER_NAME, SessionHeader, read_header
from engine.store.library import SessionLibrary
from engine.store.manifest import load_manifest

pytestmark = pytest.mark.property

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
bytes_of_any_kind = st.binary(max_size=200)


def _object(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with some of the names that a reader looks for, of any values."""
    return st.dictionaries(st.sampled_from(names), values, max_size=len(names))


def _in_a_file(name: str, content: bytes, read: Callable[[Path], object]) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        read(Path(folder))


headers = _object(list(SessionHeader.__dataclass_fields__))


@given(bytes_of_any_kind | headers.map(lambda value: json.dumps(value).encode()))
def test_header_when_it_is_anything_then_read_or_value_error(content: bytes) -> None:
    def read(folder: Path) -> None:
        try:
            header = read_header(folder)
        except ValueError:
            return
        assert header.sample_rate > 0
        assert header.num_samples >= 0

    _in_a_file(HEADER_NAME, content, read)


@given(bytes_of_any_kind | headers.map(lambda value: json.dumps(value).encode()))
def test_library_when_a_header_is_anything_then_the_session_is_listed(content: bytes) -> None:
    with TemporaryDirectory() as root:
        folder = Path(root) / "20260101-000000-aaaa"
        folder.mkdir()
        (folder / HEADER_NAME).write_bytes(content)
        assert len(SessionLibrary(Path(root)).list()) == 1


events = st.sampled_from(sorted(EVENT_TYPES)).flatmap(
    lambda name: _object(list(EVENT_TYPES[name].__dataclass_fields__)).map(
        lambda fields: json.dumps({"event": name, **fields}).encode()
    )
)


@given(bytes_of_any_kind | events | values.map(lambda value: json.dumps(value).encode()))
def test_event_when_it_is_anything_then_decoded_or_value_error(line: bytes) -> None:
    try:
        event = decode_event(line)
    except ValueError:
        return
    assert event is None or decode_event(encode_event(event)) is not None


@given(st.lists(bytes_of_any_kind | events, max_size=6).map(b"\n".join))
def test_session_when_its_journal_is_anything_then_a_document_comes_of_it(content: bytes) -> None:
    with TemporaryDirectory() as root:
        folder = Path(root) / "20260101-000000-aaaa"
        folder.mkdir()
        (folder / "events.jsonl").write_bytes(content)
        stored = SessionLibrary(Path(root)).open("last")
        stored.document()
        num_lines = len(content.split(b"\n"))
        assert 0 <= stored.num_skipped <= num_lines
        list(EventFile(folder / "events.jsonl").read())


def _toml(value: dict[str, Any]) -> bytes:
    try:
        return tomli_w.dumps(value).encode()
    except (TypeError, ValueError, UnicodeEncodeError):
        return repr(value).encode("utf-8", "replace")


chosen = _object([*Settings.__dataclass_fields__, "unknown"]).map(_toml)


@given(bytes_of_any_kind | chosen)
def test_settings_when_the_file_is_anything_then_read_or_config_error(content: bytes) -> None:
    def read(home: Path) -> None:
        try:
            load_settings({"VIVAVOCE_HOME": str(home)})
        except ConfigError:
            return

    with TemporaryDirectory() as home:
        (Path(home) / "config").mkdir()
        (Path(home) / "config" / "settings.toml").write_bytes(content)
        read(Path(home))


@given(
    st.dictionaries(
        st.sampled_from([f"VIVAVOCE_{name.upper()}" for name in Settings.__dataclass_fields__]),
        st.text(st.characters(exclude_characters="\0"), max_size=12),
        max_size=4,
    )
)
def test_settings_when_the_environment_is_anything_then_read_or_config_error(
    environment: dict[str, str],
) -> None:
    with TemporaryDirectory() as home:
        try:
            load_settings({**environment, "VIVAVOCE_HOME": home})
        except ConfigError:
            return


@given(bytes_of_any_kind | _object(["shows_delays", "motion", "x"]).map(_toml))
def test_layout_when_the_file_is_anything_then_there_is_one(content: bytes) -> None:
    _in_a_file(LAYOUT_NAME, content, lambda folder: LayoutFile(folder).layout.motion)


@given(bytes_of_any_kind | _object(["lines", "size_pt", "phrases"]).map(_toml))
def test_captions_and_phrases_when_their_files_are_anything_then_there_are_some(
    content: bytes,
) -> None:
    _in_a_file(CAPTIONS_NAME, content, lambda folder: CaptionsFile(folder).look)
    _in_a_file(PHRASES_NAME, content, PhraseBook)


_TEXTS = ("id", "title", "kind", "licence", "card", "wheel", "hub", "url", "note")
members = st.lists(_object(["name", "size_bytes", "sha256", "x"]), max_size=2)
entries = st.fixed_dictionaries(
    {}, optional={"members": values | members, **dict.fromkeys(_TEXTS, values)}
)


@given(bytes_of_any_kind | st.lists(entries, max_size=2).map(lambda e: _toml({"model": e})))
def test_manifest_when_it_is_anything_then_read_or_config_error(content: bytes) -> None:
    def read(folder: Path) -> None:
        try:
            load_manifest(folder / "models.toml")
        except ConfigError:
            return

    _in_a_file("models.toml", content, read)


def test_store_error_when_events_are_a_folder_then_it_is_the_documented_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(StoreError):
        list(EventFile(tmp_path).read())


wav_headers = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1), st.integers(0, 2**16 - 1),
    st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1),
)  # fmt: skip


@settings(max_examples=60)
@given(wav_headers, st.binary(max_size=300), st.integers(0, 400))
def test_audio_when_its_header_is_anything_then_read_or_audio_file_error(
    numbers: tuple[int, ...], body: bytes, cut: int
) -> None:
    from engine.audio.files import read_audio
    from engine.core.errors import AudioFileError

    riff, tag, channels, rate, bits, size = numbers
    head = struct.pack("<IHHIIHH", 16, tag, channels, rate, rate, 2, bits)
    content = b"RIFF" + struct.pack("<I", riff) + b"WAVEfmt " + head
    content += b"data" + struct.pack("<I", size) + body

    def read(folder: Path) -> None:
        try:
            pcm, found = read_audio(folder / "x.wav")
        except AudioFileError:
            return
        assert len(pcm) > 0
        assert found > 0

    _in_a_file("x.wav", content[: max(1, len(content) - cut)], read)

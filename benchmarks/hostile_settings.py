"""Settings, the window's arrangement, environment, and lists of models that make no sense."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from app.captions import CAPTIONS_NAME, CaptionsFile
from app.layout import LAYOUT_NAME, LayoutFile
from app.phrases import PHRASES_NAME, PhraseBook
from benchmarks.hostile_case import Case, Expects, Run
from benchmarks.hostile_commands import call, command
from engine.store.manifest import load_manifest

_MB = 2**20
_BROKEN = {
    "no TOML": b"= = =", "no UTF-8": b'input = "\xff"', "zero bytes": bytes(300),
    "cut short": b'input = "defau', "twice a key": b'input = "a"\ninput = "b"',
    "deep": b"a = " + b"[" * 50_000, "deep tables": b"[" + b"a." * 50_000 + b"a]",
    "large": b"# " + b"x" * (20 * _MB), "UTF-16": 'input = "a"'.encode("utf-16"),
    "a long number": b"num_threads = " + b"9" * 10_000, "a date": b"text_size_pt = 1979-05-27",
}  # fmt: skip
_WRONG = {
    "unknown": "volume = 11", "negative": "num_threads = -1", "too many": "num_threads = 100000",
    "a text for a number": 'text_size_pt = "big"', "NaN": "end_of_speech_fade_ms = nan",
    "infinite": "end_of_speech_fade_ms = inf", "a float for a number": "num_threads = 1.5",
    "a list": "input = []", "a table": "[input]", "no choice": 'keep = "everything"',
    "a number for a text": "input = 7", "a truth": "num_threads = true",
    "a NUL": 'models_dir = "a\\u0000b"', "a NUL in an id": 'recognizer = "whisper:\\u0000"',
    "a NUL in a device": 'input = "file:a\\u0000b"', "lookback": 'lookback_frames = "-3"',
    "digits of another script": 'lookback_frames = "\u00b2"',
    "a backend of nobody": 'recognizer = "../../x"', "a long id": f'recognizer = "{"x" * 9999}"',
    "a long path": f'sessions_dir = "/{"x" * 5000}"', "nobody's home": 'sessions_dir = "~no-one/x"',
    "a path that is a file": 'sessions_dir = "/etc/passwd"',
    "a path of devices": 'sessions_dir = "/dev/zero/x"',
}  # fmt: skip
_MODEL = (
    '[[model]]\nid = "a"\ntitle = "A"\nkind = "recognizer"\nlicence = "MIT"\ncard = "c"\n'
    'members = [{{ name = "{name}", size_bytes = {size}, sha256 = "{sha}" }}]\n'
)
_SHA = "0" * 64


def cases(seed: int) -> Iterator[Case]:
    """Yield bad files of settings, of layout, and manifests; and bad variables."""
    rng = np.random.default_rng(seed)
    contents = _BROKEN | {name: text.encode() for name, text in _WRONG.items()}
    contents |= {f"noise {n}": rng.bytes(200) for n in range(4)}
    commands: tuple[tuple[str, ...], ...] = (
        ("sessions", "list"),
        ("transcribe", "demo", "--recognizer", "fake", "--diarizer", "none"),
    )
    for name, content in contents.items():
        for what in commands:
            # What a command does not ask for, it need not refuse.
            is_any = what[0] == "transcribe" or name in _PLACES or name in _IDS
            expects = Expects.EITHER if is_any else Expects.REFUSED
            yield Case("settings", f"{name}, {what[0]}", _settings(content, what), expects)
        yield Case("layout", name, _layout(content), Expects.WHOLE)
    for name, change in _THINGS.items():
        yield Case("settings", f"is {name}", _thing(change), Expects.REFUSED)
        yield Case("layout", f"is {name}", _layout_thing(change), Expects.WHOLE)
    for name, value in _VARIABLES.items():
        key, _, setting = value.partition("=")
        yield Case("environment", name, _variable(key, setting), Expects.EITHER)
    for name, text in _manifests().items():
        yield Case("manifests", name, _manifest(text), Expects.REFUSED)
    for name in ("no TOML", "no UTF-8", "zero bytes", "deep", "large", "a long number"):
        yield Case("manifests", name, _manifest(_BROKEN[name]), Expects.REFUSED)


_PLACES = (
    "a long path", "nobody's home", "a path that is a file", "a path of devices",
)  # fmt: skip
_IDS = ("a backend of nobody", "a long id")
_VARIABLES = {
    "threads of text": "VIVAVOCE_NUM_THREADS=many", "no UTF-8": "VIVAVOCE_INPUT=\udcff\udcfe",
    "surrogate in a folder": "VIVAVOCE_SESSIONS_DIR=\udcff", "empty": "VIVAVOCE_NUM_THREADS=",
    "home of nobody": "VIVAVOCE_HOME=~nobody-of-this-name", "home a file":
    "VIVAVOCE_HOME=/etc/passwd", "home of devices": "VIVAVOCE_HOME=/dev/null/x",
    "a long home": f"VIVAVOCE_HOME=/tmp/{'x' * 300}", "NaN": "VIVAVOCE_END_OF_SPEECH_FADE_MS=nan",
}  # fmt: skip


def _settings(content: bytes, what: tuple[str, ...]) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        config = folder.parent / "home" / "config"
        config.mkdir(parents=True)
        (config / "settings.toml").write_bytes(content)
        return command(*what)

    return prepare


def _thing(make: Callable[[Path], object]) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        config = folder.parent / "home" / "config"
        config.mkdir(parents=True)
        make(config / "settings.toml")
        return command("sessions", "list")

    return prepare


def _layout(content: bytes) -> Callable[[Path], Run]:
    return _layout_thing(lambda path: path.write_bytes(content))


def _layout_thing(make: Callable[[Path], object]) -> Callable[[Path], Run]:
    """Return the reading of the three small files of the window."""

    def prepare(folder: Path) -> Run:
        for name in (LAYOUT_NAME, CAPTIONS_NAME, PHRASES_NAME):
            make(folder / name)
        return call(
            lambda: (LayoutFile(folder).layout, CaptionsFile(folder).look, PhraseBook(folder))
        )

    return prepare


def _variable(key: str, value: str) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        def run() -> int:
            os.environ[key] = value
            return command("sessions", "list")()

        return run

    return prepare


def _manifest(text: bytes) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        path = folder / "models.toml"
        path.write_bytes(text)
        return call(lambda: load_manifest(path))

    return prepare


def _manifests() -> dict[str, bytes]:
    good = _MODEL.format(name="x.bin", size=5, sha=_SHA)
    found = {
        f"member {name!r}": _MODEL.format(name=name, size=5, sha=_SHA)
        for name in ("../x", "/etc/x", "a/../../x", "C:x", "a\\\\b", ".", "", "a//b", "a\\u0000b")
    }
    found |= {
        f"size {size}": _MODEL.format(name="x", size=size, sha=_SHA)
        for size in ("-1", "0", "1e400", '"5"', "9" * 400, "[5]")
    }
    found |= {
        f"hash {sha[:8]!r}": _MODEL.format(name="x", size=5, sha=sha)
        for sha in ("", "0" * 63, "G" * 64, "A" * 64)
    }
    changes = {
        "id of a path": ('id = "a"', 'id = "../a"'), "id of dots": ('id = "a"', 'id = ".."'),
        "kind of nothing": ('"recognizer"', '"oracle"'), "unknown key": ("card", "cart"),
        "no licence": ('licence = "MIT"\n', ""),
        "members a number": ("members = [", "members = 5#["),
        "member a text": ("members = [", 'members = ["x"] #['), "title a list": ('"A"', "[]"),
    }  # fmt: skip
    found |= {name: good.replace(old, new) for name, (old, new) in changes.items()}
    found |= {
        "same id twice": good + good, "model a table": "[model]\nid = 1", "model a number":
        "model = 5", "model of numbers": "model = [1, 2]",
        "address without TLS": good + '[model.url]\nbase = "http://example.org/x"\n',
        "address of files": good + '[model.url]\nbase = "file:///etc"\n',
        "repository outside": good + '[model.hub]\nrepo = "../../x"\n',
        "package with options": good + '[model.wheel]\npackage = "x --index-url y"\n'
        f'version = "1"\nsize_bytes = 1\nsha256 = "{_SHA}"\n',
        "version with options": good + '[model.wheel]\npackage = "x"\n'
        f'version = "1 --pre"\nsize_bytes = 1\nsha256 = "{_SHA}"\n',
        "wheel without size": good + '[model.wheel]\npackage = "x"\n'
        f'version = "1"\nsize_bytes = 0\nsha256 = "{_SHA}"\n',
    }  # fmt: skip
    return {name: text.encode() for name, text in found.items()}


_THINGS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
}

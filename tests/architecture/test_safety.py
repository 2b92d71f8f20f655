"""No code runs from a file, nothing is fetched or heard by others, no word said is in a log."""

import ast
import logging
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import numpy as np
import pytest

from engine.cli.main import main
from engine.core.resources import resource_path
from engine.models.nanocodec.codes_file import CodeLayout, CodesFile, write_codes
from engine.models.nanocodec.config import NANOCODEC_21HZ
from engine.store.fetch import HUB_ENDPOINT
from engine.store.manifest import load_manifest
from tests.helpers.cli import ROOT, cli_environment

_FAKES = ("--recognizer", "fake", "--diarizer", "fake")
_SPOKEN = "Quetzalcoatl befuddles zookeepers. Xylophones hibernate underwater."

_FORBIDDEN_CALLS = re.compile(
    r"(builtins\.)?(eval|exec|compile|__import__)|pickle\..*|marshal\..*|shelve\..*|dill\..*"
    r"|yaml\.(load|load_all|full_load|full_load_all|unsafe_load|unsafe_load_all)"
    r"|os\.(system|popen|exec\w*|spawn\w*)|torch\.(jit\.load|hub\..*)|joblib\.load"
    r"|.*\.(extractall|extract)|tempfile\.mktemp|ssl\._create_unverified_context"
)
_FORBIDDEN_ARGUMENTS = {
    ("shell", True), ("allow_pickle", True), ("trust_remote_code", True), ("verify", False),
    ("weights_only", False), ("check_hostname", False),
}  # fmt: skip
_NETWORK = {"socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "huggingface_hub",
            "socketserver", "xmlrpc", "ftplib", "smtplib", "asyncio", "webbrowser"}  # fmt: skip
_MAY_USE_THE_NETWORK = {
    "engine/store/fetch.py": {"http", "ssl", "urllib"},
    "engine/store/first_use.py": {"urllib"},  # quotes a name in an address that fetch opens
    "engine/models/nanocodec/loading.py": {"huggingface_hub"},  # looks into a cache
    "app/lifecycle.py": {"socket"},  # a pair within the process
}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for package in ("app", "engine"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def _violations(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if _FORBIDDEN_CALLS.fullmatch(name) and not name.startswith("re."):
            found.append(name)
        arguments = {
            (keyword.arg, keyword.value.value)
            for keyword in node.keywords
            if isinstance(keyword.value, ast.Constant)
        }
        found += [f"{name}({key}={value})" for key, value in arguments & _FORBIDDEN_ARGUMENTS]
        if name == "torch.load" and ("weights_only", True) not in arguments:
            found.append("torch.load")
    return found


@pytest.mark.parametrize(
    "code",
    [
        "eval(x)", "exec(x)", "pickle.loads(x)", "yaml.load(x)", "yaml.unsafe_load(x)",
        "torch.load(x)", "torch.load(x, weights_only=False)", "np.load(x, allow_pickle=True)",
        "subprocess.run(x, shell=True)", "os.system(x)", "tar.extractall(x)", "tempfile.mktemp()",
    ],
)  # fmt: skip
def test_check_when_code_is_unsafe_then_it_is_found(code):
    assert _violations(ast.parse(code))


def test_check_when_code_is_safe_then_nothing_is_found():
    code = "yaml.safe_load(x); torch.load(x, weights_only=True); np.load(x, allow_pickle=False)"
    assert _violations(ast.parse(code + "; re.compile(x)")) == []


def test_code_when_searched_then_nothing_runs_what_a_file_says():
    found = {name: problems for name, tree in _modules() if (problems := _violations(tree))}
    assert found == {}


def test_code_when_searched_then_the_network_is_behind_few_modules():
    found: dict[str, set[str]] = {}
    for name, tree in _modules():
        for node in ast.walk(tree):
            imported = []
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported = [node.module]
            used = {module.partition(".")[0] for module in imported} & _NETWORK
            if used:
                found.setdefault(name, set()).update(used)
    assert found == _MAY_USE_THE_NETWORK


def test_downloads_when_their_callers_are_listed_then_only_the_store_asks_for_them():
    graph = grimp.build_graph("engine", "app", cache_dir=None)
    callers = graph.find_modules_that_directly_import("engine.store.fetch")
    assert callers == {"engine.store.models", "engine.store.sources", "engine.store.first_use"}


def test_manifest_when_read_then_every_address_is_over_tls_and_every_file_has_a_hash():
    models = load_manifest().models
    assert HUB_ENDPOINT.startswith("https://")
    assert all(model.url is None or model.url.base.startswith("https://") for model in models)
    assert all(re.fullmatch("[0-9a-f]{64}", m.sha256) for model in models for m in model.members)


_WATCHED = """
import os, socket, sys, threading, time

families = {socket.AF_INET: "IPv4", socket.AF_INET6: "IPv6"}
met, is_over = set(), threading.Event()

def hook(event, arguments):
    if event == "socket.__new__" and arguments[1] in families:
        met.add(f"a socket of {families[arguments[1]]}")
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        met.add(f"a look-up of {arguments[0]}")

def watch():
    # Libraries in C open sockets that Python does not hear of.
    while not is_over.wait(0.05):
        ours = set()
        for name in os.listdir("/proc/self/fd"):
            try:
                ours.add(os.readlink(f"/proc/self/fd/{name}").removeprefix("socket:[")[:-1])
            except OSError:
                continue
        for table in ("tcp", "tcp6", "udp", "udp6"):
            try:
                lines = open(f"/proc/self/net/{table}").read().splitlines()[1:]
            except OSError:
                continue
            met.update(f"{table} {line.split()[1]}" for line in lines if line.split()[9] in ours)

sys.addaudithook(hook)
watcher = threading.Thread(target=watch)
watcher.start()
from engine.cli.main import main
status = main(sys.argv[1:])
is_over.set()
watcher.join()
print("MET", sorted(met))
sys.exit(status)
"""


def _run_watched(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _WATCHED, *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=ROOT,
        env=cli_environment(),
        check=False,
    )


def test_listen_when_it_runs_then_no_network_socket_is_made():
    done = _run_watched("listen", "--input", "demo", "--fast", "--keep", "text", *_FAKES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("MET []\n")


@pytest.mark.models
@pytest.mark.slow
def test_real_models_when_they_run_then_no_network_socket_is_made(tmp_path):
    done = _run_watched("transcribe", "demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("MET []\n")
    done = _run_watched("say", "Hello there.", "-o", str(tmp_path / "x.wav"))
    if "piper" not in done.stderr:
        assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("MET []\n")


def test_watch_when_a_server_listens_then_it_is_met():
    code = _WATCHED.replace(
        "status = main(sys.argv[1:])",
        "server = socket.create_server(('127.0.0.1', 0)); time.sleep(0.3); status = 0",
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=cli_environment(),
        check=True,
    )
    assert "a socket of IPv4" in done.stdout
    assert "tcp 0100007F:" in done.stdout


@pytest.fixture
def _everything_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    names = ("engine", "app")
    with caplog.at_level(logging.DEBUG):
        yield
    for name in names:
        logging.getLogger(name).setLevel(logging.NOTSET)


def _words_in_logs(words: set[str], home: Path, caplog: pytest.LogCaptureFixture) -> set[str]:
    logged = caplog.text + "".join(path.read_text() for path in home.rglob("*.log*"))
    return {word for word in words if re.search(rf"\b{re.escape(word)}\b", logged, re.IGNORECASE)}


def _long_words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Za-z]{5,}", text)}


@pytest.mark.usefixtures("_everything_is_logged")
def test_log_when_everything_is_logged_then_holds_no_word_heard_or_spoken(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    # Logged on purpose, to see that the search would find it.
    logging.getLogger("engine.test").debug("zanzibar")
    heard = f"fake:{_SPOKEN}"
    for arguments in (
        ["listen", "--input", "demo", "--fast", "--recognizer", heard, "--diarizer", "fake",
         "--keep", "audio-and-text"],
        ["sessions", "show", "last"],
        ["sessions", "export", "last", "-o", str(tmp_path / "x.json")],
        ["say", _SPOKEN, "-o", str(tmp_path / "x.wav"), "--voice", "fake"],
        ["say", f"{_SPOKEN} \x00", "-o", str(tmp_path / "nowhere" / "x"), "--voice", "fake"],
    ):  # fmt: skip
        main(["-v", *arguments])
    assert "quetzalcoatl" in (tmp_path / "x.json").read_text().lower()
    assert _words_in_logs({"zanzibar"}, home, caplog) == {"zanzibar"}
    assert _words_in_logs(_long_words(_SPOKEN), home, caplog) == set()


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.usefixtures("_everything_is_logged")
def test_log_when_real_models_hear_the_demo_then_holds_no_word_of_it(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    out = tmp_path / "x.txt"
    logging.getLogger("engine.test").debug("zanzibar")
    assert main(["-v", "transcribe", "demo", "-o", str(out)]) == 0
    said = _long_words(out.read_text())
    assert len(said) > 20
    # Words that the program says of itself, wherever it runs.
    said -= _long_words((ROOT / "README.md").read_text())
    said &= _long_words(resource_path("demo/conversation.txt").read_text())
    assert _words_in_logs({"zanzibar", *said}, home, caplog) == {"zanzibar"}


def test_files_when_everybody_could_read_new_ones_then_ours_are_the_owners_alone(
    home: Path, tmp_path: Path
):
    out = tmp_path / "out"
    out.mkdir()
    before = os.umask(0)
    try:
        for arguments in (
            ["listen", "--input", "demo", "--fast", "--keep", "audio-and-text", *_FAKES],
            ["transcribe", "demo", "-o", str(out / "a.srt"), *_FAKES],
            ["sessions", "export", "last", "-o", str(out / "a.txt")],
            ["say", "Hello.", "-o", str(out / "a.wav"), "--voice", "fake"],
        ):
            assert main(arguments) == 0
        codes = np.zeros((3, NANOCODEC_21HZ.num_dims), np.int64)
        content = CodesFile(NANOCODEC_21HZ.codec_id, CodeLayout.PER_DIMENSION, codes)
        write_codes(out / "a.npz", content)
    finally:
        os.umask(before)
    sessions = home / "data" / "sessions"
    files = [path for root in (sessions, out) for path in root.rglob("*") if path.is_file()]
    folders = [sessions, *(path for path in sessions.rglob("*") if path.is_dir())]
    assert len(files) >= 7
    assert {path: stat.S_IMODE(path.stat().st_mode) for path in files} == dict.fromkeys(
        files, 0o600
    )
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}

"""What may lie in the repository, and how."""

import configparser
import os
import re
import subprocess
from importlib.metadata import distributions
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_BYTES = 2_000_000
MAX_CODE_LINES = 400
# Paths of somebody's machine: homes, mounted work folders, local package mirrors.
_MACHINE_PATHS = re.compile(r"(?<![\w.~/-])/(?:home|Users|root|work|opt|workspace|mnt)/\w")


def _files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("this is no git checkout")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize("folder", ["packaging", "resources"])
def test_folder_when_it_is_no_package_then_has_no_init(folder):
    # packaging/__init__.py would shadow the library of that name.
    assert list((ROOT / folder).rglob("__init__.py")) == []


def test_files_when_committed_then_none_is_big():
    big = {str(p.relative_to(ROOT)): p.stat().st_size for p in _files()}
    assert {name: size for name, size in big.items() if size > MAX_FILE_BYTES} == {}


def test_modules_when_counted_then_each_is_short_enough_to_read():
    modules = [path for name in ("app", "engine") for path in (ROOT / name).rglob("*.py")]
    lengths = {str(p.relative_to(ROOT)): len(p.read_text("utf-8").splitlines()) for p in modules}
    assert {name: n for name, n in lengths.items() if n > MAX_CODE_LINES} == {}


def test_texts_when_read_then_none_names_a_folder_of_one_machine():
    strange = []
    for path in _files():
        if path.suffix in {".flac", ".wav", ".png", ".npz", ".ico"} or path == Path(__file__):
            continue
        text = path.read_text("utf-8", errors="replace")
        strange += [f"{path.relative_to(ROOT)}: {m.group()}" for m in _MACHINE_PATHS.finditer(text)]
    assert strange == []


def test_import_names_when_distributions_are_asked_then_app_and_engine_are_ours_alone():
    others = {
        (dist.metadata["Name"], file.parts[0])
        for dist in distributions()
        if dist.metadata["Name"] != "vivavoce"
        for file in dist.files or ()
        if file.parts[0] in ("app", "engine", "app.py", "engine.py")
    }
    assert others == set()


def test_constraints_when_read_then_every_line_pins_one_version():
    lines = (ROOT / "packaging" / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*==[0-9][\w.]*", pin) for pin in pins)
    assert len({pin.partition("==")[0] for pin in pins}) == len(pins)
    assert "torch==2.13.0" in pins


@pytest.mark.parametrize("name", ["packaging/bootstrap.sh", ".ci/run"])
def test_script_when_read_by_a_plain_shell_then_its_syntax_is_right(name):
    assert os.access(ROOT / name, os.X_OK)
    subprocess.run(["sh", "-n", str(ROOT / name)], check=True)


def test_desktop_files_when_read_then_they_name_each_other_and_the_command():
    app_id = "org.vivavoce.VivaVoce"
    metainfo = ElementTree.parse(ROOT / "packaging" / f"{app_id}.metainfo.xml").getroot()
    assert metainfo.findtext("id") == app_id
    assert metainfo.findtext("launchable") == f"{app_id}.desktop"
    desktop = configparser.ConfigParser(interpolation=None)
    desktop.read(ROOT / "packaging" / f"{app_id}.desktop")
    assert desktop["Desktop Entry"]["Exec"] == "vivavoce"
    assert metainfo.findtext("provides/binary") == "vivavoce"

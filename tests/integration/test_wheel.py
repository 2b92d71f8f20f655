"""The wheel, installed into an environment of its own and run from another folder."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import engine
from tests.helpers.cli import ROOT

pytestmark = pytest.mark.slow


def _run(*command: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**inherited, **env},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder))
    _run(*build, str(ROOT), cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel; its dependencies are borrowed, not downloaded."""
    folder = tmp_path_factory.mktemp("installed") / "env"
    _run(sys.executable, "-m", "venv", "--without-pip", str(folder), cwd=folder.parent)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python), "install")
    _run(*pip, "--no-deps", "--no-index", "--quiet", str(wheel), cwd=folder.parent)
    (site,) = folder.glob("lib/python*/site-packages")
    # A path added this way is only searched: the .pth files in it, such as that of an editable
    # install of this checkout, are not followed.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_wheel_when_opened_then_code_and_resources_are_in_it(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"app", "engine"}
    for resource in ("models.toml", "demo/conversation.flac", "demo/conversation.rttm"):
        assert f"app/resources/{resource}" in names
    assert {n.rsplit("/", 1)[1] for n in names if "/licenses/" in n} == {"LICENSE", "NOTICE"}


def test_version_when_installed_then_comes_from_the_wheel(installed, tmp_path):
    done = _run(str(installed / "bin" / "vivavoce"), "--version", cwd=tmp_path)
    assert done.stdout.strip() == f"vivavoce {engine.__version__}"
    code = (
        "import engine, engine.core.resources as r; print(engine.__file__, r.resource_path('demo'))"
    )
    done = _run(str(installed / "bin" / "python"), "-c", code, cwd=tmp_path)
    assert all(place.startswith(str(installed)) for place in done.stdout.split())


def test_listen_when_installed_then_runs_on_fakes_from_another_folder(installed, tmp_path):
    listen = ("listen", "--input", "demo", "--fast", "--recognizer", "fake", "--diarizer", "fake")
    done = _run(str(installed / "bin" / "vivavoce"), *listen, cwd=tmp_path)
    assert len(done.stdout.splitlines()) >= 5
    assert list(tmp_path.glob("*.py")) == []

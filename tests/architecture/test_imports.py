"""Who may import whom, by the graph of imports."""

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
_SHARED_BACKENDS = {"protocols", "registry"}


def test_import_contracts_when_checked_then_all_are_kept():
    # In a process of its own: it sets up logging for itself, and so would disable ours.
    run = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(cache_dir=None))"
    )
    done = subprocess.run(
        [sys.executable, "-c", run], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_backends_when_they_import_each_other_then_only_within_a_family():
    graph = grimp.build_graph("engine", cache_dir=None)
    modules = [m for m in graph.modules if m.startswith("engine.backends.")]

    def family(module: str) -> str:
        return module.rsplit(".", 1)[1].partition("_")[0]

    strange = [
        (module, target)
        for module in modules
        for target in graph.find_modules_directly_imported_by(module)
        if target in modules
        and family(target) not in _SHARED_BACKENDS
        and family(target) != family(module)
        and family(module) not in _SHARED_BACKENDS
    ]
    assert strange == []
    assert len(modules) > 5


@pytest.mark.parametrize("package", ["app", "engine"])
def test_third_party_imports_when_listed_then_the_project_declares_each(package):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *extras["realtime"], *extras["piper"]]
    requirements += extras["nemo"]
    declared = {canonicalize_name(Requirement(text).name) for text in requirements}
    # rtmixer and PySide6 bring modules that lie in distributions of their own.
    declared |= {"pa-ringbuffer", "shiboken6"}
    # An extra that is not installed does not say what it provides.
    providers = {"nemo": ["nemo-toolkit"], **packages_distributions()}
    undeclared = {
        name: sorted(str(path.relative_to(ROOT)) for path in paths)
        for name, paths in _imports(ROOT / package).items()
        if name not in sys.stdlib_module_names
        and name not in ("app", "engine")
        and not {canonicalize_name(d) for d in providers.get(name, [name])} & declared
    }
    assert undeclared == {}


def _imports(folder: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names = [node.module]
            for name in names:
                found.setdefault(name.partition(".")[0], []).append(path)
    return found

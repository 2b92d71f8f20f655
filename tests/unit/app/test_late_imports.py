"""Modules that the app imports late: never Qt's on a worker thread."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit
ROOT = Path(__file__).parents[3]
QT = ("PySide6", "pyqtgraph", "shiboken6", "app")
"""Roots whose import makes types of PySide: not safe beside a running event loop."""
ON_THE_MAIN_THREAD = {
    ("app/logs.py", "PySide6.QtCore"),  # at the start
    ("app/main.py", "app.window"),  # at the start
    ("app/main.py", "app.unexpected"),  # where the window cannot be made
    ("app/unexpected.py", "PySide6.QtWidgets"),  # likewise
    ("app/views/captions/opener.py", "app.views.captions.window"),
    # See tests/gui/test_delays.py.
    ("app/views/health/delays_panel.py", "app.views.health.delay_plots"),
}


def _late_imports(tree: ast.Module) -> Iterator[str]:
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)


def test_late_imports_of_qt_are_few_and_known_to_be_on_the_main_thread() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), module)
        for path in (ROOT / "app").rglob("*.py")
        for module in _late_imports(ast.parse(path.read_text("utf-8")))
        if module.split(".")[0] in QT
    }
    assert found == ON_THE_MAIN_THREAD

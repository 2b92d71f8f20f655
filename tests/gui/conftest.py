"""Windows over scripted sessions, without a display."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.helpers.window import WindowParts


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pass over what the offscreen platform says of windows whose least size changes."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.qt_log_ignore("propagateSizeHints", extend=True))


@pytest.fixture(scope="session")
def qapp_cls() -> type:
    """The program's own style, so that sizes are the same everywhere."""
    from PySide6.QtWidgets import QApplication

    class Application(QApplication):
        def __init__(self, arguments: list[str]) -> None:
            super().__init__(arguments)
            self.setStyle("Fusion")
            self.setQuitOnLastWindowClosed(False)

    return Application


@pytest.fixture
def parts(qtbot: "QtBot", tmp_path: Path) -> Iterator["WindowParts"]:
    """A shown window whose session is scripted and attached, all models ready."""
    from tests.helpers.scripted_session import BACKENDS
    from tests.helpers.window import close_window, make_window

    made = make_window(tmp_path)
    made.window.show()
    made.controller.attach(made.session.as_session())
    made.session.post(*BACKENDS)
    qtbot.waitUntil(lambda: made.window.toolbar.record_button.isEnabled())
    qtbot.waitUntil(lambda: len(made.state.backends) == len(BACKENDS))
    yield made
    close_window(made, qtbot)

"""The delays panel: lazy, remembered, readable without colour, and a report to send."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from pytestqt.qtbot import QtBot

from app.views.delay_history import GROUPS
from engine.core.events import FinalWords, SessionState
from tests.helpers.scripted_session import BACKENDS
from tests.helpers.window import WindowParts, close_window, make_window, started, words

pytestmark = pytest.mark.gui
ROOT = Path(__file__).parents[2]


def _switch(parts: WindowParts) -> QAction:
    return next(a for a in parts.window.menu_actions.view.actions() if a.text() == "Delays")


@pytest.mark.parametrize("is_remembered", [False, True])
def test_the_start_does_not_import_what_the_plots_need(home: Path, is_remembered: bool) -> None:
    if is_remembered:
        (home / "config").mkdir(parents=True)
        (home / "config" / "window.toml").write_text("shows_delays = true\n")
    code = (
        "import os, sys; from app.window import assemble; program = assemble(os.environ);"
        "sys.exit('pyqtgraph' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=os.environ, check=False)
    assert done.returncode == 0


def test_the_panel_plots_the_health_of_a_recording_and_says_it(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.delays_panel
    assert not panel.isVisible()
    _switch(parts).trigger()
    assert panel.isVisible()
    qtbot.waitUntil(lambda: len(panel.plots) == len(GROUPS), timeout=20_000)
    parts.session.length_s = 12.0
    parts.session.post(started())
    parts.session.enter(SessionState.RECORDING)
    qtbot.waitUntil(lambda: panel.values[0].text() == "text shown  0.8 s")
    assert panel.values[0].accessibleName() == "Delay, text shown"
    assert panel.values[0].accessibleDescription() == "0.8 s"
    assert [label.text() for label in panel.values[1:4]] == [
        "text final  1.7 s",
        "speakers  2.1 s",
        "text  0.4 s",
    ]
    for plot, group in zip(panel.plots, GROUPS, strict=True):
        assert plot.widget.isVisible()
        assert group.title in plot.widget.accessibleName()


def test_the_lines_of_a_plot_differ_without_colour_and_in_both_themes(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.delays_panel
    _switch(parts).trigger()
    qtbot.waitUntil(lambda: len(panel.plots) == len(GROUPS), timeout=20_000)
    for theme in ("light", "dark"):
        parts.window.appearance.force(theme)
        for plot in panel.plots:
            styles = [pen.style() for pen in plot.pens]
            assert len(set(styles)) == len(plot.group.series)
            assert Qt.PenStyle.NoPen not in styles
            ground = plot.widget.grab().toImage().pixelColor(60, 20).name()
            assert ground == parts.window.appearance.theme.ground.lower()


def test_the_panel_is_remembered(qtbot: QtBot, tmp_path: Path) -> None:
    parts = make_window(tmp_path)
    parts.window.show()
    parts.controller.attach(parts.session.as_session())
    _switch(parts).trigger()
    panel = parts.window.delays_panel
    qtbot.waitUntil(lambda: len(panel.plots) == len(GROUPS), timeout=20_000)
    close_window(parts, qtbot)
    again = make_window(tmp_path)
    again.window.show()
    assert _switch(again).isChecked()
    assert not again.window.delays_panel.isVisible()  # not before the engine is there
    again.controller.attach(again.session.as_session())
    panel = again.window.delays_panel
    assert panel.isVisible()
    qtbot.waitUntil(lambda: len(panel.plots) == len(GROUPS), timeout=20_000)
    close_window(again, qtbot)


def test_the_report_has_the_figures_and_no_spoken_word(parts: WindowParts, qtbot: QtBot) -> None:
    parts.session.post(started(), FinalWords(words("confidential matters", 0.5, 1.5)))
    qtbot.waitUntil(lambda: len(parts.state.document.lines) > 0)
    _switch(parts).trigger()
    qtbot.waitUntil(lambda: len(parts.window.delays_panel.plots) > 0, timeout=20_000)
    qtbot.mouseClick(parts.window.delays_panel.report_button, Qt.MouseButton.LeftButton)
    report = QGuiApplication.clipboard().text()
    assert parts.window.delays_panel.message.text() == "Copied"
    for backend in BACKENDS:
        assert f"{backend.title} ({backend.backend_id}), CPU, ready" in report
    for part in (
        "Built-in microphone, 16000 Hz",
        "text shown 0.80 s, text final 1.70 s, speakers 2.10 s",
        "backlog: text 0.40 s",
        "drops: the microphone lost sound 0 times",
        "underflows: the loudspeaker ran dry 0 times",
        "memory:",
        "numpy ",
    ):
        assert part in report
    assert "confidential" not in report

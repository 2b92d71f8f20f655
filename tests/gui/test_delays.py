"""The delays panel: lazy, remembered, readable without colour, and a report to send."""

import importlib.abc
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from pytestqt.qtbot import QtBot

from app.report import health_report
from app.state import AppState
from app.theme import Appearance
from app.views.health.delays_panel import DelaysPanel
from app.views.health.health_strip import HealthStrip
from engine.core.config import Settings
from engine.core.events import FinalWords, SessionState
from engine.session.health import Health
from tests.helpers.scripted_session import BACKENDS
from tests.helpers.window import WindowParts, close_window, make_window, started, words

pytestmark = pytest.mark.gui
ROOT = Path(__file__).parents[2]


def _switch(parts: WindowParts) -> QAction:
    return parts.window.menu_actions.action("delays")


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


class _Watch(importlib.abc.MetaPathFinder):
    """Notes on which threads a module is looked for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.threads: list[str] = []

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        del path, target
        if fullname == self._name:
            self.threads.append(threading.current_thread().name)


def test_the_plots_are_imported_on_the_main_thread_when_first_shown(
    parts: WindowParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "app.views.health.delay_plots"
    monkeypatch.delitem(sys.modules, name, raising=False)
    watch = _Watch(name)
    monkeypatch.setattr(sys, "meta_path", [watch, *sys.meta_path])
    _switch(parts).trigger()
    assert len(parts.window.delays_panel.plots) == 4
    assert watch.threads == [threading.main_thread().name]


def test_the_panel_plots_the_health_of_a_recording_and_says_it(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.delays_panel
    assert not panel.isVisible()
    _switch(parts).trigger()
    assert panel.isVisible()
    parts.session.length_s = 12.0
    parts.session.post(started())
    parts.session.enter(SessionState.RECORDING)
    qtbot.waitUntil(lambda: panel.values[0].text() == "text shown  0.8 s")
    assert panel.values[0].accessibleName() == "Delay, text shown"
    assert panel.values[0].accessibleDescription() == "0.8 s"
    assert [label.text() for label in panel.values[1:5]] == [
        "text final  1.7 s",
        "speakers  2.1 s",
        "first sound  –",
        "text  0.4 s",
    ]
    for plot in panel.plots:
        assert plot.widget.isVisible()
        assert plot.group.title in plot.widget.accessibleName()


def test_figures_that_are_not_there_are_not_shown(qtbot: QtBot) -> None:
    panel = DelaysPanel(Appearance("light"))
    qtbot.addWidget(panel)
    panel.show()
    panel.add(Health(1.0, rss_bytes=400_000_000), 0.0)
    shown = {label.accessibleName() for label in panel.values if label.isVisible()}
    assert "Memory, this program" in shown
    assert not shown & {"Memory, on the GPU", "Backlog, settling", "Real-time factor, settling"}
    panel.add(Health(1.0, encoder_backlog_s=38.0, encoder_load=0.5, gpu_bytes=2_500_000_000), 0.5)
    shown = {label.accessibleName(): label.text() for label in panel.values if label.isVisible()}
    assert shown["Memory, on the GPU"] == "on the GPU  2500 MB"
    assert shown["Backlog, settling"] == "settling  38.0 s"
    assert shown["Real-time factor, settling"] == "settling  0.50 ×"


def test_losses_are_told_as_figures(qtbot: QtBot) -> None:
    panel = DelaysPanel(Appearance("light"))
    qtbot.addWidget(panel)
    panel.show()
    panel.add(Health(60.0, num_overflows=3, lost_s=0.25, num_underflows=1), 0.0)
    said = {label.accessibleName(): label.text() for label in panel.values}
    assert said["Lost, input, times"] == "input, times  3"
    assert said["Lost, input, ms"] == "input, ms  250"
    assert said["Lost, output, times"] == "output, times  1"


def test_the_strip_warns_by_a_sign_and_not_by_colour_alone(qtbot: QtBot) -> None:
    strip = HealthStrip(AppState(), Appearance("light"))
    qtbot.addWidget(strip)
    strip.set_health(Health(10.0))
    assert "⚠" not in strip.losses.text()
    strip.set_health(Health(10.0, encoder_backlog_s=90.0))
    assert strip.losses.text().startswith("⚠ backlog 90.0 s")
    assert "settle the speakers: 90.0 s" in strip.losses.toolTip()
    strip.set_health(Health(10.0, num_underflows=1))
    assert strip.losses.text().startswith("⚠")
    strip.set_health(Health(10.0, num_device_underflows=2))
    assert strip.losses.text().startswith("⚠")
    assert "Sound system was late 2 times" in strip.losses.toolTip()


def test_the_lines_of_a_plot_differ_without_colour_and_in_both_themes(
    parts: WindowParts, qtbot: QtBot
) -> None:
    panel = parts.window.delays_panel
    _switch(parts).trigger()
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
    close_window(parts, qtbot)
    again = make_window(tmp_path)
    again.window.show()
    assert _switch(again).isChecked()
    assert not again.window.delays_panel.isVisible()  # not before the engine is there
    again.controller.attach(again.session.as_session())
    panel = again.window.delays_panel
    assert panel.isVisible()
    close_window(again, qtbot)


def test_the_report_has_the_figures_and_no_spoken_word(parts: WindowParts, qtbot: QtBot) -> None:
    parts.session.post(started(), FinalWords(words("confidential matters", 0.5, 1.5)))
    qtbot.waitUntil(lambda: len(parts.state.document.lines) > 0)
    _switch(parts).trigger()
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
        "underflows: the loudspeaker ran dry 0 times, the sound system 0 times",
        "real-time factor: text ",
        "settling not measured",
        "memory:",
        "numpy ",
    ):
        assert part in report
    assert "confidential" not in report


def test_the_report_tells_the_gpu_only_where_one_is_used() -> None:
    health = Health(60.0, first_sound_delay_s=0.31, rss_bytes=400_000_000)
    assert "GPU memory" not in health_report(AppState(), Settings(), health)
    assert "first sound 0.31 s" in health_report(AppState(), Settings(), health)
    health = replace(health, gpu_bytes=2_500_000_000, encoder_load=0.25)
    report = health_report(AppState(), Settings(), health)
    assert "GPU memory: 2500 MB" in report
    assert "settling 0.25" in report

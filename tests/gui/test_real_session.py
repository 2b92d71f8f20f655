"""The window over a real session on scripted devices and backends."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.views.transcript.text import row_text
from engine.backends.fake_recognizer import RecognizerScript, words_from_text
from engine.core.events import SessionState
from tests.helpers.session import ScriptedDevices, ScriptedInput, SessionBench, block
from tests.helpers.window import WindowParts, close_window, make_window

pytestmark = pytest.mark.gui


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[SessionBench]:
    """A session whose recognizer says two words; the last ends at 1.9 s of 2.0 s of sound."""
    words = words_from_text("the last", start_s=1.2)
    assert 1.85 <= words[-1].end / 16_000 <= 1.95
    stream = ScriptedInput([block(1600) for _ in range(20)])
    made = SessionBench(
        tmp_path / "sessions",
        ScriptedDevices([stream]),
        recognizer=RecognizerScript(words=words),
    )
    yield made
    made.session.close()


def test_a_word_that_ends_100_ms_before_stop_is_in_the_transcript(
    bench: SessionBench, qtbot: QtBot, tmp_path: Path
) -> None:
    parts: WindowParts = make_window(tmp_path, bench.session.settings)
    parts.window.show()
    parts.controller.attach(bench.session)
    qtbot.waitUntil(parts.window.toolbar.record_button.isEnabled)
    qtbot.mouseClick(parts.window.toolbar.record_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bench.session.recorded_s() >= 2.0)
    qtbot.waitUntil(parts.window.toolbar.stop_button.isEnabled)
    qtbot.mouseClick(parts.window.toolbar.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: parts.state.session_state is SessionState.IDLE)
    assert parts.state.document.text() == "the last"
    (row,) = parts.window.transcript.rows.rows
    assert "the last" in row_text(parts.state.document, row)
    close_window(parts, qtbot)

"""The speaker model with random weights of the released size, through the command line."""

import json
from pathlib import Path

import pytest

from engine.store.event_json import EVENT_TYPES
from tests.helpers.cli import run_cli

pytestmark = [pytest.mark.slow, pytest.mark.integration]

CHOICE = ("--recognizer", "fake", "--diarizer", "sortformer")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"VIVAVOCE_HOME": str(tmp_path / "home")}


def test_listen_when_there_are_no_weights_then_says_how_to_get_them(env: dict[str, str]) -> None:
    outcome = run_cli("listen", "--input", "demo", *CHOICE, env=env)
    assert outcome.status == 4
    assert "vivavoce models pull nemotron-3-diarization" in outcome.err


def test_listen_when_untrained_then_rows_come_and_everything_is_marked(env: dict[str, str]) -> None:
    outcome = run_cli(
        "listen", "--input", "demo", "--fast", "--json", "--keep", "text", "--untrained", *CHOICE,
        env={**env, "VIVAVOCE_DIARIZER_PROFILE": "cpu"}, timeout_s=280,
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert "(Sortformer) has untrained weights: its output means nothing." in outcome.err
    events = [json.loads(line) for line in outcome.lines[1:]]
    assert {event["event"] for event in events} <= EVENT_TYPES.keys()
    rows = [event for event in events if event["event"] == "activity_revised"]
    assert all(len(row) == 8 for event in rows for row in event["probabilities"])
    assert {event["frame_ms"] for event in rows} == {80}
    assert rows[-1]["final_until"] == rows[-1]["first_frame"] + len(rows[-1]["probabilities"])

    exported = run_cli(
        "sessions", "export", "last", "-f", "rttm", "--threshold", "0.01", "--min-off-ms", "0",
        env=env,
    )  # fmt: skip
    assert exported.status == 0, exported.err
    # At one per cent the random weights hear all eight from beginning to end.
    assert len(exported.lines) == 8
    assert all("-untrained 1 0.000 " in line for line in exported.lines)
    nobody = run_cli("sessions", "export", "last", "-f", "rttm", "--threshold", "0.99", env=env)
    assert nobody.lines == []

"""What a recording is called before the user says anything."""

from pathlib import Path

import pytest

from engine.store.library import SessionLibrary
from tests.helpers.session import ScriptedDevices, SessionBench, array_input

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("input_name", "title"),
    [
        ("file:/talks/Team talk.2.wav", "Team talk.2"),
        ("file:talk", "talk"),
        ("scripted microphone", ""),
        ("default", ""),
    ],
)
def test_recording_when_made_from_a_file_then_it_has_the_files_name(
    tmp_path: Path, input_name: str, title: str
) -> None:
    bench = SessionBench(tmp_path, ScriptedDevices([array_input(0.2)]))
    try:
        bench.session.start(input_name).result(10)
        assert bench.session.wait_until_stopped(10)
    finally:
        bench.session.close()
    (info,) = SessionLibrary(tmp_path).list()
    assert info.title == title
